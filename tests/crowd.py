"""Many clients of one server over HTTP, as light as can be: the server is what is measured."""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Sequence
from typing import Any

import anyio
import httpx2

_HEADERS = {"accept": "application/json, text/event-stream"}
_HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "crowd", "version": "1"},
}


async def ask_together(
    url: str,
    tool: str,
    queries: Sequence[str],
    *,
    clients: int,
    searches: int,
    pause_seconds: float = 0.0,
) -> list[float]:
    """The seconds that each of ``searches`` took, asked by clients with a session each.

    A client waits ``pause_seconds`` before each search.

    Raises:
        RuntimeError: an answer is no answer with a find.
    """
    numbers = itertools.count()
    taken: list[float] = []

    async def client(begin_after: float) -> None:
        async with httpx2.AsyncClient(headers=_HEADERS, timeout=120, trust_env=False) as http:
            hello = await _post(http, url, "initialize", _HELLO)
            session = {"mcp-session-id": hello.headers["mcp-session-id"]}
            await anyio.sleep(begin_after)
            while (number := next(numbers)) < searches:
                query = queries[number % len(queries)]
                began = time.perf_counter()
                call = {"name": tool, "arguments": {"query": query}}
                response = await _post(http, url, "tools/call", call, session)
                taken.append(time.perf_counter() - began)
                if not _has_finds(response.text):
                    raise RuntimeError(f"no finds: {response.status_code} {response.text:.300}")
                await anyio.sleep(pause_seconds)
            await http.delete(url, headers=session)

    async with anyio.create_task_group() as tasks:
        for number in range(clients):
            tasks.start_soon(client, pause_seconds * number / clients)
    return taken


async def _post(
    http: httpx2.AsyncClient,
    url: str,
    method: str,
    params: dict[str, Any],
    headers: dict[str, str] | None = None,
) -> httpx2.Response:
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return await http.post(url, json=body, headers=headers)


def _has_finds(events: str) -> bool:
    data = [line.removeprefix("data: ") for line in events.splitlines() if "content" in line]
    return any(json.loads(one)["result"]["content"][0]["text"].count("\n[1] ") for one in data)
