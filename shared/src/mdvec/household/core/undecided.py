"""What a mapping leaves undecided in a file: columns and rows that would change a figure.

Nothing is guessed. A column that the mapping does not name is harmless if it is empty, repeats the
amounts, or holds days or document numbers; of any other, either the running balance proves that it
changes nothing, or the user says what it means. The same holds for new words in a column whose
words the user has explained. Each import checks again: a column of zeros needs no decision until
another number occurs in it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from mdvec.household.core.categories import INCOME
from mdvec.household.core.cells import (
    BadCell,
    CsvRecord,
    TransactionRow,
    is_date,
    parse_amount,
)
from mdvec.household.core.column_roles import any_of, is_foreign
from mdvec.household.core.mapped_rows import TOTAL, MappedRows, header_test, is_yen, read_mapped
from mdvec.household.core.mapping import Conditions, MappedColumn, Mapping, one_spelling
from mdvec.household.core.mapping_sentences import MappingSentence
from mdvec.text import shown_name

Records = Sequence[tuple[int, CsvRecord]]

DECIDED = frozenset({"positive", "paid_out", "date_format", "description"})
"""Keys that a saved mapping has decided, even if it does not name them."""


_UNIT = any_of("単位.{0,2}[百千万億]円", "(?<=[(額])[百千万億]円", "thousands", "millions")
_DOCUMENT = re.compile(
    r"(番号?|(?<![A-Z])ID|[a-z]Id|^id|^[Nn]o\.?|回数|残高|現在高|[Bb]alance)#?(\(円\))?$"
)
"""Names of columns that count or identify."""
_UNDONE = any_of(
    "取消", "取り消し", "訂正", "返品", "キャンセル", "cancel", "revers", "revert", "refund"
)
_NO_TRANSACTION = any_of(
    TOTAL.pattern, _UNDONE.pattern, "繰越", "残高", "total", "(brought|carried)forward",
    "(opening|closing)balance",
)  # fmt: skip
_CHARGE = any_of("チャージ", "top-?up")
_BOOKS = any_of("借方?", "貸方?", "debit", "credit", r"\b[dc]r\b")
_SPENT = any_of("利用", "購入", "買", "支払", "出金", "spent", "paid")
_SIGNED = any_of("入出金", "出入金", "受払")
_MONTH = re.compile("[0-9]{1,2}(?=月)|[0-9]{4}")
_KEYS = {"sign": "positive", "sides": "paid_out"}
"""The key of a mapping that answers a question of the amount."""
_MAX_WORDS_TRIED = 6
_MAX_WORDS_SHOWN = 12


@dataclass(frozen=True, slots=True)
class Undecided:
    """A column that changes a figure, and the question about it.

    ``readings`` are its possible meanings: the sentence if the balance proves one, and its mapping.
    """

    column: str
    question: MappingSentence
    readings: tuple[tuple[MappingSentence, Mapping], ...] = ()

    @classmethod
    def of(
        cls, kind: str, column: str, shown: str = "",
        readings: Iterable[tuple[str, Mapping, str]] = (),
    ) -> Undecided:  # fmt: skip
        """A question of a kind; a reading is the kind of its sentence, its mapping, and a value."""
        meanings = tuple(
            (MappingSentence(what, column, shown_value), each)
            for what, each, shown_value in readings
        )
        return cls(column, MappingSentence(kind, column, shown), meanings)


@dataclass(frozen=True, slots=True)
class MappingProposal:
    """A proposed mapping, what the user should check, and what is undecided."""

    mapping: Mapping
    checks: tuple[MappingSentence, ...]
    undecided: tuple[Undecided, ...] = ()


def decide(
    mapping: Mapping, records: Records, stated: frozenset[str] = frozenset()
) -> MappingProposal:
    """Decide open questions of a proposal by the balance; the user gave the ``stated`` keys."""
    evidence: list[MappingSentence] = []
    tried: set[str] = set()
    while True:
        read = read_mapped(mapping, records)
        left = undecided_in(mapping, records, read, stated)
        first = next((each for each in left if each.readings and each.column not in tried), None)
        if first is None:
            without = undecided_in(mapping, records, read, stated, by_balance=False)
            settled = {each.column for each in without} - {each.column for each in left}
            out = set(map(str, mapping.paid_out))
            evidence += [
                MappingSentence("fits-given-back" if column in out else "fits-ignored", column)
                for column in sorted(settled)
            ]
            return MappingProposal(mapping, tuple(evidence), left)
        tried.add(first.column)
        fitting = _fitting(first.readings, records)
        if len(fitting) == 1 and len(first.readings) > 1:
            sentence, mapping = fitting[0]
            stated |= {_KEYS.get(first.question.kind, "")}
            tried.clear()  # with this decision, the balance may decide another column
            evidence.append(sentence)


def _fitting(
    readings: Iterable[tuple[MappingSentence, Mapping]], records: Records
) -> list[tuple[MappingSentence, Mapping]]:
    """The readings that the balance proves; of those with the same amounts, the first.

    Readings that leave out fewer rows explain more balances, so only those with most rows count.
    """
    fitting: dict[tuple[int | None, ...], tuple[MappingSentence, Mapping]] = {}
    for sentence, mapping in readings:
        read = read_mapped(mapping, records)
        if _proves(read):
            fitting.setdefault(tuple(row.amount for row in read.rows), (sentence, mapping))
    most = max(map(len, fitting), default=0)
    return [reading for amounts, reading in fitting.items() if len(amounts) == most]


def _proves(read: MappedRows) -> bool:
    """Whether every row has a balance that follows from the previous one."""
    rows = [row for block in read.blocks for row in block]
    if any(row is None or row.balance is None or row.amount is None for row in rows):
        return False
    return any(check.compared for check in read.checks) and not read.misfits


def with_other_words_counted(
    mapping: Mapping, records: Records, columns: Iterable[MappedColumn]
) -> Mapping:
    """The mapping, with the remaining words of ``columns`` counted as plain transactions.

    They are columns some of whose words the user has explained.
    """
    counted = dict(mapping.counted.patterns)
    read = read_mapped(mapping, records)
    for column in _columns(mapping, records, read):
        is_free_text = column.key in mapping.memo or (
            column.key in mapping.description and not _has_kinds(column, mapping)
        )
        if column.key in columns and not is_free_text:
            left = [text for text in column.texts if not _is_decided(mapping, column, text)]
            words = tuple(filter(_is_plain, left))
            if words and len(left) <= _MAX_WORDS_SHOWN:
                counted[column.key] = (*counted.get(column.key, ()), *words)
    return replace(mapping, counted=Conditions(counted))


@dataclass(frozen=True, slots=True)
class _Column:
    """A column's cells, one for each row that was read."""

    key: MappedColumn
    cells: list[str]

    @property
    def name(self) -> str:
        return str(self.key)

    @property
    def texts(self) -> list[str]:
        return list(dict.fromkeys(cell for cell in self.cells if cell))

    @property
    def numbers(self) -> list[int] | None:
        """The cells as amounts, 0 for an empty one; None if they are something else."""
        try:
            return [parse_amount(cell) or 0 for cell in self.cells]
        except BadCell:
            return None


def undecided_in(
    mapping: Mapping, records: Records, read: MappedRows, stated: frozenset[str] = DECIDED,
    *, by_balance: bool = True,
) -> tuple[Undecided, ...]:  # fmt: skip
    """The open questions of a mapping about a file; the ``stated`` keys are decided.

    ``by_balance``: what the balance of every row proves is decided, too.
    """
    lines = {row.line for row in read.rows}
    columns = _columns(mapping, records, read)
    is_proven = by_balance and _proves(read)
    questions: list[Undecided] = []
    if not mapping.unit:
        around = [
            " ".join(cells)
            for line, cells in records
            if line not in lines and not isinstance(cells, str)
        ]
        if match := _UNIT.search(one_spelling(" ".join(around))):
            questions.append(Undecided.of("unit", "unit", match[0]))
    questions += _about_the_amount(mapping, columns, stated)
    if mapping.paid_out and "paid_out" not in stated and not is_proven:
        questions += _about_minus_signs(mapping, records, read)
    amounts = [abs(row.amount or 0) for row in read.rows]
    for column in columns:
        if not _is_read(column, mapping, stated) and not (
            is_proven and _is_proven_to_the_end(column, mapping, read)
        ):
            questions += _unread_column(column, mapping, amounts)
    questions += _about_rows(mapping, columns, read, is_proven=is_proven)
    return tuple(questions)


def _columns(mapping: Mapping, records: Records, read: MappedRows) -> list[_Column]:
    """The columns that may raise questions: those that are neither read nor ignored.

    Also the descriptions and the single amount, whose cells may say something about their rows.
    """
    lines = {row.line for row in read.rows}
    decided_later = {*mapping.description, *mapping.memo, mapping.amount}
    settled = {_one_spelling(key) for key in mapping.valued_columns() if key not in decided_later}
    ignored = {_of_any_month(key) for key in mapping.ignored}
    own = {_one_spelling(key): key for key in mapping.columns()}

    def open_key(name: MappedColumn) -> MappedColumn | None:
        is_settled = _one_spelling(name) in settled or _of_any_month(name) in ignored
        return None if is_settled else own.get(_one_spelling(name), name)

    columns: dict[MappedColumn, dict[int, str]] = {}
    keys: list[MappedColumn | None] = []
    rows = 0
    is_header = header_test(mapping)
    for line, cells in records:
        if isinstance(cells, str):
            continue
        if line in lines:
            keys += map(open_key, range(len(keys) + 1, len(cells) + 1))
            for key, cell in zip(keys, cells, strict=False):
                if key is not None:
                    columns.setdefault(key, {})[rows] = cell.strip()
            rows += 1
        elif mapping.header and is_header(cells):
            names = [cell.strip() for cell in cells]
            keys = [
                open_key(number if not name or name in names[: number - 1] else name)
                for number, name in enumerate(names, 1)
            ]
    return [
        _Column(key, [cells.get(row, "") for row in range(rows)]) for key, cells in columns.items()
    ]


def _one_spelling(column: MappedColumn) -> MappedColumn:
    return column if isinstance(column, int) else one_spelling(column)


def _of_any_month(column: MappedColumn) -> MappedColumn:
    """A column's name without the number of its month or year (7月支払金額)."""
    return column if isinstance(column, int) else _MONTH.sub("0", one_spelling(column))


def _is_decided(mapping: Mapping, column: _Column, text: str) -> bool:
    """Whether the mapping says what a text in a column means."""
    return any(
        fnmatchcase(one_spelling(text), one_spelling(pattern))
        for conditions in mapping.conditions
        for pattern in conditions.patterns.get(column.key, ())
    )


def _has_kinds(column: _Column, mapping: Mapping) -> bool:
    """Whether a description has so few texts that they may be kinds of rows (支払, 返金, 失敗)."""
    most = len(column.cells) // 3
    if len(mapping.description) > 1:
        most = max(2, most)
    return 1 < len(column.texts) <= min(_MAX_WORDS_SHOWN, most)


def _is_read(column: _Column, mapping: Mapping, stated: frozenset[str]) -> bool:
    """Whether a column needs no question: its cells are read as an amount, or as free text."""
    has_kinds = column.key in mapping.counted.patterns
    if column.key not in mapping.description:
        return column.key in (*mapping.memo, mapping.amount) and not has_kinds
    is_decided = "description" in stated and not has_kinds
    return is_decided or not _has_kinds(column, mapping)


def _is_proven_to_the_end(column: _Column, mapping: Mapping, read: MappedRows) -> bool:
    """Whether the balances decide a column for the oldest row, too, which has none before it.

    Where amounts have no sign, a word that only this row has may mean that its money goes the
    other way (支払, チャージ).
    """
    is_signed = (
        len({(row.amount or 0) > 0 for row in read.rows} | {mapping.positive == "income"}) > 1
    )
    if mapping.amount is None or mapping.outgoing or is_signed:
        return True
    return all(column.cells.count(column.cells[row]) > 1 for row in _oldest(read))


def _unread_column(
    column: _Column, mapping: Mapping, amounts: Sequence[int]
) -> Iterator[Undecided]:
    """The questions about a column that the mapping does not read."""
    name = one_spelling(column.name)
    words = [text for text in column.texts if not _is_decided(mapping, column, text)]
    has_decided_words = any(column.key in each.patterns for each in mapping.conditions)
    numbers = None if has_decided_words else column.numbers
    if not words or (not has_decided_words and _DOCUMENT.search(name)):
        return
    if "" not in column.cells and all(map(is_date, words)):
        return  # dates in only some rows would distinguish these
    if numbers is not None and (not any(numbers) or list(map(abs, numbers)) == list(amounts)):
        return
    ignored = ("fits-ignored", replace(mapping, ignored=(*mapping.ignored, column.key)), "")
    if mapping.currency is None and is_foreign(name, words):
        if not all(map(is_yen, words)):
            yield Undecided.of("currency", column.name, _samples(words))
    elif numbers is not None:
        fees = replace(mapping, fees=(*mapping.fees, column.key))
        points = replace(mapping, points=(*mapping.points, column.key))
        readings = [("fits-fees", fees, ""), ("fits-points", points, ""), ignored]
        yield Undecided.of("numbers", column.name, _samples(words), readings)
    else:
        readings = [
            (f"fits-{key}", _with_rows(mapping, key, column, [word]), shown_name(word))
            for key in ("outgoing", "reversals", "skipped")
            for word in filter(_is_plain, words[:_MAX_WORDS_TRIED])
            if key != "outgoing" or mapping.amount is not None
        ]
        yield Undecided.of("words", column.name, _samples(words), [*readings, ignored])


def _is_plain(text: str) -> bool:
    """Whether a pattern of the text fits no other text."""
    return not {"*", "?"} & set(one_spelling(text))


def _samples(texts: Sequence[str]) -> str:
    shown = "、".join(shown_name(text[:20]) for text in texts[:_MAX_WORDS_SHOWN])
    return f"{shown}…" if len(texts) > _MAX_WORDS_SHOWN else shown


def _with_rows(mapping: Mapping, key: str, column: _Column, texts: Sequence[str]) -> Mapping:
    rows: Conditions = getattr(mapping, key)
    changed = Conditions({**rows.patterns, column.key: tuple(texts)})
    return replace(mapping, **{key: changed})  # type: ignore[arg-type]  # a key of conditions


def _about_the_amount(
    mapping: Mapping, columns: Sequence[_Column], stated: frozenset[str]
) -> Iterator[Undecided]:
    """The sign of a single amount, and which of two columns is money out."""
    named = [*mapping.paid_out, *mapping.paid_in, *([mapping.amount] if mapping.amount else [])]
    for key in named:
        name = str(key)
        foreign = is_foreign(one_spelling(name)) and "円" not in name
        if foreign and not mapping.currency and key not in mapping.ignored:
            yield Undecided.of("foreign", name)
    if mapping.paid_out and mapping.paid_in:
        names = [str(each) for each in (*mapping.paid_out, *mapping.paid_in)]
        swapped = replace(mapping, paid_out=mapping.paid_in, paid_in=mapping.paid_out)
        in_doubt = any(_BOOKS.search(one_spelling(name)) for name in names) or not mapping.header
        if in_doubt and "paid_out" not in stated:
            readings = [("fits-sides", mapping, ""), ("fits-sides", swapped, "")]
            yield Undecided.of("sides", names[0], shown_name(names[1]), readings)
    amount = mapping.amount
    if amount is None or mapping.outgoing or "positive" in stated:
        return
    name = one_spelling(str(amount))
    numbers = next((each.numbers for each in columns if each.key == amount), None) or []
    known = [number for number in numbers if number]
    is_card = _SPENT.search(name) and mapping.positive == "spending"
    negative = sum(number < 0 for number in known)
    is_signed = mapping.positive == "income" and (
        2 * negative > len(known) or (negative > 0 and _SIGNED.search(name))
    )
    if not (is_card or is_signed):
        readings = [
            ("fits-spending", replace(mapping, positive="spending"), ""),
            ("fits-income", replace(mapping, positive="income"), ""),
        ]
        yield Undecided.of("sign", str(amount), "", readings)


def _about_minus_signs(mapping: Mapping, records: Records, read: MappedRows) -> Iterator[Undecided]:
    """Ask whether a minus sign among payments still means a payment, or a refund."""
    signed = replace(mapping, paid_in=(*mapping.paid_in, *mapping.paid_out), paid_out=())
    pairs = zip(read.rows, read_mapped(signed, records).rows, strict=True)
    if any((row.amount or 0) > (other.amount or 0) for row, other in pairs):
        name = str(mapping.paid_out[0])
        readings = [("fits-sides", mapping, ""), ("fits-minus", signed, "")]
        columns = json.dumps([str(each) for each in signed.paid_in], ensure_ascii=False)
        yield Undecided.of("minus", name, columns, readings)


def _about_rows(
    mapping: Mapping, columns: Sequence[_Column], read: MappedRows, *, is_proven: bool
) -> Iterator[Undecided]:
    """Ask about rows whose descriptions suggest that they are no transactions, or refunds.

    The balance proves that rows move money, except the oldest one, which may be an opening balance.
    """
    rows = read.rows
    doubtful = set(_oldest(read) if is_proven else range(len(rows)))
    by_key = {column.key: column for column in columns}
    texts_of = [by_key[key] for key in (*mapping.description, *mapping.memo) if key in by_key]
    for column in texts_of:
        doubts = [
            (text, one_spelling(text), rows[at], at in doubtful)
            for at, text in enumerate(column.cells)
            if text and not _is_decided(mapping, column, text)
        ]
        texts = [
            text for text, words, row, is_doubtful in doubts
            if (is_doubtful and _NO_TRANSACTION.search(words))
            or ((row.amount or 0) > 0 and _CHARGE.search(words))
        ]  # fmt: skip
        if texts:
            yield _rows_like(mapping, column, list(dict.fromkeys(texts)))
        # The balance may prove that money came in, but not that it is income.
        back = [
            text for text, words, row, _ in doubts
            if row.category_major == INCOME and _UNDONE.search(words) and text not in texts
        ]  # fmt: skip
        if back:
            yield Undecided.of("rows", column.name, _samples(list(dict.fromkeys(back))))
    yield from _about_income(mapping, rows)
    amount = None if mapping.amount is None else by_key.get(mapping.amount)
    if amount and texts_of and mapping.positive == "spending" and not is_proven:
        column = texts_of[0]
        pairs = list(zip(column.cells, amount.numbers or (), strict=False))
        paid_to = {text for text, number in pairs if number > 0}
        came_from = dict.fromkeys(text for text, number in pairs if number < 0)
        texts = [
            text
            for text in came_from
            if text not in paid_to and not _is_decided(mapping, column, text)
        ]
        if texts:
            yield Undecided.of("incoming", column.name, _samples(texts))


def _about_income(mapping: Mapping, rows: Sequence[TransactionRow]) -> Iterator[Undecided]:
    """Ask about rows with the category of income, if every positive amount is money spent."""
    if mapping.category is None or mapping.positive == "income":
        return
    column = _Column(mapping.category, [INCOME])
    is_spent = any(row.category_major == INCOME and (row.amount or 0) < 0 for row in rows)
    if is_spent and not _is_decided(mapping, column, INCOME):
        comes_in = _with_rows(mapping, "reversals", column, [INCOME])
        yield Undecided.of("income", column.name, INCOME, [("fits-reversals", comes_in, INCOME)])


def _oldest(read: MappedRows) -> tuple[int, ...]:
    """The row that may be the oldest: at the beginning or at the end of the file."""
    first, last = read.rows[0].date, read.rows[-1].date
    ends = (0, len(read.rows) - 1)
    return ends if first == last else ends[first > last :][:1]


def _rows_like(mapping: Mapping, column: _Column, different: Sequence[str]) -> Undecided:
    shown = _samples(different)
    readings = [
        ("fits-skipped", _with_rows(mapping, "skipped", column, different), shown),
        ("fits-reversals", _with_rows(mapping, "reversals", column, different), shown),
        ("fits-ignored", replace(mapping, ignored=(*mapping.ignored, column.key)), ""),
    ]
    return Undecided.of("rows", column.name, shown, readings)
