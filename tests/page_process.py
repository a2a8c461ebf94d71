"""The page of a real server process, and requests that no browser sends."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from mdvec.manage.page_server import page_key
from page_site import Site, wait_until

RUN = "from mdvec_mcp.main import main; main()"
SECONDS = 30


@dataclass(frozen=True)
class PageProcess:
    """A running process, its page, and the file of what it writes to STDERR."""

    process: subprocess.Popen[bytes]
    site: Site
    log: Path

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self.site.address.rpartition(":")[2])

    def connect(self, data: bytes) -> socket.socket:
        """A connection that has sent this."""
        connection = socket.create_connection(("127.0.0.1", self.port), SECONDS)
        connection.sendall(data)
        return connection

    def status(self, head: str, body: bytes = b"", cookie: str = "") -> int:
        """The status of the answer to a request of these lines."""
        lines = [*head.splitlines(), f"cookie: {cookie}", f"content-length: {len(body)}"]
        text = "\r\n".join([*lines, "connection: close", "", ""])
        sent = text.encode("latin-1") + body
        with self.connect(sent) as connection, connection.makefile("rb") as file:
            return int(file.readline().split()[1])


@contextmanager
def page_process(
    database: Path, home: Path, *arguments: str, code: str = RUN
) -> Iterator[PageProcess]:
    """Serve the page of a database meanwhile, in a process isolated from the user's settings."""
    home.mkdir(parents=True, exist_ok=True)
    homes = ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME")
    command = [sys.executable, "-c", code, "--database", str(database), "--http", "127.0.0.1:0"]
    log = home / "stderr.txt"
    with log.open("wb") as stderr:
        process = subprocess.Popen(
            [*command, *arguments], env={**os.environ, **dict.fromkeys(homes, str(home))},
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=stderr,
        )  # fmt: skip
    try:
        yield PageProcess(process, Site(_address(process, log), page_key(database)), log)
    finally:
        process.terminate()  # coverage is written at its own end
        try:
            process.wait(SECONDS)
        finally:
            process.kill()
            process.wait()


def _address(process: subprocess.Popen[bytes], log: Path) -> str:
    """Where it listens, as soon as it does."""

    def found() -> re.Match[str] | None:
        assert process.poll() is None, log.read_text()
        return re.search(r"serving (http://\S+)/mcp", log.read_text())

    wait_until(found)
    match = found()
    assert match is not None
    return match[1]
