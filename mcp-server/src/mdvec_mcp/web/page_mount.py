"""Mounts the local page, whose modules are loaded by the first request for it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread
from mdvec.manage import PageKey
from starlette.types import ASGIApp, Receive, Scope, Send

from mdvec_mcp.web.page.app import page_app

if TYPE_CHECKING:
    from mdvec_mcp.server import Wiring


class PageMount:
    """The page as an application that costs nothing until somebody opens it.

    Args:
        wiring: what the server's tools share.
        key: what the page's cookies are signed with.
    """

    def __init__(self, wiring: Wiring, key: PageKey) -> None:
        self.key = key
        self._wiring = wiring
        self._began = time.time_ns()
        self._lock = anyio.Lock()
        self._page: ASGIApp | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        async with self._lock:
            if self._page is None:
                self._page = await anyio.to_thread.run_sync(self._load)
        await self._page(scope, receive, send)

    def _load(self) -> ASGIApp:
        return page_app(self._wiring, self.key, self._began)
