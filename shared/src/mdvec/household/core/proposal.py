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
    is_known,
    mapping_of_columns,
    names_spending,
    ways_of,
)
from mdvec.household.core.mapped_rows import MAX_LINES_ABOVE, read_mapped, title_of
from mdvec.household.core.mapping import (
    DATE_FORMATS,
    Mapping,
    MappingSentence,
    columns_in,
    mapping_of,
    one_spelling,
    plain_names,
)
from mdvec.household.core.stated import against_the_balance, with_stated
from mdvec.household.core.undecided import MappingProposal, decide

_MIN_ROWS = 2
_MIN_COLUMNS = 3
_MIN_KNOWN = 2
_ASCII_DIGITS = re.compile("[0-9]+")
_MAX_RECORDS = 2000
_COLUMNS_NEEDED = ("date", "description", "amount", "paid_out", "paid_in")
_WAY = ("positive", "outgoing", "paid_out", "paid_in")
_KEYS_CHECKED = {
    "short-years": ("date_format",), "taken-as-spent": _WAY, "taken-as-income": _WAY, "ways": _WAY,
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
        NotMappable: no date, amount and description are recognisable in it, nor stated.
        InvalidMapping: the stated settings make no valid mapping.
    """
    settings = stated or {}
    records = list(itertools.islice(records_of(text), _MAX_RECORDS))
    try:
        proposal = propose_mapping(records, stem, today)
    except NotMappable:
        mapping = _as_stated(records, settings, stem)
        if mapping is None:
            raise
        proposal = MappingProposal(_with_dates(mapping, records, today), ())
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
    name = _name_of(stem)
    has_header = False
    for above, (_, cells) in enumerate(records[:MAX_LINES_ABOVE]):
        mapping = None if isinstance(cells, str) else _by_names(cells)
        if mapping is not None and not isinstance(cells, str):
            has_header = True
            proposal = _of_header(mapping, cells, records[above:], name, today)
            if proposal is not None:
                return proposal
    by_cells = _by_cells(records, name, f"{stem}*", today)
    if by_cells is None and has_header:
        raise NotMappable(
            "it has a header, but no rows below it whose date and amount can be read; "
            "map a file of the kind with some"
        )
    if by_cells is None:
        raise NotMappable(MappingSentence("unknown").text())
    return by_cells


def _name_of(stem: str) -> str:
    return _DIGITS.sub("", stem).strip(" _-　") or "銀行"


def _as_stated(records: Records, stated: Pairs[str, Any], stem: str) -> Mapping | None:
    """The mapping whose columns the user states; None if some are missing, or the file has none.

    Raises:
        InvalidMapping: they make no valid mapping.
    """
    values = {key: stated[key] for key in _COLUMNS_NEEDED if key in stated}
    names = {
        one_spelling(c) for key in values for c in columns_in(stated[key]) if isinstance(c, str)
    }
    lines = [cells for _, cells in records[:MAX_LINES_ABOVE] if not isinstance(cells, str)]
    header = next((cells for cells in lines if names.issubset(plain_names(cells))), None)
    if not {"date", "description"} <= values.keys() or len(values) < _MIN_COLUMNS or header is None:
        return None
    name = _name_of(stem)
    kind = {"header": _lasting_names(header)} if names else {"files": f"{stem}*"}
    return mapping_of({"name": name, "account": name, **kind, **values})


def _lasting_names(header: Sequence[str]) -> list[str]:
    """The names of a header that the next statement has, too."""
    return [name for name in map(str.strip, header) if name and not _MONTH.search(name)]


def _by_names(header: Sequence[str]) -> Mapping | None:
    """The mapping that the names in a line give; None if it is no header of a statement."""
    names = [name for name in map(str.strip, header) if name]
    is_header = len(names) >= _MIN_COLUMNS and len(set(names)) == len(names)
    return mapping_of_columns(dict.fromkeys(names, ())) if is_header else None


def _by_cells(records: Records, name: str, files: str, today: date) -> MappingProposal | None:
    """A mapping for rows whose header, if there is one, does not name what is needed.

    Without a header, columns are numbers, and files are recognised by the line above the rows, or
    if there is none, by ``files``, a pattern of names. None if no column holds dates, or none holds
    amounts.
    """
    lines = [(at, [*map(str.strip, cells)]) for at, cells in records if not isinstance(cells, str)]
    lines = [(at, cells) for at, cells in lines if any(cells)]
    counts = Counter(at for _, cells in lines for at, cell in enumerate(cells) if is_date(cell))
    day = max(counts, key=lambda column: (counts[column], -column), default=0)
    if counts[day] < _MIN_ROWS:
        return None
    is_row = [day < len(cells) and is_date(cells[day]) for _, cells in lines]
    rows = [cells for (_, cells), is_one in zip(lines, is_row, strict=True) if is_one]
    first, width = is_row.index(True), max(map(len, rows))
    above = lines[first - 1][1] if first else []
    header = above if _is_header(above, width) else []
    width = max(width, len(header))
    padded = [[*row, *[""] * (width - len(row))] for row in rows]
    cells_of = [*map(list, zip(*padded, strict=True))]
    if header:
        mapping = mapping_of_columns(dict(zip(header, cells_of, strict=True)), header[day])
        if mapping is not None and (
            named := _of_header(mapping, header, lines[first - 1 :], name, today)
        ):
            return named
    mapping = mapping_of_columns(dict(enumerate(cells_of, 1)), day + 1)
    if mapping is None:
        return None
    title = _ASCII_DIGITS.sub(r"\\d+", re.escape(title_of(above)))
    mapping = replace(mapping, name=name, account=name, title=title, files="" if title else files)
    return _with_sign(_with_dates(mapping, records, today), records, is_spent=True)


def _is_header(cells: Sequence[str], width: int) -> bool:
    """Whether a line above rows with ``width`` cells names their columns, at least two known."""
    names = list(dict.fromkeys(cells))
    are_texts = not any(is_date(name) or number_in(name) is not None for name in names)
    return (
        len(names) == len(cells) >= width and "" not in names and are_texts
        and sum(map(is_known, names)) >= _MIN_KNOWN
    )  # fmt: skip


def _of_header(
    mapping: Mapping, header: Sequence[str], records: Records, name: str, today: date
) -> MappingProposal | None:
    mapping = replace(mapping, name=name, header=tuple(_lasting_names(header)), account=name)
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
