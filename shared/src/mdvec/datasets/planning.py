"""Decides which data files of a source are combined into one table, and the tables' SQL names."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from mdvec.datasets.core.grouping import FileGroup, file_groups, table_name
from mdvec.datasets.core.periods import overlapping
from mdvec.datasets.interfaces.dataset_tables import DatasetTable
from mdvec.datasets.options import DatasetOptions
from mdvec.datasets.reading import may_be_part
from mdvec.files import FoundFile, UnreadableFile, split_ending
from mdvec.importing import ImportRefused
from mdvec.text import cited
from mdvec.tools import Tool

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
