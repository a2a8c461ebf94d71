"""Processes that this one starts: apart from the terminal, waited for, and ended with theirs."""

from __future__ import annotations

import os
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
_PIPE_SECONDS = 0.005
"""How often a pipe is looked at on Windows, where nothing waits for one."""


def in_own_group() -> dict[str, Any]:
    """Arguments of ``subprocess`` for a child that Ctrl-C in the terminal does not reach.

    What it starts can be ended with it by ``end_with_children``.
    """
    if sys.platform == "win32":
        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW}
    return {"start_new_session": True}


def python_child(module: str, *arguments: str, **variables: str) -> dict[str, Any]:
    """Arguments of ``subprocess`` that run a module of ours ``apart``, with these variables.

    It has what it needs to start, and none of the user's secrets.
    """
    inherited = {name: os.environ[name] for name in _INHERITED if name in os.environ}
    own = {"HOME": "/nonexistent", "MALLOC_ARENA_MAX": "2"}
    command = [sys.executable, "-P", "-X", "utf8", "-m", module, *arguments]
    return {"args": command, "env": inherited | own | variables, **in_own_group()}


def end_with_children(process: subprocess.Popen[bytes]) -> None:
    """Kill a process that was started ``apart``, and what it started; wait for its end."""
    if sys.platform == "win32":
        _kill_tree(process.pid)
    else:
        with suppress(ProcessLookupError, PermissionError):  # macOS refuses where all have ended
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _kill_tree(pid: int) -> None:
    import psutil  # on Windows alone, and it takes 30 ms

    with suppress(psutil.Error):
        parent = psutil.Process(pid)
        for process in (*parent.children(recursive=True), parent):
            with suppress(psutil.Error):
                process.kill()


def can_read(descriptor: int, seconds: float) -> bool:
    """Wait so long at most until a pipe has bytes, or its end, to read; whether it has."""
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
    """Wait so long at most until a pipe takes bytes; whether it does.

    On Windows nothing tells: there a write waits until the child, which reads a request whole
    before it does anything else, has taken it.
    """
    if sys.platform == "win32":
        return True
    poll = select.poll()
    poll.register(descriptor, select.POLLOUT)
    return bool(poll.poll(1000 * seconds))


def never_wait(descriptor: int) -> None:
    """Make reads and writes of a pipe return at once; on Windows they wait as before."""
    if sys.platform != "win32":
        os.set_blocking(descriptor, False)


def shell_line(*words: str) -> str:
    """Words as a person types them: in a shell, or in Windows' two, which share double quotes."""
    return subprocess.list2cmdline(words) if sys.platform == "win32" else shlex.join(words)


def shell_words(line: str) -> list[str]:
    """The words of a command that a person wrote; a backslash of Windows stands in a path.

    Raises:
        ValueError: a quotation has no end.
    """
    return shlex.split(line.replace("\\", "\\\\") if sys.platform == "win32" else line)
