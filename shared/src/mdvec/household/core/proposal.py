"""Proposes a mapping for a statement of an unknown kind, from its header and its first rows."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Mapping as Pairs
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta
from typing import Any

from mdvec.errors import MdvecError
from mdvec.household.core.cells import is_date, number_in, records_of
from mdvec.household.core.column_questions import Records, Undecided, about_days, ways_to_read_days
from mdvec.household.core.column_roles import (
    INCOMING,
    OUTGOING,
    mapping_of_header,
    names_spending,
    ways_of,
)
from mdvec.household.core.mapped_rows import MAX_LINES_ABOVE, read_mapped, title_of
from mdvec.household.core.mapping import DATE_FORMATS, Mapping, MappingSentence
from mdvec.household.core.stated import against_the_balance, with_stated
from mdvec.household.core.undecided import MappingProposal, decide

_MIN_ROWS = 2
_MIN_SHARE = 0.8
_SMALL = 100
"""A column whose numbers are all smaller holds counts of payments rather than amounts."""

_ASCII_DIGITS = re.compile("[0-9]+")


def headless_mapping(records: Records, name: str, files: str) -> Mapping | None:
    """A mapping by column numbers, for files recognised by the line above the rows.

    If there is no such line, files are recognised by ``files``, a pattern of names. None if no
    column holds dates, or none holds amounts.
    """
    lists = [cells for _, cells in records if not isinstance(cells, str)]
    counts = Counter(at for cells in lists for at, cell in enumerate(cells) if is_date(cell))
    date = max(counts, key=lambda column: (counts[column], -column), default=0)
    if counts[date] < _MIN_ROWS:
        return None
    rows = [cells for cells in lists if date < len(cells) and is_date(cells[date])]
    pair = _column_for_each_way(rows, date)
    amount = _amount_column(rows, {date, *(pair or ())})
    description = _description_column(rows, {date, amount, *(pair or ())})
    if description is None or (amount is None and pair is None):
        return None
    title = _title(lists, rows[0])
    mapping = Mapping(
        name=name,
        title=title,
        files="" if title else files,
        date=(date + 1,),
        description=(description + 1,),
        amount=None if amount is None else amount + 1,
        account=name,
    )
    if pair is None:
        return mapping
    paid_out, paid_in = (column + 1 for column in pair)
    # A further column in which every row has an amount is the balance.
    return replace(
        mapping, amount=None, paid_out=(paid_out,), paid_in=(paid_in,), balance=mapping.amount
    )


def _column_for_each_way(rows: Sequence[Sequence[str]], date: int) -> tuple[int, int] | None:
    """Two neighbouring columns of numbers (indexes from 0), of which each row fills just one."""
    for column in range(date + 1, max(map(len, rows)) - 1):
        pairs = [[cell.strip() for cell in row[column : column + 2]] for row in rows]
        ways = {tuple(number_in(cell) is not None for cell in pair) for pair in pairs}
        texts = any(cell and number_in(cell) is None for pair in pairs for cell in pair)
        if ways == {(True, False), (False, True)} and not texts:
            return column, column + 1
    return None


def _amount_column(rows: Sequence[Sequence[str]], used: set[int]) -> int | None:
    """The first unused column of whole yen, nearly all filled, with more than small numbers."""
    for column in range(max(map(len, rows))):
        numbers = [number_in(row[column].strip()) for row in rows if column < len(row)]
        known = [number for number in numbers if number is not None]
        if column in used or len(known) < _MIN_SHARE * len(rows):
            continue
        if max(map(abs, known)) >= _SMALL:
            return column
    return None


def _description_column(rows: Sequence[Sequence[str]], used: set[int | None]) -> int | None:
    """The column with the most distinct texts other than numbers and days."""
    texts: dict[int, set[str]] = {}
    for row in rows:
        for column, cell in enumerate(row):
            if (
                column not in used
                and cell.strip()
                and not is_date(cell)
                and number_in(cell.strip()) is None
            ):
                texts.setdefault(column, set()).add(cell)
    return max(texts, key=lambda column: (len(texts[column]), -column), default=None)


def _title(lists: Sequence[Sequence[str]], first_row: Sequence[str]) -> str:
    """A pattern for the line above the first row, with any number for each of its numbers."""
    above = lists[: lists.index(first_row)][-MAX_LINES_ABOVE:]
    lines = [title_of(cells) for cells in above if any(cell.strip() for cell in cells)]
    return _ASCII_DIGITS.sub(r"\\d+", re.escape(lines[-1])) if lines else ""


_MAX_RECORDS = 2000
_WAY = ("positive", "outgoing", "paid_out", "paid_in")
_KEYS_CHECKED = {
    "short-years": ("date_format",), "taken-as-spent": _WAY, "taken-as-income": _WAY, "ways": _WAY,
    "taken-as-outgoing": ("amount", *_WAY),
}  # fmt: skip
"""For each kind of check, the keys that settle it: if one is stated, the check is not shown."""
_AHEAD = timedelta(days=60)
"""Statements list payments that are due later; a date further ahead comes from a misread year."""

_MONTH = re.compile(r"[0-9０-９]月|[0-9０-９]{4}")
"""A month or year in a column's name, which differs in the next statement (7月支払金額)."""
_DIGITS = re.compile(r"[0-9０-９][0-9０-９年月日/_.\-（）()]*")


class NotMappable(MdvecError):
    """No mapping can be proposed for a file; the message says what is missing."""


def proposal_with(
    text: str, stem: str, today: date, stated: Pairs[str, Any] | None = None
) -> MappingProposal:
    """Proposes a mapping with the user's settings, and names what is left undecided.

    Raises:
        NotMappable: no date, amount and description are recognisable in it.
        InvalidMapping: the stated settings make no valid mapping.
    """
    settings = stated or {}
    records = list(itertools.islice(records_of(text), _MAX_RECORDS))
    proposal = propose_mapping(records, stem, today)
    decided = decide(proposal.mapping, records)
    checks = [*proposal.checks, *decided.checks]
    against: tuple[Undecided, ...] = ()
    if settings:
        before = decided.mapping
        listed = [each if isinstance(each, list | dict) else [each] for each in settings.values()]
        columns = set(map(str, itertools.chain(*listed)))
        changed, missing = with_stated(before, records, settings)
        decided = decide(changed, records, frozenset(settings))
        sentences = [
            each for each in checks
            if each.column not in columns
            and settings.keys().isdisjoint(_KEYS_CHECKED.get(each.kind, ()))
        ]  # fmt: skip
        checks = [*sentences, *missing, *(each for each in decided.checks if each not in sentences)]
        against = tuple(against_the_balance(before, decided.mapping, records, settings))
    undecided = (*against, *decided.undecided)
    ways = ways_to_read_days(decided.mapping, records, today + _AHEAD)
    if "date_format" not in settings and len(ways) > 1:
        undecided += (about_days(decided.mapping, ways),)
    return MappingProposal(decided.mapping, tuple(checks), undecided)


def propose_mapping(records: Records, stem: str, today: date) -> MappingProposal:
    """Proposes a mapping for a file's records; ``stem`` is its name without ending.

    Raises:
        NotMappable: no date, amount and description are recognisable in it.
    """
    name = _DIGITS.sub("", stem).strip(" _-　") or "銀行"
    has_header = False
    for above, (_, cells) in enumerate(records[:MAX_LINES_ABOVE]):
        mapping = None if isinstance(cells, str) else mapping_of_header(cells)
        if mapping is not None and not isinstance(cells, str):
            has_header = True
            proposal = _of_header(mapping, cells, records[above:], name, today)
            if proposal is not None:
                return proposal
    headless = headless_mapping(records, name, f"{stem}*")
    if headless is None and has_header:
        raise NotMappable(
            "it has a header, but no rows below it whose date and amount can be read; "
            "map a file of the kind with some"
        )
    if headless is None:
        raise NotMappable(
            "no header was found that names a date, an amount and a description (摘要, 利用店名), "
            "nor columns that hold them; is it a statement?"
        )
    mapping = _with_dates(headless, records, today)
    if mapping.paid_out:
        return _with_order(mapping, records)
    return _with_sign(mapping, records, is_spent=True)


def _of_header(
    mapping: Mapping, header: Sequence[str], records: Records, name: str, today: date
) -> MappingProposal | None:
    columns = tuple(name for name in map(str.strip, header) if name and not _MONTH.search(name))
    mapping = replace(mapping, name=name, header=columns, account=name)
    mapping = _with_dates(mapping, records, today)
    rows_read = read_mapped(mapping, records).rows
    if not rows_read:
        return None
    rows = [cells for _, cells in records[1:] if not isinstance(cells, str)]
    ways = None if mapping.amount is None else ways_of(header, rows)
    if ways is not None and all((row.amount or 0) >= 0 for row in rows_read):
        column, transfers = ways
        mapping = replace(
            mapping,
            outgoing={column: OUTGOING}, counted={column: INCOMING},
            transfers={column: transfers} if transfers else {},
        )  # fmt: skip
        return MappingProposal(mapping, (MappingSentence("ways", column),))
    return _with_sign(mapping, records, is_spent=names_spending(header))


def _with_dates(mapping: Mapping, records: Records, today: date) -> Mapping:
    """The mapping with the date format that reads most rows.

    Among formats that read equally many, the one with the latest date that is not too far ahead:
    07.07.01 is read as 2025 (by era) rather than 2007.
    """
    readings = {}
    for date_format in DATE_FORMATS:
        read = read_mapped(replace(mapping, date_format=date_format), records)
        days = [row.date for row in read.rows if row.date <= today + _AHEAD]
        readings[date_format] = (len(days), max(days, default=date.min))
    best = max(DATE_FORMATS, key=lambda each: readings[each])
    return replace(mapping, date_format=best)


def _with_sign(mapping: Mapping, records: Records, *, is_spent: bool) -> MappingProposal:
    """The mapping with the meaning of positive amounts, which the balance decides if it can."""
    checks = []
    if mapping.date_format != "auto":
        checks.append(MappingSentence("short-years", shown=mapping.date_format))
    if mapping.amount is None:
        return MappingProposal(mapping, tuple(checks))
    spending = replace(mapping, positive="spending")
    read = read_mapped(mapping, records)
    misfits, if_spent = len(read.misfits), len(read_mapped(spending, records).misfits)
    if misfits != if_spent:
        return MappingProposal(mapping if misfits < if_spent else spending, tuple(checks))
    amounts = [row.amount for row in read.rows if row.amount]
    negative = sum(amount < 0 for amount in amounts)
    are_spent = negative * 2 <= len(amounts) and (is_spent or not negative)
    chosen = spending if are_spent else mapping
    meaning = "taken-as-spent" if chosen is spending else "taken-as-income"
    return MappingProposal(chosen, (*checks, MappingSentence(meaning)))


def _with_order(mapping: Mapping, records: Records) -> MappingProposal:
    """The mapping of a file without a header; its balances show which column is money out.

    If the balances fit either choice equally well, the proposal asks the user to check.
    """
    swapped = replace(mapping, paid_out=mapping.paid_in, paid_in=mapping.paid_out)
    own, other = (len(read_mapped(each, records).misfits) for each in (mapping, swapped))
    chosen = swapped if other < own else mapping
    check = MappingSentence("taken-as-outgoing", str(chosen.paid_out[0]))
    return MappingProposal(chosen, (check,) if own == other else ())
