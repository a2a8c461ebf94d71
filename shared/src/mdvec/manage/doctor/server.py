"""Checks the server: starts it, lists its tools, searches, and sees how queries are confined."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from mdvec.database import DatabaseError, open_database
from mdvec.embedding import is_endpoint_model
from mdvec.errors import MdvecError
from mdvec.installation import this_installation
from mdvec.manage.doctor.findings import Finding, Installation
from mdvec.manage.registering import models_in_use
from mdvec.manage.service import SERVER_PROGRAM, find_server_program
from mdvec.platform import is_root
from mdvec.text import identifier, outside_fences
from mdvec.tools import KINDS, registry

_PROTOCOL = "2025-06-18"
_MAX_COMPLAINT = 300
_END_SECONDS = 5


class ServerFailed(MdvecError):
    """The server did not start, or did not answer."""


class ServerProcess:
    """A running server; leaving its ``with`` statement ends it.

    Args:
        command: the server's command with its arguments.
        seconds: the time limit for everything together.
        environment: variables in addition to those of this process.

    Raises:
        ServerFailed: it cannot be started, ended, or did not answer in time.
    """

    def __init__(
        self, command: Sequence[str], seconds: float, environment: Mapping[str, str]
    ) -> None:
        self._deadline = time.monotonic() + seconds
        self._seconds = seconds
        self._requests = 0
        self._unread = b""
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
        try:
            self._process = subprocess.Popen(  # noqa: S603 - our own server, no shell
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._complaints,
                env={**os.environ, **environment},
                bufsize=0,
            )
        except OSError as error:
            self._complaints.close()
            raise ServerFailed(f"{command[0]} cannot be started ({error.strerror})") from error

    def __enter__(self) -> ServerProcess:
        """Initialize the session, as every client does first."""
        try:
            client = {"name": "mdvec doctor", "version": "1"}
            hello = {"protocolVersion": _PROTOCOL, "capabilities": {}, "clientInfo": client}
            self.request("initialize", hello)
            self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the server."""
        self._end()

    def request(self, method: str, params: Mapping[str, object]) -> dict[str, Any]:
        """Send a request and return its result.

        Raises:
            ServerFailed: it ended, answered with an error, or did not answer in time.
        """
        self._requests += 1
        number = self._requests
        self._send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        while (answer := self._receive()).get("id") != number:
            pass
        if "error" in answer:
            raise ServerFailed(f"the server answered {method} with: {answer['error']['message']}")
        result: dict[str, Any] = answer["result"]
        return result

    def _send(self, message: Mapping[str, object]) -> None:
        assert self._process.stdin is not None  # noqa: S101 - it is a pipe
        try:
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
        except OSError as error:
            raise self._ended() from error

    def _receive(self) -> dict[str, Any]:
        while b"\n" not in self._unread:
            self._unread += self._read()
        line, _, self._unread = self._unread.partition(b"\n")
        try:
            message: dict[str, Any] = json.loads(line)
        except ValueError as error:
            raise ServerFailed(
                f"the server wrote something that is not a message: {line[:80]!r}"
            ) from error
        return message

    def _read(self) -> bytes:
        assert self._process.stdout is not None  # noqa: S101 - it is a pipe
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            left = self._deadline - time.monotonic()
            if left <= 0 or not selector.select(left):
                raise ServerFailed(f"the server did not answer within {self._seconds:g} s")
        part = os.read(self._process.stdout.fileno(), 1 << 16)
        if not part:
            raise self._ended()
        return part

    def _ended(self) -> ServerFailed:
        """The error that the server has ended, with its last line on STDERR."""
        self._complaints.seek(0)
        said = self._complaints.read().decode(errors="replace").strip().splitlines()
        last = said[-1][-_MAX_COMPLAINT:] if said else "it said nothing"
        return ServerFailed(f"the server ended: {last}")

    def _end(self) -> None:
        """Close the server's STDIN to end it; kill it if it does not end."""
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()
        try:
            self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._complaints.close()


def events_in(log: Path) -> list[dict[str, Any]]:
    """The events in a JSON log; empty if there is no log."""
    if not log.exists():
        return []
    return [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]


_SECONDS = 120.0
_MAX_QUERY_CHARS = 200
_HANDLES = "list_handles"


def check_server(installation: Installation, seconds: float = _SECONDS) -> Iterator[Finding]:
    """Check that a client can use the server: it starts, lists its tools, and finds a document.

    Raises:
        ServerFailed: it does not start, or does not answer in ``seconds``.
    """
    program = find_server_program()
    if program is None:
        yield Finding(
            "trouble", "server", f"the command {SERVER_PROGRAM} is not installed",
            this_installation().adding_server,
        )  # fmt: skip
        return
    command = [program, "--database", str(installation.database)]
    if installation.config is not None:
        command += ["--config", str(installation.config)]
    with tempfile.TemporaryDirectory() as folder:
        # The server gets a log of its own, because the user's is for the user's searches.
        log = Path(folder) / "events.log"
        environment = {
            "MDVEC_LOG_FILE": str(log), "MDVEC_LOG_FORMAT": "json", "MDVEC_LOG_LEVEL": "INFO",
        }  # fmt: skip
        if any(map(is_endpoint_model, models_in_use(installation.database))):
            # The search asks for a title of the user's, which must not go to an endpoint unasked.
            environment["MDVEC_SEARCH_MODE"] = "lexical"
        began = time.monotonic()
        with ServerProcess(command, seconds, environment) as server:
            names = {tool["name"] for tool in server.request("tools/list", {})["tools"]}
            took = time.monotonic() - began
            yield Finding(
                "ok", "server", f"{program} started in {took:.1f} s and offers {len(names)} tools"
            )
            yield from _search(server, installation.database)
            # A bridge writes no log; the server behind it does.
            if _HANDLES in names and installation.settings.server.url is None:
                yield _queries(server, log)


def _search(server: ServerProcess, database: Path) -> Iterator[Finding]:
    query = _title(database)
    if query is None:
        yield Finding("ok", "server", "there is no document to search for")
        return
    began = time.monotonic()
    arguments = {"query": query, "k": 1}
    result = server.request("tools/call", {"name": "search", "arguments": arguments})
    took = time.monotonic() - began
    text = result["content"][0]["text"]
    if result.get("isError"):
        yield Finding("trouble", "server", f"a search failed: {text}")
        return
    lines = outside_fences(text)
    if any(line.startswith("[1] ") for line in lines):
        yield Finding("ok", "server", f"a search of all tools found its document in {took:.1f} s")
    else:
        yield Finding(
            "trouble", "server", "a search for a document's title found nothing",
            "mdvec import -n NAME --mode replace",
        )  # fmt: skip
    for line in lines:
        if line.startswith("note: "):
            yield Finding("warning", "server", line.removeprefix("note: "))


def _title(database: Path) -> str | None:
    """The title of a document that a search of all tools should find."""
    try:
        with open_database(database, "read") as connection:
            for tool in registry.list_tools(connection, active_only=True):
                if not KINDS[tool.kind].has_texts:
                    continue
                for (title,) in connection.execute(
                    f"SELECT title FROM {identifier(tool.tables.documents)} "
                    f"WHERE id IN (SELECT document_id FROM {identifier(tool.tables.vectors)}) "
                    "AND trim(title) <> '' LIMIT 1"
                ):
                    return str(title)[:_MAX_QUERY_CHARS]
    except DatabaseError:  # the checks of the database report it
        return None
    return None


def _user_of(started: Mapping[str, object]) -> str:
    """Whose the query process is, in the words of a finding."""
    if started.get("own_user"):
        return "one of its own"
    return "root" if is_root() else "your own"


def _queries(server: ServerProcess, log: Path) -> Finding:
    """Check that the query process ran, and how it is sandboxed."""
    result = server.request("tools/call", {"name": _HANDLES, "arguments": {}})
    if result.get("isError"):
        said = result["content"][0]["text"]
        return Finding("trouble", "server", f"SQL queries fail: {said}")
    started = [event for event in events_in(log) if event.get("event") == "query_process"]
    if started and started[-1]["landlock"]:
        calls = ", a filter of system calls" if started[-1].get("seccomp") else ""
        user = _user_of(started[-1])
        said = f"SQL runs in a process confined by Landlock{calls} and limits; its user is {user}"
        return Finding("ok", "server", said)
    return Finding(
        "warning" if sys.platform.startswith("linux") else "ok", "server",
        "only DuckDB's own locks and memory limits confine SQL: this system has no Landlock",
    )  # fmt: skip
