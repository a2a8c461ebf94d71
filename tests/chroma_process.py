"""A real Chroma server for tests, from its own wheel, which is unpacked beside the packages."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from mdvec.index.chroma import ChromaServer

_WHEEL = Path(sys.prefix) / "chroma-server"
_RUN = "import chromadb_rust_bindings, sys; chromadb_rust_bindings.cli(['chroma', *sys.argv[1:]])"
_SECONDS = 60


class ChromaProcess:
    """A server over one folder, which can be killed, frozen and started again."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        with socket.create_server(("127.0.0.1", 0)) as free:
            self._port = int(free.getsockname()[1])
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> ChromaServer:
        """Where it listens, the same after each start."""
        return ChromaServer(url=f"http://127.0.0.1:{self._port}")

    @property
    def pid(self) -> int:
        """The number of its process."""
        assert self._process is not None
        return self._process.pid

    @contextmanager
    def running(self) -> Iterator[ChromaProcess]:
        """Start it, and kill it at the end, whatever was done to it."""
        try:
            self.start()
            yield self
        finally:
            self.kill()

    def start(self) -> ChromaServer:
        """Start it, and wait until it answers."""
        assert (_WHEEL / "chromadb_rust_bindings").is_dir(), "run: make test-setup"
        self._folder.mkdir(parents=True, exist_ok=True)
        log = self._folder / "log.txt"
        environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(_WHEEL), "HOME": "/nowhere"}
        arguments = ["run", "--path", str(self._folder / "data"), "--host", "127.0.0.1"]
        with log.open("wb") as out:
            self._process = subprocess.Popen(
                [sys.executable, "-c", _RUN, *arguments, "--port", str(self._port)],
                env=environment, cwd=self._folder, stdout=out, stderr=subprocess.STDOUT,
            )  # fmt: skip
        until = time.monotonic() + _SECONDS
        while not self._answers():
            assert time.monotonic() < until, log.read_text(errors="replace")
            assert self._process.poll() is None, log.read_text(errors="replace")
            time.sleep(0.02)
        return self.address

    def _answers(self) -> bool:
        try:
            with urlopen(f"{self.address.url}/api/v2/heartbeat", timeout=5) as answer:
                return bool(answer.status == 200)
        except (URLError, OSError):
            return False

    def kill(self) -> None:
        """Kill it, as a power cut would."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    @property
    def is_running(self) -> bool:
        """Whether it was started and not killed since."""
        return self._process is not None

    def freeze(self) -> None:
        """Let it accept connections but answer nothing."""
        os.kill(self.pid, signal.SIGSTOP)

    def thaw(self) -> None:
        """Let it go on."""
        os.kill(self.pid, signal.SIGCONT)
