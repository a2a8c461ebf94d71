"""Runs the real `mdvec`, isolated from the user's files, in this process or in a child.

In this process a command runs through `main()` with its own streams, variables and working folder.
What only a process shows (signals, pipes, a terminal, kills) is tested in a child process.
"""

from __future__ import annotations

import functools
import json
import logging
import os
import select
import shutil
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager
from contextvars import copy_context
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from shlex import quote

import pytest
import typer
from imported import imported
from mdvec.embedding import catalog
from mdvec.embedding.embedder import Embedder
from mdvec.importing.job import ImportReport
from mdvec.japanese import in_japanese
from mdvec.manage.registering import update_tool
from typer.testing import CliRunner

from mdvec_cli.commands import is_japanese
from mdvec_cli.main import main

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
    """A finished command: its exit code and output."""

    code: int
    out: str
    err: str

    @property
    def json(self):
        """Stdout, parsed as JSON."""
        return json.loads(self.out)


class Terminal:
    """A command running on its own terminal; ``shown`` is the screen's text so far."""

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
        """Wait for the end; return the exit code."""
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
        except OSError:  # Linux raises it once the other side is closed
            data = b""
        self.shown += data.decode("utf-8", "replace")
        return bool(data)


class Mdvec:
    """Runs `mdvec` with home, working folder, caches and database inside ``folder``."""

    def __init__(self, folder: Path) -> None:
        self.home, self.work = folder / "home", folder / "work"
        self.docs, self.database = self.work / "docs", self.work / "db.sqlite"
        self.home.mkdir()
        self.docs.mkdir(parents=True)
        foreign = (
            "MDVEC_", "XDG_", "HF_", "HUGGINGFACE_", "NO_COLOR", "FORCE_COLOR", "COLUMNS",
            # Child processes are not measured: a Ctrl-C could leave coverage's lock locked.
            "COVERAGE_", "COV_CORE_",
        )  # fmt: skip
        self.environment = {
            name: value for name, value in os.environ.items() if not name.startswith(foreign)
        } | {
            "HOME": str(self.home),
            "XDG_CACHE_HOME": str(folder / "caches"),
            "XDG_CONFIG_HOME": str(self.home / "config"),
            "XDG_DATA_HOME": str(self.home / "data"),
            "MDVEC_DATABASE_PATH": str(self.database),
            "MDVEC_MODEL_NAME": "use",
            "MDVEC_DISPLAY_LANGUAGE": "en",
            "TERM": "xterm-256color",
        }
        self._running: list[Terminal | subprocess.Popen[str]] = []

    def __call__(
        self, *arguments, stdin="", is_terminal=False, encoding="utf-8", **environment
    ) -> Done:
        """Run a command in this process; an environment variable set to None is removed.

        With ``is_terminal`` it draws as on a terminal, but nobody is there to ask. ``encoding`` is
        that of its streams. What it says of errors has a Japanese form.
        """
        wanted = self._variables(environment)
        removed = dict.fromkeys(os.environ.keys() - wanted.keys())
        runner = CliRunner(charset=encoding)
        with (
            chdir(self.work),
            logging_as_before(),
            runner.isolation(stdin, {**removed, **wanted}) as (out, err, _),
        ):
            if is_terminal:
                for stream in (sys.stdout, sys.stderr):
                    vars(stream)["isatty"] = lambda: True
            code = copy_context().run(_exit_code, [*map(str, arguments)])
            sys.stdout.flush()
            sys.stderr.flush()
            said = err.getvalue().decode()
            done = Done(code, out.getvalue().decode(), said)
        assert "Traceback" not in said
        for line in said.splitlines():
            label, _, sentence = line.partition(": ")
            is_of_household = sentence.endswith(".")  # it is Japanese in the source
            for option, value in pairwise(map(str, arguments)):
                if option in ("--database", "--config"):  # added to commands after translation
                    sentence = sentence.replace(f" {option} {quote(value)}", "")
            assert label != "error" or is_of_household or in_japanese(sentence) != sentence
        return done

    def process(self, *arguments, stdin="", first="", python=(), **environment) -> Done:
        """Run a command in a child process.

        ``first`` is Python code to run before it, ``python`` are options of the interpreter.
        """
        process = self._start(
            first + MAIN,
            arguments,
            python,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            env=self._variables(environment),
        )
        out, said = process.communicate(stdin, timeout=SECONDS)
        assert "Traceback" not in said
        return Done(process.returncode, out, said)

    def each(self, *commands, **environment) -> list[Done]:
        """Run several commands, each given as a line or as a list of words."""
        words = [line.split() if isinstance(line, str) else line for line in commands]
        return [self(*command, **environment) for command in words]

    def start(self, *arguments) -> subprocess.Popen[str]:
        """Start a command in a child process, and leave it running."""
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        process = self._start(MAIN, arguments, **pipes, encoding="utf-8")
        self._running.append(process)
        return process

    def on_terminal(self, *arguments) -> Terminal:
        """Start a command on its own terminal."""
        terminal = Terminal(functools.partial(self._start, OWN_TERMINAL + MAIN, arguments))
        self._running.append(terminal)
        return terminal

    def write(self, path: str, text: str, encoding: str = "utf-8") -> Path:
        """Write a file into the source folder."""
        file = self.docs / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode(encoding))
        return file

    def files(self) -> list[str]:
        """Every file and folder in home and in the working folder."""
        found = [*self.home.rglob("*"), *self.work.rglob("*")]
        return sorted(str(path.relative_to(self.home.parent)) for path in found)

    def close(self) -> None:
        """Kill what is still running."""
        for running in self._running:
            running.kill()
            if isinstance(running, Terminal):
                running.close()
            else:
                running.communicate()

    def _start(self, code: str, arguments, python=(), **options) -> subprocess.Popen[str]:
        command = [sys.executable, *python, "-c", code, *map(str, arguments)]
        options.setdefault("env", self._variables({}))
        return subprocess.Popen(command, cwd=self.work, **options)

    def _variables(self, changes: dict[str, str | None]) -> dict[str, str]:
        wanted = (self.environment | changes).items()
        return {name: value for name, value in wanted if value is not None}

    @staticmethod
    def until(holds: Callable[[], object]) -> None:
        """Wait for something to become true."""
        deadline = time.monotonic() + SECONDS
        while not holds():
            assert time.monotonic() < deadline, "it did not happen"
            time.sleep(0.01)


@pytest.fixture(autouse=True, scope="session")
def signals_as_of_a_command() -> None:
    """Set the signals as the first command does: one that runs in a thread could not."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)


def _exit_code(arguments: list[str]) -> int:
    """Run `mdvec` with these arguments; return its exit code."""
    before, sys.argv = sys.argv, ["mdvec", *arguments]
    try:
        main()
    except SystemExit as end:
        return int(end.code or 0)
    finally:
        sys.argv = before
    raise AssertionError("main() returned")


@contextmanager
def logging_as_before() -> Iterator[None]:
    """Undo what ``--verbose`` does to logging, as the end of a process would."""
    logger = logging.getLogger("mdvec")
    handlers, level = logger.handlers[:], logger.level
    try:
        yield
    finally:
        logger.handlers[:] = handlers
        logger.setLevel(level)


@pytest.fixture
def mdvec(tmp_path, kept_caches):
    """`mdvec` without a database, with an empty folder ``docs``."""
    kept_caches(tmp_path / "caches")
    commands = Mdvec(tmp_path)
    yield commands
    commands.close()


@pytest.fixture(scope="session", autouse=True)
def use():
    """The bundled model. It and the parser of commands are made once, not by every command."""
    load, use = catalog.load, catalog.load("use")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            catalog, "load", lambda name, *rest: use if name == "use" else load(name, *rest)
        )
        parsed, once = typer.main.get_command, functools.cache(typer.main.get_command)
        patch.setattr(
            typer.main, "get_command", lambda app: (parsed if is_japanese() else once)(app)
        )
        yield use


def filled(mdvec: Mdvec, use: Embedder, name: str = "notes") -> ImportReport:
    """Register ``docs`` as a tool and import it, with the real model, through the library."""
    said = f"the {name} of a test"
    return imported(mdvec.database, name, mdvec.docs, "markdown", said, load=lambda _: use)


@pytest.fixture
def fill(mdvec, use) -> Callable[..., ImportReport]:
    return functools.partial(filled, mdvec, use)


@pytest.fixture(scope="session")
def imported_notes(tmp_path_factory, use) -> Path:
    """A working folder whose documents are those of ``NOTES``, imported once for all tests."""
    mdvec = Mdvec(tmp_path_factory.mktemp("notes"))
    for path, text in NOTES.items():
        mdvec.write(path, text)
    assert filled(mdvec, use).chunks == 4
    return mdvec.work


@pytest.fixture
def notes(mdvec, imported_notes):
    """`mdvec` with the tool ``notes``, imported: three documents, four chunks."""
    shutil.copytree(imported_notes, mdvec.work, dirs_exist_ok=True)
    update_tool(mdvec.database, "notes", None, mdvec.docs)
    return mdvec
