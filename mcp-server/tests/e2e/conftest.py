"""A database that the real model filled, and the real server as a client starts it."""

from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import imported
import pytest
import tools_described_once  # noqa: F401 - for the servers of this process
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp_types import CallToolResult, Implementation, Tool
from mdvec import manage
from mdvec.embedding import catalog
from mdvec.embedding.embedder import Embedder
from mdvec.errors import MdvecError
from mdvec.manage import registering
from mdvec.settings import Loaded, load_settings

from mdvec_mcp import main
from mdvec_mcp.search.model_pool import ModelPool

RUN = "from mdvec_mcp.entry import main; main()"
WATER = "# 防災\n\n## 水の備蓄\n\n水は1人1日3リットルを目安に、三日分から一週間分を備えます。\n"
GIT = "# Git\n\n## Two branches at once\n\nAdd a second working directory with git worktree add.\n"
HOME = """# Home

## Water

Keep nine litres of water for each person, three for every day, in case of an earthquake.

## Rice

Wash the rice twice, let it soak for half an hour, and cook it with slightly less water.

## Bicycle

Pump up the tyres every month, oil the chain, and look at the brake pads for wear.
"""
HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}
SECONDS = 60
_HOMES = ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME")


def started(
    database: Path | None, *arguments: object, home: Path, **environment: str
) -> StdioServerParameters:
    """A server over a database, or over the one that it finds by itself."""
    named = [] if database is None else ["--database", database]
    return StdioServerParameters(
        command=sys.executable,
        args=["-c", RUN, *map(str, [*named, *arguments])],
        env={**os.environ, **dict.fromkeys(_HOMES, str(home)), **environment},
    )


class Wire:
    """A server started by hand, to send what a well-behaved client never sends."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.log: list[str] = []
        self._requests = 0
        self._reader = threading.Thread(target=self._read_log, daemon=True)
        self._reader.start()

    def greet(self) -> Wire:
        """Do the handshake of every client."""
        self.call("initialize", HELLO)
        return self.write(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}))

    def write(self, *lines: str | bytes) -> Wire:
        for line in lines:
            data = line if isinstance(line, bytes) else line.encode()
            self.process.stdin.write(data + b"\n")
        self.process.stdin.flush()
        return self

    def request(self, method: str, params: object = None) -> int:
        """Send a request; its number."""
        self._requests += 1
        message = {"jsonrpc": "2.0", "id": self._requests, "method": method, "params": params or {}}
        self.write(json.dumps(message))
        return self._requests

    def search(self, tool: str, query: str, **more: object) -> int:
        """Send a search; its number."""
        return self.request("tools/call", {"name": tool, "arguments": {"query": query, **more}})

    def next(self) -> dict:
        """The next message; every line must be protocol."""
        line = self.process.stdout.readline()
        assert line, "".join(self.log)
        message = json.loads(line)
        assert message["jsonrpc"] == "2.0"
        return message

    def answer(self, number: int) -> dict:
        """The answer to a request."""
        while (message := self.next()).get("id") != number:
            pass
        return message

    def call(self, method: str, params: object = None) -> dict:
        return self.answer(self.request(method, params))

    def ask(self, tool: str, query: str, **more: object) -> str:
        """Search, and return the text of the answer."""
        return self.answer(self.search(tool, query, **more))["result"]["content"][0]["text"]

    def logged(self, words: str) -> None:
        """Wait until the log holds ``words``."""
        deadline = time.monotonic() + SECONDS
        while not any(words in line for line in list(self.log)):
            assert time.monotonic() < deadline, self.log
            time.sleep(0.01)

    def count(self, words: str) -> int:
        """How many lines of the log hold ``words``."""
        return sum(words in line for line in list(self.log))

    def imported(self) -> set[str]:
        """The modules that are loaded; needs ``-X importtime``."""
        return {line.rpartition("|")[2].strip() for line in list(self.log)}

    def end(self) -> tuple[float, int]:
        """Close STDIN; the seconds until the process ended, and its exit code."""
        began = time.monotonic()
        self.process.stdin.close()
        code = self.process.wait(SECONDS)
        took = time.monotonic() - began
        self.close()
        return took, code

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        self._reader.join()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            stream.close()

    def _read_log(self) -> None:
        self.log.extend(line.decode() for line in self.process.stderr)


@functools.cache
def loaded(model: str) -> Embedder:
    return catalog.load(model)


def import_(database: Path, name: str, mode: str = "update", model: str = "use") -> None:
    """Import a tool with the embedded model, or with another real one."""
    imported.import_(database, name, mode, lambda _: loaded(model), model=model)


@pytest.fixture(scope="session")
def model_use() -> Embedder:
    """The embedded model."""
    return loaded("use")


@pytest.fixture(scope="session")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a database of two imported tools, one empty tool and one that is off."""
    folder = tmp_path_factory.mktemp("filled")
    for name, text in (("notes", WATER), ("dev", GIT)):
        (folder / name).mkdir()
        (folder / name / "a.md").write_bytes(text.encode())
        registering.add_tool(
            folder / "vectors.sqlite", name, f"{name} の説明", folder / name, "markdown"
        )
        import_(folder / "vectors.sqlite", name, "new")
    (folder / "dev" / "home.md").write_bytes(HOME.encode())
    import_(folder / "vectors.sqlite", "dev")
    (folder / "nothing").mkdir()
    for name in ("empty", "off"):
        nothing = folder / "nothing"
        registering.add_tool(folder / "vectors.sqlite", name, name, nothing, "markdown")
    registering.set_active(folder / "vectors.sqlite", "off", active=False)
    return folder


@pytest.fixture
def database(filled: Path, tmp_path: Path) -> Path:
    """A database of its own for a test that changes it; its folders are beside it."""
    shutil.copytree(filled, tmp_path / "own")
    own = tmp_path / "own" / "vectors.sqlite"
    for name in ("notes", "dev"):
        registering.update_tool(own, name, None, own.parent / name)
    return own


@pytest.fixture
def import_use() -> Callable[..., None]:
    return import_


@dataclass
class Connected:
    """The SDK's client of a running server, for tests that are not asynchronous."""

    portal: BlockingPortal
    client: Client

    def tools(self) -> list[Tool]:
        return self.portal.call(self.client.list_tools).tools

    def call(self, name: str, arguments: dict, **more: object) -> CallToolResult:
        async def called() -> CallToolResult:
            return await self.client.call_tool(name, arguments, **more)

        return self.portal.call(called)


@pytest.fixture(scope="session")
def connect(
    kept_caches: Callable[[Path], None],
) -> Callable[..., AbstractContextManager[Connected]]:
    """How to start a server with the SDK's client."""

    @contextmanager
    def connect(
        database: Path | None, *arguments: object, home: Path, **environment: str
    ) -> Iterator[Connected]:
        kept_caches(home)
        parameters = started(database, *arguments, home=home, **environment)
        with (
            start_blocking_portal() as portal,
            portal.wrap_async_context_manager(Client(stdio_client(parameters))) as client,
        ):
            yield Connected(portal, client)

    return connect


@pytest.fixture(scope="session")
def connect_here(
    kept_caches: Callable[[Path], None],
) -> Callable[..., AbstractContextManager[Connected]]:
    """How to have the same server in this process, for what no process of its own would show."""

    @contextmanager
    def connect_here(
        database: Path,
        *,
        home: Path,
        folder: Path | None = None,
        is_alone: bool = False,
        client: Implementation | None = None,
        mode: str = "auto",
        **environment: str,
    ) -> Iterator[Connected]:
        """``folder`` is that of ``--docs-dir``, ``is_alone`` that no other tool is offered.

        Servers that run at once have the same ``home``.
        """
        kept_caches(home)
        with pytest.MonkeyPatch.context() as patch:
            for name in _HOMES:
                patch.setenv(name, str(home))
            flags = {"database": {"path": str(database)}}
            settings = load_settings({**os.environ, **environment}, flags=flags)
            models = ModelPool(
                loaded, idle_seconds=600, memory_threshold=1.0, memory_use=lambda: 0.0
            )
            tool = folder and manage.tool_of_folder(database, folder)
            server = main._wired(Loaded(settings), tool, models, is_alone=is_alone).server
            with closing(server), start_blocking_portal() as portal:
                connecting = Client(server, client_info=client, mode=mode)
                with portal.wrap_async_context_manager(connecting) as connected:
                    yield Connected(portal, connected)

    return connect_here


@pytest.fixture(scope="module")
def connected(
    filled: Path, connect_here: Callable[..., AbstractContextManager[Connected]]
) -> Iterator[Connected]:
    """One server over ``filled`` for all tests that only read."""
    with connect_here(filled / "vectors.sqlite", home=filled / "home") as connected:
        yield connected


@pytest.fixture
def server(
    tmp_path: Path, kept_caches: Callable[[Path], None]
) -> Callable[..., StdioServerParameters]:
    """How a client starts the server, isolated from the user's settings and data."""
    kept_caches(tmp_path)
    return functools.partial(started, home=tmp_path)


@pytest.fixture
def refused(tmp_path, monkeypatch, capsys) -> Callable[..., str]:
    """What the command says to arguments with which no server starts, without a process."""

    def refused(*arguments: object, **environment: str) -> str:
        for name, value in (dict.fromkeys(_HOMES, str(tmp_path)) | environment).items():
            monkeypatch.setenv(name, value)
        with pytest.raises((MdvecError, SystemExit)) as end:
            main._run(main._arguments([*map(str, arguments)]), (-1, -1))
        return str(end.value) if isinstance(end.value, MdvecError) else capsys.readouterr().err

    return refused


@pytest.fixture
def wire(server):
    """Start servers by hand; those still running at the end are killed."""
    started: list[Wire] = []

    def start(
        database: Path, *arguments: str, code: str = RUN, python: tuple = (), **environment: str
    ) -> Wire:
        parameters = server(database, *arguments, **environment)
        command = [sys.executable, *python, "-c", code, *parameters.args[2:]]
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        started.append(Wire(subprocess.Popen(command, env=parameters.env, **pipes)))
        return started[-1]

    yield start
    for one in started:
        one.close()


@pytest.fixture
def web(wire):
    """Start a server over HTTP; it, and its address."""

    def start(database: Path, *arguments: str, **how: str) -> tuple[Wire, str]:
        one = wire(database, "--http", "127.0.0.1:0", *arguments, **how)
        one.logged("mdvec-mcp: serving http://127.0.0.1:")
        return one, next(line.split()[-1] for line in one.log if "serving" in line)

    return start
