"""A small server over HTTP in a thread of this process, for tests of what stands around it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import anyio
import uvicorn
from fixed_offer import FixedOffer
from mcp.server.mcpserver import Context
from mdvec.manage.addresses import Address
from mdvec_mcp.calls import READ_ONLY, ToolReply
from mdvec_mcp.offer import Offer
from mdvec_mcp.protocol import MdvecServer
from mdvec_mcp.web.gate import LOOPBACK_NAMES, Rules, listen
from mdvec_mcp.web.serve import HttpLimits, http_app

NO_LIMITS = HttpLimits()


class EchoServer(MdvecServer):
    """Has a tool that echoes, and one that waits until it is cancelled."""

    def __init__(self) -> None:
        super().__init__("test", version="1")
        self.waiting = threading.Event()
        self.cancelled = threading.Event()
        offer = Offer()
        offer.tool(name="echo", description="Echoes.", annotations=READ_ONLY)(self._echo)
        offer.tool(name="wait", description="Waits.", annotations=READ_ONLY)(self._wait)
        self.follow(FixedOffer(offer))

    async def _echo(self, text: str) -> ToolReply:
        return ToolReply(text)

    async def _wait(self, context: Context) -> ToolReply:
        await context.report_progress(1, 2)
        self.waiting.set()
        try:
            await anyio.sleep_forever()
        finally:
            self.cancelled.set()
        return ToolReply("")


@contextmanager
def web_server(
    server: MdvecServer | None = None,
    limits: HttpLimits = NO_LIMITS,
    token: str | None = None,
    port: int = 0,
) -> Iterator[str]:
    """The address at which a server, or an EchoServer, is served meanwhile."""
    listening, address = listen(Address("127.0.0.1", port))
    app = http_app(server or EchoServer(), Rules(LOOPBACK_NAMES, token), limits)
    config = uvicorn.Config(app, log_config=None, lifespan="on", timeout_graceful_shutdown=1)
    web = uvicorn.Server(config)
    thread = threading.Thread(target=web.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        yield address.url
    finally:
        web.should_exit = True
        thread.join()
