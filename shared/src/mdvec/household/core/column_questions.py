"""The columns of a file whose meaning a mapping leaves open, and the questions that they raise.

The texts of a row may suggest that it is no transaction, or that it gives money back; a further
column may have the day that counts.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Mapping as Pairs
from dataclasses import dataclass, replace
from datetime import date

from mdvec.household.core.categories import INCOME
from mdvec.household.core.cells import (
    BadCell,
    CsvRecord,
    TransactionRow,
    is_date,
    number_in,
    parse_amount,
)
from mdvec.household.core.column_roles import any_of, dates_named, is_day_of_bill, is_day_of_use
from mdvec.household.core.mapped_rows import TOTAL, MappedRows, header_test, read_mapped
from mdvec.household.core.mapping import (
    CONDITIONS,
    DATE_FORMATS,
    Conditions,
    MappedColumn,
    Mapping,
    MappingSentence,
    fits_pattern,
    one_spelling,
    plain_names,
)
from mdvec.text import shown_name

Records = Sequence[tuple[int, CsvRecord]]
"""A file's records, each with its line."""

_MONTH = re.compile("[0-9]{1,2}(?=月)|[0-9]{4}")


@dataclass(frozen=True, slots=True)
class OpenColumn:
    """A column's cells, one for each row that was read."""

    key: MappedColumn
    cells: list[str]

    @property
    def name(self) -> str:
        """The column's name, or its number."""
        return str(self.key)

    @property
    def texts(self) -> list[str]:
        """The different texts in the column, without empty ones."""
        return list(dict.fromkeys(cell for cell in self.cells if cell))

    def others(self, left_out: set[int]) -> set[str]:
        """The different cells of the rows whose indexes are not in ``left_out``."""
        return {cell for at, cell in enumerate(self.cells) if at not in left_out}

    @property
    def numbers(self) -> list[int] | None:
        """The cells as amounts, 0 for an empty one; None if they are something else."""
        try:
            return [parse_amount(cell) or 0 for cell in self.cells]
        except BadCell:
            return None


class FileColumns:
    """The columns of a file; a column's number and its name in the header mean the same column.

    A column is known by its name in one spelling, or by its number if it has no name of its own.
    ``cells`` has, by column, the cell of each record: "" if the line ends before it, None if the
    record does not have the column or is a header.
    """

    def __init__(self, mappings: Iterable[Mapping], records: Records) -> None:
        self.cells: dict[MappedColumn, list[str | None]] = {}
        self._written: dict[MappedColumn, MappedColumn] = {}
        self._of_number: dict[int, MappedColumn] = {}
        self._at = {line: at for at, (line, _) in enumerate(records)}
        for mapping in mappings:
            keys: list[MappedColumn] = []
            is_header = header_test(mapping)
            for at, (_, cells) in enumerate(records):
                if isinstance(cells, str):
                    continue
                if mapping.header and is_header(cells):
                    keys = self._named(cells)
                    continue
                every = itertools.chain(keys, range(len(keys) + 1, len(cells) + 1))
                for key, cell in itertools.zip_longest(every, cells, fillvalue=""):
                    self._column(key)[at] = cell.strip()

    def key(self, column: MappedColumn) -> MappedColumn:
        """A column's name in one spelling, or its number if it has no name."""
        return (
            self._of_number.get(column, column) if isinstance(column, int) else one_spelling(column)
        )

    def texts(self, column: MappedColumn) -> list[str]:
        """The cells of a column."""
        return [cell for cell in self.cells[self.key(column)] if cell is not None]

    def left_open(self, mapping: Mapping, read: MappedRows) -> list[OpenColumn]:
        """The columns that may raise questions: those that are neither read nor ignored.

        Descriptions, memos and the single amount are among them: their cells may tell what a row
        is.
        """
        asked = {*mapping.description, *mapping.memo, mapping.amount}
        settled = {self.key(key) for key in mapping.valued_columns() if key not in asked}
        ignored = {_of_any_month(self.key(key)) for key in mapping.ignored}
        own = {self.key(key): key for key in mapping.columns()}
        rows = [self._at[row.line] for row in read.rows]
        return [
            OpenColumn(own.get(key, self._written.get(key, key)), [cells[at] or "" for at in rows])
            for key, cells in self.cells.items()
            if key not in settled and _of_any_month(key) not in ignored
            if any(cells[at] is not None for at in rows)
        ]

    def _named(self, header: Sequence[str]) -> list[MappedColumn]:
        """The keys of the columns below a header: names that are unique, else numbers."""
        names = plain_names(header)
        keys: list[MappedColumn] = [
            number if name in ("", *names[: number - 1]) else name
            for number, name in enumerate(names, 1)
        ]
        for number, (key, cell) in enumerate(zip(keys, header, strict=True), 1):
            self._written.setdefault(key, number if key == number else cell.strip())
            self._of_number.setdefault(number, key)
            self._column(key)
        return keys

    def _column(self, key: MappedColumn) -> list[str | None]:
        if key not in self.cells:
            self.cells[key] = [None] * len(self._at)
        return self.cells[key]


def _of_any_month(column: MappedColumn) -> MappedColumn:
    """A column's name without the number of its month or year (7月支払金額)."""
    return column if isinstance(column, int) else _MONTH.sub("0", one_spelling(column))


MAX_WORDS_SHOWN = 12
_UNDONE = any_of(
    "取消", "取り消し", "訂正", "返品", "キャンセル", "cancel", "revers", "revert", "refund"
)
_NO_TRANSACTION = any_of(
    TOTAL.pattern, _UNDONE.pattern, "繰越", "残高", "total", "(brought|carried)forward",
    "(opening|closing)balance",
)  # fmt: skip
_GIVEN_BACK = any_of(_UNDONE.pattern, "返金")
_CHARGE = any_of("チャージ", "top-?up")


@dataclass(frozen=True, slots=True)
class Undecided(MappingSentence):
    """A question to the user about a column that may change an amount or a sum.

    ``readings`` are the possible answers that a balance may prove: the kind of the sentence that
    reports the proof, the mapping with this answer, and what the sentence shows.
    """

    readings: Sequence[tuple[str, Mapping, str]] = ()


def is_decided(
    mapping: Mapping, column: OpenColumn, text: str, keys: Sequence[str] = CONDITIONS
) -> bool:
    """Whether the mapping says, under one of ``keys``, what a text in a column means."""
    conditions: list[Conditions] = [getattr(mapping, key) for key in keys]
    return any(
        fits_pattern(text, pattern) for each in conditions for pattern in each.get(column.key, ())
    )


def is_plain(text: str) -> bool:
    """Whether a text has no wildcards, so that as a pattern it fits only itself."""
    return not {"*", "?"} & set(one_spelling(text))


def samples(texts: Sequence[str]) -> str:
    """The first of these texts, shortened as a question or an answer shows them."""
    shown = "、".join(shown_name(text[:20]) for text in texts[:MAX_WORDS_SHOWN])
    return f"{shown}…" if len(texts) > MAX_WORDS_SHOWN else shown


def with_rows(mapping: Mapping, key: str, column: OpenColumn, texts: Sequence[str]) -> Mapping:
    """The mapping, with texts of a column added to one of its conditions."""
    rows: Conditions = getattr(mapping, key)
    before = rows.get(column.key, ())
    changed = {**rows, column.key: (*before, *texts)}
    return replace(mapping, **{key: changed})  # type: ignore[arg-type]  # a key of conditions


def may_not_count(text: str) -> bool:
    """Whether a text is that of a balance or total, of money returned, or of a top-up."""
    patterns = (_NO_TRANSACTION, _GIVEN_BACK, _CHARGE)
    return any(each.search(one_spelling(text)) for each in patterns)


def about_rows(
    mapping: Mapping, columns: Sequence[OpenColumn], read: MappedRows, doubtful: set[int],
    settled: set[int],
) -> Iterator[Undecided]:  # fmt: skip
    """Ask about rows whose texts suggest that they are no transactions, or give money back.

    A row that the balance proves is a transaction; a ``doubtful`` one, without such a proof, may be
    a balance carried forward. For ``settled`` rows, another column tells what they are.
    """
    by_key = {column.key: column for column in columns}
    of_texts = [by_key[key] for key in (*mapping.description, *mapping.memo) if key in by_key]
    are_all_doubtful = len(doubtful) == len(read.rows)
    for column in [*of_texts, *(each for each in columns if each not in of_texts)]:
        if column.key == mapping.amount:
            continue
        texts = [
            (text, one_spelling(text), at)
            for at, text in enumerate(column.cells)
            if text and at not in settled and not is_decided(mapping, column, text)
        ]
        pattern = _NO_TRANSACTION if column in of_texts else _UNDONE
        none = dict.fromkeys(
            text for text, words, at in texts
            if at in doubtful and (
                pattern.search(words)
                or ((read.rows[at].amount or 0) > 0 and _CHARGE.search(words))  # one's own money
            )
        )  # fmt: skip
        if none:
            skipped = with_rows(mapping, "skipped", column, [*none])
            readings = [("fits-skipped", skipped, samples([*none]))] if are_all_doubtful else []
            yield Undecided("rows", column.name, samples([*none]), readings)
        # Asked even if the balance proves the row: it only shows in which direction the money went.
        back = dict.fromkeys(
            text for text, words, at in texts
            if read.rows[at].category_major == INCOME
            and _GIVEN_BACK.search(words) and text not in none
        )  # fmt: skip
        if back:
            yield Undecided("back", column.name, samples([*back]))
    yield from _about_income(mapping, read.rows)
    amount = None if mapping.amount is None else by_key.get(mapping.amount)
    if amount and of_texts and mapping.positive == "spending" and are_all_doubtful:
        yield from _about_negative_rows(mapping, of_texts[0], amount.numbers or [], settled)


def _about_income(mapping: Mapping, rows: Sequence[TransactionRow]) -> Iterator[Undecided]:
    """Ask about rows with the category of income, if every positive amount is money spent."""
    if mapping.category is None or mapping.positive == "income":
        return
    column = OpenColumn(mapping.category, [INCOME])
    is_spent = any(row.category_major == INCOME and (row.amount or 0) < 0 for row in rows)
    if is_spent and not is_decided(mapping, column, INCOME):
        yield Undecided("income", column.name, INCOME)


def _about_negative_rows(
    mapping: Mapping, names: OpenColumn, amounts: Sequence[int], settled: set[int]
) -> Iterator[Undecided]:
    """Ask about names that only negative amounts have, if positive amounts are money spent."""
    pairs = list(zip(names.cells, amounts, strict=False))
    paid_to = {name for name, amount in pairs if amount > 0}
    came_from = dict.fromkeys(
        name for at, (name, amount) in enumerate(pairs) if amount < 0 and at not in settled
    )
    asked = [
        name for name in came_from if name not in paid_to and not is_decided(mapping, names, name)
    ]
    if asked:
        yield Undecided("incoming", names.name, samples(asked))


OtherDays = Pairs[tuple[MappedColumn, ...], tuple[date, date] | None]
"""Columns by which all rows have days as well, with the first pair of days that differ.

A pair is the row's day by the mapping, and by those columns.
"""
_WRITTEN_IN_DIGITS = len("20250701")


def ways_to_read_days(mapping: Mapping, records: Records, until: date) -> list[str]:
    """Each way to read the most days, none after ``until``: its first day, and the date format."""
    ways: dict[tuple[date, ...], str] = {}
    for date_format in DATE_FORMATS:
        read = read_mapped(replace(mapping, date_format=date_format), records)
        days = tuple(row.date for row in read.rows)
        if days and max(days) <= until:
            ways.setdefault(days, f"{days[0]} {date_format}")
    most = max(map(len, ways), default=0)
    return [way for days, way in ways.items() if len(days) == most]


def about_days(mapping: Mapping, ways: Sequence[str]) -> Undecided:
    """Ask which of these ways to read the days is right."""
    return Undecided("days", ", ".join(map(str, mapping.date)), ", ".join(ways))


def other_days(
    mapping: Mapping, columns: Sequence[OpenColumn], records: Records, read: MappedRows
) -> OtherDays:
    """The columns of days that the mapping does not take; what is in them tells them, or a name."""
    texts = {*mapping.description, *mapping.memo, mapping.amount}
    left = [column for column in columns if column.key not in texts]
    keys: list[tuple[MappedColumn, ...]] = [*dates_named([column.name for column in left])]
    named = {name for key in keys for name in key}
    keys += [
        (column.key,)
        for column in left
        if column.name not in named
        if not (is_day_of_bill(column.name) and _is_named(mapping.date))
        if all(is_date(cell, mapping.date_format) for cell in column.cells)
        if all(len(cell) == _WRITTEN_IN_DIGITS or number_in(cell) is None for cell in column.cells)
    ]
    found: dict[tuple[MappedColumn, ...], tuple[date, date] | None] = {}
    for key in keys:
        other = read_mapped(replace(mapping, date=key), records)
        if [row.line for row in other.rows] == [row.line for row in read.rows]:
            days = [(row.date, its.date) for row, its in zip(read.rows, other.rows, strict=True)]
            found[key] = next((pair for pair in days if pair[0] != pair[1]), None)
    return found


def about_other_days(mapping: Mapping, days: OtherDays) -> Iterator[Undecided]:
    """Ask which column has the day that counts, if a further one has other days.

    A day of use counts before one of which the name says nothing, and a column that is named as
    the day (日付) before one that is not (登録日).
    """
    is_named, is_of_use = _is_named(mapping.date), is_day_of_use(mapping.date)
    for columns, differing in days.items():
        is_second = is_named and not _is_named(columns)
        is_second |= is_of_use and not is_day_of_use(columns)
        if differing is not None and not is_second:
            choices = zip((mapping.date, columns), differing, strict=True)
            shown = " / ".join(
                f"date = {json.dumps(names if names[1:] else names[0], ensure_ascii=False)} ({day})"
                for names, day in choices
            )
            yield Undecided("other-days", ", ".join(map(str, columns)), shown)


def _is_named(columns: Sequence[MappedColumn]) -> bool:
    return bool(dates_named([*map(str, columns)]))
