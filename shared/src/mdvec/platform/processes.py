"""Child processes: the arguments that start them, waiting for their pipes, and killing them."""

from __future__ import annotations

import os
import re
import select
import shlex
import signal
import subprocess
import sys
import time
from contextlib import suppress
from typing import Any

from mdvec.platform import windows

_INHERITED = (
    "LANG", "LC_ALL", "LC_CTYPE", "LD_LIBRARY_PATH", "PYTHONNOUSERSITE", "PYTHONPATH", "TZ",
)  # fmt: skip
_CONTROLS = re.compile(r"[\x00-\x1f\x7f]")
_PIPE_SECONDS = 0.005
"""The polling interval of a pipe on Windows, which cannot wait for one."""


def in_own_group() -> dict[str, Any]:
    """Arguments of ``subprocess`` for a child that Ctrl-C in the terminal does not reach.

    ``end_with_children`` ends it with the processes it starts.
    """
    if sys.platform == "win32":
        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW}
    return {"start_new_session": True}


def python_child(module: str, *arguments: str, **variables: str) -> dict[str, Any]:
    """Arguments of ``subprocess`` that run one of our modules in its own process group.

    Its environment has ``variables`` and what Python needs, but none of the user's secrets.
    """
    inherited = {name: os.environ[name] for name in _INHERITED if name in os.environ}
    own = {"HOME": "/nonexistent", "MALLOC_ARENA_MAX": "2"}
    command = [sys.executable, "-P", "-X", "utf8", "-m", module, *arguments]
    return {"args": command, "env": inherited | own | variables, **in_own_group()}


def end_with_children(process: subprocess.Popen[bytes]) -> None:
    """Kill a process that was started ``in_own_group`` and its children; wait for its end."""
    if sys.platform == "win32":
        _kill_tree(process.pid)
    else:
        with suppress(ProcessLookupError, PermissionError):  # macOS refuses if all have ended
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _kill_tree(pid: int) -> None:
    import psutil  # takes 30 ms, and only Windows needs it

    with suppress(psutil.Error):
        parent = psutil.Process(pid)
        for process in (*parent.children(recursive=True), parent):
            with suppress(psutil.Error):
                process.kill()


def can_read(descriptor: int, seconds: float) -> bool:
    """Wait up to ``seconds`` until a pipe has bytes to read or ends; returns whether it did."""
    if sys.platform == "win32":
        until = time.monotonic() + seconds
        while not windows.has_bytes(descriptor):
            if time.monotonic() >= until:
                return False
            time.sleep(_PIPE_SECONDS)
        return True
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(1000 * seconds))


def can_write(descriptor: int, seconds: float) -> bool:
    """Wait up to ``seconds`` until a pipe takes bytes; returns whether it does.

    On Windows this is unknown: a write blocks until the child has read it, which is the first thing
    that the child does.
    """
    if sys.platform == "win32":
        return True
    poll = select.poll()
    poll.register(descriptor, select.POLLOUT)
    return bool(poll.poll(1000 * seconds))


def never_wait(descriptor: int) -> None:
    """Make reads and writes of a pipe non-blocking; on Windows they still block."""
    if sys.platform != "win32":
        os.set_blocking(descriptor, False)


def shell_line(*words: str) -> str:
    """Words as a command line to type in a shell; on Windows quoted for both of its shells."""
    if sys.platform == "win32":
        return subprocess.list2cmdline(words)
    return " ".join(map(_shell_word, words))


def _shell_word(word: str) -> str:
    """A word in quotes, or with control characters, such as line breaks, escaped in ``$'…'``."""
    if not _CONTROLS.search(word):
        return shlex.quote(word)
    safe = word.replace("\\", r"\\").replace("'", r"\'")
    return f"$'{_CONTROLS.sub(lambda sign: ascii(sign[0])[1:-1], safe)}'"


def shell_words(line: str) -> list[str]:
    """The words of a command line that a person wrote; on Windows a backslash is part of a path.

    Raises:
        ValueError: a quotation mark is not closed.
    """
    return shlex.split(line.replace("\\", "\\\\") if sys.platform == "win32" else line)
