"""A folder of statement files in memory, and the ledger that is imported from it."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time

import apsw
from ledger_rows import list_transactions
from mdvec.database import migrations
from mdvec.household import Ledger
from mdvec.household.core.statement_kinds import Mappings
from mdvec.household.core.transaction import Transaction
from mdvec.household.interfaces.mappings import only_ready_made
from mdvec.household.ledger_import import import_ledger
from mdvec.household.options import RemovalOptions
from mdvec.household.reading import LedgerFile
from mdvec.household.report import LedgerReport

HEADER = "計算対象,日付,内容,金額（円）,保有金融機関,大項目,中項目,メモ,振替,ID"
JULY = "収入・支出詳細_2025-07-01_2025-07-31"


def line(
    mf_id: str = "",
    amount: object = -100,
    day: str = "2025/07/01",
    shop: str = "店",
    account: str = "財布",
    memo: str = "",
) -> str:
    """A row of a statement file."""
    return f"1,{day},{shop},{amount},{account},食費,食料品,{memo},0,{mf_id}"


def at_noon(day: date) -> int:
    """A file's time."""
    return int(datetime.combine(day, time(12), UTC).timestamp()) * 10**9


@dataclass
class LedgerFolder:
    """Statement files by name, each with its time and its bytes.

    ``reads`` are those that the last import read; ``broken`` ones cannot be.
    """

    connection: apsw.Connection = field(default_factory=lambda: apsw.Connection(":memory:"))
    files: dict[str, tuple[int, bytes]] = field(default_factory=dict)
    mappings: Mappings = field(default_factory=only_ready_made)
    tool: int = 1
    reads: list[str] = field(default_factory=list)
    broken: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.connection.execute("PRAGMA foreign_keys = ON").fetchall()
        migrations.migrate(self.connection)
        self.connection.execute(
            "INSERT INTO tools (name, description, source_directory) VALUES (?, '', '')",
            (f"kakeibo{self.tool if self.tool > 1 else ''}",),
        )

    @property
    def ledger(self) -> Ledger:
        """The ledger, for questions that do not depend on today."""
        return Ledger.undated(self.connection, self.tool)

    def as_of(self, today: date) -> Ledger:
        """The ledger on a day."""
        return Ledger(self.connection, self.tool, today)

    def write(self, path: str, *lines: str, saved: date = date(2025, 8, 10)) -> None:
        """Put a statement file into the folder."""
        self.put(path, "\r\n".join([HEADER, *lines, ""]), saved=saved)

    def put(self, path: str, text: str, *, saved: date = date(2025, 8, 10)) -> None:
        """Put a file into the folder."""
        self.files[path] = (at_noon(saved), text.encode("cp932"))

    def import_(
        self,
        mode: str = "update",
        *,
        accept: bool = False,
        keep: tuple[int, ...] = (),
        complete: bool = True,
    ) -> LedgerReport:
        """Import the folder."""
        self.reads.clear()
        files = [
            LedgerFile(
                path,
                len(data),
                mtime,
                functools.partial(self._read, path),
                lambda: self.mappings,
                str(self.mappings.own),
            )
            for path, (mtime, data) in self.files.items()
        ]
        report = import_ledger(
            self.ledger,
            files,
            mode,
            complete=complete,
            removal_options=RemovalOptions(accept, keep),
        )
        done = report.imported + report.updated + report.unchanged + len(report.failed)
        assert report.rows_read == done
        assert report.unchanged >= 0
        assert self.connection.execute("PRAGMA foreign_key_check").fetchall() == []
        return report  # fmt: skip

    def _read(self, path: str) -> bytes:
        self.reads.append(path)
        if path in self.broken:
            raise PermissionError(13, "Permission denied")
        return self.files[path][1]

    def rows(self) -> list[Transaction]:
        """All rows of the ledger."""
        return list_transactions(self.connection, self.tool)

    def amounts(self) -> dict[str, int | None]:
        """The amount of each row that counts, by shop and ID."""
        return {f"{row.description}{row.mf_id}": row.amount for row in self.rows() if row.counts}

    def row_id(self, mf_id: str) -> int:
        """The row id of a transaction ID."""
        return next(row.id for row in self.rows() if row.mf_id == mf_id)
