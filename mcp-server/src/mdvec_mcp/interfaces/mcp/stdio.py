"""Serving over STDIO, and what goes on beside it."""

from __future__ import annotations

import io
import os

import anyio
import anyio.to_thread
from mcp.server.stdio import stdio_server

from mdvec_mcp.interfaces.embedding.model_pool import ModelPool
from mdvec_mcp.interfaces.mcp.server import MdvecServer


async def serve(server: MdvecServer, models: ModelPool, protocol: int) -> None:
    """Answer on the descriptor ``protocol`` until STDIN ends; let go of idle models meanwhile."""
    wire = anyio.wrap_file(
        io.TextIOWrapper(os.fdopen(protocol, "wb", closefd=False), encoding="utf-8", newline="\n")
    )
    async with anyio.create_task_group() as beside:
        beside.start_soon(_release_idle_models, models)
        async with stdio_server(stdout=wire) as (read_stream, write_stream):
            lowlevel = server._lowlevel_server  # noqa: SLF001 - run_stdio_async takes no stream
            await lowlevel.run(read_stream, write_stream, lowlevel.create_initialization_options())
        beside.cancel_scope.cancel()


async def _release_idle_models(models: ModelPool) -> None:
    while True:
        await anyio.sleep(models.check_seconds)
        await anyio.to_thread.run_sync(models.release_idle)
