"""The query process itself: `python -m mdvec_mcp.analytics.child.child`, started by the server.

It speaks over its STDIN and STDOUT, loads the user's tables, gives up all that it no longer
needs, and then answers. It ends with the server, however that ends.
"""

from __future__ import annotations

import os
import queue
import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from mdvec.datasets.core.columns import Column
from mdvec.errors import MdvecError
from mdvec.text.quoting import identifier

from mdvec_mcp.analytics.child import landlock, loading, lockdown, opening
from mdvec_mcp.analytics.child.answering import Answering
from mdvec_mcp.analytics.child.failures import FatalDuckDBError, refusal_of
from mdvec_mcp.analytics.core.refusals import QueriesUnavailable, QueryError
from mdvec_mcp.analytics.process.wire import Message, WireClosed, receive, send

if TYPE_CHECKING:
    import duckdb

_LEDGERS = "ledgers.json"


def main() -> None:
    """Answer until the server has gone."""
    reading, writing = _keep_stdio()
    try:
        config = receive(lambda count: os.read(reading, count))
        try:
            answering = prepare(config)
        except MdvecError as error:
            send(writing, _refusal(error))
            return
        except Exception:  # noqa: BLE001 - nobody else can tell what it was
            send(writing, {"broken": traceback.format_exc()})
            return
        send(writing, _ready(answering, config))
        _Serving(answering, config, writing).serve(lambda count: os.read(reading, count))
    except WireClosed:
        return


def prepare(config: Message) -> Answering:
    """Load what ``config`` names, then lock the process; after this, nothing opens a file.

    Raises:
        MdvecError: the household's database cannot be read.
    """
    limits, spool = config["limits"], Path(config["spool"])
    ledgers = spool / _LEDGERS
    lockdown.limit_process(limits["memory_mb"], len(config["tables"]))
    opened = opening.open_files(config["tables"])
    try:
        households = [(int(tool_id), str(name)) for tool_id, name in config["households"]]
        any_ledger = loading.write_ledgers(Path(config["database"]), households, ledgers)
    except MdvecError as error:
        raise QueriesUnavailable(
            "the household's rows cannot be read now; the user can see why with: mdvec status"
        ) from error
    import duckdb  # noqa: F401 - before its file is out of reach

    # The rights of a thread are those that it was started with, so this comes before DuckDB's.
    landlock.restrict([*opened.descriptors.values(), *lockdown.needed_paths()], spool)
    connection = lockdown.connect(limits["memory_mb"])
    if any_ledger:
        loading.load_ledgers(connection, ledgers)
        ledgers.unlink()
    config["missing"] = opened.missing | loading.make_views(connection, opened.paths)
    lockdown.limit_files(limits["export_bytes"])
    lockdown.lock(connection, list(opened.paths.values()), spool, limits["seconds"])
    config["hidden"] = {str(path): f"the file of {name}" for name, path in opened.paths.items()}
    return Answering(connection, _columns_by_table(connection), spool)


def _columns_by_table(
    connection: duckdb.DuckDBPyConnection,
) -> dict[str, tuple[Column, ...]]:
    names = connection.execute(
        "SELECT table_name FROM information_schema.tables WHERE table_schema = 'main' "
        "ORDER BY table_name"
    ).fetchall()
    return {
        name: loading.columns_of(connection, f"SELECT * FROM {identifier(name)}")
        for (name,) in names
    }


def _ready(answering: Answering, config: Message) -> Message:
    tables = {
        name: [[column.name, column.type] for column in columns]
        for name, columns in answering.tables.items()
    }
    return {"tables": tables, "missing": config["missing"]}


@dataclass
class _Serving:
    """Answers one question after another, while a second thread listens for what cuts it short."""

    answering: Answering
    config: Message
    writing: int
    current: int | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)
    questions: queue.SimpleQueue[Message] = field(default_factory=queue.SimpleQueue)

    def serve(self, read: Callable[[int], bytes]) -> None:
        threading.Thread(target=self._listen, args=(read,), daemon=True).start()
        while True:
            question = self.questions.get()
            with self.lock:
                self.current = question["id"]
            reply = self._reply(question)
            with self.lock:
                self.current = None
            send(self.writing, {"id": question["id"]} | reply)

    def _listen(self, read: Callable[[int], bytes]) -> None:
        """Take in questions, stop one on demand, and end at once when the server has gone."""
        while True:
            try:
                message = receive(read)
            except (WireClosed, OSError):
                os._exit(0)
            if message.get("do") != "stop":
                self.questions.put(message)
                continue
            with self.lock:
                if self.current == message["id"]:
                    self.answering.connection.interrupt()

    def _reply(self, question: Message) -> Message:
        try:
            return self.answering.answer(question)
        except QueryError as error:
            return _refusal(error)
        except RecursionError:
            return _refusal(QueryError("the query is nested too deeply; materialize a part first"))
        except Exception as error:  # noqa: BLE001 - DuckDB's, which are many; the edge of the child
            limits = self.config["limits"]
            hidden = self.config["hidden"] | {self.config["spool"]: "the export"}
            try:
                return _refusal(refusal_of(error, hidden=hidden, **limits))
            except FatalDuckDBError:
                # The server finds the process gone and says so.
                os._exit(1)


def _refusal(error: MdvecError) -> Message:
    return {"error": type(error).__name__, "message": str(error)}


def _keep_stdio() -> tuple[int, int]:
    """Move the wire to descriptors of its own; what prints or reads then finds nothing."""
    wire = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    os.close(nothing)
    return wire


if __name__ == "__main__":
    main()
