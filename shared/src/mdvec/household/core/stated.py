"""Puts what a user states into a mapping, and says what of it does not fit the file."""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Iterable, Iterator
from collections.abc import Mapping as Pairs
from typing import Any

from mdvec.household.core.column_roles import is_foreign
from mdvec.household.core.mapped_rows import read_mapped
from mdvec.household.core.mapping import (
    TEXTS,
    InvalidMapping,
    MappedColumn,
    Mapping,
    columns_in,
    fits_pattern,
    key_of_column,
    mapping_of,
    toml_of,
)
from mdvec.household.core.mapping_sentences import MappingSentence
from mdvec.household.core.open_columns import Records, cells_by_column
from mdvec.household.core.undecided import Undecided, with_other_words_counted
from mdvec.text import shown_name

_READ = ("date", "amount", "paid_out", "paid_in", "balance")


def with_stated(
    mapping: Mapping, records: Records, stated: Pairs[str, Any]
) -> tuple[Mapping, list[MappingSentence]]:
    """A mapping with the user's settings, and those of their words that are not in the file.

    They replace the mapping's own values, but are added to its ignored columns, fees, points and
    conditions. Of a column whose stated words are all there, the others are counted.

    Raises:
        InvalidMapping: what is stated makes no mapping, or names columns that the file has not.
    """
    values = tomllib.loads(toml_of(mapping))
    if "amount" in stated:
        values.pop("paid_out", None)
        values.pop("paid_in", None)
    if not stated.keys().isdisjoint(("paid_out", "paid_in")):
        for key in ("amount", "outgoing", "positive"):
            values.pop(key, None)
    for key, value in stated.items():
        before = values.get(key)
        if isinstance(value, dict) and isinstance(before, dict):
            value = {
                each: _merged_values(before.get(each), value.get(each)) for each in before | value
            }
        elif key in ("ignored", "fees", "points"):
            value = _merged_values(before, value)
        values[key] = value
    if "paid_in" in stated and "paid_out" not in stated and "paid_out" in values:
        paid_in = _merged_values(None, values["paid_in"])
        values["paid_out"] = [
            each for each in _merged_values(None, values["paid_out"]) if each not in paid_in
        ]
        values = {key: value for key, value in values.items() if value != []}
    changed = mapping_of(values)
    cells = cells_by_column(mapping, records) | cells_by_column(changed, records)
    _check_columns(changed, stated, cells)
    said = _words_said(stated)
    missing = [
        (column, word) for column, words in said.items() for word in words
        if not any(fits_pattern(cell, word) for cell in cells[key_of_column(column)])
    ]  # fmt: skip
    fitting = said.keys() - {column for column, _ in missing}
    counted = with_other_words_counted(changed, records, fitting, has_kinds="kinds" in stated)
    return counted, [
        MappingSentence("not-there", str(column), shown_name(word)) for column, word in missing
    ]


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


def _check_columns(
    changed: Mapping, stated: Pairs[str, Any], cells: Pairs[MappedColumn, object]
) -> None:
    """Refuse a stated column that the file has not, and one to ignore that is read."""
    read = {key_of_column(each) for key in _READ for each in columns_in(getattr(changed, key))}
    named = [
        (key, column) for key, value in stated.items() if key not in TEXTS and key != "unit"
        for column in columns_in(value)
    ]  # fmt: skip
    for key, column in named:
        if key_of_column(column) not in cells:
            names = [shown_name(name) for name in cells if isinstance(name, str)]
            there = ", ".join(names) or f"1-{len(cells)}"
            raise InvalidMapping(
                f"{key!r} names the column {column!r}, which the file has not; it has: {there}"
            )
        if key == "ignored" and key_of_column(column) in read and not is_foreign(str(column)):
            raise InvalidMapping(f"'ignored' names the column {column!r}, whose values are taken")


def against_the_balance(
    before: Mapping, after: Mapping, records: Records, stated: Iterable[str]
) -> Iterator[Undecided]:
    """Ask about settings that change amounts which fitted the balance, so that they do not fit."""
    old, new = read_mapped(before, records), read_mapped(after, records)
    amounts = {row.line: row.amount for row in old.rows}
    changed = [row for row in new.rows if amounts.get(row.line, row.amount) != row.amount]
    if changed and new.misfits and old.are_proven:
        shown = ", ".join(f"{row.date} {row.amount or 0:+,}" for row in changed[:3])
        yield Undecided.of("against", ", ".join(sorted(stated)), shown)
