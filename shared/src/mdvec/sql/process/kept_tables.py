"""Keeps the definitions of materialized tables in files, so that they survive a restart.

A file holds the query of one table, not its rows: a server makes the table again when it starts,
and when its data change. Every server that has a table holds a shared lock on its file, so that
none deletes a table of another; a file's time of change is when the table expires.
"""

from __future__ import annotations

import fcntl
import json
import os
import stat
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, Field, FiniteFloat

from mdvec.datasets import Column
from mdvec.sql.core.statement import fold
from mdvec.sql.process.table_registry import MaterializedTable

_FORMAT = 1
_UNFINISHED = ".new"
_MAX_BYTES = 10_000_000
_UNFINISHED_SECONDS = 600
_MAX_TTL_SECONDS = 31 * 86_400
"""A file that expires later was written before the clock was set back."""
_LATEST = 2**37
"""A time after which no file can expire: later ones are no dates."""


class _Definition(BaseModel):
    """What a file holds; its SQL is judged when it is run, like any other."""

    format: Literal[1]
    database: str
    made: FiniteFloat
    id: str
    name: str
    source: str
    sql: str
    rows: int
    columns: list[tuple[str, str]]
    expires: Annotated[FiniteFloat, Field(ge=0, le=_LATEST)]
    needs: frozenset[str]
    stamp: str


@dataclass
class KeptTables:
    """The tables of one database, in the folder of exports. One thread at a time.

    Args:
        folder: private to this user; made when the first table is kept.
        database: whose tables these are; those of others are left alone.
        max_tables: no more than these are loaded, the newest ones.
    """

    folder: Path
    database: Path
    max_tables: int
    _locks: dict[str, int] = field(default_factory=dict)

    def load(self) -> list[MaterializedTable]:
        """The living tables that this database's servers made, the oldest first.

        Of those with one name, only the newest.
        """
        self.sweep()
        newest: dict[str, tuple[float, MaterializedTable]] = {}
        for made, table in sorted(self._held(), key=lambda pair: pair[0]):
            if (older := newest.pop(fold(table.name), None)) is not None:
                self.release(older[1].id)
            newest[fold(table.name)] = made, table
        tables = [table for _, table in newest.values()]
        for table in tables[: -self.max_tables]:
            self.release(table.id)
        return tables[-self.max_tables :]

    def keep(self, table: MaterializedTable) -> bool:
        """Write a table's file whole, or none; return whether it was written."""
        unfinished = self.folder / f"{_name_of(table.id)}{_UNFINISHED}"
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            lock = os.open(unfinished, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
        except OSError:
            return False
        try:
            fcntl.flock(lock, fcntl.LOCK_SH)
            with os.fdopen(lock, "wb", closefd=False) as file:
                file.write(_written(table, self.database))
                file.flush()
                os.fsync(lock)
            os.utime(unfinished, (table.expires, table.expires))
            unfinished.rename(self.folder / _name_of(table.id))
        except OSError:
            unfinished.unlink(missing_ok=True)
            os.close(lock)
            return False
        self._locks[table.id] = lock
        return True

    def release(self, table_id: str) -> None:
        """Let go of a table; its file is deleted unless another server has the table, too."""
        lock = self._locks.pop(table_id, None)
        if lock is None:
            return
        with suppress(OSError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            (self.folder / _name_of(table_id)).unlink(missing_ok=True)
        os.close(lock)

    def sweep(self) -> None:
        """Delete the files of expired tables, and those that a killed server left unfinished."""
        now = time.time()
        for path in self.folder.glob("table_*.json*"):
            with suppress(OSError):
                changed = path.lstat().st_mtime
                is_left = path.suffix == _UNFINISHED and changed < now - _UNFINISHED_SECONDS
                is_over = path.suffix != _UNFINISHED and not now < changed <= now + _MAX_TTL_SECONDS
                if is_left or is_over:
                    path.unlink(missing_ok=True)

    def close(self) -> None:
        """Let go of every table; the files stay for the next server."""
        for lock in self._locks.values():
            os.close(lock)
        self._locks.clear()

    def _held(self) -> Iterator[tuple[float, MaterializedTable]]:
        """Each table with its file locked, and when it was made."""
        for path in self.folder.glob("table_*.json"):
            lock = _locked(path)
            if lock is None:
                continue
            definition = _read(lock, path)
            if definition is None or definition.database != str(self.database):
                os.close(lock)
                continue
            self._locks[definition.id] = lock
            yield definition.made, _table_in(definition)


def _name_of(table_id: str) -> str:
    return f"table_{table_id}.json"


def _locked(path: Path) -> int | None:
    """The open file under a shared lock; None if it is no file of ours, or just deleted."""
    try:
        lock = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        status = os.fstat(lock)
    except OSError:
        os.close(lock)
        return None
    is_ours = status.st_uid == os.getuid() and stat.S_ISREG(status.st_mode)
    if is_ours and status.st_nlink == 1 and status.st_size <= _MAX_BYTES:
        return lock
    os.close(lock)
    return None


def _written(table: MaterializedTable, database: Path) -> bytes:
    definition = {
        "format": _FORMAT,
        "database": str(database),
        "made": time.time(),
        "id": table.id,
        "name": table.name,
        "source": table.source,
        "sql": table.sql,
        "rows": table.rows,
        "columns": [[column.name, column.type] for column in table.columns],
        "expires": table.expires,
        "needs": sorted(table.needs),
        "stamp": table.stamp,
    }
    return json.dumps(definition).encode("ascii")  # a model may write lone surrogates


def _read(lock: int, path: Path) -> _Definition | None:
    """What the file holds; None if another version of mdvec wrote it, or somebody changed it."""
    try:
        definition = _Definition.model_validate(json.loads(os.pread(lock, _MAX_BYTES, 0)))
    except (OSError, ValueError, RecursionError):
        return None
    return definition if path.name == _name_of(definition.id) else None


def _table_in(definition: _Definition) -> MaterializedTable:
    return MaterializedTable(
        name=definition.name,
        source=definition.source,
        sql=definition.sql,
        rows=definition.rows,
        columns=tuple(Column(name, kind) for name, kind in definition.columns),
        expires=definition.expires,
        id=definition.id,
        needs=definition.needs,
        stamp=definition.stamp,
    )
