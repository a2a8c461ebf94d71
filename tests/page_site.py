"""A real server over HTTP with the page, in a thread of this process, and those who ask it."""

from __future__ import annotations

import csv
import html
import io
import re
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import httpx2
import tools_described_once  # noqa: F401 - for the servers of this process
import uvicorn
from mdvec.embedding.embedder import Embedder
from mdvec.manage.addresses import Address
from mdvec.manage.page_server import PageKey, page_key
from mdvec.manage.registering import list_tools
from mdvec.settings import Settings
from mdvec_mcp.search.model_pool import ModelPool
from mdvec_mcp.server import wired_server
from mdvec_mcp.web.gate import LOOPBACK_NAMES, Rules, listen
from mdvec_mcp.web.page.app import page_app
from mdvec_mcp.web.serve import HttpLimits, http_app
from mdvec_mcp.whole_requests import WholeRequests
from tiny_embedder import TinyBackend

SECONDS = 30
_TOKEN = re.compile(r'data-csrf="([0-9a-f]+)"')
_NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""Without certificates, which each client would read anew."""


@dataclass(frozen=True)
class Site:
    """A running server with its page."""

    address: str
    key: PageKey

    @contextmanager
    def client(self, language: str = "en", *, is_open: bool = True) -> Iterator[httpx2.Client]:
        """A client with cookies, which has opened a one-time address."""
        with httpx2.Client(
            base_url=self.address, trust_env=False, follow_redirects=True, timeout=SECONDS,
            headers={"accept-language": language}, verify=_NO_TLS,
        ) as client:  # fmt: skip
            if is_open:
                opened = client.get(f"/open?code={self.key.one_time_code()}")
                assert opened.status_code == 200, opened.text
            yield client

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self.address.rpartition(":")[2])

    def connect(self, data: bytes) -> socket.socket:
        """A connection that has sent this."""
        connection = socket.create_connection(("127.0.0.1", self.port), SECONDS)
        connection.sendall(data)
        return connection

    def status(self, head: str, body: bytes = b"", cookie: str = "") -> int:
        """The status of the answer to a request of these lines, which no browser may send."""
        lines = [*head.splitlines(), f"cookie: {cookie}", f"content-length: {len(body)}"]
        text = "\r\n".join([*lines, "connection: close", "", ""])
        sent = text.encode("latin-1") + body
        with self.connect(sent) as connection, connection.makefile("rb") as file:
            return int(file.readline().split()[1])


def post(client: httpx2.Client, path: str, /, **fields: str | list[str]) -> httpx2.Response:
    """Send a form with the token of the client's session."""
    return client.post(path, data={"csrf": token_of(client), **fields})


def undone(client: httpx2.Client, page: str) -> httpx2.Response:
    """Press the button beside what a view says was just changed."""
    form = re.search(r'class="note actions".*?action="(.*?)"(.*?)</form>', page, re.DOTALL)
    fields: dict[str, list[str]] = {}
    for name, value in re.findall(r'name="(\w+)" value="([^"]*)"', form[2]):
        fields.setdefault(name, []).append(html.unescape(value))
    return client.post(html.unescape(form[1]), data=fields)


def table_in(file: httpx2.Response) -> list[list[str]]:
    """The rows of a CSV file that was downloaded."""
    return list(csv.reader(io.StringIO(file.content.decode("utf-8-sig"))))


@cache
def token_of(client: httpx2.Client) -> str:
    """The token of a client's session, as every view has it."""
    return _TOKEN.search(client.get("/").text)[1]


def _tiny(_name: str) -> Embedder:
    return Embedder(TinyBackend())


@contextmanager
def page_site(
    database: Path, load: Callable[[str], Embedder] = _tiny, port: int = 0, **settings: object
) -> Iterator[Site]:
    """Serve the page of a database meanwhile; its searches use the tiny model."""
    models = ModelPool(
        load,
        idle_seconds=600, memory_threshold=1.0, memory_use=lambda: 0.0,
    )  # fmt: skip
    given = Settings(**{"database": {"path": str(database)}, **settings})
    tools = list_tools(database, active_only=True) if database.exists() else []
    wiring = wired_server(database, tools, models, given)
    key = page_key(database)
    listening, address = listen(Address("127.0.0.1", port))
    page = page_app(wiring, key)
    app = http_app(wiring.server, Rules(LOOPBACK_NAMES), HttpLimits(), page)
    config = uvicorn.Config(
        app, log_config=None, access_log=False, lifespan="on", ws="none", server_header=False,
        http=WholeRequests, timeout_graceful_shutdown=1,
    )  # fmt: skip
    web = uvicorn.Server(config)
    thread = threading.Thread(target=web.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        yield Site(address.url.removesuffix("/mcp"), key)
    finally:
        web.should_exit = True
        thread.join()
        wiring.server.close()


def wait_until(is_so, seconds: float = SECONDS) -> None:
    """Wait for a condition."""
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.05)  # to ask takes the time of what is waited for
