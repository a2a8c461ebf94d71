"""Serving over STDIO, and unloading idle models meanwhile."""

from __future__ import annotations

import io
import os
import re

import anyio
import anyio.to_thread

from mdvec_mcp.protocol import MdvecServer
from mdvec_mcp.search.model_pool import ModelPool

_SURROGATES = re.compile(
    r"(?<!\\)((?:\\\\)*)"  # an even number of backslashes, which are text
    r"(?:(\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2})|\\u[dD][89a-fA-F][\da-fA-F]{2})"
)


class _Lines(io.TextIOWrapper):
    """The client's lines, with U+FFFD in place of each escaped half of a surrogate pair.

    JavaScript clients send such a half when they cut an emoji in two. The SDK's JSON parser
    rejects the line and drops the request, and the client would wait for its answer forever.
    """

    def readline(self, size: int = -1, /) -> str:  # type: ignore[override]
        return _SURROGATES.sub(_without_lone_half, super().readline(size))


def _without_lone_half(match: re.Match[str]) -> str:
    backslashes, pair = match.groups()
    return match[0] if pair else f"{backslashes}\\ufffd"


async def serve(server: MdvecServer, models: ModelPool, source: int, target: int) -> None:
    """Answer requests from one file descriptor on the other until the first ends."""
    lines = _Lines(os.fdopen(source, "rb", closefd=False), encoding="utf-8", errors="replace")
    responses = io.TextIOWrapper(
        os.fdopen(target, "wb", closefd=False), encoding="utf-8", newline="\n"
    )
    async with anyio.create_task_group() as background:
        background.start_soon(_unload_idle_models, models)
        await server.serve(anyio.wrap_file(lines), anyio.wrap_file(responses))
        background.cancel_scope.cancel()


async def _unload_idle_models(models: ModelPool) -> None:
    while True:
        await anyio.sleep(models.check_seconds)
        await anyio.to_thread.run_sync(models.release_idle)
