"""Starts a server as a client does, and speaks JSON-RPC to it."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from mdvec.errors import MdvecError

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
