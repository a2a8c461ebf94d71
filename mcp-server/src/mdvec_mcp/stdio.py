"""Serving over STDIO, and what goes on beside it."""

from __future__ import annotations

import io
import os
import re

import anyio
import anyio.to_thread
from mcp.server.stdio import stdio_server

from mdvec_mcp.search.model_pool import ModelPool
from mdvec_mcp.server import MdvecServer

_SURROGATE = re.compile(
    r"(?<!\\)((?:\\\\)*)"  # an even number of backslashes, which are text
    r"(?:(\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2})|\\u[dD][89a-fA-F][\da-fA-F]{2})"
)


class _Lines(io.TextIOWrapper):
    """The client's lines, in which half of a surrogate pair is a replacement character.

    JavaScript clients send such halves when they cut an emoji in two. The SDK's JSON parser
    takes them for an error, and drops a request that then waits for its answer for ever.
    """

    def readline(self, size: int = -1, /) -> str:  # type: ignore[override]
        return _SURROGATE.sub(_mended, super().readline(size))


def _mended(found: re.Match[str]) -> str:
    return found[0] if found[2] else f"{found[1]}\\ufffd"


async def serve(server: MdvecServer, models: ModelPool, source: int, target: int) -> None:
    """Answer what comes from one descriptor on the other until the first ends.

    Idle models are let go meanwhile.
    """
    lines = _Lines(os.fdopen(source, "rb", closefd=False), encoding="utf-8", errors="replace")
    answers = io.TextIOWrapper(
        os.fdopen(target, "wb", closefd=False), encoding="utf-8", newline="\n"
    )
    server.begin()
    async with anyio.create_task_group() as beside:
        beside.start_soon(_release_idle_models, models)
        async with stdio_server(anyio.wrap_file(lines), anyio.wrap_file(answers)) as (
            read_stream,
            write_stream,
        ):
            lowlevel = server._lowlevel_server  # noqa: SLF001 - run_stdio_async takes no stream
            await lowlevel.run(read_stream, write_stream, lowlevel.create_initialization_options())
        beside.cancel_scope.cancel()
    server.close()


async def _release_idle_models(models: ModelPool) -> None:
    while True:
        await anyio.sleep(models.check_seconds)
        await anyio.to_thread.run_sync(models.release_idle)
