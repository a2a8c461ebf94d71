"""Puts a user's settings into a mapping, and reports which of them do not fit the file."""

from __future__ import annotations

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
    Conditions,
    InvalidMapping,
    MappedColumn,
    Mapping,
    MappingSentence,
    checked,
    columns_in,
    fits_pattern,
    one_spelling,
    typed_values,
)
from mdvec.household.core.undecided import with_other_words_counted
from mdvec.text import cited, shown_name

_READ = ("date", "amount", "paid_out", "paid_in", "balance")
_NUMBERS = (*_READ, "fees", "points")
"""Keys of columns with values: a column can only have one of them."""
_LISTS = ("ignored", "fees", "points")
_ADDED = (*_LISTS, *CONDITIONS)
"""Keys whose stated values are added to those of the mapping; an empty value clears them."""


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
    said = typed_values({k: v for k, v in stated.items() if k not in _ADDED or v not in ([], {})})
    changed = checked(_merged(mapping, said, stated, FileColumns((mapping,), records)))
    there = FileColumns((mapping, changed), records)
    read = read_mapped(mapping, records)
    changed = _with_columns_freed(changed, said, there, is_proven=read.are_proven)
    _check_columns(changed, said, there)
    words = [
        (column, word) for key in CONDITIONS for column, texts in said.get(key, {}).items()
        for word in texts
    ]  # fmt: skip
    missing = [
        (column, word) for column, word in words
        if not any(fits_pattern(cell, word) for cell in there.texts(column))
    ]  # fmt: skip
    fitting = {column for column, _ in words} - {column for column, _ in missing}
    counted = with_other_words_counted(changed, records, fitting, has_kinds="kinds" in stated)
    return counted, [
        MappingSentence("not-there", str(column), shown_name(word)) for column, word in missing
    ]


def _merged(
    mapping: Mapping, said: Pairs[str, Any], stated: Iterable[str], own: FileColumns
) -> Mapping:
    """The mapping with what is ``said``; of a key that is only ``stated``, nothing is left."""
    if "amount" in said:
        mapping = replace(mapping, paid_out=(), paid_in=())
    if mapping.amount is not None and not said.keys().isdisjoint(("paid_out", "paid_in")):
        mapping = replace(mapping, amount=None, outgoing={}, positive="income")
    lists = {
        key: tuple(dict.fromkeys((*getattr(mapping, key), *said.get(key, ())))) for key in _LISTS
    }
    merged = {**said, **lists, **_merged_conditions(mapping, said, own)}
    cleared: dict[str, Any] = {
        key: {} if key in CONDITIONS else () for key in stated if key not in said
    }
    return replace(mapping, **merged | cleared)


def _merged_conditions(
    mapping: Mapping, said: Pairs[str, Conditions], own: FileColumns
) -> dict[str, Conditions]:
    """The conditions with the words that are said, which leave the column's other conditions.

    A column has the name that the mapping gives it, or else the first stated one. Words of
    ``outgoing`` stay: they tell the direction of money, not what a row is.
    """
    words = {
        (key, own.key(column), one_spelling(text))
        for key in CONDITIONS for column, texts in said.get(key, {}).items() for text in texts
    }  # fmt: skip
    names = {own.key(column): column for column in reversed(mapping.columns())}
    merged: dict[str, Conditions] = {}
    for key in CONDITIONS:
        left: dict[MappedColumn, list[str]] = {}
        others = [each for each in CONDITIONS if "outgoing" not in (key, each) and each != key]
        for column, texts in getattr(mapping, key).items():
            at = own.key(column)
            left.setdefault(at, []).extend(
                text for text in texts
                if (key, at, one_spelling(text)) in words
                or not any((each, at, one_spelling(text)) in words for each in others)
            )  # fmt: skip
        for column, texts in said.get(key, {}).items():
            at = own.key(column)
            names.setdefault(at, column)
            left[at] = [*left.get(at, ()), *texts] if texts else []
        merged[key] = {
            names[at]: tuple(dict.fromkeys(texts)) for at, texts in left.items() if texts
        }
    return merged


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


def _check_columns(changed: Mapping, stated: Pairs[str, Any], there: FileColumns) -> None:
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
