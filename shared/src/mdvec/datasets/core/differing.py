"""How the files of one table differ and agree: in their columns, and in the types of values."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from mdvec.datasets.core.columns import INTEGERS
from mdvec.text import cited, counted, some_of

TEXT = "VARCHAR"
NO_VALUES = ""
"""In place of a type: the column has no values, so any type fits."""
LONG = "BIGINT over 15 digits"
"""In place of a type: whole numbers that a DOUBLE may not hold exactly."""
MAX_EXACT = 10**15
_WITHIN_64_BITS = INTEGERS - {"HUGEINT", "UHUGEINT", "UBIGINT"}
_MAX_NAMED = 3
_IN = " in "
Kinds = Mapping[str, str]
"""The types of one column, as ``agreed_type`` takes them, by the path of the file."""


@dataclass(frozen=True, slots=True)
class FileDifferences:
    """What a later import must know about files that it does not read again.

    Attributes:
        kinds: by column, the types in each file that has it; only for columns that some files lack,
            or that are text because the files differ.
        with_commas: the files that prove that the comma is a decimal sign.
    """

    kinds: Mapping[str, Kinds] = field(default_factory=dict)
    with_commas: frozenset[str] = frozenset()

    def columns_of(self, path: str, columns: Sequence[str]) -> list[str]:
        """The columns of the table that a file has."""
        return [name for name in columns if path in self.kinds.get(name, (path,))]

    def restricted_to(self, paths: Sequence[str], types: Mapping[str, str]) -> FileDifferences:
        """The part about some files; ``types`` are the types of the table's columns."""
        kinds = {
            name: {path: kinds[path] for path in paths if path in kinds}
            for name, kinds in self.kinds.items()
            if name in types
        }
        differ = {
            name: some
            for name, some in kinds.items()
            if len(some) < len(paths)
            or (types[name] == TEXT and agreed_type(some.values()) != TEXT)
        }
        return FileDifferences(differ, self.with_commas.intersection(paths))

    def notes(self) -> Iterator[str]:
        """Notes on columns that are text because files differ."""
        for name, kinds in self.kinds.items():
            if agreed_type(kinds.values()) is None:
                by_kind: dict[str, list[str]] = {}
                for path, kind in kinds.items():
                    by_kind.setdefault(kind, []).append(path)
                by_kind.pop(NO_VALUES, None)
                shown = ", ".join(
                    f"{'text' if kind == TEXT else kind} ({shown_files(paths)})"
                    for kind, paths in by_kind.items()
                )
                yield f"the column {cited(name)} is text, as the files differ: {shown}"

    def __str__(self) -> str:
        """As JSON, in which each path occurs once; "" if there are no differences."""
        if not self.kinds and not self.with_commas:
            return ""
        paths = sorted(
            {*self.with_commas, *(path for some in self.kinds.values() for path in some)}
        )
        numbers = {path: number for number, path in enumerate(paths)}
        columns: dict[str, dict[str, list[int]]] = {name: {} for name in self.kinds}
        for name, kinds in self.kinds.items():
            for path, kind in kinds.items():
                columns[name].setdefault(kind, []).append(numbers[path])
        commas = sorted(numbers[path] for path in self.with_commas)
        return json.dumps({"paths": paths, "columns": columns, "commas": commas})

    @classmethod
    def parsed(cls, written: str) -> FileDifferences:
        """Parse the result of ``__str__``."""
        if not written:
            return cls()
        stored = json.loads(written)
        paths = stored["paths"]
        kinds = {
            name: {paths[at]: kind for kind, some in by_kind.items() for at in some}
            for name, by_kind in stored["columns"].items()
        }
        return cls(kinds, frozenset(paths[at] for at in stored["commas"]))


def column_notes(columns: Sequence[str], files: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Notes on files whose columns are not all of ``columns``, or in another order or spelling.

    ``files`` has the names of each file's columns, by path.
    """
    have = {path: [name.lower() for name in names] for path, names in files.items()}
    for name in columns:
        lacking = [path for path, names in have.items() if name.lower() not in names]
        if lacking:
            yield f"the column {cited(name)} is NULL for files that lack it: {shown_files(lacking)}"
    for name in columns:
        other = [path for path, names in files.items() if name not in names]
        spelled = [path for path in other if name.lower() in have[path]]
        if spelled:
            where = shown_files(spelled)
            yield f"the column {cited(name)} has its name in other capitals in {where}"
    order = [name.lower() for name in columns]
    moved = [
        path for path, names in have.items() if names != [name for name in order if name in names]
    ]
    if moved and len(files) > 1:
        yield f"the columns stand in another order in {shown_files(moved)}"


def shown_files(paths: Sequence[str]) -> str:
    """Files in a sentence: the first, and the number of the others."""
    more = len(paths) - 1
    return f"{paths[0]} and {counted(more, 'more file')}" if more else paths[0]


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
