"""Proposes a mapping for a statement of an unknown kind, from its header and its first rows."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta

from mdvec.errors import MdvecError
from mdvec.household.core.balances import check_balances
from mdvec.household.core.column_roles import ColumnRoles, Ways, roles_of, ways_of
from mdvec.household.core.csv_text import CsvRecord, records_of
from mdvec.household.core.headless import headless_mapping
from mdvec.household.core.mapped_rows import MAX_LINES_ABOVE, MappedRows, read_mapped
from mdvec.household.core.mapping import DATE_FORMATS, Conditions, Mapping

_MAX_RECORDS = 2000
_AHEAD = timedelta(days=60)
"""Statements list payments that are due; a date later than this is a misread year."""

_MONTH = re.compile(r"[0-9０-９]月|[0-9０-９]{4}")
"""In a column's name: the next statement's has another (7月支払金額)."""
_DIGITS = re.compile(r"[0-9０-９][0-9０-９年月日/_.\-（）()]*")


class NotMappable(MdvecError):
    """No mapping can be proposed for a file; the message says what is missing."""


@dataclass(frozen=True, slots=True)
class MappingProposal:
    """A proposed mapping, and what its user should check."""

    mapping: Mapping
    checks: tuple[str, ...]


def propose_mapping(text: str, stem: str, today: date) -> MappingProposal:
    """Proposes a mapping for a file's text; ``stem`` is its name without ending.

    Raises:
        NotMappable: no date, amount and description are recognisable in it.
    """
    records = list(itertools.islice(records_of(text), _MAX_RECORDS))
    name = _DIGITS.sub("", stem).strip(" _-　") or "銀行"
    for above, (_, cells) in enumerate(records[:MAX_LINES_ABOVE]):
        roles = None if isinstance(cells, str) else roles_of(cells)
        if roles is not None and not isinstance(cells, str):
            found = _of_header(roles, cells, records[above:], name, today)
            if found is not None:
                return found
    headless = headless_mapping(records, name, f"{stem}*")
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
    roles: ColumnRoles,
    header: Sequence[str],
    records: Sequence[tuple[int, CsvRecord]],
    name: str,
    today: date,
) -> MappingProposal | None:
    mapping = Mapping(
        name=name,
        header=tuple(name for name in map(str.strip, header) if name and not _MONTH.search(name)),
        date=roles.date,
        description=roles.description,
        amount=roles.amount,
        paid_out=(roles.paid_out,) if roles.paid_out else (),
        paid_in=(roles.paid_in,) if roles.paid_in else (),
        balance=roles.balance,
        memo=roles.memo,
        category=roles.category,
        subcategory=roles.subcategory,
        account=name,
        account_column=(roles.account,) if roles.account else (),
    )
    mapping = _with_dates(mapping, records, today)
    if not read_mapped(mapping, records).rows:
        return None
    rows = [cells for _, cells in records[1:] if not isinstance(cells, str)]
    ways = None if mapping.amount is None else ways_of(header, rows)
    if ways is not None and not _has_negative(mapping, records):
        return _with_ways(mapping, ways)
    return _with_sign(mapping, records, is_spent=roles.is_spent)


def _with_dates(mapping: Mapping, records: Sequence[tuple[int, CsvRecord]], today: date) -> Mapping:
    """The mapping with the date format that most rows have.

    Of formats that fit equally, the one whose last date is latest without lying in the future:
    07.07.01 is 2025 where eras are meant, or else 2007.
    """
    readings = {}
    for date_format in DATE_FORMATS:
        read = read_mapped(replace(mapping, date_format=date_format), records)
        days = [row.date for row in read.rows if row.date <= today + _AHEAD]
        readings[date_format] = (len(days), max(days, default=date.min))
    best = max(DATE_FORMATS, key=lambda each: readings[each])
    return replace(mapping, date_format=best)


def _with_sign(
    mapping: Mapping, records: Sequence[tuple[int, CsvRecord]], *, is_spent: bool
) -> MappingProposal:
    """The mapping with the meaning of positive amounts, by the balance if there is one."""
    checks = []
    if mapping.date_format != "auto":
        checks.append(f"dates are taken with short years as {mapping.date_format}")
    if mapping.amount is None:
        return MappingProposal(mapping, tuple(checks))
    spending = replace(mapping, positive="spending")
    read = read_mapped(mapping, records)
    misfits, misfits_if_spent = _misfits(read), _misfits(read_mapped(spending, records))
    if misfits != misfits_if_spent:
        return MappingProposal(mapping if misfits < misfits_if_spent else spending, tuple(checks))
    amounts = [row.amount for row in read.rows if row.amount]
    negative = sum(amount < 0 for amount in amounts)
    are_spent = negative * 2 <= len(amounts) and (is_spent or not negative)
    chosen = spending if are_spent else mapping
    meaning = "money spent" if chosen is spending else "money that comes in"
    return MappingProposal(chosen, (*checks, f"positive amounts are taken as {meaning}"))


def _with_ways(mapping: Mapping, ways: Ways) -> MappingProposal:
    """The mapping, where a column says which way the money of each row goes."""
    transfers = Conditions({ways.column: ways.transfers} if ways.transfers else {})
    outgoing = Conditions({ways.column: ways.outgoing})
    check = f"{ways.column} says which rows are money that goes out"
    return MappingProposal(replace(mapping, outgoing=outgoing, transfers=transfers), (check,))


def _with_order(mapping: Mapping, records: Sequence[tuple[int, CsvRecord]]) -> MappingProposal:
    """The mapping of a file without a header, whose balance tells which column is money out."""
    swapped = replace(mapping, paid_out=mapping.paid_in, paid_in=mapping.paid_out)
    misfits = [_misfits(read_mapped(each, records)) for each in (mapping, swapped)]
    chosen = swapped if misfits[1] < misfits[0] else mapping
    told = misfits[0] != misfits[1]
    check = f"column {chosen.paid_out[0]} is taken as money that goes out"
    return MappingProposal(chosen, () if told else (check,))


def _has_negative(mapping: Mapping, records: Sequence[tuple[int, CsvRecord]]) -> bool:
    return any((row.amount or 0) < 0 for row in read_mapped(mapping, records).rows)


def _misfits(read: MappedRows) -> int:
    """How many balances do not follow from those beside them."""
    return sum(len(check_balances(block).misfits) for block in read.balances)
