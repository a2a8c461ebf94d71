"""Serving many clients over HTTP until the process is asked to stop."""

from __future__ import annotations

import asyncio
import socket
from types import FrameType

import anyio
import uvicorn
from starlette.types import ASGIApp

from mdvec_mcp.protocol import MdvecServer
from mdvec_mcp.search.model_pool import ModelPool
from mdvec_mcp.serving import serving
from mdvec_mcp.web.app import Limits, http_app
from mdvec_mcp.web.finishing import Finishing
from mdvec_mcp.web.gate import Rules

MAX_CONNECTIONS = 600
"""More are refused with 503: two a session, the usual limit of open files in mind."""
_FINISH_SECONDS = 5.0
_CLOSE_SECONDS = 2
_KEEP_ALIVE_SECONDS = 30


async def serve_http(
    server: MdvecServer,
    models: ModelPool,
    listening: socket.socket,
    rules: Rules,
    limits: Limits,
) -> None:
    """Answer requests on a listening socket until SIGTERM or SIGINT."""
    app = Finishing(http_app(server, rules, limits))
    web = _Server(app)
    async with serving(server, models), anyio.create_task_group() as tasks:
        tasks.start_soon(_stop, web, app)
        await web.serve(sockets=[listening])
        tasks.cancel_scope.cancel()


async def _stop(web: _Server, app: Finishing) -> None:
    await web.asked_to_stop.wait()
    await app.finish(_FINISH_SECONDS)
    web.should_exit = True


class _Server(uvicorn.Server):
    """A web server that says when it was asked to stop, and stops at once when asked again."""

    def __init__(self, app: ASGIApp) -> None:
        config = uvicorn.Config(
            app, log_config=None, access_log=False, lifespan="on", ws="none",
            server_header=False, limit_concurrency=MAX_CONNECTIONS,
            timeout_keep_alive=_KEEP_ALIVE_SECONDS, timeout_graceful_shutdown=_CLOSE_SECONDS,
        )  # fmt: skip
        super().__init__(config)
        self.asked_to_stop = asyncio.Event()
        self._loop = asyncio.get_running_loop()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002 - uvicorn's
        """Handle SIGINT and SIGTERM; unlike uvicorn's own, it does not end by the signal."""
        if self.asked_to_stop.is_set():
            self.should_exit = self.force_exit = True
        self._loop.call_soon_threadsafe(self.asked_to_stop.set)
