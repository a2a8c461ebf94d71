"""Gives each row an identity, so that a transaction in several files is stored once."""

from __future__ import annotations

import hashlib
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from mdvec.household.core.cells import TransactionRow
from mdvec.household.core.source_row import SourceRow, values_of

SameRowsWithId = Mapping[str, Sequence[str]]
"""Identities of rows that have an ID, by the ``key_of`` that they would have without one."""
_NO_SAME_ROWS: SameRowsWithId = MappingProxyType({})
# One character of Shift_JIS, two of Unicode: the decoder decides which.
_ONE_SPELLING = str.maketrans({"〜": "~", "‖": "∥", "−": "-", "—": "―"})


def identities(
    rows: Sequence[TransactionRow], same_rows_with_id: SameRowsWithId = _NO_SAME_ROWS
) -> list[str]:
    """The identity of each row below one header, in order.

    A row with an ID is identified by it. Rows that share an ID but differ are the parts of a
    purchase that was split by hand, each with its own identity; exact repeats are one row. A row
    without an ID is identified by date, amount, description and account, plus a running number:
    two equal rows are two purchases, and the same two in another file are the same two. If
    another file has the row with an ID (``same_rows_with_id``), that identity is used.
    """
    by_id = identities_by_id(rows)
    if None not in by_id:
        return [identity for identity in by_id if identity is not None]
    taken = set(by_id)
    seen: Counter[str] = Counter()
    complete = []
    for row, identity in zip(rows, by_id, strict=True):
        if identity is None:
            key = key_of(row.date.isoformat(), row.amount, row.description, row.account)
            identity = _identity_without_id(key, seen[key], same_rows_with_id.get(key, ()), taken)
            seen[key] += 1
        complete.append(identity)
    return complete


def identities_by_id(rows: Sequence[TransactionRow]) -> list[str | None]:
    """The identity of each row that has an ID; None for rows without one."""
    times = Counter(row.mf_id for row in rows)
    parts: dict[str, list[TransactionRow]] = {}
    ids: list[str | None] = []
    for row in rows:
        if not row.mf_id:
            ids.append(None)
        elif times[row.mf_id] == 1:
            ids.append(f"id:{row.mf_id}")
        else:
            known = parts.setdefault(row.mf_id, [])
            content = replace(row, line=0)
            if content not in known:
                known.append(content)
            number = known.index(content) + 1
            ids.append(f"id:{row.mf_id}" if number == 1 else f"part:{number}:{row.mf_id}")
    return ids


def _identity_without_id(
    key: str, before: int, same_rows_with_id: Sequence[str], taken: Collection[str | None]
) -> str:
    """The identity of a row without ID that follows ``before`` equal rows."""
    free = [identity for identity in same_rows_with_id if identity not in taken]
    if before < len(free):
        return free[before]
    # Numbered among all equal purchases, those with an ID first: the same in every file.
    return f"row:{key}:{before + 1 + len(same_rows_with_id) - len(free)}"


def is_part(identity: str) -> bool:
    """Whether it identifies the second or a later part of a split purchase."""
    return identity.startswith("part:")


def main_part(identity: str) -> str | None:
    """For a later part of a split purchase, the identity of its first part; else None."""
    if not is_part(identity):
        return None
    return f"id:{identity.split(':', 2)[2]}"


def rows_by_identity(
    path: str, blocks: Iterable[Sequence[TransactionRow]], same_rows_with_id: SameRowsWithId
) -> dict[str, SourceRow]:
    """A file's rows by identity; in a file of joined files, later rows replace earlier ones."""
    by_identity: dict[str, SourceRow] = {}
    for rows in blocks:
        block: dict[str, SourceRow] = {}
        for row, identity in zip(rows, identities(rows, same_rows_with_id), strict=True):
            block[identity] = SourceRow(path, row.line, values_of(row))
        for part in [identity for identity in by_identity if main_part(identity) in block]:
            del by_identity[part]
        by_identity.update(block)
    return by_identity


def find_same_rows_with_id(
    rows: Iterable[tuple[str, SourceRow]], without_id: Collection[tuple[str, int | None]]
) -> SameRowsWithId:
    """Rows with an ID that may equal rows without; ``without_id`` has those days and amounts."""
    by_key: dict[str, set[str]] = {}
    for identity, row in rows:
        values = row.values
        if (values.date, values.amount) in without_id and not identity.startswith("row:"):
            key = key_of(values.date, values.amount, values.description, values.account)
            by_key.setdefault(key, set()).add(identity)
    return {key: sorted(names) for key, names in by_key.items()}


def match_rows_without_id(
    stored: Mapping[str, object], mentioned: Collection[str], same_rows_with_id: SameRowsWithId
) -> tuple[dict[str, str], dict[str, str]]:
    """Matches ledger rows without ID to the identities that the files now give them.

    Returns two mappings from old identities: to the new identity that the row takes, and, for
    rows that are in the ledger twice, to the identity of the other row.
    """
    lost = [name for name in stored if name.startswith("row:") and name not in mentioned]
    if not lost:
        return {}, {}
    new: dict[str, list[str]] = {}
    for name in mentioned:
        if name.startswith("row:") and name not in stored:
            new.setdefault(name.split(":")[1], []).append(name)
    renamed: dict[str, str] = {}
    repeats: dict[str, str] = {}
    for name in sorted(lost):
        _, key, number = name.split(":")
        known = same_rows_with_id.get(key, ())
        free = [identity for identity in known if identity not in stored] + sorted(new.get(key, []))
        free = [each for each in free if each not in renamed.values()]
        if free:
            renamed[name] = free[0]
        elif int(number) <= len(known):
            repeats[name] = known[int(number) - 1]
    return renamed, repeats


def key_of(day: str, amount: int | None, description: str, account: str) -> str:
    """The key that identifies a row without ID, up to its running number."""
    parts = (day, str(amount), _normalise(description), _normalise(account))
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _normalise(text: str) -> str:
    """The text normalised: independent of the file's encoding, line ends and widths."""
    return " ".join(unicodedata.normalize("NFKC", text).translate(_ONE_SPELLING).split())
