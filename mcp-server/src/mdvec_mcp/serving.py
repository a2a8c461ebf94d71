"""Runs beside a server, over any transport: starts its services and unloads idle models."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import anyio.to_thread

from mdvec_mcp.protocol import MdvecServer
from mdvec_mcp.search.model_pool import ModelPool


@asynccontextmanager
async def serving(server: MdvecServer, models: ModelPool) -> AsyncIterator[None]:
    """Unload idle models while the block runs, and close what the tools use at its end."""
    async with anyio.create_task_group() as background:
        background.start_soon(_unload_idle_models, models)
        yield
        background.cancel_scope.cancel()
    server.close()


async def _unload_idle_models(models: ModelPool) -> None:
    while True:
        await anyio.sleep(models.check_seconds)
        await anyio.to_thread.run_sync(models.release_idle)
