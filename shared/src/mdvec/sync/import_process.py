"""Starts and stops the process of a background import, and reads its messages (JSON lines)."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict

from mdvec.importing import Progress
from mdvec.platform import in_own_group
from mdvec.settings import Settings
from mdvec.sync.imports import Failed, Notice, Result, Stopped

Message = Progress | Notice | Result | Failed | Stopped
_KINDS: dict[str, Callable[..., Message]] = {
    kind.__name__.lower(): kind for kind in (Progress, Notice, Result, Failed, Stopped)
}


def as_line(message: Message) -> str:
    """The message as a line, with its line break."""
    fields = {"message": type(message).__name__.lower(), **asdict(message)}
    return json.dumps(fields, ensure_ascii=True) + "\n"


def from_line(line: str) -> Message | None:
    """The message in a line; None if it is incomplete, like the last one of a killed process."""
    try:
        fields = json.loads(line)
        kind = _KINDS[fields.pop("message")]
        return kind(**{name: _hashable(value) for name, value in fields.items()})
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def _hashable(value: object) -> object:
    return tuple(_hashable(element) for element in value) if isinstance(value, list) else value


_STOP_SECONDS = 5.0
"""How long a process may take to end when asked to; loading a model is one step."""


def _stderr_level() -> int:
    """The lowest level that this process logs to STDERR, which its child shares."""
    levels = [
        handler.level
        for handler in logging.getLogger().handlers
        if isinstance(handler, logging.StreamHandler) and handler.stream is sys.stderr
    ]
    return min(levels, default=logging.WARNING)


class ImportProcess:
    """An import of one tool in a process of its own, with lower priority.

    ``is_automatic`` is whether no user requested it.
    """

    def __init__(self, settings: Settings, tool: str, *, is_automatic: bool) -> None:
        self._tool = tool
        self._is_stopped = False
        # It has its own session: Ctrl-C in our terminal reaches only us, and we close its STDIN. No
        # isolated mode (-I), because PYTHONPATH may locate the packages.
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-X", "utf8", "-m", "mdvec.sync.import_child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
            **in_own_group(),
        )
        values = settings.model_dump(mode="json", exclude_unset=True, exclude={"server"})
        self._order = json.dumps(
            {
                "tool": tool,
                "settings": values,
                "is_automatic": is_automatic,
                "log_level": _stderr_level(),
            }
        )

    def messages(self) -> Iterator[Message]:
        """The messages of the process until it ends; the last is its result."""
        if self._process.stdin is None or self._process.stdout is None:
            return
        with suppress(OSError, ValueError):  # closed after a stop
            self._process.stdin.write(f"{self._order}\n")
            self._process.stdin.flush()
        end: Message | None = None
        for line in self._process.stdout:
            message = from_line(line)
            if isinstance(message, Result | Failed | Stopped):
                end = message
            elif message is not None:
                yield message
        self._close()
        yield end or self._unexpected_end()

    def stop(self) -> None:
        """Let the import end at its next step; kill a process that does not."""
        self._is_stopped = True
        if self._process.stdin is not None:
            with suppress(OSError):
                self._process.stdin.close()
        timer = threading.Timer(_STOP_SECONDS, self._process.kill)
        timer.daemon = True
        timer.start()

    def _close(self) -> None:
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with suppress(OSError):
                    stream.close()

    def _unexpected_end(self) -> Message:
        reassurance = "what it had finished is kept"
        if self._is_stopped:
            return Stopped(f"stopped; {reassurance}")
        code = self._process.returncode
        how = f"was killed by signal {-code}" if code < 0 else f"ended with code {code}"
        return Failed(
            f"the import of {self._tool} {how}; {reassurance}, the next import goes on from there"
        )
