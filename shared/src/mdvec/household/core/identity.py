"""Which rows of which files are one transaction."""

from __future__ import annotations

import hashlib
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from mdvec.household.core.cells import TransactionRow
from mdvec.household.core.placed import Placed, values_of

Twins = Mapping[str, Sequence[str]]
"""Identities of rows with an ID, by what rows without one are known by."""
_NO_TWINS: Twins = MappingProxyType({})
# One character of Shift_JIS, two of Unicode: the decoder decides which.
_ONE_SPELLING = str.maketrans({"〜": "~", "‖": "∥", "−": "-", "—": "―"})


def identities(rows: Sequence[TransactionRow], twins: Twins = _NO_TWINS) -> list[str]:
    """The identity of each row below one header, in order.

    With an ID: that ID; rows that share one and differ are the parts of a purchase that was split
    by hand, each its own; rows alike in everything are one. Without: date, amount, description
    and account, and how many such rows there are so far; two rows alike are two purchases, and
    the same two in another export are the same two. Where another file has the same purchase with
    an ID (``twins``), it is that one.
    """
    found = identities_by_id(rows)
    if None not in found:
        return [identity for identity in found if identity is not None]
    taken = set(found)
    seen: Counter[str] = Counter()
    complete = []
    for row, identity in zip(rows, found, strict=True):
        if identity is None:
            key = key_of(row.date.isoformat(), row.amount, row.description, row.account)
            identity = _without_id(key, seen[key], twins.get(key, ()), taken)
            seen[key] += 1
        complete.append(identity)
    return complete


def identities_by_id(rows: Sequence[TransactionRow]) -> list[str | None]:
    """The identity of each row that has an ID; None for the others."""
    times = Counter(row.mf_id for row in rows)
    parts: dict[str, list[TransactionRow]] = {}
    found: list[str | None] = []
    for row in rows:
        if not row.mf_id:
            found.append(None)
        elif times[row.mf_id] == 1:
            found.append(f"id:{row.mf_id}")
        else:
            known = parts.setdefault(row.mf_id, [])
            content = replace(row, line=0)
            if content not in known:
                known.append(content)
            number = known.index(content) + 1
            found.append(f"id:{row.mf_id}" if number == 1 else f"part:{number}:{row.mf_id}")
    return found


def _without_id(key: str, before: int, twins: Sequence[str], taken: Collection[str | None]) -> str:
    """The identity of a row without ID that has ``before`` rows like it before it."""
    free = [twin for twin in twins if twin not in taken]
    if before < len(free):
        return free[before]
    # The place among all such purchases, those with an ID first: it is the same in each file.
    return f"row:{key}:{before + 1 + len(twins) - len(free)}"


def is_part(identity: str) -> bool:
    """Whether it is another part of a split purchase than the first."""
    return identity.startswith("part:")


def main_part(identity: str) -> str | None:
    """The identity of the first part of a split purchase; None for what is no other part."""
    if not is_part(identity):
        return None
    return f"id:{identity.split(':', 2)[2]}"


def mentions(
    path: str, blocks: Iterable[Sequence[TransactionRow]], twins: Twins
) -> dict[str, Placed]:
    """What a file says of each identity; where files were joined, a later one has its word."""
    said: dict[str, Placed] = {}
    for rows in blocks:
        block: dict[str, Placed] = {}
        for row, identity in zip(rows, identities(rows, twins), strict=True):
            block[identity] = Placed(path, row.line, values_of(row))
        for part in [identity for identity in said if main_part(identity) in block]:
            del said[part]
        said.update(block)
    return said


def twins_of(
    rows: Iterable[tuple[str, Placed]], loose: Collection[tuple[str, int | None]]
) -> Twins:
    """The rows with an ID that rows without one may be, given days and amounts of the latter."""
    found: dict[str, set[str]] = {}
    for identity, row in rows:
        said = row.values
        if (said.date, said.amount) in loose and not identity.startswith("row:"):
            key = key_of(said.date, said.amount, said.description, said.account)
            found.setdefault(key, set()).add(identity)
    return {key: sorted(names) for key, names in found.items()}


def reunited(
    stored: Mapping[str, object], mentioned: Collection[str], twins: Twins
) -> tuple[dict[str, str], dict[str, str]]:
    """Rows of the ledger without ID that files now have under another identity.

    Returns those that take a new identity, by the old one, and those that stand a second time
    in the ledger, with the identity of the other row.
    """
    lost = [name for name in stored if name.startswith("row:") and name not in mentioned]
    if not lost:
        return {}, {}
    new: dict[str, list[str]] = {}
    for name in mentioned:
        if name.startswith("row:") and name not in stored:
            new.setdefault(name.split(":")[1], []).append(name)
    renamed: dict[str, str] = {}
    doubles: dict[str, str] = {}
    for name in sorted(lost):
        _, key, number = name.split(":")
        known = twins.get(key, ())
        free = [twin for twin in known if twin not in stored] + sorted(new.get(key, []))
        free = [each for each in free if each not in renamed.values()]
        if free:
            renamed[name] = free[0]
        elif int(number) <= len(known):
            doubles[name] = known[int(number) - 1]
    return renamed, doubles


def key_of(day: str, amount: int | None, description: str, account: str) -> str:
    """What a row without ID is known by."""
    parts = (day, str(amount), _plain(description), _plain(account))
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _plain(text: str) -> str:
    """The text in one spelling, whatever encoding, line ends and widths the file had."""
    return " ".join(unicodedata.normalize("NFKC", text).translate(_ONE_SPELLING).split())
