"""The local page over a large database: how long its views take, how large they are, its memory."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import anyio
import household_speed
import httpx2
from many_clients import Served, served
from mcp import Client
from mdvec.embedding import catalog
from mdvec.importing.job import ImportRequest
from mdvec.importing.options import ChunkingSettings
from mdvec.manage.page_server import page_key
from mdvec.manage.registering import add_tool
from mdvec.manage.tool_import import import_tool
from processes import Bench
from results import Row, median, spread
from searching import QUESTIONS
from text_windows import embedded_windows, store_windows

HOUSEHOLD = "kakeibo"
VIEWS = {
    "search": "/",
    "money": "/money?period=2024年",
    "category": "/money?period=2024年&category=食費",
    "trend": "/money/trend?period=2024年",
    "budgets": "/money/plan",
    "review": "/review",
    "categories": "/review/categories",
    "tools": "/tools",
}
PARTS = 5
VIEW_BAR_MS, HITS_BAR_MS, PAGE_BAR_KB, MEMORY_BAR_MB = 150, 100, 300, 30


def measure(bench: Bench) -> list[Row]:
    """The page of a server over HTTP whose tools were used before, asked as a browser does."""
    return rows_of(bench, filled(bench))


def rows_of(bench: Bench, database: Path) -> list[Row]:
    """The figures of the page over a database."""
    with served(bench, database) as server, _browser(server) as browser:
        anyio.run(_use_tools, server)
        before = server.process.memory_info().rss
        browser.get(f"/open?code={page_key(database).one_time_code()}").raise_for_status()
        views = {name: _taken(browser, address, bench) for name, address in VIEWS.items()}
        grown = (server.process.memory_info().rss - before) / 1e6
        typed = [ms for question in QUESTIONS for ms in _typed(browser, question)]
        static = _static_bytes(browser)
    slowest = max(views, key=lambda name: median(views[name][0]))
    largest = max(views, key=lambda name: views[name][1])
    kilobytes = (views[largest][1] + static) / 1000
    return [
        Row(
            f"the slowest of {len(views)} views ({slowest}), from the request to its whole HTML",
            spread(views[slowest][0], "ms"), f"≤ {VIEW_BAR_MS} ms",
            median(views[slowest][0]) <= VIEW_BAR_MS,
        ),
        Row(
            f"the largest view ({largest}), with style and script", f"{kilobytes:.0f} kB",
            f"≤ {PAGE_BAR_KB} kB", kilobytes <= PAGE_BAR_KB, minor=True,
        ),
        Row(
            "the hits of a question being typed", spread(typed, "ms"),
            f"≤ {HITS_BAR_MS} ms", median(typed) <= HITS_BAR_MS,
        ),
        Row(
            "memory that the views added to the server", f"{grown:.0f} MB",
            f"≤ {MEMORY_BAR_MB} MB", grown <= MEMORY_BAR_MB,
        ),
    ]  # fmt: skip


def filled(bench: Bench) -> Path:
    """A database of 100,000 chunks and 100,000 transactions."""
    database = bench.folder / "page.sqlite"
    texts, vectors = embedded_windows(bench.corpus)
    embedder = catalog.load("use")
    store_windows(
        database, texts, vectors, (embedder.name, embedder.fingerprint, embedder.dimension)
    )
    source = bench.folder / "csv"
    household_speed.write_statements(source)
    add_tool(database, HOUSEHOLD, "an invented household", source, "household")
    request = ImportRequest(database, HOUSEHOLD, "new", household_speed.RULES, ChunkingSettings())
    import_tool(request, lambda _: embedder)
    return database


def _browser(server: Served) -> httpx2.Client:
    return httpx2.Client(
        base_url=server.url.removesuffix("/mcp"), trust_env=False, timeout=120,
        headers={"accept-language": "ja"},
    )  # fmt: skip


async def _use_tools(server: Served) -> None:
    """Have the server load what its tools need, which is no cost of the page."""
    async with Client(server.url) as client:
        for question in QUESTIONS:
            await client.call_tool("search", {"query": question})
        await client.call_tool("get_monthly_household", {"period": "2024年"})
        await client.call_tool("get_category_trend", {"period": "2024年"})
        await client.call_tool("household_report", {"report": "budget"})


def _taken(browser: httpx2.Client, address: str, bench: Bench) -> tuple[list[float], int]:
    """Milliseconds of every request for a view after the first, and the bytes of its HTML."""
    answer = browser.get(address).raise_for_status()
    times = [_milliseconds(lambda: browser.get(address)) for _ in range(bench.times(7))]
    return times, len(answer.content)


def _typed(browser: httpx2.Client, question: str) -> list[float]:
    """Milliseconds to the hits of a question's beginnings, each of them asked once."""
    beginnings = [question[: len(question) * part // PARTS] for part in range(1, PARTS + 1)]
    return [_milliseconds(partial(_hits, browser, text)) for text in beginnings]


def _hits(browser: httpx2.Client, text: str) -> httpx2.Response:
    return browser.get("/", params={"q": text, "part": "hits"})


def _static_bytes(browser: httpx2.Client) -> int:
    """The bytes of the style, the script and the picture of every view."""
    found = set(re.findall(r'"(/static/[^"]+)"', browser.get("/").text))
    return sum(len(browser.get(address).raise_for_status().content) for address in found)


def _milliseconds(work: Callable[[], httpx2.Response]) -> float:
    began = time.perf_counter()
    answer = work()
    took = time.perf_counter() - began
    answer.raise_for_status()
    return 1000 * took
