"""A query process whose data a test can change, and queries that never end."""

import threading
import time
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import duckdb
import psutil
from mdvec.analysis.exports import ExportFolder
from mdvec.cancelling import Cancelled, cancelled_by
from mdvec.settings import AnalyticsSettings
from mdvec.sql.process.messages import Data, ParquetTable, QueryLimits
from mdvec.sql.process.query_process import QueryProcess
from mdvec.sql.process.turns import in_session
from mdvec.sql.service import Analytics
from mdvec.text.one_line import literal

LIMITS = QueryLimits(seconds=60.0, memory_mb=1024, export_bytes=2**24)
CANARY = "canary-4711"
FOREVER = "SELECT count(*) FROM range(100000000000) a, range(100000000000) b WHERE a.range = -1"


def put_secrets(folder: Path) -> None:
    """Files that no query may read, of every kind; each has the word ``CANARY``."""
    for name in ("secret.csv", "secret.json", "secret.txt"):
        (folder / name).write_text(f"word\n{CANARY}\n")
    with duckdb.connect() as connection:
        connection.execute(f"COPY (SELECT '{CANARY}' AS word) TO '{folder / 'secret.parquet'}'")
        connection.execute(f"ATTACH '{folder / 'secret.db'}' AS other")
        connection.execute(f"CREATE TABLE other.words AS SELECT '{CANARY}' AS word")


def table_at(path: Path, name: str = "runs") -> ParquetTable:
    status = path.stat()
    return ParquetTable(name, path, status.st_size, status.st_mtime_ns)


def parquet(path: Path, query: str, name: str = "runs") -> ParquetTable:
    path.parent.mkdir(parents=True, exist_ok=True)
    duckdb.execute(f"COPY ({query}) TO {literal(str(path))} (FORMAT parquet)")
    return table_at(path, name)


class Subject:
    """A process whose data a test can change; without a database there are no saved questions."""

    def __init__(
        self,
        folder: Path,
        *tables: ParquetTable,
        limits: QueryLimits = LIMITS,
        database: Path | None = None,
    ) -> None:
        self.data = Data(tables, database or folder / "none.sqlite", ())
        self.folder, self.spool, self.database = folder, folder / "spool", database
        self.process = QueryProcess(self.spool, limits, lambda: self.data)

    def analytics(self, settings: AnalyticsSettings | None = None) -> Analytics:
        """Every use case over the process."""
        exports = ExportFolder(self.folder / "exports", 3_600, 10**9)
        return Analytics(
            self.process, exports, settings or AnalyticsSettings(), database=self.database
        )

    def value(self, source, sql="SELECT * FROM {source}"):
        return self.process.rows(source, sql, max_rows=1).rows[0][0]

    def materialized(self):
        return {table.name: table.rows for table in self.process.materialized()}

    @property
    def pid(self):
        return self.process._main.pid


def is_gone(pid, seconds=60.0):
    """Whether a process ends in time."""
    try:
        psutil.Process(pid).wait(seconds)
    except psutil.NoSuchProcess:
        return True
    except psutil.TimeoutExpired:
        return False
    return True


def busy(pid):
    """Wait until a process works on a query."""
    process = psutil.Process(pid)
    before = sum(process.cpu_times()[:2])
    while sum(process.cpu_times()[:2]) < before + 0.1:
        time.sleep(0.005)


class Endless(threading.Event):
    """Cancels a query that never ends; its process can sleep until then, which costs no CPU."""

    def sleep(self, pid):
        """Stop the process once it works on the query."""
        busy(pid)
        self._process = psutil.Process(pid)
        self._process.suspend()

    def set(self):
        self._process.resume()
        super().set()


def in_thread(cancellation, work):
    """A thread that works until it is cancelled; what it raised."""
    raised = []

    def run():
        try:
            with cancelled_by(cancellation):
                work()
        except Cancelled as error:
            raised.append(type(error))

    thread = threading.Thread(target=run)
    thread.start()
    return thread, raised


@contextmanager
def two_endless_queries(subject, sessions=("", "")):
    """No child is free; gives the events that cancel their queries."""
    assert subject.value("SELECT 1") == 1
    events = Endless(), Endless()
    threads = []

    def endless(session):
        with in_session(session):
            subject.value(FOREVER)

    for event, child, session in zip(events, subject.process._children, sessions, strict=True):
        threads.append(in_thread(event, partial(endless, session))[0])
        while child.pid is None:
            time.sleep(0.005)
        event.sleep(child.pid)
    try:
        yield events
    finally:
        for event in events:
            event.set()
        for thread in threads:
            thread.join()


def read(path):
    return duckdb.execute(f"SELECT * FROM {literal(str(path))}").fetchall()
