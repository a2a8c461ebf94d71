"""Keeps the months of asset histories beside a ledger."""

from __future__ import annotations

from collections.abc import Sequence

import apsw

from mdvec.household.interfaces import assets
from mdvec.household.reading import StatementFile
from mdvec.household.report import LedgerMode


def keep_assets(
    connection: apsw.Connection, tool_id: int, files: Sequence[StatementFile], mode: LedgerMode
) -> None:
    """Store the months of asset histories; the newest file has the last word.

    ``replace`` forgets those of other files, unless one is unread. Call within a transaction.
    """
    if mode == "replace" and not any(file.unread for file in files):
        assets.forget_months(connection, tool_id)
    for file in sorted(files, key=lambda one: (one.file.mtime_ns, one.file.path)):
        assets.put_months(connection, tool_id, file.file.path, file.assets)
