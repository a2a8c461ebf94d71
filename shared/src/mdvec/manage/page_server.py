"""Finds the server that serves the local page of a database, or starts one."""

from __future__ import annotations

import json
import subprocess
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from mdvec.errors import MdvecError
from mdvec.manage.page_key import PageKey
from mdvec.manage.server_program import server_program

_HEALTH_SECONDS = 3.0
_STOP_SECONDS = 15.0
_ANY_PORT = "127.0.0.1:0"
_SERVING = "mdvec-mcp: serving "
_MAX_HEALTH_BYTES = 10_000


class PageUnavailable(MdvecError):
    """No server serves the page; the message says why."""


def one_time_address(server: str, key: PageKey) -> str:
    """The address that opens the page once, for example in a browser."""
    return f"{server}/open?code={key.one_time_code()}"


def running_page(at: str, key: PageKey) -> str | None:
    """The server at ``at`` (host:port) if it serves the page of this key, as http://host:port."""
    health = _health(f"http://{at}")
    return f"http://{at}" if health is not None and health.get("page") == key.id else None


@contextmanager
def started_page(at: str, key: PageKey, arguments: Sequence[str]) -> Iterator[StartedServer]:
    """A server started for this block, and ended with it; at another port if that one is taken.

    Args:
        at: where it listens, host:port.
        key: the key of its database.
        arguments: more arguments of mdvec-mcp.

    Raises:
        PageUnavailable: it does not start, or serves no page.
        ServerNotInstalled: mdvec-mcp is not installed.
    """
    place = at if _health(f"http://{at}") is None else _ANY_PORT
    process = subprocess.Popen(  # noqa: S603 - our own program
        [server_program(), "--http", place, *arguments],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        encoding="utf-8", errors="replace",
    )  # fmt: skip
    server = StartedServer(process)
    try:
        server.wait_until_it_serves()
        if running_page(server.address.removeprefix("http://"), key) is None:
            raise PageUnavailable(
                "the server started, but serves no page; the page needs a server at 127.0.0.1"
            )
        yield server
    finally:
        server.stop()


class StartedServer:
    """A server process, and where it listens."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self.address = ""

    def wait_until_it_serves(self) -> None:
        """Read its address.

        Raises:
            PageUnavailable: it ended before.
        """
        said = []
        for line in self._lines():
            if line.startswith(_SERVING):
                self.address = line.removeprefix(_SERVING).strip().removesuffix("/mcp")
                return
            said.append(line.strip().removeprefix("mdvec-mcp: error: "))
        raise PageUnavailable(said[-1] if said else "the server ended without a message")

    def warnings(self) -> Iterator[str]:
        """The lines that it writes, until it ends."""
        yield from self._lines()

    def stop(self) -> None:
        """End it, if it has not ended."""
        self._process.terminate()
        try:
            self._process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
        if self._process.stderr is not None:
            self._process.stderr.close()

    def _lines(self) -> Iterator[str]:
        assert self._process.stderr is not None  # noqa: S101 - it was opened with a pipe
        # Not the file itself: the end of this generator would close it.
        yield from iter(self._process.stderr.readline, "")


def server_arguments(database: Path, config: Path | None) -> list[str]:
    """The arguments with which a server uses this database and this settings file."""
    given = ["--database", str(database)]
    return given if config is None else [*given, "--config", str(config.expanduser().absolute())]


def _health(address: str) -> dict[str, object] | None:
    """What the server at an address says of itself; None if none answers there."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(f"{address}/health", timeout=_HEALTH_SECONDS) as answer:
            told = json.loads(answer.read(_MAX_HEALTH_BYTES))
    except (OSError, ValueError):
        return None
    return told if isinstance(told, dict) else None
