"""Decides which data files of a source are combined into one table, and the tables' SQL names."""

from __future__ import annotations

import re
from bisect import bisect_left, insort
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

from mdvec.datasets.core.columns import table_name
from mdvec.datasets.core.grouping import DATES, YEAR, FileGroup, file_groups
from mdvec.datasets.interfaces.dataset_tables import DatasetTable
from mdvec.datasets.options import DatasetOptions
from mdvec.datasets.reading import may_be_part
from mdvec.dates import Days, parse_dated, year_of_era
from mdvec.files import FoundFile, UnreadableFile, split_ending
from mdvec.importing import ImportRefused
from mdvec.text import cited
from mdvec.tools import Tool

_PARTS = re.compile(
    rf"(?P<year>{YEAR})(?:[-_.年]?"
    r"(?:(?P<month>[01]?\d)(?P<between>月?[-_.]?)(?:(?P<day>[0-3]?\d)日?)?"
    r"|[qQ](?P<quarter>[1-4]))|年(?P<fiscal>度)?)?"
)
MAX_PARQUET_BYTES = 2**30
"""Parquet files of more bytes are copied into one table only if the user names it."""


@dataclass(frozen=True, slots=True)
class PlannedGroup:
    """Files that are to be one table; ``old`` is their table of the last import, if any."""

    group: FileGroup
    files: tuple[FoundFile, ...]
    old: DatasetTable | None = None


@dataclass(frozen=True, slots=True)
class ImportPlan:
    """The tables of several files, and the files that are tables of their own.

    ``doubts`` are the reasons, by path, why files that may belong to a group stay alone.
    """

    groups: tuple[PlannedGroup, ...]
    single: tuple[FoundFile, ...]
    doubts: Mapping[str, str] = field(default_factory=dict)


def plan(
    source_files: Sequence[FoundFile],
    stored: Sequence[DatasetTable],
    options: DatasetOptions,
    unchanged: Collection[str],
    *,
    tool_name: str,
    is_rebuilt: bool,
) -> ImportPlan:
    """Plan an import.

    An existing tool keeps its groups, which only new files can join. A new or rebuilt tool gets a
    group for files whose names differ only by a date or a number. ``unchanged`` are the paths of
    files that need no reading.

    Raises:
        ImportRefused: no file fits a pattern that the user gave, or one fits two.
    """
    old = {table.combined.group: table for table in stored if table.combined}
    names = {table_name(tool_name, group.name) for group in options.tables}
    known = [
        group
        for group, table in old.items()
        if table.name not in names and (group.is_chosen or not is_rebuilt)
    ]
    alone = {table.path for table in stored if not table.combined} & set(unchanged)
    homes = {path: group for group in known for path in old[group].file_paths}
    members: dict[FileGroup, list[FoundFile]] = {group: [] for group in (*options.tables, *known)}
    single: list[FoundFile] = []
    doubts: dict[str, str] = {}
    for file in source_files:
        fits = _fitting(file, options.tables, known, homes.get(file.path))
        if len(fits) > 1:
            doubts[file.path] = _several_fit(file, fits, options.tables)
        elif fits and (fits[0].is_chosen or file.path not in alone):
            members[fits[0]].append(file)
            continue
        single.append(file)
    _check_patterns(options.tables, members)
    if (is_rebuilt or not stored) and not options.is_separate:
        members |= (new_groups := _new_groups(single))
        grouped = {file.path for files in new_groups.values() for file in files}
        single = [file for file in single if file.path not in grouped]
    planned = []
    for group, files in members.items():
        doubts |= _doubts(group, files)
        single += [file for file in files if file.path in doubts]
        sure = tuple(file for file in files if file.path not in doubts)
        if sure or group in old:
            planned.append(PlannedGroup(group, sure, None if is_rebuilt else old.get(group)))
    return ImportPlan(tuple(planned), tuple(single), doubts)


def _check_patterns(
    chosen: Iterable[FileGroup], members: Mapping[FileGroup, Sequence[FoundFile]]
) -> None:
    """Raise ImportRefused if no file fits a pattern that the user gave."""
    for group in chosen:
        if not members[group]:
            raise ImportRefused(
                f"no file fits {cited(group.pattern)}, which --table {group.name} names; give a "
                "pattern of files with one table each, with '/' only if folders are part of it"
            )


def _fitting(
    file: FoundFile,
    chosen: Iterable[FileGroup],
    known: Iterable[FileGroup],
    home: FileGroup | None,
) -> list[FileGroup]:
    """The groups that a file fits: those chosen now, else its present group, else known groups."""
    if now := [group for group in chosen if may_join(group, file)]:
        return now
    if home is not None and may_join(home, file):
        return [home]
    fits = [group for group in known if may_join(group, file)]
    return [group for group in fits if group.is_chosen] or fits


def _several_fit(
    file: FoundFile, fits: Sequence[FileGroup], chosen_now: Collection[FileGroup]
) -> str:
    """Why a file that fits several patterns of the user is a table of its own.

    Raises:
        ImportRefused: the patterns were given to this import.
    """
    first, second = fits[:2]
    if first in chosen_now:
        raise ImportRefused(
            f"{file.path} fits both --table {first.name} and --table {second.name}, but belongs in "
            "one table; give patterns that have no file in common"
        )
    return (
        f"it is a table of its own: it fits {first.pattern} as well as {second.pattern}; "
        "give one of these tables another pattern with --table"
    )


def _doubts(group: FileGroup, files: Iterable[FoundFile]) -> dict[str, str]:
    """By path, why a file stays out of a group: other files may hold the same rows."""
    if group.is_chosen:
        return {}
    doubts = {}
    for path, others in overlapping(file.path for file in files).items():
        more = " and others" if len(others) > 1 else ""
        doubts[path] = (
            f"it is a table of its own: it may hold the rows of {others[0]}{more} again; "
            f"combine them with --table 'NAME={group.pattern}'"
        )
    return doubts


def overlapping(paths: Iterable[str]) -> dict[str, list[str]]:
    """By path, the other files with days of the file at that path, judging by the dates in names.

    They may hold the same rows, which a sum over all files would count twice. Several files of one
    and the same day do not overlap, nor do periods that share only an end and a start.
    """
    dated = [(path, days) for path in sorted(paths) if (days := _days_of(path))]
    dated.sort(key=lambda each: each[1].last - each[1].first)
    disjoint: list[tuple[date, date, str]] = []  # their last days are in order, too
    overlaps: dict[str, list[str]] = {}
    for path, days in dated:
        first, last = days.first, days.last
        others: list[str] = []
        at = bisect_left(disjoint, first, key=lambda each: each[1])
        for start, end, other in disjoint[at:]:
            if start > last:
                break
            is_within = first <= start and end <= last and first != last
            if is_within or min(end, last) > max(start, first):
                others.append(other)
        if others:
            overlaps[path] = others
        else:
            insort(disjoint, (first, last, path))
    return overlaps


def _days_of(path: str) -> Days | None:
    """The days of the last date, or dates, in a file's name."""
    dates = DATES.findall(split_ending(path.rpartition("/")[2])[0])
    if not dates:
        return None
    start, end = (_days(text) for text in (dates[-1][0], dates[-1][1] or dates[-1][0]))
    if start is None or end is None or end.last < start.first:
        return None
    return Days(start.first, end.last)


def _days(text: str) -> Days | None:
    """The days of a year, quarter, month or day; None if the text names no valid period."""
    match = _PARTS.fullmatch(text)
    if match is None:
        return None
    year, month, day, quarter = match["year"], match["month"], match["day"], match["quarter"]
    if day and not match["between"] and len(month + day) < len("0131"):
        return None  # 2024-31 is a week or a number
    if not year.isdecimal():
        year = year_of_era(year[:2], int(year[2:].replace("元", "1")))
    rest = f"q{quarter}" if quarter else match["fiscal"] or ""
    if month:
        rest = f"{month}月{day}日" if day else f"{month}月"
    return parse_dated(f"{year}年{rest}")


def may_join(group: FileGroup, file: FoundFile) -> bool:
    """Whether a file's kind and name fit a group's files."""
    return may_be_part(file.path) and group.has(file.path)


def _new_groups(files: Iterable[FoundFile]) -> dict[FileGroup, list[FoundFile]]:
    groups: dict[FileGroup, list[FoundFile]] = {}
    by_path = {file.path: file for file in files if may_be_part(file.path)}
    for group, paths in file_groups(by_path).items():
        some = [by_path[path] for path in paths]
        large = sum(file.size for file in some if file.path.lower().endswith(".parquet"))
        if large <= MAX_PARQUET_BYTES:
            groups[group] = some
    return groups


class TableNameTaken(UnreadableFile):
    """Another file's table has the SQL name that this one would have."""


class CollectedTables(dict[str, DatasetTable]):
    """Tables by their SQL names, in the order in which they were added."""

    def __init__(self, tool: Tool) -> None:
        super().__init__()
        self._tool = tool

    def put(self, table: DatasetTable) -> None:
        """Add a table under its name."""
        self[table.name] = table

    def free_name(self, path: str, inner_table: str) -> str:
        """The SQL name of a file's table.

        Raises:
            TableNameTaken: another file's table has it.
        """
        file = split_ending(path)[0] if self._tool.source.is_dir() else ""
        return self.free(file, inner_table)

    def free(self, *parts: str) -> str:
        """The SQL name of a table that is named after ``parts``, the words of a file or group.

        Raises:
            TableNameTaken: another file's table has it.
        """
        name = table_name(self._tool.name, *filter(None, parts))
        if other := self.get(name):
            remedy = "rename one of them"
            if other.combined and other.combined.group.is_chosen:
                remedy = "give --table another name, or rename the file"
            raise TableNameTaken(
                f"its table would be called {name}, as that of {other.origin} is; {remedy}"
            )
        return name
