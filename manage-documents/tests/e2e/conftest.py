"""The real `mdvec`, each time in a process of its own, far from the user's files."""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from mdvec.registering import update_tool

MAIN = "import sys; sys.argv[0] = 'mdvec'; from mdvec_cli.main import main; main()"
OWN_TERMINAL = "import fcntl, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0)\n"
SECONDS = 60

NOTES = {
    "water.md": (
        "# 水\n\n一人一日三リットルを三日分備える。地震のあとで水道が止まることがあるからだ。\n\n"
        "## 置き場所\n\n玄関と寝室に分けて置くと、片方がふさがっても取り出せる。"
        "古いものから順に飲んで、飲んだ分だけ買い足し、いつも同じ量を保つ。\n"
    ),
    "git/worktrees.md": (
        "# Git worktrees\n\nA worktree keeps two branches checked out at the same time, "
        "each in a folder of its own.\n"
    ),
    "米.txt": "お米は二合炊く。水はやや少なめにして、三十分おいてから火にかけるとふっくらする。\n",
}


@dataclass(frozen=True)
class Done:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self):
        """What stdout holds, when that is JSON and nothing else."""
        return json.loads(self.out)


class Terminal:
    """A command on a terminal of its own, and what the screen has shown so far."""

    def __init__(self, command: list[str], **options) -> None:
        self._screen, inner = os.openpty()
        termios.tcsetwinsize(inner, (40, 120))
        self.process = subprocess.Popen(
            command, stdin=inner, stdout=inner, stderr=inner, start_new_session=True, **options
        )
        os.close(inner)
        self.shown = ""

    def wait_for(self, text: str) -> None:
        deadline = time.monotonic() + SECONDS
        while text not in self.shown:
            assert time.monotonic() < deadline, f"{text!r} did not come: {self.shown}"
            assert self._read(), f"it ended without {text!r}: {self.shown}"

    def type(self, keys: str) -> None:
        os.write(self._screen, keys.encode())

    def end(self) -> int:
        """Read to the end; the exit code."""
        deadline = time.monotonic() + SECONDS
        while self._read():
            assert time.monotonic() < deadline, f"it did not end: {self.shown}"
        return self.process.wait(SECONDS)

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        if self._screen is not None:
            os.close(self._screen)
            self._screen = None

    def _read(self) -> bool:
        ready, _, _ = select.select([self._screen], [], [], SECONDS)
        try:
            data = os.read(self._screen, 65536) if ready else b""
        except OSError:  # how Linux says that the other side is closed
            data = b""
        self.shown += data.decode("utf-8", "replace")
        return bool(data)


class Mdvec:
    """Runs `mdvec` with a home and a working folder below ``folder``."""

    def __init__(self, folder: Path) -> None:
        self.home, self.work = folder / "home", folder / "work"
        self.home.mkdir()
        self.work.mkdir()
        self.environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("MDVEC_", "XDG_", "HF_", "HUGGINGFACE_"))
        } | {
            "HOME": str(self.home),
            "XDG_CONFIG_HOME": str(self.home / "config"),
            "XDG_DATA_HOME": str(self.home / "data"),
            "MDVEC_MODEL_NAME": "use",
            "TERM": "xterm-256color",
        }
        self.database = self.work / "db.sqlite"
        self._open: list[Terminal | subprocess.Popen] = []

    def __call__(self, *arguments, stdin: str = "", first: str = "", python=(), **environment):
        """Run to the end. ``first`` is Python that runs before the command does."""
        done = subprocess.run(
            self._command(arguments, first, python),
            input=stdin,
            capture_output=True,
            encoding="utf-8",
            cwd=self.work,
            env=self.environment | environment,
            timeout=SECONDS,
            check=False,
        )
        assert "Traceback" not in done.stderr
        return Done(done.returncode, done.stdout, done.stderr)

    def start(self, *arguments, **environment) -> subprocess.Popen:
        """Start, and leave it running."""
        process = subprocess.Popen(
            self._command(arguments),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            cwd=self.work,
            env=self.environment | environment,
        )
        self._open.append(process)
        return process

    def on_terminal(self, *arguments, **environment) -> Terminal:
        """Start on a terminal."""
        terminal = Terminal(
            self._command(arguments, OWN_TERMINAL),
            cwd=self.work,
            env=self.environment | environment,
        )
        self._open.append(terminal)
        return terminal

    def close(self) -> None:
        for running in self._open:
            if isinstance(running, Terminal):
                running.close()
            else:
                running.kill()
                running.communicate()

    def _command(self, arguments, first: str = "", python=()) -> list[str]:
        return [sys.executable, *python, "-c", first + MAIN, *map(str, arguments)]
