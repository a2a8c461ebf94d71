"""The query process itself: `python -m mdvec.sql.child.main`, started by the server.

First it loads the user's tables, and gives up every right that it no longer needs. Then it reads
requests from STDIN and writes responses to STDOUT. It exits when the server does, in any way.
"""

from __future__ import annotations

import errno
import os
import queue
import threading
import traceback
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from mdvec import household
from mdvec.errors import MdvecError
from mdvec.files import NotOpened, open_within
from mdvec.platform import (
    Parent,
    code_paths,
    limit_process,
    own_process_paths,
    path_of,
    restrict_calls,
    restrict_files,
    take_own_user,
)
from mdvec.sql.child import loading
from mdvec.sql.child.handler import FatalDuckDBError, RequestHandler, refusal_of
from mdvec.sql.core.refusals import QueriesUnavailable, QueryError, as_message, no_room_to_start
from mdvec.sql.process.messages import Message, listed_columns
from mdvec.text import identifier

_LEDGERS = "ledgers.json"
_NAMED_LIMITS = ("seconds", "memory_mb", "export_bytes")
"""The limits that an error message may name."""
_REPORTED = ("missing", "landlock", "seccomp", "own_user")
"""The facts reported to the server at the start: missing tables, and which confinements work."""


def main() -> None:
    """Answer requests until the server is gone."""
    parent = Parent()
    try:
        config = parent.receive()
        try:
            handler = prepare(config)
        except MdvecError as error:
            parent.send(as_message(error))
            return
        except Exception as error:  # noqa: BLE001 - the server logs the traceback
            is_full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
            broken = {"broken": traceback.format_exc()}
            parent.send(as_message(no_room_to_start()) if is_full else broken)
            return
        parent.send(_ready(handler, config))
        _Server(handler, config, parent).serve()
    except (EOFError, OSError):
        return


def prepare(config: Message) -> RequestHandler:
    """Load the tables that ``config`` names, then lock the process: it can open no other file.

    Raises:
        MdvecError: the household's database cannot be read.
    """
    limits, spool, shown = config["limits"], Path(config["spool"]), Path(config["shown"])
    ledgers = spool / _LEDGERS
    loading.limit_child(limits["memory_mb"], len(config["tables"]))
    opened, missing = open_files(config["tables"])
    # A path to each open file, which stays valid even if the file is renamed or replaced.
    paths = {name: path_of(number) for name, number in opened.items()}
    try:
        households = [(int(tool_id), str(name)) for tool_id, name in config["households"]]
        any_ledger = loading.write_ledgers(
            Path(config["database"]), households, ledgers, config["month_starts_on"]
        )
    except MdvecError as error:
        raise QueriesUnavailable(
            "the household's rows cannot be read now; the user can see why with: mdvec status"
        ) from error
    import duckdb  # noqa: F401 - while its file can still be read

    # Threads inherit their rights when they start, so this is done before DuckDB starts threads.
    config["own_user"] = take_own_user(spool)
    # Without these DuckDB 2.0 crashes at the start, or cannot open the tables' files.
    needed = [*code_paths(), *own_process_paths()]
    config["landlock"] = restrict_files([*opened.values(), shown, *needed], spool)
    config["seccomp"] = restrict_calls()
    connection = loading.connect(limits["memory_mb"], limits["time_zone"])
    if any_ledger:
        loading.load_ledgers(connection, ledgers)
        ledgers.unlink()
    config["missing"] = missing | loading.make_views(connection, paths)
    names = [name for name in paths if name not in config["missing"]]
    names += [household.LEDGER_TABLE] if any_ledger else []
    # DuckDB's own list of all columns takes 40 ms, as it has those of its system tables; this
    # takes about 1 ms a table.
    tables = {
        name: loading.columns_of(connection, f"FROM {identifier(name)}") for name in sorted(names)
    }
    limit_process(written=limits["export_bytes"])
    loading.lock(connection, list(paths.values()), (spool, shown), limits["seconds"])
    config["hidden"] = {str(path): f"the file of {name}" for name, path in paths.items()}
    return RequestHandler(connection, tables, spool, shown)


def _ready(handler: RequestHandler, config: Message) -> Message:
    tables = {name: listed_columns(columns) for name, columns in handler.tables.items()}
    return {"tables": tables} | {key: config[key] for key in _REPORTED}


@dataclass
class _Server:
    """Answers one request after another, while a second thread listens for requests to stop."""

    handler: RequestHandler
    config: Message
    parent: Parent
    current: int | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)
    requests: queue.SimpleQueue[Message] = field(default_factory=queue.SimpleQueue)

    def serve(self) -> None:
        threading.Thread(target=self._listen, daemon=True).start()
        while True:
            request = self.requests.get()
            with self.lock:
                self.current = request["id"]
            response = self._respond(request)
            with self.lock:
                self.current = None
            self.parent.send({"id": request["id"]} | response)

    def _listen(self) -> None:
        """Queue requests, stop the current one if requested, and exit when the server is gone."""
        while True:
            try:
                message = self.parent.receive()
            except (EOFError, OSError):
                os._exit(0)
            if message.get("do") != "stop":
                self.requests.put(message)
                continue
            with self.lock:
                if self.current == message["id"]:
                    self.handler.connection.interrupt()

    def _respond(self, request: Message) -> Message:
        try:
            return self.handler.handle(request)
        except QueryError as error:
            return as_message(self.handler.advised(request, error))
        except RecursionError:
            return as_message(
                QueryError("the query is nested too deeply; name its parts in a WITH")
            )
        except Exception as error:  # noqa: BLE001 - any error of DuckDB; the edge of the child
            limits = {name: self.config["limits"][name] for name in _NAMED_LIMITS}
            hidden = self.config["hidden"] | {
                self.config["spool"]: "the export", self.config["shown"]: "the exports",
            }  # fmt: skip
            try:
                refusal = refusal_of(error, hidden=hidden, **limits)
            except FatalDuckDBError:
                # The server notices the end of the process and reports it to the model.
                os._exit(1)
            return as_message(self.handler.advised(request, refusal))


def open_files(tables: Iterable[tuple[str, str, str]]) -> tuple[dict[str, int], dict[str, str]]:
    """Open the file of each table; a table is its name, path, and the folder that must contain it.

    Returns:
        By table name: the descriptors of open files, and reasons for files that were not opened.
    """
    opened: dict[str, int] = {}
    missing: dict[str, str] = {}
    for name, path, folder in tables:
        try:
            opened[name] = open_within(Path(path), Path(folder))
        except NotOpened as error:
            missing[name] = str(error)
    return opened, missing


if __name__ == "__main__":
    main()
