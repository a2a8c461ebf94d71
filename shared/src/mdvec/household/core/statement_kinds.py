"""Recognises a statement's kind, and reads it: Money Forward's, or one with a mapping.

Money Forward's own header (計算対象, or 振替 and ID) comes first, then the user's mappings, then
the ready-made ones; of several that fit, the mapping that requires most columns. A file with only
those columns of Money Forward that other files have too is taken for Money Forward's if no mapping
fits and nothing in it is undecided.
"""

from __future__ import annotations

import itertools
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from mdvec.household.core.accounts import STATED, account_number
from mdvec.household.core.cells import BadRow, CsvRecord, CsvText, records_of
from mdvec.household.core.column_questions import Undecided
from mdvec.household.core.column_roles import mapping_of_columns
from mdvec.household.core.identity import without_repeats
from mdvec.household.core.mapped_rows import MAX_LINES_ABOVE, header_line, read_mapped
from mdvec.household.core.mapping import Mapping, plain_names
from mdvec.household.core.moneyforward import (
    AMOUNTS,
    NotTransactions,
    ParsedFile,
    decode,
    read_rows,
)
from mdvec.household.core.passed_over import FileKind, PassedOver
from mdvec.household.core.undecided import decide, undecided_in
from mdvec.text import shown_name

_Head = Sequence[tuple[int, CsvRecord]]
"""The first records of a file, each with its line."""

_MISFIT = "残高 does not follow from the row beside it: a row is missing, or an amount is wrong"


@dataclass(frozen=True, slots=True)
class Mappings:
    """The user's mappings, and the ready-made ones."""

    own: tuple[Mapping, ...] = ()
    ready_made: tuple[Mapping, ...] = ()


def read_statement(data: bytes, path: str, mappings: Mappings) -> ParsedFile:
    """Reads a file of any known kind.

    Raises:
        NotTransactions: it is a web page, its encoding is unknown, or two of the user's mappings
            fit it equally.
    """
    kind = recognise(data, path, mappings)
    return kind if isinstance(kind, ParsedFile) else _read_if_decided(kind, data, path, mappings)


def recognise(data: bytes, path: str, mappings: Mappings) -> ParsedFile | Mapping:
    """The mapping for a file, or the parsed file if it is Money Forward's or cannot be read.

    Raises:
        NotTransactions: as ``read_statement``.
    """
    try:
        parsed = read_rows(data)
    except NotTransactions:
        mapping = fitting_mapping(data, "", path, mappings)  # its own encoding may fit
        if mapping is None:
            raise
        return mapping
    if parsed.is_certain:
        return parsed
    return fitting_mapping(data, parsed.csv.text, path, mappings) or _if_undoubted(parsed)


def _if_undoubted(parsed: ParsedFile) -> ParsedFile:
    """A file that may be Money Forward's; it is passed over if anything in it is undecided."""
    if parsed.passed_over:
        return parsed
    records = list(records_of(parsed.csv.text))
    lines = (cells for _, cells in records if isinstance(cells, list))
    header = next(cells for cells in lines if any(map(str.strip, cells)))
    columns = mapping_of_columns(dict.fromkeys(filter(None, map(str.strip, header)), ()))
    if columns is None:
        return parsed
    names = plain_names(header)
    mapping = replace(
        columns, header=("日付",), date=("日付",), paid_out=(), paid_in=(), balance=None,
        amount=next(name for name in AMOUNTS if name in names), ignored=("振替", "ID"),
    )  # fmt: skip
    open_ = decide(mapping, records).undecided
    if not open_ and parsed.rows and not any(row.category_major for row in parsed.rows):
        open_ = (Undecided("no-category", ""),)
    return _passed_over(parsed, open_) if open_ else parsed


def _passed_over(parsed: ParsedFile, open_: Sequence[Undecided]) -> ParsedFile:
    columns = dict.fromkeys(each.column for each in open_)
    others = ", ".join(map(shown_name, list(columns)[1:]))
    also = f" (also undecided: {others})" if others else ""
    return replace(
        parsed, blocks=(), bad=(), misfits=(), repeated=(), left_out=(),
        passed_over=PassedOver(FileKind.UNDECIDED, f": {open_[0].text()}{also}"),
    )  # fmt: skip


def _read_if_decided(mapping: Mapping, data: bytes, path: str, mappings: Mappings) -> ParsedFile:
    """Reads a file with a mapping that fits it; passes it over if that leaves something undecided.

    A user's mapping for certain files states the account; otherwise an account number is only
    looked for in a file with a running balance, which is surely of a single account.
    """
    text = decoded_statement(mapping, data)
    records = list(records_of(text))
    read = read_mapped(mapping, records)
    number = ""
    if mapping.files and mapping in mappings.own:
        number = STATED
    elif mapping.balance is not None and not mapping.account_column:
        above = text.splitlines()[: read.rows[0].line - 1] if read.rows else []
        number = account_number(path, above)
    is_named = mapping in mappings.ready_made and not mapping.account_column
    blocks, repeated = without_repeats(read.blocks, read.above)
    parsed = ParsedFile(
        blocks,
        read.bad,
        CsvText(text, array("I", (line for line, _ in records))),
        kind=mapping.name,
        is_certain=False,
        misfits=tuple(BadRow(line, _MISFIT) for line in read.misfits),
        account_number=number,
        repeated=repeated,
        named=mapping.account if is_named else "",
        left_out=read.left_out,
    )
    open_ = undecided_in(mapping, records, read)
    return _passed_over(parsed, open_) if open_ else parsed


def fitting_mapping(data: bytes, text: str, path: str, mappings: Mappings) -> Mapping | None:
    """The mapping for a file, or None; ``text`` is the file as decoded without a mapping.

    Raises:
        NotTransactions: two of the user's mappings fit it equally.
    """
    head = _head(text)
    own = _best_fitting(data, head, path, mappings.own)
    if len(own) > 1:
        names = " and ".join(mapping.name for mapping in own[:2])
        raise NotTransactions(
            f"two mappings fit it ({names}); limit one of them with the key 'files', or delete it"
        )
    fitting = own or _best_fitting(data, head, path, mappings.ready_made)
    return fitting[0] if fitting else None


def _best_fitting(
    data: bytes, head: _Head, path: str, mappings: Iterable[Mapping]
) -> list[Mapping]:
    """The fitting mappings with the most requirements: a pattern of file names outranks columns."""
    fitting = [
        mapping
        for mapping in mappings
        if mapping.takes(path)
        and header_line(mapping, _own_head(mapping, data) if mapping.encoding else head) is not None
    ]
    most = max(map(_demands, fitting), default=None)
    return [mapping for mapping in fitting if _demands(mapping) == most]


def _demands(mapping: Mapping) -> tuple[bool, int]:
    return bool(mapping.files), len(set(mapping.telling_columns()))


def _head(text: str) -> _Head:
    return list(itertools.islice(records_of(text), MAX_LINES_ABOVE))


def _own_head(mapping: Mapping, data: bytes) -> _Head:
    try:
        return _head(decoded_statement(mapping, data))
    except NotTransactions:
        return []


def decoded_statement(mapping: Mapping, data: bytes) -> str:
    """A file's text, decoded as its mapping says.

    Raises:
        NotTransactions: the encoding is unknown, or the file is damaged.
    """
    if not mapping.encoding:
        return decode(data)
    try:
        return data.decode(mapping.encoding).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise NotTransactions(
            f"it is not in {mapping.encoding}, the encoding of its mapping {mapping.name}"
        ) from error
