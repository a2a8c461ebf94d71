"""What a client gets from a server in this process, which has the tiny model."""

import base64
import json
import urllib.request
from contextlib import closing, contextmanager
from dataclasses import dataclass

import tools_described_once  # noqa: F401 - for the servers of this process
from anyio.from_thread import start_blocking_portal
from imported import tiny
from mcp import Client
from mdvec.manage import registering
from mdvec.settings import Settings
from mdvec_mcp.search.model_pool import ModelPool
from mdvec_mcp.server import wired_server


@dataclass(frozen=True)
class Answer:
    """A tool's answer."""

    words: str
    data: dict | None
    is_error: bool
    pictures: list[bytes]

    def served(self) -> tuple[str, bytes]:
        """The chart at its address while the server runs, which draws it for each who asks."""
        with urllib.request.urlopen(self.data["chart"]["url"], timeout=10) as response:
            return response.headers["Content-Type"], response.read()


@contextmanager
def client_of(database, extensions=(), extend=None, **sections):
    """A client with these extensions of a server under these settings, and how to run its calls."""
    models = ModelPool(tiny, idle_seconds=60, memory_threshold=1.0, memory_use=lambda: 0.0)
    rows = registering.list_tools(database, active_only=True)
    server = wired_server(database, rows, models, Settings(**sections), extend=extend).server
    connecting = Client(server, extensions=extensions)
    with (
        closing(server),
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(connecting) as client,
    ):
        yield client, portal.call


@contextmanager
def asking(database, charts=None, **sections):
    """Asks one server: the answer to each call, a tool's name with arguments or an address."""
    always = {"server": {"structured": "always"}, "charts": {"port": 0, **(charts or {})}}
    with client_of(database, **always, **sections) as (client, call):
        yield lambda *calls: [call(_answer, client, each) for each in calls]


def answers(database, *calls, **sections):
    """The answers of a server of its own."""
    with asking(database, **sections) as ask:
        return ask(*calls)


def tools_of(database):
    """The tools of a server that answers with data."""
    with client_of(database, server={"structured": "always"}) as (client, call):
        return {tool.name: tool for tool in call(client.list_tools).tools}


async def _answer(client, call):
    if isinstance(call, str):
        return json.loads((await client.read_resource(call)).contents[0].text)
    answer = await client.call_tool(*call)
    text = "\n".join(block.text for block in answer.content if block.type == "text")
    pictures = [base64.b64decode(block.data) for block in answer.content if block.type == "image"]
    return Answer(text, answer.structured_content, answer.is_error, pictures)
