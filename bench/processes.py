"""Child processes: what must be measured from its start, or for its memory, runs in one."""

from __future__ import annotations

import json
import os
import pty
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from corpus import find_corpus
from mdvec.embedding.options import BackendOptions
from mdvec.embedding.reranker import Reranker

BENCH = Path(__file__).parent
COMMAND_LINE = "from mdvec_cli.entry import main; main()"
SERVER = "from mdvec_mcp.entry import main; main()"


@dataclass(frozen=True, slots=True)
class Bench:
    """Where a benchmark works, and what it was asked: None where nothing was said.

    ``databases`` is for those that several benchmarks ask; it stays for a whole run.
    """

    folder: Path
    databases: Path
    runs: int | None
    asked_corpus: Path | None
    asked_jsquad: Path | None
    asked_reranker: str | None = None
    asked_peer: Path | None = None

    def times(self, usual: int) -> int:
        """How often to measure: as asked, else as usual for the subject."""
        return self.runs or usual

    @property
    def reranker(self) -> Reranker | None:
        """The cross-encoder that makes one more leg, if one was named."""
        return (
            None if self.asked_reranker is None else Reranker(self.asked_reranker, BackendOptions())
        )

    @property
    def peer(self) -> Path | None:
        """The program of another server for SQL, where it was named or is on the path."""
        found = shutil.which(self.asked_peer or "mcp-server-motherduck")
        return None if found is None else Path(found).absolute()

    @property
    def corpus(self) -> Path:
        """The public text.

        Raises:
            Skipped: it is not here.
        """
        return find_corpus(self.asked_corpus)

    @property
    def environment(self) -> dict[str, str]:
        """The environment without the settings of whoever measures.

        Byte code is cached, as it is for users, but in the benchmark's folder.
        """
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith("MDVEC_") and name != "PYTHONDONTWRITEBYTECODE"
        }
        config = self.folder / "config.toml"
        config.touch()
        return {
            **kept,
            "MDVEC_CONFIG": str(config),
            "MDVEC_MODEL_NAME": "use",  # auto would take a better one that is here
            "PYTHONPYCACHEPREFIX": str(self.folder / "bytecode"),
            "TERM": "xterm-256color",
            "COLUMNS": "120",
        }


@dataclass(frozen=True, slots=True)
class Finished:
    """A process that ended well: its output, what its terminal showed, its time and memory."""

    stdout: str
    screen: str
    seconds: float
    peak_mb: float


def run_mdvec(bench: Bench, *arguments: str | Path) -> Finished:
    """Run `mdvec` with STDERR on a terminal, so that it draws its progress bar."""
    command = [sys.executable, "-c", COMMAND_LINE, *map(str, arguments)]
    terminal, other_end = pty.openpty()
    screen: list[bytes] = []
    reader = threading.Thread(target=_read_all, args=(terminal, screen))
    reader.start()
    with tempfile.TemporaryFile("w+", encoding="utf-8", dir=bench.folder) as stdout:
        began = time.perf_counter()
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=stdout, stderr=other_end,
            cwd=bench.folder, env=bench.environment,
        )  # fmt: skip
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        os.close(other_end)
        reader.join()
        stdout.seek(0)
        finished = Finished(
            stdout.read(), b"".join(screen).decode("utf-8", "replace"), seconds,
            _megabytes(usage.ru_maxrss),
        )  # fmt: skip
    if process.returncode:
        raise RuntimeError(f"{arguments} ended with {process.returncode}: {finished.screen}")
    return finished


def call_in_child(bench: Bench, module: str, function: str, *arguments: object) -> Any:  # noqa: ANN401
    """What a function of one of these modules returns, called in a process of its own."""
    command = [
        sys.executable,
        str(BENCH / "function_child.py"),
        module,
        function,
        json.dumps(arguments),
    ]
    done = subprocess.run(
        command, stdout=subprocess.PIPE, check=True, cwd=bench.folder, env=bench.environment
    )
    return json.loads(done.stdout)


def _read_all(terminal: int, read: list[bytes]) -> None:
    """Read until the last process has closed its end."""
    try:
        while block := os.read(terminal, 65_536):
            read.append(block)
    except OSError:
        pass  # Linux says EIO where others say that there is no more
    finally:
        os.close(terminal)


def _megabytes(resident: int) -> float:
    """What getrusage tells: bytes on a Mac, kilobytes elsewhere."""
    return resident / (1e6 if sys.platform == "darwin" else 1e3 / 1.024)
