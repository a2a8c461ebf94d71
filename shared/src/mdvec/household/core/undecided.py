"""What a mapping leaves undecided in a file: columns and rows that may change an amount.

Nothing is guessed. A column that the mapping does not name is harmless if it is empty, repeats the
amounts, or holds the same days or document numbers; for any other column, either the running
balance proves that it changes nothing, or the user says what it means. The same holds for new words
in a column whose words the user has explained. Each import checks again: a column of zeros needs no
decision until another number occurs in it.

A balance proves in which direction the money of each row went, except the oldest row's, which
follows from no other. It never proves why: only the user can say whether a payment was undone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date

from mdvec.household.core.balances import movements
from mdvec.household.core.cells import is_date, number_in
from mdvec.household.core.column_questions import (
    MAX_WORDS_SHOWN,
    FileColumns,
    OpenColumn,
    Records,
    Undecided,
    about_days,
    about_other_days,
    about_rows,
    is_decided,
    is_plain,
    may_not_count,
    other_days,
    samples,
    ways_to_read_days,
    with_rows,
)
from mdvec.household.core.column_roles import (
    BOTH_WAYS,
    INCOMING,
    OUTGOING,
    any_of,
    are_sides,
    is_foreign,
)
from mdvec.household.core.mapped_rows import MappedRows, is_yen, read_mapped
from mdvec.household.core.mapping import MappedColumn, Mapping, MappingSentence, one_spelling
from mdvec.text import shown_name

DECIDED = frozenset({"positive", "paid_out", "date", "date_format", "description"})
"""Keys that count as decided in a saved mapping, even if it does not state them."""

_UNIT = any_of("単位.{0,2}[百千万億]円", "(?<=[(額])[百千万億]円", "thousands", "millions")
_DOCUMENT = re.compile(
    r"(番号?|(?<![A-Z])ID|[a-z]Id|^id|^[Nn]o\.?|回数|残高|現在高|[Bb]alance)#?(\(円\))?$"
)
"""Names of columns that hold counts, balances or identifiers."""
_SPENT = any_of("利用", "購入", "買", "支払", "出金", "spent", "paid")
_KEYS = {"sign": "positive", "sides": "paid_out"}
"""The key of a mapping that answers each kind of question about the amount."""
_WAYS = ("fits-outgoing", "fits-spending", "fits-income")
_SETTLING = ("refunds", "reversals", "transfers", "not_counted")
"""The keys that say what a row is, whatever its other columns say."""
_MAX_WORDS_TRIED = 6


@dataclass(frozen=True, slots=True)
class MappingProposal:
    """A proposed mapping, what the user should check, and what is undecided."""

    mapping: Mapping
    checks: tuple[MappingSentence, ...]
    undecided: tuple[Undecided, ...] = ()


def decide(
    mapping: Mapping, records: Records, stated: frozenset[str] = frozenset()
) -> MappingProposal:
    """Decide open questions of a proposal by the balance; ``stated`` keys are the user's."""
    evidence: list[MappingSentence] = []
    tried: set[str] = set()
    while True:
        read = read_mapped(mapping, records)
        left = undecided_in(mapping, records, read, stated)
        first = next((each for each in left if each.readings and each.column not in tried), None)
        if first is None:
            without = undecided_in(mapping, records, read, stated, by_balance=False)
            asked = {each.column for each in left}
            told = {str(key) for each in mapping.conditions for key in each}
            out = set(map(str, mapping.paid_out))
            evidence += [
                MappingSentence("fits-given-back" if column in out else "fits-ignored", column)
                for column in sorted({each.column for each in without} - asked - told)
            ]
            if any(each.kind in _WAYS for each in evidence):
                oldest = [row for at, row in enumerate(read.rows) if at in read.unproven]
                shown = ", ".join(f"{row.date} {row.amount or 0:+,}" for row in oldest)
                evidence.append(MappingSentence("oldest", str(mapping.amount), shown))
            return MappingProposal(mapping, tuple(evidence), left)
        tried.add(first.column)
        fitting = _fitting(first, records, read)
        if len(fitting) == 1:
            sentence, mapping = fitting[0]
            stated |= {_KEYS.get(first.kind, "")}
            tried.clear()  # after this decision, the balance may decide another column
            evidence.append(sentence)


def _fitting(
    question: Undecided, records: Records, before: MappedRows
) -> list[tuple[MappingSentence, Mapping]]:
    """The readings of a question that the balance proves; the first of those with equal amounts.

    Readings that leave out fewer rows explain more balances, so only those with most rows count.
    They may leave out only those rows of ``before`` that have no amount or changed no balance.
    """
    fitting: dict[tuple[int | None, ...], tuple[MappingSentence, Mapping]] = {}
    for kind, mapping, shown in question.readings:
        read = read_mapped(mapping, records)
        left_out = {row.line for row in before.rows if row.amount} - {row.line for row in read.rows}
        moved_nothing = all(
            moved.get(line) == 0 for moved in movements(before.blocks) for line in left_out
        )
        if moved_nothing and read.are_proven:
            sentence = MappingSentence(kind, question.column, shown)
            fitting.setdefault(tuple(row.amount for row in read.rows), (sentence, mapping))
    most = max(map(len, fitting), default=0)
    return [reading for amounts, reading in fitting.items() if len(amounts) == most]


def with_other_words_counted(
    mapping: Mapping, records: Records, columns: Iterable[MappedColumn], *, has_kinds: bool
) -> Mapping:
    """The mapping, with the remaining words of ``columns`` counted as plain transactions.

    The user has explained some words of these columns. The user is still asked about words that
    suggest no transaction, or money that comes back. ``has_kinds``: the user has stated ``kinds``.
    """
    counted, kinds = dict(mapping.counted), mapping.kinds
    read = read_mapped(replace(mapping, skipped={}), records)
    for column in FileColumns((mapping,), records).left_open(mapping, read):
        if column.key not in columns or _is_read(column, mapping, frozenset()):
            continue
        if column.key in mapping.description:
            kinds = tuple(dict.fromkeys((*kinds, column.key)))
        left = [text for text in column.texts if not is_decided(mapping, column, text)]
        words = tuple(text for text in left if is_plain(text) and not may_not_count(text))
        if words and len(left) <= MAX_WORDS_SHOWN:
            counted[column.key] = (*counted.get(column.key, ()), *words)
    kinds = mapping.kinds if has_kinds else kinds
    return replace(mapping, counted=counted, kinds=kinds)


def undecided_in(
    mapping: Mapping, records: Records, read: MappedRows, stated: frozenset[str] = DECIDED,
    *, by_balance: bool = True,
) -> tuple[Undecided, ...]:  # fmt: skip
    """The open questions of a mapping about a file; the ``stated`` keys are decided.

    With ``by_balance``, what the balances prove is decided, too.
    """
    there = FileColumns((mapping,), records)
    columns = there.left_open(mapping, read)
    is_proven = by_balance and read.are_proven
    questions = [*_about_the_unit(mapping, records, read)]
    questions += _about_the_amount(
        mapping, columns, stated, both_filled=_both_are_filled(mapping, there)
    )
    if mapping.paid_out and "paid_out" not in stated and not is_proven:
        questions += _about_minus_signs(mapping, records, read)
    if read.bad and not read.rows and (ways := ways_to_read_days(mapping, records, date.max)):
        questions.append(about_days(mapping, ways))
    days = other_days(mapping, columns, records, read)
    if "date" not in stated:
        questions += about_other_days(mapping, days)
    rows = read.unproven if is_proven else set(range(len(read.rows)))
    of_days = {key for keys in days for key in keys}
    for column in columns:
        if column.key not in of_days and not _is_read(column, mapping, stated):
            asked = _of_unknown_way(read, column, mapping, columns) if is_proven else rows
            questions += _unread_column(column, mapping, read, asked, stated)
    known = {each.column for each in questions}
    left = [column for column in columns if column.name not in known]
    settled = {
        at for column in columns for at, text in enumerate(column.cells)
        if is_decided(mapping, column, text, _SETTLING)
    }  # fmt: skip
    questions += about_rows(mapping, left, read, rows, settled)
    return tuple(questions)


def _has_kinds(column: OpenColumn, mapping: Mapping) -> bool:
    """Whether a description has so few texts that they may be kinds of rows (支払, 返金, 失敗)."""
    most = len(column.cells) // 3
    if len(mapping.description) > 1:
        most = max(2, most)
    return 1 < len(column.texts) <= min(MAX_WORDS_SHOWN, most)


def _is_read(column: OpenColumn, mapping: Mapping, stated: frozenset[str]) -> bool:
    """Whether a column's cells are taken as they are: as amounts or free text."""
    if column.key in mapping.kinds:
        return False
    if column.key in mapping.description:
        return not stated.isdisjoint(("description", "kinds")) or not _has_kinds(column, mapping)
    return column.key in (*mapping.memo, mapping.amount)


def _of_unknown_way(
    read: MappedRows, column: OpenColumn, mapping: Mapping, columns: Sequence[OpenColumn]
) -> set[int]:
    """The indexes of unproven rows for which even the direction of the money is open.

    If no amount has a sign, a word (支払, 入金) tells the direction, if other rows have it too.
    """
    amounts = next((each.numbers for each in columns if each.key == mapping.amount), None) or []
    has_signs = not mapping.outgoing and any(amount < 0 for amount in amounts)
    if mapping.amount is None or has_signs:
        return set()
    unproven = read.unproven
    telling = [each for each in columns if each.key in mapping.outgoing] or [column]
    ways = [OUTGOING if (row.amount or 0) < 0 else INCOMING for row in read.rows]
    return {
        at for at in unproven
        if not any(
            is_decided(mapping, each, each.cells[at]) or each.cells[at] in ways[at]
            or each.cells[at] in each.others(unproven)
            for each in telling
        )
    }  # fmt: skip


def _unread_column(
    column: OpenColumn, mapping: Mapping, read: MappedRows, asked: set[int], stated: frozenset[str]
) -> Iterator[Undecided]:
    """Ask about a column that the mapping does not read, but which may change rows or amounts."""
    name = one_spelling(column.name)
    words = [text for text in column.texts if not is_decided(mapping, column, text)]
    has_decided_words = any(column.key in each for each in mapping.conditions)
    numbers = None if has_decided_words else column.numbers
    if not (asked and words) or (not has_decided_words and _DOCUMENT.search(name)):
        return
    if "" not in column.cells and all(map(is_date, words)):
        return  # a day that only some rows have may mark them, so it is asked about
    amounts = [abs(row.amount or 0) for row in read.rows]
    if numbers is not None and (not any(numbers) or list(map(abs, numbers)) == amounts):
        return
    ignored = ("fits-ignored", replace(mapping, ignored=(*mapping.ignored, column.key)), "")
    if mapping.currency is None and is_foreign(name, words):
        if not all(map(is_yen, words)):
            yield Undecided("currency", column.name, samples(words))
    elif numbers is not None:
        fees = replace(mapping, fees=(*mapping.fees, column.key))
        points = replace(mapping, points=(*mapping.points, column.key))
        readings = [("fits-fees", fees, ""), ("fits-points", points, ""), ignored]
        yield Undecided("numbers", column.name, samples(words), readings)
    else:
        readings = [
            ("fits-skipped", with_rows(mapping, "skipped", column, [word]), shown_name(word))
            for word in filter(is_plain, words[:_MAX_WORDS_TRIED])
        ]
        if mapping.amount is not None and all(map(is_plain, words)):
            meaning = mapping if "positive" in stated else replace(mapping, positive="income")
            readings += _by_the_balance(meaning, column, words, read)
        of_rows = [word for word in words if word in {column.cells[at] for at in asked}]
        yield Undecided(
            "words", column.name, samples(of_rows or words),
            readings if len(asked) == len(read.rows) else (),
        )  # fmt: skip


def _by_the_balance(
    mapping: Mapping, column: OpenColumn, words: Sequence[str], read: MappedRows
) -> Iterator[tuple[str, Mapping, str]]:
    """The reading by the direction in which the balance moved with each word, if it ever fell.

    Words that only the oldest row has, or that may not be plain income, are left out.
    """
    for moved in movements(read.blocks):
        if any(
            abs(moved.get(row.line, row.amount or 0)) != abs(row.amount or 0) for row in read.rows
        ):
            continue
        proven = [
            (word, moved[row.line]) for word, row in zip(column.cells, read.rows, strict=True)
            if row.line in moved
        ]  # fmt: skip
        fallen = {word for word, yen in proven if yen < 0}
        fell = [word for word in words if word in fallen]
        risen = {word for word, _ in proven} - fallen
        rose = [word for word in words if word in risen and not may_not_count(word)]
        if fell:
            reading = with_rows(mapping, "outgoing", column, fell)
            counted = with_rows(reading, "counted", column, rose) if rose else reading
            yield "fits-outgoing", counted, samples(fell)


def _about_the_unit(mapping: Mapping, records: Records, read: MappedRows) -> Iterator[Undecided]:
    """Ask about the unit if a line that is no row mentions one, such as thousands of yen."""
    if mapping.unit:
        return
    lines = {row.line for row in read.rows}
    around = [" ".join(c) for line, c in records if line not in lines and not isinstance(c, str)]
    if match := _UNIT.search(one_spelling(" ".join(around))):
        yield Undecided("unit", "unit", match[0])


def _about_the_amount(
    mapping: Mapping,
    columns: Sequence[OpenColumn],
    stated: frozenset[str],
    *,
    both_filled: bool,
) -> Iterator[Undecided]:
    """Ask about the sign of a single amount, which of two columns is money out, and currencies."""
    named = [*mapping.paid_out, *mapping.paid_in, *([mapping.amount] if mapping.amount else [])]
    for key in named:
        name = str(key)
        foreign = is_foreign(one_spelling(name)) and "円" not in name
        if foreign and not mapping.currency and key not in mapping.ignored:
            yield Undecided("foreign", name)
    if mapping.paid_out and mapping.paid_in:
        names = [str(each) for each in (*mapping.paid_out, *mapping.paid_in)]
        swapped = replace(mapping, paid_out=mapping.paid_in, paid_in=mapping.paid_out)
        if "paid_out" not in stated and (
            both_filled or not are_sides(mapping.paid_out[0], mapping.paid_in[0])
        ):
            readings = [("fits-sides", mapping, ""), ("fits-sides", swapped, "")]
            yield Undecided("sides", names[0], shown_name(names[1]), readings)
    amount = mapping.amount
    if amount is None or mapping.outgoing or "positive" in stated:
        return
    name = one_spelling(str(amount))
    numbers = next((each.numbers for each in columns if each.key == amount), None) or []
    known = [number for number in numbers if number]
    is_card = _SPENT.search(name) and mapping.positive == "spending"
    negative = sum(number < 0 for number in known)
    is_signed = mapping.positive == "income" and (
        2 * negative > len(known) or (negative > 0 and BOTH_WAYS.search(name))
    )
    if not (is_card or is_signed):
        readings = [
            ("fits-spending", replace(mapping, positive="spending"), ""),
            ("fits-income", replace(mapping, positive="income"), ""),
        ]
        yield Undecided("sign", str(amount), "", readings)


def _about_minus_signs(mapping: Mapping, records: Records, read: MappedRows) -> Iterator[Undecided]:
    """Ask whether negative numbers among payments are payments or refunds."""
    signed = replace(mapping, paid_in=(*mapping.paid_in, *mapping.paid_out), paid_out=())
    pairs = zip(read.rows, read_mapped(signed, records).rows, strict=True)
    if any((row.amount or 0) > (other.amount or 0) for row, other in pairs):
        name = str(mapping.paid_out[0])
        readings = [("fits-sides", mapping, ""), ("fits-minus", signed, "")]
        columns = json.dumps([str(each) for each in signed.paid_in], ensure_ascii=False)
        yield Undecided("minus", name, columns, readings)


def _both_are_filled(mapping: Mapping, there: FileColumns) -> bool:
    """Whether a row has money both out and in: then one of the columns holds something else."""
    if not (mapping.paid_out and mapping.paid_in):
        return False
    out, in_ = (
        there.cells.get(there.key(key[0]), []) for key in (mapping.paid_out, mapping.paid_in)
    )
    return any(number_in(a or "") and number_in(b or "") for a, b in zip(out, in_, strict=True))
