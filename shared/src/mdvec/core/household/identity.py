"""Which rows of which files are one transaction."""

from __future__ import annotations

import hashlib
import unicodedata
from collections import Counter
from collections.abc import Iterable

from mdvec.core.household.rows import TransactionRow

# One character of Shift_JIS, two of Unicode: the decoder decides which.
_ONE_SPELLING = str.maketrans({"〜": "~", "‖": "∥", "−": "-", "—": "―"})


def identities(rows: Iterable[TransactionRow]) -> list[str]:
    """The identity of each row of one file, in order.

    With an ID: that ID. Without: date, amount, description and account, and how many such rows
    the file has so far; two rows alike are two purchases, and the same two in another export are
    the same two.
    """
    seen: Counter[str] = Counter()
    found = []
    for row in rows:
        if row.mf_id:
            found.append(f"id:{row.mf_id}")
            continue
        digest = _digest(row)
        seen[digest] += 1
        found.append(f"row:{digest}:{seen[digest]}")
    return found


def _digest(row: TransactionRow) -> str:
    parts = (row.date.isoformat(), str(row.amount), _plain(row.description), _plain(row.account))
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _plain(text: str) -> str:
    """The text in one spelling, whatever encoding, line ends and widths the file had."""
    return " ".join(unicodedata.normalize("NFKC", text).translate(_ONE_SPELLING).split())
