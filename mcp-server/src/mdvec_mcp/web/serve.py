"""Serves many clients over HTTP until the process gets a signal to stop."""

from __future__ import annotations

import asyncio
import socket
from types import FrameType

import anyio
import uvicorn
from starlette.types import ASGIApp

from mdvec_mcp.protocol import MdvecServer
from mdvec_mcp.search.model_pool import ModelPool
from mdvec_mcp.web.app import HttpLimits, http_app
from mdvec_mcp.web.gate import Rules
from mdvec_mcp.web.half_requests import WholeRequests
from mdvec_mcp.web.page_mount import PageMount
from mdvec_mcp.web.shutdown import GracefulShutdown

MAX_CONNECTIONS = 600
"""More are refused with 503. Allows two per session, within the usual limit of open files."""
_FINISH_SECONDS = 5.0
_CLOSE_SECONDS = 2
_KEEP_ALIVE_SECONDS = 30


async def serve_http(
    server: MdvecServer,
    models: ModelPool,
    listening: socket.socket,
    rules: Rules,
    limits: HttpLimits,
    page: PageMount | None = None,
) -> None:
    """Answer requests on a listening socket until SIGTERM or SIGINT."""
    app = GracefulShutdown(http_app(server, rules, limits, page))
    web = _Server(app)
    async with models.unloading_idle(), anyio.create_task_group() as tasks:
        tasks.start_soon(_stop, web, app)
        await web.serve(sockets=[listening])
        tasks.cancel_scope.cancel()
    server.close()


async def _stop(web: _Server, app: GracefulShutdown) -> None:
    await web.stop_requested.wait()
    await app.finish(_FINISH_SECONDS)
    web.should_exit = True


class _Server(uvicorn.Server):
    """A web server with an event for the first signal to stop; a second one stops it at once."""

    def __init__(self, app: ASGIApp) -> None:
        config = uvicorn.Config(
            app, log_config=None, access_log=False, lifespan="on", ws="none",
            server_header=False, limit_concurrency=MAX_CONNECTIONS, http=WholeRequests,
            timeout_keep_alive=_KEEP_ALIVE_SECONDS, timeout_graceful_shutdown=_CLOSE_SECONDS,
        )  # fmt: skip
        super().__init__(config)
        self.stop_requested = asyncio.Event()
        self._loop = asyncio.get_running_loop()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002 - uvicorn's
        """Handle SIGINT and SIGTERM; unlike uvicorn's own handler, does not re-raise the signal."""
        if self.stop_requested.is_set():
            self.should_exit = self.force_exit = True
        self._loop.call_soon_threadsafe(self.stop_requested.set)
