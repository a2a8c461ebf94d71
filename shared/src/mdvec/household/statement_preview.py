"""Shows how a statement file is read or could be read, and saves a mapping for its kind."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Mapping as Pairs
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

from mdvec.dates import today
from mdvec.errors import MdvecError
from mdvec.household.core.cells import BadRow, TransactionRow, records_of
from mdvec.household.core.column_questions import Undecided
from mdvec.household.core.mapped_rows import read_mapped
from mdvec.household.core.mapping import InvalidMapping, Language, Mapping, MappingSentence, toml_of
from mdvec.household.core.moneyforward import ParsedFile
from mdvec.household.core.proposal import NotMappable as NotMappable
from mdvec.household.core.proposal import proposal_with
from mdvec.household.core.stated import against_the_balance, with_stated
from mdvec.household.core.statement_kinds import Mappings, decoded_statement, recognise
from mdvec.household.core.undecided import undecided_in
from mdvec.household.interfaces.mappings import (
    ENDING,
    own_mappings,
    parsed_mapping,
    ready_made,
    rewrite_mapping,
)
from mdvec.household.reading import why_unreadable

Origin = Literal["moneyforward", "own", "ready-made", "proposed"]

_ROWS_SHOWN = 5
_NOT_IN_A_NAME = re.compile(r'[\\/:*?"<>|\s]+')


class MappingRefused(MdvecError):
    """A file cannot be shown, or a mapping cannot be saved; the message says why."""


@dataclass(frozen=True, slots=True)
class PreviewRow:
    """A row as it would be imported.

    ``date`` is YYYY-MM-DD, ``amount`` in yen, negative for money that goes out.
    """

    line: int
    date: str
    amount: int | None
    description: str
    account: str
    category: str
    is_transfer: bool
    is_target: bool

    @classmethod
    def of(cls, row: TransactionRow) -> PreviewRow:
        """The row of a file as a preview shows it."""
        category = "/".join(filter(None, (row.category_major, row.category_minor)))
        return cls(
            row.line, row.date.isoformat(), row.amount, row.description, row.account, category,
            row.is_transfer, row.is_target,
        )  # fmt: skip

    @property
    def counts(self) -> bool:
        """Whether it is in the sums."""
        has_values = self.amount is not None and bool(self.category)
        return has_values and self.is_target and not self.is_transfer


@dataclass(frozen=True, slots=True)
class StatementPreview:
    """How a file is read.

    ``kind`` is the mapping's name, ``origin`` where the mapping comes from, ``toml`` its text, ""
    for Money Forward's files. ``rows`` are the first of ``rows_read``; ``bad`` are the lines that
    cannot be read, with the reasons. ``balances_compared`` balances were checked, and the balances
    in the lines ``misfits`` do not fit. ``checks`` is what a user should check. ``saved`` is the
    file that the mapping was written to, "" if it was not; ``undecided`` are the questions to
    answer first; ``household`` is the name of the tool that the mapping is for, "" if there is
    none.
    """

    file: str
    kind: str
    origin: Origin
    toml: str
    rows: tuple[PreviewRow, ...]
    rows_read: int
    bad: tuple[BadRow, ...]
    balances_compared: int = 0
    misfits: tuple[int, ...] = ()
    checks: tuple[str, ...] = ()
    undecided: tuple[str, ...] = ()
    saved: str = ""
    household: str = ""


@dataclass(frozen=True, slots=True)
class _Chosen:
    mapping: Mapping
    origin: Origin
    text: str
    checks: tuple[MappingSentence, ...] = ()
    undecided: tuple[Undecided, ...] = ()
    before: Mapping | None = None
    """The household's own mapping for the file before the stated settings; None if it is new."""


class Remedies(NamedTuple):
    """What messages tell the user to write to set a key of the mapping, or the account."""

    state: str = "--set 'KEY = VALUE'"
    name: str = "--account NAME"


_OF_COMMANDS = Remedies()


def preview_statement(
    file: Path, source: Path | None, *, account: str = "", save: bool = False,
    stated: Sequence[str] = (), language: Language = "en", how: Remedies = _OF_COMMANDS,
) -> StatementPreview:  # fmt: skip
    """Shows how a file is read in the household whose folder is ``source``, if there is one.

    ``account`` names the account of a proposed or ready-made mapping. ``save`` writes the mapping
    into the folder, unless something undecided in the file may change an amount; ``stated`` are
    lines of TOML that decide it, also for a mapping that already reads the file; ``language`` is
    that of the questions; ``how`` is what a refusal tells the user to write.

    Raises:
        MappingRefused: the file cannot be read, something is undecided, or the household's own
            mapping reads it already and nothing is stated.
        NotMappable: no mapping can be proposed.
        NotTransactions: it is a web page, or its encoding is unknown.
    """
    data = _read_bytes(file)
    own: tuple[Mapping, ...] = ()
    if source is not None:
        there = own_mappings(source)
        for problem in there.problems:
            raise MappingRefused(f"{source / problem.file_path}: {problem.reason}")
        own = there.mappings
    path = file.name if source is None else _path_within(file, source)
    changes = bool(save or stated or account)
    try:
        settings = tomllib.loads("\n".join(stated))
    except tomllib.TOMLDecodeError as error:
        raise MappingRefused(f"what is set is not valid TOML ({error})") from error
    chosen = _choose(data, path, Mappings(own, ready_made()), settings, changes=changes)
    if isinstance(chosen, ParsedFile):
        if save:
            raise MappingRefused("it is a file of Money Forward, which needs no mapping")
        rows = tuple(map(PreviewRow.of, chosen.rows[:_ROWS_SHOWN]))
        return StatementPreview(
            str(file), "Money Forward", "moneyforward", "", rows, len(chosen.rows), chosen.bad
        )
    if account and chosen.origin != "own":
        chosen = replace(chosen, mapping=replace(chosen.mapping, name=account, account=account))
    shown_file = _preview(file, chosen, language)
    return replace(shown_file, saved=_save(source, chosen, shown_file, how)) if save else shown_file


def _read_bytes(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except FileNotFoundError:
        raise MappingRefused(
            f"there is no file {file}; name the CSV file of a bank or card"
        ) from None
    except OSError as error:
        raise MappingRefused(f"{file}: {why_unreadable(error)}") from error


def _path_within(file: Path, source: Path) -> str:
    """The file's path in the folder, as an import sees it; its name if it is elsewhere."""
    absolute = file.absolute()
    inside = absolute.is_relative_to(source)
    path = absolute.relative_to(source).as_posix() if inside else file.name
    return unicodedata.normalize("NFC", path)


def _choose(
    data: bytes, path: str, mappings: Mappings, stated: Pairs[str, Any], *, changes: bool
) -> _Chosen | ParsedFile:
    """The mapping for a file, or its rows if it is Money Forward's.

    ``changes``: a mapping is wanted even for a file that seems to be Money Forward's.
    """
    kind = recognise(data, path, mappings)
    if isinstance(kind, Mapping):
        origin: Origin = "own" if kind in mappings.own else "ready-made"
        return _with_stated(kind, origin, data, stated)
    if not kind.passed_over and (kind.is_certain or not changes):
        return kind
    text = kind.csv.text
    stem = path.rpartition("/")[2].rpartition(".")[0]
    proposal = proposal_with(text, stem, today(), stated)
    return _Chosen(proposal.mapping, "proposed", text, proposal.checks, proposal.undecided)


def _with_stated(mapping: Mapping, origin: Origin, data: bytes, stated: Pairs[str, Any]) -> _Chosen:
    """A mapping for a file with the user's settings, and what remains undecided."""
    text = decoded_statement(mapping, data)
    records = list(records_of(text))
    changed, missing = with_stated(mapping, records, stated) if stated else (mapping, [])
    undecided = undecided_in(changed, records, read_mapped(changed, records))
    against = against_the_balance(mapping, changed, records, stated)
    before = mapping if stated and origin == "own" else None
    return _Chosen(changed, origin, text, tuple(missing), (*against, *undecided), before)


def _preview(file: Path, chosen: _Chosen, language: Language) -> StatementPreview:
    read = read_mapped(chosen.mapping, records_of(chosen.text))
    checks, empty = [*chosen.checks], [str(row.line) for row in read.rows if row.amount is None]
    if empty:
        shown = f"{len(empty)} ({', '.join(empty[:3])})"
        checks.append(MappingSentence("without-amount", shown=shown))
    return StatementPreview(
        file=str(file),
        kind=chosen.mapping.name,
        origin=chosen.origin,
        toml=toml_of(chosen.mapping, tuple(each.text() for each in chosen.checks)),
        rows=tuple(map(PreviewRow.of, read.rows[:_ROWS_SHOWN])),
        rows_read=len(read.rows),
        bad=read.bad,
        balances_compared=sum(check.compared for check in read.checks),
        misfits=tuple(read.misfits),
        checks=tuple(each.text(language) for each in checks),
        undecided=tuple(each.text(language) for each in chosen.undecided),
    )


def _save(source: Path | None, chosen: _Chosen, shown: StatementPreview, how: Remedies) -> str:
    """Write the mapping into the household's folder; returns the file."""
    if source is None:
        raise MappingRefused("name the household that the mapping is for: --name NAME")
    if chosen.origin == "own" and chosen.before is None:
        raise MappingRefused(
            f"the mapping {chosen.mapping.name!r} in {source} reads this file already; "
            f"state what is to change, change that {ENDING} file, or delete it to have a new one "
            "proposed"
        )
    if shown.undecided:
        raise MappingRefused(
            f"not saved, because this is undecided: {'; '.join(shown.undecided)}. "
            f"State it: {how.state}"
        )
    if not shown.rows_read:
        raise MappingRefused("not saved, because it reads no row of the file")
    if chosen.before is not None:
        return str(rewrite_mapping(source, chosen.before, chosen.mapping))
    return _new_mapping_file(source, chosen.mapping, shown.toml, how)


def _new_mapping_file(source: Path, mapping: Mapping, text: str, how: Remedies) -> str:
    """Write a new mapping's file, and return its path, numbered if another mapping has its name."""
    name = _NOT_IN_A_NAME.sub("-", mapping.name)
    file, number = source / f"{name}{ENDING}", 1
    while file.exists() and _is_for_others(file, mapping):
        number += 1
        file = source / f"{name}-{number}{ENDING}"
    try:
        with file.open("x", encoding="utf-8") as stream:
            stream.write(text)
    except FileExistsError:
        raise MappingRefused(f"{file} exists; name the account of this one: {how.name}") from None
    except OSError as error:
        raise MappingRefused(f"{file} cannot be written ({error.strerror})") from error
    return str(file)


def _is_for_others(file: Path, mapping: Mapping) -> bool:
    """Whether ``file`` holds a mapping for other files than ``mapping``."""
    with suppress(InvalidMapping, OSError):
        before = parsed_mapping(file.read_bytes())
        return before.account == mapping.account and "" != before.files != mapping.files != ""
    return False
