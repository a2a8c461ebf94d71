"""Checks the server: starts it, lists its tools, searches, and checks the sandbox of queries.

Functions that talk to the server raise ServerFailed if it cannot be started, ends, answers with an
error, or does not answer in time.
"""

from __future__ import annotations

import itertools
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from mdvec.database import DatabaseError, open_database
from mdvec.embedding import is_endpoint_model
from mdvec.errors import MdvecError
from mdvec.installation import this_installation
from mdvec.manage.doctor.findings import Finding
from mdvec.manage.page_server import server_arguments
from mdvec.manage.registering import models_in_use
from mdvec.manage.service import SERVER_PROGRAM, find_server_program
from mdvec.platform import Worker, is_root
from mdvec.settings import Loaded
from mdvec.text import identifier, outside_fences
from mdvec.tools import KINDS, Tool, registry

_PROTOCOL = "2025-06-18"
_MAX_COMPLAINT = 300
_END_SECONDS = 5
_SECONDS = 120.0
_MAX_QUERY_CHARS = 200
_HANDLES = "list_handles"


class ServerFailed(MdvecError):
    """The server did not start, or did not answer."""


class Session:
    """A client's side of the protocol with a running server."""

    def __init__(self, worker: Worker, complaints: IO[bytes], seconds: float) -> None:
        self._worker, self._complaints, self._seconds = worker, complaints, seconds
        self._deadline = time.monotonic() + seconds
        self._numbers = itertools.count(1)

    def request(self, method: str, params: Mapping[str, object]) -> dict[str, Any]:
        """Send a request and return its result."""
        number = next(self._numbers)
        self.send({"id": number, "method": method, "params": params})
        while (answer := self._receive()).get("id") != number:
            pass
        if "error" in answer:
            raise ServerFailed(f"the server answered {method} with: {answer['error']['message']}")
        result: dict[str, Any] = answer["result"]
        return result

    def send(self, message: Mapping[str, object]) -> None:
        """Send a message; if the server has ended, reading the answer reports it."""
        with suppress(EOFError):
            self._worker.send({"jsonrpc": "2.0", **message}, self._deadline)

    def _receive(self) -> dict[str, Any]:
        try:
            return self._worker.receive(self._deadline)
        except TimeoutError as error:
            raise ServerFailed(f"the server did not answer within {self._seconds:g} s") from error
        except EOFError as error:
            if error.args:
                raise ServerFailed(
                    f"the server wrote something that is not a message: {error}"
                ) from error
            self._complaints.seek(0)
            lines = self._complaints.read().decode(errors="replace").strip().splitlines()
            last = lines[-1][-_MAX_COMPLAINT:] if lines else "it said nothing"
            raise ServerFailed(f"the server ended: {last}") from error


@contextmanager
def server_session(
    command: Sequence[str], seconds: float, environment: Mapping[str, str]
) -> Iterator[Session]:
    """Run a server for the duration of the block; yields a session with it.

    ``seconds`` limits the whole session; ``environment`` extends this process's environment.
    """
    with tempfile.TemporaryFile() as complaints:
        try:
            worker = Worker(args=command, stderr=complaints, env={**os.environ, **environment})
        except OSError as error:
            raise ServerFailed(f"{command[0]} cannot be started ({error.strerror})") from error
        session = Session(worker, complaints, seconds)
        try:
            client = {"name": "mdvec doctor", "version": "1"}
            hello = {"protocolVersion": _PROTOCOL, "capabilities": {}, "clientInfo": client}
            session.request("initialize", hello)
            session.send({"method": "notifications/initialized"})
            yield session
        finally:
            worker.close(_END_SECONDS)


def check_server(installation: Loaded, seconds: float = _SECONDS) -> Iterator[Finding]:
    """Check that a client can use the server: it starts, lists its tools, and finds a document."""
    program = find_server_program()
    if program is None:
        sentence = f"the command {SERVER_PROGRAM} is not installed"
        yield Finding("trouble", sentence, this_installation().adding_server)
        return
    arguments = server_arguments(installation.settings.database_path, installation.file)
    with tempfile.TemporaryDirectory() as folder:
        # The server gets its own log, because the user's log is for the user's searches.
        log = Path(folder) / "events.log"
        environment = {
            "MDVEC_LOG_FILE": str(log), "MDVEC_LOG_FORMAT": "json", "MDVEC_LOG_LEVEL": "INFO",
            "MDVEC_DISPLAY_LANGUAGE": "en",  # who shows the finding translates it
        }  # fmt: skip
        if any(map(is_endpoint_model, models_in_use(installation.settings.database_path))):
            # The search contains a title of the user's, which must not be sent without permission.
            environment["MDVEC_SEARCH_MODE"] = "lexical"
        began = time.monotonic()
        command = [program, *arguments, "--structured", "always"]
        with server_session(command, seconds, environment) as server:
            names = {tool["name"] for tool in server.request("tools/list", {})["tools"]}
            took = time.monotonic() - began
            yield Finding("ok", f"{program} started in {took:.1f} s and offers {len(names)} tools")
            yield from _search(server, installation.settings.database_path)
            # A bridge writes no log of queries; the server behind it does.
            if _HANDLES in names and installation.settings.server.url is None:
                yield _queries(server, log)


def _search(server: Session, database: Path) -> Iterator[Finding]:
    found = _title(database)
    if found is None:
        yield Finding("ok", "there is no document to search for")
        return
    query, tool = found
    began = time.monotonic()
    arguments = {"query": query, "k": 1}
    result = server.request("tools/call", {"name": "search", "arguments": arguments})
    took = time.monotonic() - began
    text = result["content"][0]["text"]
    if result.get("isError"):
        yield Finding("trouble", f"a search failed: {text}")
        return
    lines = outside_fences(text)
    if any(line.startswith("[1] ") for line in lines):
        yield Finding("ok", f"a search of all tools found its document in {took:.1f} s")
    else:
        sentence = "a search for a document's title found nothing"
        yield Finding("trouble", sentence, tool.rebuilt_by)
    notes = [line.removeprefix("note: ") for line in lines if line.startswith("note: ")]
    for note in notes:
        yield Finding("warning", note, _import_of(server, note))


def _import_of(server: Session, note: str) -> str | None:
    """The command that imports the differences that a note reports, if it deletes nothing else.

    A folder that is empty now may be on a disk that is not mounted: the user must decide.
    """
    result = server.request("tools/call", {"name": "list_sources", "arguments": {}})
    for source in result.get("structuredContent", {}).get("sources", ()):
        differs = source["added"] or source["changed"] or source["deleted"]
        if differs and source["note"].startswith(note) and not source["emptied"]:
            return f"mdvec import -n {source['tool']} --mode update"
    return None


def _title(database: Path) -> tuple[str, Tool] | None:
    """The title of a document that a search of all tools should find, and its tool."""
    try:
        with open_database(database, "read") as connection:
            for tool in registry.list_tools(connection, active_only=True):
                tables = tool.tables_in(connection)
                title = (
                    KINDS[tool.kind].has_texts
                    and tables.execute(
                        f"SELECT title FROM {identifier(tables.documents)} "
                        f"WHERE id IN (SELECT document_id FROM {identifier(tables.vectors)}) "
                        "AND trim(title) <> '' LIMIT 1"
                    ).get
                )
                if title:
                    return str(title)[:_MAX_QUERY_CHARS], tool
    except DatabaseError:  # ``check_database`` reports it
        pass
    return None


def _queries(server: Session, log: Path) -> Finding:
    """Check that the query process ran, and how it is sandboxed."""
    result = server.request("tools/call", {"name": _HANDLES, "arguments": {}})
    if result.get("isError"):
        sentence = result["content"][0]["text"]
        return Finding("trouble", f"SQL queries fail: {sentence}")
    lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
    started = [event for event in map(json.loads, lines) if event.get("event") == "query_process"]
    if started and started[-1]["landlock"]:
        calls = ", a filter of system calls" if started[-1].get("seccomp") else ""
        ours = "root" if is_root() else "your own"
        user = "one of its own" if started[-1].get("own_user") else ours
        sentence = (
            f"SQL runs in a process confined by Landlock{calls} and limits; its user is {user}"
        )
        return Finding("ok", sentence)
    return Finding(
        "warning" if sys.platform.startswith("linux") else "ok",
        "only DuckDB's own locks and memory limits confine SQL: this system has no Landlock",
    )  # fmt: skip
