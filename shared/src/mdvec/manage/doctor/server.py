"""Checks the server: starts it, lists its tools, searches, and sees how queries are confined."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from mdvec.database import DatabaseError, open_database
from mdvec.embedding import is_endpoint_model
from mdvec.manage.doctor.findings import Finding, Installation
from mdvec.manage.doctor.server_process import ServerProcess, events_in
from mdvec.manage.registering import models_in_use
from mdvec.manage.service import SERVER_PROGRAM, find_server_program
from mdvec.text import identifier, outside_fences
from mdvec.tools import KINDS, registry

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
            "pip install -c constraints.txt -e ./mcp-server",
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
    return "root" if os.geteuid() == 0 else "your own"


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
