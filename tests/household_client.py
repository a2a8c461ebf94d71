"""Calls of the household's tools, as a client makes them on a server in this process."""

from dataclasses import dataclass

import anyio
from mcp import Client
from mdvec.embedding.embedder import Embedder
from mdvec.files.scanning import ScanRules
from mdvec.importing.options import ChunkingOverrides
from mdvec.importing.report import ImportRequest
from mdvec.manage import registering
from mdvec.manage.tool_import import import_tool
from mdvec.settings import Settings
from mdvec_mcp.search.model_pool import ModelPool
from mdvec_mcp.server import wired_server
from tiny_embedder import TinyBackend

RULES = ScanRules(extensions=(".csv",), exclude=(), max_bytes=10 * 2**20)


@dataclass(frozen=True)
class Answer:
    """A tool's answer; ``pictures`` is how many came with it."""

    words: str
    data: dict | None
    is_error: bool
    pictures: int


def import_household(database, folder, name="kakeibo", mode="new"):
    """Register a folder as a household the first time, and import it."""
    if mode == "new":
        registering.add_tool(database, name, "家計簿", folder, "household")
    request = ImportRequest(database, name, mode, RULES, ChunkingOverrides())
    return import_tool(request, lambda _: Embedder(TinyBackend()))


def answers(database, *calls):
    """The answer to each call, given as a tool's name with arguments, in their order."""

    async def run():
        models = ModelPool(
            lambda _: Embedder(TinyBackend()), idle_seconds=60, memory_threshold=1.0,
            memory_use=lambda: 0.0,
        )  # fmt: skip
        rows = registering.list_tools(database, active_only=True)
        settings = Settings.model_validate(
            {"charts": {"port": 0}, "server": {"structured": "always"}}
        )
        server = wired_server(database, rows, models, settings).server
        async with Client(server) as client:
            found = [await client.call_tool(*call) for call in calls]
        server.close()
        return [_answer(one) for one in found]

    return anyio.run(run)


def _answer(found):
    text = "\n".join(block.text for block in found.content if block.type == "text")
    pictures = sum(block.type == "image" for block in found.content)
    return Answer(text, found.structured_content, found.is_error, pictures)
