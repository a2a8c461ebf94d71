"""Groups files into tables by the dates or numbers in their names."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from urllib.parse import unquote

from mdvec.files import split_ending

_NUMBER = re.compile(r"\d+")
_HIVE = re.compile(r"([^=]+)=(.*)")
_NO_HIVE_VALUE = "__HIVE_DEFAULT_PARTITION__"
_EDGES = "_-. ()[]#+~〜"
YEAR = r"(?:(?:19|20)\d{2}|(?:明治|大正|昭和|平成|令和)(?:\d{1,2}|元))"
_DATE = rf"{YEAR}(?:[-_.年]?(?:[01]?\d月?(?:[-_.]?[0-3]?\d日?)?|[qQ][1-4])|年度?)?"
_TIME = r"[-_T ][0-2]\d[-:]?[0-5]\d(?:[-:]?[0-5]\d)?"
DATES = re.compile(rf"(?<!\d)({_DATE})(?:[-_~〜 ]{{1,3}}({_DATE})|{_TIME})?(?!\d)")
"""A date in a name, perhaps with a second one as the end of a period."""


@dataclass(frozen=True, slots=True)
class FileGroup:
    """Files that are one table.

    Attributes:
        name: what the paths of its files, without their endings, have in common; may be "".
        pattern: the paths of its files, with '*' where they differ.
        is_chosen: whether the user defined the group, in which case ``pattern`` may be any shell
            pattern.
    """

    name: str
    pattern: str
    is_chosen: bool = False

    def has(self, path: str) -> bool:
        """Whether a file belongs to the group."""
        if not self.is_chosen:
            return group_of(path) == self
        name = path if "/" in self.pattern else path.rpartition("/")[2]
        return fnmatchcase(name, self.pattern)


def group_of(path: str) -> FileGroup | None:
    """The group of a file and of others whose names differ from its only by the last date.

    Names without a date differ by the last number. Paths with folders such as ``year=2025`` differ
    by the values of these folders, and by the file's name. None if the path has none of these.
    """
    folders, _, file = path.rpartition("/")
    stem, ending = split_ending(file)
    parts = folders.split("/") if folders else []
    hive_from = next((at for at, part in enumerate(parts) if _HIVE.fullmatch(part)), None)
    if hive_from is not None:
        shown = [_HIVE.sub(r"\1=*", part) for part in parts]
        return FileGroup("/".join(parts[:hive_from]), "/".join([*shown, f"*{ending}"]))
    slots = list(DATES.finditer(stem)) or list(_NUMBER.finditer(stem))
    if not slots:
        return None
    before, after = stem[: slots[-1].start()], stem[slots[-1].end() :]
    common = "_".join(filter(None, (before.rstrip(_EDGES), after.strip(_EDGES))))
    folder = f"{folders}/" if folders else ""
    return FileGroup(
        (folder + common.strip(_EDGES)).rstrip("/"), f"{folder}{before}*{after}{ending}"
    )


def file_groups(paths: Iterable[str]) -> dict[FileGroup, list[str]]:
    """The groups of two files or more by names alone, with their paths in order."""
    groups: dict[FileGroup, list[str]] = {}
    for path in sorted(paths):
        group = group_of(path)
        if group is not None:
            groups.setdefault(group, []).append(path)
    return {group: members for group, members in groups.items() if len(members) > 1}


def hive_values(path: str) -> dict[str, str | None]:
    """The columns that folders such as ``year=2025`` add to a file, with their values as text."""
    folders = (_HIVE.fullmatch(part) for part in path.split("/")[:-1])
    pairs = {unquote(match[1]): unquote(match[2]) for match in folders if match}
    return {key: None if value == _NO_HIVE_VALUE else value for key, value in pairs.items()}


def hive_type(values: Iterable[str | None]) -> str:
    """The SQL type that fits all values of a column from folders."""
    known = [value for value in values if value is not None]
    if known and all(re.fullmatch(r"-?(0|[1-9]\d{0,17})|0[1-9]", value) for value in known):
        return "BIGINT"
    if known and all(re.fullmatch(r"\d{4}-\d\d-\d\d", value) for value in known):
        return "DATE"
    return "VARCHAR"
