"""Puts a user's settings into a mapping, and reports which of them do not fit the file."""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Iterable, Iterator
from collections.abc import Mapping as Pairs
from dataclasses import replace
from typing import Any

from mdvec.household.core.column_questions import FileColumns, Records, Undecided
from mdvec.household.core.column_roles import is_foreign
from mdvec.household.core.mapped_rows import read_mapped
from mdvec.household.core.mapping import (
    CONDITIONS,
    TEXTS,
    InvalidMapping,
    MappedColumn,
    Mapping,
    MappingSentence,
    columns_in,
    fits_pattern,
    mapping_of,
    one_spelling,
    plain_names,
    toml_of,
)
from mdvec.household.core.undecided import with_other_words_counted
from mdvec.text import cited, shown_name

_READ = ("date", "amount", "paid_out", "paid_in", "balance")
_NUMBERS = (*_READ, "fees", "points")
"""Keys of columns with values: a column can only have one of them."""
_LISTS = ("ignored", "fees", "points")
"""Keys whose stated columns are added to those of the mapping."""


def with_stated(
    mapping: Mapping, records: Records, stated: Pairs[str, Any]
) -> tuple[Mapping, list[MappingSentence]]:
    """A mapping with the user's settings, and a sentence on each of their words not in the file.

    Settings replace the mapping's own values, except that ignored columns, fees, points and
    conditions are added to; an empty list or table clears them. A stated word is removed from the
    other conditions of its column, except ``outgoing``. Stated columns of amounts, and ignored
    columns, lose the roles that the mapping gave them. If all stated words of a column are in the
    file, its other words are taken for plain transactions (``counted``).

    Raises:
        InvalidMapping: the settings make no valid mapping, or name columns that the file lacks.
    """
    values = tomllib.loads(toml_of(mapping))
    if "amount" in stated:
        values.pop("paid_out", None)
        values.pop("paid_in", None)
    if mapping.amount is not None and not stated.keys().isdisjoint(("paid_out", "paid_in")):
        for key in ("amount", "outgoing", "positive"):
            values.pop(key, None)
    own = FileColumns((mapping,), records)
    _move_words(values, stated, own)
    for key, value in stated.items():
        before = values.get(key)
        if key in (*_LISTS, *CONDITIONS) and value in ([], {}):
            values.pop(key, None)
            continue
        if key in CONDITIONS and isinstance(value, dict):
            before = before or {}
            value = _in_known_spelling(value, before, own)
            value = {
                each: _merged_values(before.get(each), value.get(each))
                for each in before | value if value.get(each) != []
            }  # fmt: skip
        elif key in _LISTS:
            value = _merged_values(before, value)
        values[key] = value
    changed = mapping_of(values)
    there = FileColumns((mapping, changed), records)
    read = read_mapped(mapping, records)
    changed = _with_columns_freed(changed, stated, there, is_proven=read.are_proven)
    first = read.rows[0].line if read.rows else 0
    above = [cells for line, cells in records if line < first and not isinstance(cells, str)]
    _check_columns(changed, stated, there, above)
    said = _words_said(stated)
    missing = [
        (column, word) for column, words in said.items() for word in words
        if not any(fits_pattern(cell, word) for cell in there.cells[there.key(column)])
    ]  # fmt: skip
    fitting = {column for column, words in said.items() if words} - {each for each, _ in missing}
    counted = with_other_words_counted(changed, records, fitting, has_kinds="kinds" in stated)
    return counted, [
        MappingSentence("not-there", str(column), shown_name(word)) for column, word in missing
    ]


def _move_words(values: dict[str, Any], stated: Pairs[str, Any], there: FileColumns) -> None:
    """Remove stated words from a column's other conditions, unless they are stated there as well.

    Words of ``outgoing`` stay: they tell the direction of money, not what a row is.
    """

    def words_of(conditions: object) -> dict[MappedColumn, set[str]]:
        table = conditions if isinstance(conditions, dict) else {}
        return {
            there.key(column): {one_spelling(str(word)) for word in _merged_values(None, words)}
            for column, words in zip(columns_in(table), table.values(), strict=True)
        }

    kinds = [key for key in CONDITIONS if key != "outgoing"]
    for key, other in itertools.permutations(kinds, 2):
        said, own = words_of(stated.get(key)), words_of(stated.get(other))
        before = values.get(other, {})
        for column, name in zip(columns_in(before), list(before), strict=True):
            at = there.key(column)
            taken = said.get(at, set()) - own.get(at, set())
            before[name] = [word for word in before[name] if one_spelling(word) not in taken]
            if taken and not before[name]:
                del before[name]


def _in_known_spelling(
    value: dict[str, Any], before: Iterable[str], there: FileColumns
) -> dict[str, Any]:
    """Stated conditions, with their columns named as the mapping names them."""

    def keys_of(conditions: Iterable[str]) -> Iterator[tuple[str, MappedColumn]]:
        names = list(conditions)
        keys = map(there.key, columns_in(dict.fromkeys(names)))
        return zip(names, keys, strict=True)

    known = {key: name for name, key in keys_of(before) if name not in value}
    return {known.get(key, name): value[name] for name, key in keys_of(value)}


def _merged_values(before: object, stated: object) -> list[object]:
    """The distinct values of two settings, each of them a list, a single value or missing."""
    both = [each if isinstance(each, list) else [each] for each in (before, stated)]
    return [each for each in dict.fromkeys(itertools.chain(*both)) if each is not None]


def _words_said(stated: Pairs[str, Any]) -> dict[MappedColumn, list[str]]:
    """The words of all stated conditions, by their column."""
    said: dict[MappedColumn, list[str]] = {}
    for conditions in stated.values():
        if isinstance(conditions, dict):
            for column, words in zip(columns_in(conditions), conditions.values(), strict=True):
                said.setdefault(column, []).extend([words] if isinstance(words, str) else words)
    return said


def _with_columns_freed(
    changed: Mapping, stated: Pairs[str, Any], there: FileColumns, *, is_proven: bool
) -> Mapping:
    """The mapping without stated columns in roles that they no longer have.

    A column stated as an amount is no longer another amount, nor a balance that is not proven; an
    ignored column is no longer the balance.
    """

    def said(*keys: str) -> set[MappedColumn]:
        return {there.key(each) for key in keys for each in columns_in(stated.get(key))}

    def left(key: str, taken: set[MappedColumn]) -> tuple[MappedColumn, ...]:
        columns = columns_in(getattr(changed, key))
        return tuple(each for each in columns if key in stated or there.key(each) not in taken)

    amounts, ignored = said("amount", "paid_out", "paid_in"), said("ignored")
    balance = left("balance", ignored if is_proven else amounts | ignored)
    return replace(
        changed, paid_out=left("paid_out", amounts), paid_in=left("paid_in", amounts),
        balance=next(iter(balance), None),
    )  # fmt: skip


def _check_columns(
    changed: Mapping, stated: Pairs[str, Any], there: FileColumns, above: Iterable[list[str]]
) -> None:
    """Refuse stated columns that the file lacks, or that are also read as something else.

    Only stated columns are checked, since older versions saved mappings that this would refuse.
    """
    if "positive" in stated and changed.positive == "spending" and changed.amount is None:
        raise InvalidMapping("'positive' needs the single column 'amount'")
    roles = {
        key: [there.key(each) for each in columns_in(getattr(changed, key))] for key in _NUMBERS
    }
    named = [
        (key, column) for key, value in stated.items() if key not in TEXTS and key != "unit"
        for column in columns_in(value)
    ]  # fmt: skip
    for key, column in named:
        own = there.key(column)
        if own not in there.cells:
            for cells in above:
                if not changed.header and own in (words := plain_names(cells)):
                    raise InvalidMapping(
                        f"{key!r} names the column {cited(column)}, but columns of this kind of "
                        f"file are numbers: state {words.index(str(own)) + 1} in place of the name"
                    )
            names = [shown_name(name) for name in there.cells if isinstance(name, str)]
            shown = ", ".join(names) or f"1-{len(there.cells)}"
            raise InvalidMapping(
                f"{key!r} names the column {cited(column)}, which the file has not; it has: {shown}"
            )
        read_as = [role for role, columns in roles.items() for each in columns if each == own]
        if key == "ignored" and not is_foreign(str(own)) and not {*_READ}.isdisjoint(read_as):
            raise InvalidMapping(
                f"'ignored' names the column {cited(column)}, whose values are taken"
            )
        if key in roles and len(read_as) > 1:
            raise InvalidMapping(
                f"the column {cited(column)} is named twice: {read_as[0]!r}, {read_as[1]!r}"
            )


def against_the_balance(
    before: Mapping, after: Mapping, records: Records, stated: Iterable[str]
) -> Iterator[Undecided]:
    """Ask about settings that change amounts which fitted the balance and then no longer do."""
    old, new = read_mapped(before, records), read_mapped(after, records)
    amounts = {row.line: row.amount for row in old.rows}
    changed = [row for row in new.rows if amounts.get(row.line, row.amount) != row.amount]
    if changed and new.misfits and old.are_proven:
        shown = ", ".join(f"{row.date} {row.amount or 0:+,}" for row in changed[:3])
        yield Undecided("against", ", ".join(sorted(stated)), shown)
