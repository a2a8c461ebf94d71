"""Asks the server's program about tables: only it runs SQL, in a locked-down process."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from mdvec.errors import MdvecError
from mdvec.manage.service import server_program

_END_SECONDS = 0.3
_MAX_REASON = 4_000
_CHUNK = 1 << 20
_FASTER = {"PYDANTIC_DISABLE_PLUGINS": "__all__"}
"""Spares the search for plugins of pydantic, of which there are none."""
JsonAnswer = dict[str, Any]


class RequestRefused(MdvecError):
    """The server's program refused a request; the message says why."""


class WrongRequest(RequestRefused):
    """The request itself is wrong, whatever the tables hold."""

    is_wrong_usage = True


class NoAnswer(MdvecError):
    """The server's program ended without an answer."""


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer, and the file that belongs to it.

    Attributes:
        answer: by the tools' keys.
        format: the settings' format of output.
        warnings: about the tables and the settings.
        size: the bytes of the file, which can be read once; 0 if there is none.
    """

    answer: JsonAnswer
    format: str
    warnings: tuple[str, ...]
    size: int
    _source: IO[bytes]

    def write_file(self, target: IO[bytes]) -> None:
        """Write the whole file.

        Raises:
            NoAnswer: the program ended before.
        """
        left = self.size
        while left:
            part = self._source.read(min(left, _CHUNK))
            if not part:
                raise NoAnswer("the server's program ended before the last row; ask again")
            target.write(part)
            left -= len(part)


class TableServer:
    """The server's program, started to answer one request."""

    def __init__(self, process: subprocess.Popen[bytes], said: IO[bytes] | None) -> None:
        self._process = process
        self._said = said

    def ask(self, request: Mapping[str, object]) -> Reply:
        """Send the request, and return the reply.

        Raises:
            RequestRefused: the program refused it.
            NoAnswer: the program ended before.
        """
        sending, receiving = self._process.stdin, self._process.stdout
        assert sending is not None  # noqa: S101 - both were opened with pipes
        assert receiving is not None  # noqa: S101
        with suppress(BrokenPipeError):  # it has ended, and said why
            sending.write(json.dumps(request).encode() + b"\n")
            sending.flush()
        response = receiving.readline()
        if not response.endswith(b"\n"):
            raise NoAnswer(self._reason())
        reply: dict[str, Any] = json.loads(response)
        if "error" in reply:
            raise (WrongRequest if reply["is_wrong_usage"] else RequestRefused)(reply["error"])
        warnings = tuple(reply["warnings"])
        return Reply(reply["answer"], reply["format"], warnings, reply["bytes"], receiving)

    def _reason(self) -> str:
        """The last line that it said on STDERR."""
        self._process.wait()
        said = b""
        if self._said is not None:
            self._said.seek(0)
            said = self._said.read()[-_MAX_REASON:]
        lines = said.decode("utf-8", "replace").strip().splitlines()
        last = (
            lines[-1].removeprefix("mdvec-mcp: error: ") if lines else "it ended without a message"
        )
        return f"the server's program gave no answer: {last}"


@contextmanager
def table_server(
    database: Path | None, config: Path | None, *, verbose: bool = False
) -> Iterator[TableServer]:
    """The server's program, which ends with the block; it reads the settings itself.

    Args:
        database: the database file; None takes that of the settings.
        config: the settings file; None takes the user's.
        verbose: whether it logs to STDERR.

    Raises:
        ServerNotInstalled: mdvec-mcp is not installed.
    """
    arguments = [server_program(), "--one-request"]
    for name, path in (("--database", database), ("--config", config)):
        if path is not None:
            arguments += [name, str(path.expanduser().absolute())]
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(  # noqa: S603 - our own program
            [*arguments, "--verbose"] if verbose else arguments,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=None if verbose else said,
            env={**os.environ, **_FASTER},
        )
        try:
            yield TableServer(process, None if verbose else said)
        finally:
            _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Close its pipes, at which it ends; kill it where it does not."""
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with suppress(OSError):
                pipe.close()
    try:
        process.wait(_END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
