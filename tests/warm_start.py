"""Processes that start in milliseconds: forks of one that has imported the libraries already.

Most of the time of a short command goes into importing. ``WarmStart`` keeps a parent that has
done it; each process that it starts is a fork with its own arguments, environment, folder and
streams, runs Python code to the end as ``python -c`` does, and can be signalled, killed and
waited for. Only libraries of others are imported beforehand: our own modules each process still
imports by itself, when it gets there. Where forking a process with libraries in it is not safe
(everywhere but on Linux), the processes are started the ordinary way.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any, TextIO

PIPE, DEVNULL = subprocess.PIPE, subprocess.DEVNULL
_MOST = 1 << 20


class WarmStart:
    """Starts processes of this Python in which ``modules`` are loaded from the beginning."""

    def __init__(self, *modules: str) -> None:
        self._modules = modules
        self._lock = threading.Lock()
        self._parent: subprocess.Popen[bytes] | None = None
        self._channel: socket.socket | None = None

    def start(
        self,
        code: str,
        arguments: Sequence[str],
        *,
        cwd: Path | None = None,
        env: dict[str, str] | None = None,
        stdin: int = DEVNULL,
        stdout: int = PIPE,
        stderr: int = PIPE,
        encoding: str | None = None,
        start_new_session: bool = False,
    ) -> Started | subprocess.Popen[Any]:
        """Start ``python -c code arguments``; the options are those of ``subprocess.Popen``."""
        if sys.platform != "linux":
            return subprocess.Popen(
                [sys.executable, "-c", code, *arguments], cwd=cwd, env=env, stdin=stdin,
                stdout=stdout, stderr=stderr, encoding=encoding,
                start_new_session=start_new_session,
            )  # fmt: skip
        ends = [_ends(place, wanted) for place, wanted in enumerate((stdin, stdout, stderr))]
        told, tells = os.pipe()
        job = {
            "code": code, "arguments": list(arguments), "cwd": str(cwd or Path.cwd()),
            "env": dict(os.environ) if env is None else env, "session": start_new_session,
        }  # fmt: skip
        inner = [end for _, end in ends]
        with self._lock:
            channel = self._open()
            socket.send_fds(channel, [json.dumps(job).encode()], [*inner, tells])
            pid = int(channel.recv(_MOST))
        for end in (*inner, tells):
            os.close(end)
        return Started(pid, told, [outer for outer, _ in ends], encoding)

    def close(self) -> None:
        """End the parent; the processes that it started should have ended."""
        if self._parent and self._channel:
            self._channel.close()
            self._parent.wait(60)

    def _open(self) -> socket.socket:
        if self._channel is None:
            self._channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            with theirs:
                self._parent = subprocess.Popen(
                    [sys.executable, __file__, str(theirs.fileno()), *self._modules],
                    pass_fds=[theirs.fileno()],
                    stdin=DEVNULL,
                )
        return self._channel


class Started:
    """A process that was started; as much of ``subprocess.Popen`` as the tests use."""

    def __init__(
        self, pid: int, told: int, ends: Sequence[int | None], encoding: str | None
    ) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._told = told
        modes = ("w", "r", "r") if encoding else ("wb", "rb", "rb")
        self.stdin, self.stdout, self.stderr = (
            None if end is None else os.fdopen(end, mode, encoding=encoding)
            for end, mode in zip(ends, modes, strict=True)
        )

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end; the exit code, negative where a signal ended the process."""
        if self.returncode is None:
            if not select.select([self._told], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(f"process {self.pid}", timeout or 0)
            self.returncode = int(os.read(self._told, 100))
            os.close(self._told)
        return self.returncode

    def communicate(self, given: Any = None, timeout: float | None = None) -> tuple[Any, Any]:
        """Give the process its input, and read what it says until it ends."""
        said: list[Any] = [None, None]

        def read(place: int, stream: IO[Any] | None) -> None:
            if stream is not None and not stream.closed:
                with stream:
                    said[place] = stream.read()

        readers = [
            threading.Thread(target=read, args=found, daemon=True)
            for found in enumerate((self.stdout, self.stderr))
        ]
        for reader in readers:
            reader.start()
        if self.stdin is not None and not self.stdin.closed:
            with contextlib.suppress(BrokenPipeError), self.stdin:
                self.stdin.write(given or "")
        self.wait(timeout)
        for reader in readers:
            reader.join(timeout)
        return said[0], said[1]

    def send_signal(self, number: int) -> None:
        """Send a signal, unless the process has ended."""
        if self.returncode is None and not select.select([self._told], [], [], 0)[0]:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """End the process at once."""
        self.send_signal(signal.SIGKILL)

    def __enter__(self) -> Started:
        return self

    def __exit__(self, *_: object) -> None:
        for stream in (self.stdin, self.stdout, self.stderr):
            if stream is not None:
                with contextlib.suppress(BrokenPipeError):
                    stream.close()
        self.wait()


def _ends(place: int, wanted: int) -> tuple[int | None, int]:
    """The test's end of a stream, and the process's own."""
    if wanted == DEVNULL:
        return None, os.open(os.devnull, os.O_RDWR)
    if wanted != PIPE:
        return None, os.dup(wanted)
    reading, writing = os.pipe()
    return (writing, reading) if place == 0 else (reading, writing)


# --- in the parent ---


def _jobs(channel: socket.socket) -> dict[str, Any] | None:
    """Fork for each job that comes; returns in the fork with its job, in the parent at the end."""
    woken, wakes = os.pipe()
    os.set_blocking(wakes, False)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the tests' own end ends the channel
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wakes)
    running: dict[int, int] = {}
    while True:
        ready, _, _ = select.select([channel, woken], [], [])
        if woken in ready:
            os.read(woken, 4096)
            _tell_of_ends(running)
        if channel in ready:
            data, streams, _, _ = socket.recv_fds(channel, _MOST, 4)
            if not data:
                return None
            pid = os.fork()
            if pid == 0:
                for inherited in (channel.detach(), woken, wakes, *running.values(), streams[3]):
                    os.close(inherited)
                return {**json.loads(data), "streams": streams[:3]}
            running[pid] = streams[3]
            for stream in streams[:3]:
                os.close(stream)
            channel.send(str(pid).encode())


def _tell_of_ends(running: dict[int, int]) -> None:
    for pid in list(running):
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            told = running.pop(pid)
            with contextlib.suppress(BrokenPipeError):
                os.write(told, str(os.waitstatus_to_exitcode(status)).encode())
            os.close(told)


def _settle(job: dict[str, Any]) -> None:
    """Make this fork what a new process with these streams, variables and arguments is."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if job["session"]:
        os.setsid()
    for place, stream in enumerate(job["streams"]):
        os.dup2(stream, place)
        os.close(stream)
    sys.stdin, sys.stdout, sys.stderr = (
        _stream(place, old) for place, old in enumerate((sys.stdin, sys.stdout, sys.stderr))
    )
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr
    os.chdir(job["cwd"])
    os.environ.clear()
    os.environ.update(job["env"])
    sys.argv = ["-c", *job["arguments"]]


def _stream(place: int, old: TextIO) -> TextIO:
    """A standard stream as Python makes it when it starts; the old one knows another file."""
    return os.fdopen(
        place,
        "w" if place else "r",
        encoding=old.encoding,
        errors=old.errors,
        newline="\n" if place else None,
        buffering=1 if place == 2 or os.isatty(place) else -1,
        closefd=False,
    )


if __name__ == "__main__":
    for name in sys.argv[2:]:
        importlib.import_module(name)
    gc.freeze()  # what the libraries made is never looked at again, so it stays shared
    job = _jobs(socket.socket(fileno=int(sys.argv[1])))
    if job is not None:
        _settle(job)
        exec(compile(job["code"], "<string>", "exec"), {"__name__": "__main__"})
