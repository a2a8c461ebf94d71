"""A household's folder of statement files on disk, its tool, and what it answers."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from typing import Any

from ledger_rows import list_transactions
from mdvec.database.connection import open_database
from mdvec.household import Ledger
from mdvec.household.core.transaction import Transaction
from mdvec.manage.household_mapping import map_statement
from mdvec.sync.freshness import Source, list_sources
from source_folder import SourceFolder


@dataclass
class HouseholdFolder(SourceFolder):
    """The folder and the tool of one household, which is asked on ``today``."""

    name: str = "kakeibo"
    today: date = date(2025, 9, 1)

    def put(self, name: str, *lines: str, encoding: str = "cp932", time: int | None = None) -> None:
        """Save a file of these lines, as at a time in seconds."""
        path = self.folder / name
        path.write_bytes("\r\n".join([*lines, ""]).encode(encoding))
        if time is not None:
            os.utime(path, (time, time))

    def map(self, name: str, **how: Any) -> Any:
        """Look at the mapping of a file, or save one."""
        return map_statement(self.database, self.folder / name, None, **how)

    def transactions(self) -> list[Transaction]:
        """All rows of the ledger."""
        with open_database(self.database, "read") as connection:
            return list_transactions(connection, 1)

    def ask(self, question: Callable[..., Any], *about: Any, **how: Any) -> Any:
        """The answer to a question about the ledger, or what changes it."""
        with open_database(self.database, "write") as connection:
            return question(Ledger(connection, 1, self.today), *about, **how)

    def source(self) -> Source:
        """What the list of sources says of the folder."""
        (source,) = list_sources(self.database, self.rules)
        return source
