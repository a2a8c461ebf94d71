"""Gives each row an identity, so that a transaction in several files is stored once."""

from __future__ import annotations

import hashlib
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from mdvec.household.core.accounts import account_number
from mdvec.household.core.balances import goes_on
from mdvec.household.core.cells import TransactionRow

Block = Sequence[TransactionRow | None]
"""The rows below a header; None stands for a row that could not be read."""

# Characters of Shift_JIS that decoders turn into either of two Unicode characters.
_ONE_SPELLING = str.maketrans({"〜": "~", "‖": "∥", "−": "-", "—": "―"})


class RowWithoutId(NamedTuple):
    """A stored row without an ID: its identity within its own statement, and its position.

    ``stays``: it stays in the ledger also if no newer statement has it.
    """

    row_id: int
    identity: str
    statement_id: int
    block: int
    stays: bool
    scope: str


class RowWithId(NamedTuple):
    """A stored row with an ID, and the ``key_of`` that it would have without one.

    ``position`` is that of its statement; the newest has the highest.
    """

    identity: str
    statement_id: int
    block: int
    stays: bool
    position: int
    key: str


def without_repeats(
    blocks: Sequence[Block], above: Sequence[str]
) -> tuple[tuple[tuple[TransactionRow, ...], ...], tuple[TransactionRow, ...]]:
    """A file's rows by section, and those left out because a later section repeats them.

    A section may continue on another page with its own header. Where someone has joined downloads
    of one account, sections overlap: repeated rows have the same balance after them, and the texts
    ``above`` both sections name one account. Rows without a balance may be of several cards, so
    they stay, as do rows with an ID.
    """
    later = set[tuple[object, ...]]()
    kept, repeated = [], list[TransactionRow]()
    for account, rows in reversed(_sections(blocks, above)):
        times, names = Counter[tuple[object, ...]](), dict[tuple[object, ...], TransactionRow]()
        for row in rows:
            if row is not None:
                its = account, row.account, row.date, row.amount, row.description, row.balance
                times[its] += 1
                names[*its, times[its]] = row
        again = {
            name for name, row in names.items()
            if not row.mf_id and row.balance is not None and name in later
        }  # fmt: skip
        kept.append(tuple(row for name, row in names.items() if name not in again))
        repeated += [names[name] for name in again]
        later |= names.keys()
    return tuple(reversed(kept)), tuple(repeated)


def _sections(blocks: Sequence[Block], above: Sequence[str]) -> list[tuple[str, Block]]:
    """The account number above each section (or else the text there), and the section's rows.

    A block is a further page of a section if its balances follow from those of the page before.
    """
    sections: list[tuple[str, Block]] = []
    page: Block = ()
    for rows, text in zip(blocks, above, strict=True):
        number = account_number("", text.splitlines())
        if sections and number in ("", sections[-1][0]) and goes_on(page, rows):
            account, before = sections.pop()
            sections.append((account, [*before, *rows]))
        else:
            sections.append((number or text, rows))
        page = rows
    return sections


def identities(
    rows: Sequence[TransactionRow], seen: Counter[str] | None = None, *, is_mapped: bool = False
) -> list[str]:
    """The identity of each row below one header, in order, according to this file alone.

    A row with an ID is identified by it; in a file read with a mapping (``is_mapped``), by ID, day
    and amount, as a wallet may give a refund the ID of its payment, or both ends of a transfer one
    ID. Rows that share an ID but differ are the parts of a purchase that was split by hand, each
    with its own identity; exact repeats are one row. A row without an ID is identified by date,
    amount, description and account, plus a running number: two equal rows are two purchases, and
    the same two in another file are the same two. ``seen`` counts those below the headers above.
    """
    ids = [
        f"{row.mf_id}:{row.date}:{row.amount}" if row.mf_id and is_mapped else row.mf_id
        for row in rows
    ]
    times = Counter(ids)
    seen = Counter() if seen is None else seen
    parts: dict[str, list[TransactionRow]] = {}
    names = []
    for row, its_id in zip(rows, ids, strict=True):
        if not its_id:
            key = key_of(row.date.isoformat(), row.amount, row.description, row.account)
            seen[key] += 1
            names.append(f"row:{key}:{seen[key]}")
        elif times[its_id] == 1:
            names.append(f"id:{its_id}")
        else:
            known = parts.setdefault(its_id, [])
            content = replace(row, line=0)
            if content not in known:
                known.append(content)
            number = known.index(content) + 1
            names.append(f"id:{its_id}" if number == 1 else f"part:{number}:{its_id}")
    return names


def _main_part(identity: str) -> str | None:
    """For a later part of a split purchase, the identity of its first part; else None."""
    return f"id:{identity.split(':', 2)[2]}" if identity.startswith("part:") else None


def rows_by_identity(
    blocks: Iterable[Sequence[TransactionRow]], *, is_mapped: bool = False
) -> dict[str, tuple[int, TransactionRow]]:
    """A file's rows by identity, each with the number of its block.

    In later blocks, a row replaces an earlier one with its ID; rows without ID are further rows.
    """
    by_identity: dict[str, tuple[int, TransactionRow]] = {}
    seen: Counter[str] = Counter()
    for number, rows in enumerate(blocks):
        names = identities(rows, seen, is_mapped=is_mapped)
        block = {identity: (number, row) for row, identity in zip(rows, names, strict=True)}
        for part in [identity for identity in by_identity if _main_part(identity) in block]:
            del by_identity[part]
        for identity in block:
            by_identity.pop(identity, None)
        by_identity.update(block)
    return by_identity


def identities_with_id(
    rows: Sequence[RowWithoutId],
    rows_with_id: Iterable[RowWithId],
    taken_in_block: Mapping[tuple[int, int], Collection[str]],
    own_rows: Collection[str],
    known: Collection[str],
) -> dict[int, str]:
    """New identities, by row id, for stored rows without ID that another file lists with one.

    If one block has a row without ID and the same row with an ID, these are two purchases;
    ``taken_in_block`` has the identities of each block, by statement and number. Rows without ID
    are numbered among all equal purchases, those with an ID first, and those of second accounts
    after those of the first one: the same in every file. A row that the ledger already counts by
    itself (``own_rows``) stays a purchase of its own, in every file that has it, if a row with an
    ID that it looks like in one of them is in the ledger too (``known``): the two only came to look
    alike.

    An identity has several keys if its row was changed; rows that look like it as it is now come
    before those that look like it as it was. Two keys of one block never have the same identity:
    that of fewest identities chooses first, then the newest.
    """
    with_id = list(rows_with_id)
    same_rows = same_rows_by_key(with_id)
    choices = _put_former_last(same_rows, with_id)
    before = _rows_of_other_scopes(rows)
    changed: dict[int, str] = {}
    given: dict[tuple[int, int], dict[str, str]] = {}
    apart = set[str]()
    if choices:
        rows = sorted(rows, key=lambda row: choices.get(_key_in(row.identity), (0, 0)))
    for row in rows:
        _, key, written = row.identity.split(":")
        alike = same_rows.get(key, ())
        taken = taken_in_block.get((row.statement_id, row.block), ())
        keys = given.setdefault((row.statement_id, row.block), {}) if key in choices else {}
        free = [name for name in alike if name not in taken and keys.get(name, key) == key]
        number = int(written)
        number_before = number - 1 + before.get((key, row.scope), 0)
        if number_before < len(free):
            changed[row.row_id] = free[number_before]
            keys[free[number_before]] = key
            if free[number_before] in known:
                apart.add(scoped(row.identity, row.scope))
        elif not row.scope and len(free) < len(alike):
            changed[row.row_id] = f"row:{key}:{number + len(alike) - len(free)}"
    apart.intersection_update(own_rows)
    for row in rows:
        if scoped(row.identity, row.scope) in apart:
            changed.pop(row.row_id, None)
    return changed


def _put_former_last(
    same_rows: Mapping[str, list[str]], rows: Iterable[RowWithId]
) -> dict[str, tuple[int, int]]:
    """Sort the identities of each key that an edited row has or had; returns when it chooses."""
    newest: dict[str, dict[str, int]] = {}
    for row in rows:
        of_row = newest.setdefault(row.identity, {})
        of_row[row.key] = max(row.position, of_row.get(row.key, 0))
    now = {name: max(of_row.values()) for name, of_row in newest.items() if len(of_row) > 1}
    choices = {}
    for key in {key for name in now for key in newest[name]}:
        alike = same_rows[key]
        alike.sort(key=lambda name: newest[name][key] < now.get(name, 0))
        choices[key] = len(alike), -max(newest[name][key] for name in alike)
    return choices


def _rows_of_other_scopes(rows: Iterable[RowWithoutId]) -> dict[tuple[str, str], int]:
    """How many equal rows the accounts with lower scopes have, by key and scope."""
    most: dict[str, dict[str, int]] = {}
    for row in rows:
        _, key, number = row.identity.split(":")
        of_key = most.setdefault(key, {})
        of_key[row.scope] = max(int(number), of_key.get(row.scope, 0))
    return {
        (key, scope): sum(count for other, count in of_key.items() if other < scope)
        for key, of_key in most.items()
        for scope in of_key
    }


def same_rows_by_key(rows: Iterable[RowWithId]) -> dict[str, list[str]]:
    """The identities of rows with an ID, in order, by the key that they would have without one."""
    by_key: dict[str, set[str]] = {}
    for row in rows:
        by_key.setdefault(row.key, set()).add(row.identity)
    return {key: sorted(names) for key, names in by_key.items()}


def renamed_rows(
    lost: Iterable[str], new: Collection[str], same_rows: Mapping[str, Sequence[str]]
) -> dict[str, str]:
    """New identities, by the old one, for rows without ID that no file lists any more.

    ``lost`` are the identities without ID that only the ledger has, ``new`` those that only files
    have. An identity of a second account of the same name has
    its scope behind the key ("row:…@2:1"); a row may move from one account to the other.
    """
    free: dict[str, list[str]] = {}
    for identity in sorted(new):
        if identity.startswith("row:"):
            free.setdefault(_key_in(identity), []).append(identity)
    for key, alike in same_rows.items():
        free[key] = [each for each in alike if each in new] + free.get(key, [])
    renamed: dict[str, str] = {}
    for identity in sorted(lost):
        names = free.get(_key_in(identity), [])
        untaken = [name for name in names if name not in renamed.values()]
        if untaken:
            renamed[identity] = untaken[0]
    return renamed


def scoped(identity: str, scope: str) -> str:
    """A row's identity in the account with this ``scope``; it has none if it is the first."""
    if not scope or not identity.startswith("row:"):
        return identity
    _, key, number = identity.split(":")
    return f"row:{key}@{scope}:{number}"


def _key_in(identity: str) -> str:
    return identity.split(":")[1].partition("@")[0]


def key_of(day: str, amount: int | None, description: str, account: str) -> str:
    """The key that identifies a row without ID, up to its running number."""
    parts = (day, str(amount), normalised(description), normalised(account))
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def normalised(text: str) -> str:
    """The text normalised: independent of the file's encoding, line ends and widths."""
    return " ".join(unicodedata.normalize("NFKC", text).translate(_ONE_SPELLING).split())
