"""Groups files into tables by names and columns; also names of tables and families of types."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Literal
from urllib.parse import unquote

from mdvec.datasets.core.columns import Column
from mdvec.datasets.core.periods import DATES
from mdvec.files import split_ending
from mdvec.text import identifier, some_of
from mdvec.tools import InvalidToolName

_NUMBER = re.compile(r"\d+")
_HIVE = re.compile(r"([^=]+)=(.*)")
_NO_HIVE_VALUE = "__HIVE_DEFAULT_PARTITION__"
_EDGES = "_-. ()[]#+~〜"
TypeFamily = Literal["integer", "number", "date", "timestamp", "category", "other"]
"""Groups of types that are counted, averaged and binned in the same way."""
_INTEGERS = {
    "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT",
    "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT",
}  # fmt: skip
_FLOATS = {"FLOAT", "DOUBLE"}
_DECIMAL = re.compile(r"DECIMAL\((\d+),(\d+)\)")
_SUMMED = 28
"""The most digits of a DECIMAL column of which a billion values can be summed without overflow."""
_FAMILIES: dict[str, TypeFamily] = {
    **dict.fromkeys(_INTEGERS, "integer"),
    **dict.fromkeys((*_FLOATS, "DECIMAL"), "number"),
    **dict.fromkeys(("VARCHAR", "BOOLEAN", "UUID", "TIME", "ENUM"), "category"),
    "DATE": "date",
}
NO_VALUES = ""
"""In place of a type: the column has no values, so any type fits."""
LONG = "BIGINT over 15 digits"
"""In place of a type: whole numbers that a DOUBLE may not hold exactly."""
MAX_EXACT = 10**15
_WITHIN_64_BITS = _INTEGERS - {"HUGEINT", "UHUGEINT", "UBIGINT"}
_MAX_NAMED = 3
_IN = " in "
HOUSEHOLD_TABLE = "transactions"
"""The SQL name of the household's rows, which no dataset may take."""
_SEPARATOR = "__"


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


def family(column: Column) -> TypeFamily:
    """The family of a column's type."""
    name = column.type.partition("(")[0]
    if column.type.endswith("]"):  # a list
        return "other"
    return "timestamp" if name.startswith("TIMESTAMP") else _FAMILIES.get(name, "other")


def has_dates(column: Column) -> bool:
    """Whether it holds dates or timestamps."""
    return family(column) in {"date", "timestamp"}


def may_be_infinite(column: Column) -> bool:
    """Whether it may hold NaN or infinity, which would spoil an average."""
    return column.type in _FLOATS


def is_measured(column: Column) -> bool:
    """Whether its values have a mean and a median."""
    return family(column) in {"integer", "number"}


def is_wide(column: Column) -> bool:
    """Whether a sum of its values may overflow DuckDB's widest type."""
    return column.type in {"HUGEINT", "UHUGEINT"} or _decimal(column)[0] > _SUMMED


def finite_value(column: Column) -> str:
    """The SQL for its value, with NaN and infinity as NULL."""
    name = identifier(column.name)
    return f"CASE WHEN isfinite({name}) THEN {name} END" if may_be_infinite(column) else name


def decimals(column: Column) -> int:
    """The number of digits after the decimal point; 0 for integers."""
    return _decimal(column)[1]


def _decimal(column: Column) -> tuple[int, int]:
    """The digits of a DECIMAL, and how many follow the point; 0 and 0 for other types."""
    match = _DECIMAL.fullmatch(column.type)
    return (int(match[1]), int(match[2])) if match else (0, 0)


def in_unit(kind: str, unit: str) -> str:
    """The name of a type whose numbers have a unit, such as "$" or "%"."""
    return f"{kind}{_IN}{unit}" if unit and kind != NO_VALUES else kind


def common_columns(files: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """The most frequent set of columns, in the order of the first file that has it."""
    alike = [frozenset(name.lower() for name in names) for names in files]
    counted = Counter(alike)
    best = max(counted, key=lambda names: counted[names])
    return tuple(files[alike.index(best)])


def combined_columns(files: Iterable[Sequence[str]], common: Sequence[str]) -> tuple[str, ...]:
    """The common columns, then those that only some files have."""
    by_name = {name.lower(): name for name in common}
    for names in files:
        for name in names:
            by_name.setdefault(name.lower(), name)
    return tuple(by_name.values())


def difference(names: Collection[str], common: Collection[str]) -> str:
    """How the columns of a file differ from those of its group, in words; "" if they can combine.

    A file may have more columns or lack some, but not both: a renamed column would become two.
    """
    has, wanted = {name.lower() for name in names}, {name.lower() for name in common}
    lacks = [name for name in common if name.lower() not in has]
    more = [name for name in names if name.lower() not in wanted]
    if not (lacks and more) and len(has & wanted) * 2 >= len(wanted):
        return ""
    parts = [f"lacks {some_of(lacks, _MAX_NAMED)}"] if lacks else []
    if more:
        parts.append(f"has {some_of(more, _MAX_NAMED)} as well")
    return " and ".join(parts)


def swapped_in_capitals(names: Collection[str], common: Iterable[str]) -> str:
    """A column that would be merged with one that may be different; "" if there is none.

    If a file has both Date and date, the second is named date_2, so date in another file may be
    either of them.
    """
    spelled = {name.lower(): name for name in common}
    for name in names:
        other = spelled.get(name.lower(), name)
        if other != name and (_is_numbered(name, spelled.values()) or _is_numbered(other, names)):
            return name
    return ""


def _is_numbered(name: str, names: Iterable[str]) -> bool:
    """Whether there is a second column with exactly this name."""
    return any(
        other.startswith(f"{name}_") and other[len(name) + 1 :].isdecimal() for other in names
    )


def agreed_type(types: Iterable[str]) -> str | None:
    """The type that holds every value of columns with these types, or None if only text does.

    The types are DuckDB's names, ``NO_VALUES`` or ``LONG``; numbers with a unit (``in_unit``) only
    agree with those of the same unit.
    """
    kinds = set(types) - {NO_VALUES}
    if not kinds:
        return "VARCHAR"
    if len(kinds) == 1:
        (kind,) = kinds
        return "BIGINT" if kind == LONG else kind.partition(_IN)[0]
    if kinds <= {LONG, *_WITHIN_64_BITS}:
        return "BIGINT"
    if kinds <= {"FLOAT", "DOUBLE", *_WITHIN_64_BITS}:
        return "DOUBLE"
    return "TIMESTAMP" if kinds == {"DATE", "TIMESTAMP"} else None


def table_name(tool_name: str, *parts: str) -> str:
    """The SQL name of a table: the tool's name, then its file and inner table if there are any.

    Letters of any script and digits are kept, in lower case; other characters become '_'.
    """
    return _SEPARATOR.join(_plain(part) for part in (tool_name, *parts))


def checked_dataset_name(name: str, others: Iterable[str]) -> str:
    """Return a dataset's ``name`` if its tables' names cannot clash with tables of ``others``.

    Raises:
        InvalidToolName: they can clash, with those or with the household's table.
    """
    own = table_name(name)
    if own == HOUSEHOLD_TABLE:
        raise InvalidToolName(
            f"the name {name!r} belongs to the household's table; "
            f"choose another for a dataset, such as 'my-{name}'"
        )
    for other in others:
        theirs = table_name(other)
        if own == theirs or _is_prefixed_by(own, theirs) or _is_prefixed_by(theirs, own):
            raise InvalidToolName(
                f"the tables of a dataset {name!r} would have the names of those of {other!r} "
                f"(in SQL: {own}); choose another name"
            )
    return name


def _plain(part: str) -> str:
    composed = unicodedata.normalize("NFC", part).lower()
    return re.sub(r"\W", "_", composed)


def _is_prefixed_by(name: str, other: str) -> bool:
    return name.startswith(other + _SEPARATOR)
