"""How the files of one table differ: in their columns, and in the kinds of the values there."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from mdvec.datasets.core.grouping import NO_VALUES, agreed_type
from mdvec.text import cited, counted

TEXT = "VARCHAR"
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
