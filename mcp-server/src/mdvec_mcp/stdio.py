"""Serves one client over STDIO."""

from __future__ import annotations

import io
import os
from typing import BinaryIO

import anyio
import anyio.to_thread
from mcp.server.stdio import stdio_server

from mdvec_mcp.envelope import reply_to_unusable, without_lone_surrogates
from mdvec_mcp.protocol import MdvecServer
from mdvec_mcp.search import ModelPool


class _Lines(io.TextIOWrapper):
    """The client's usable messages, one per line; unusable messages get an error reply at once.

    The SDK would drop them, and the client would wait for a reply forever.
    """

    def __init__(self, source: BinaryIO, replies: io.BufferedWriter) -> None:
        super().__init__(source, encoding="utf-8", errors="replace")
        self._replies = replies

    def readline(self, size: int = -1, /) -> str:  # type: ignore[override]
        while line := without_lone_surrogates(super().readline(size)):
            if not line.strip():
                continue
            reply = reply_to_unusable(line)
            if reply is None:
                return line
            # A buffered writer is safe to share with the thread that writes responses.
            self._replies.write(f"{reply}\n".encode())
            self._replies.flush()
        return ""


class _Replies(anyio.AsyncFile[str]):
    """Messages to the client; it writes each in one thread call, while the SDK's file needs two."""

    _unsent = ""

    async def write(self, b: str) -> int:
        self._unsent += b
        return len(b)

    async def flush(self) -> None:
        unsent, self._unsent = self._unsent, ""
        await anyio.to_thread.run_sync(self._send, unsent)

    def _send(self, text: str) -> None:
        self.wrapped.write(text)
        self.wrapped.flush()


async def serve(server: MdvecServer, models: ModelPool, source: int, target: int) -> None:
    """Answer requests from the descriptor ``source`` on ``target`` until ``source`` ends."""
    writer = os.fdopen(target, "wb", closefd=False)
    lines = _Lines(os.fdopen(source, "rb", closefd=False), writer)
    responses = io.TextIOWrapper(writer, encoding="utf-8", newline="\n")
    wire = stdio_server(anyio.wrap_file(lines), _Replies(responses))
    async with models.unloading_idle(), wire as (requests, replies):
        await server.run(requests, replies, server.create_initialization_options())
    server.close()
