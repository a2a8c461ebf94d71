"""A search while an import runs in the background, against the same search at rest."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import anyio
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from processes import SERVER, Bench, run_mdvec
from results import Row, median, spread

FILES = 2_000
SEARCHES = 200
BAR = 1.5
TOOL = "notes"
QUERIES = ("水の備蓄", "地震に備える", "お米の炊き方", "台風の前に", "バックアップの手順")
TEXT = (
    "# {subject} {number}\n\n{subject}について、{version}に書いた。\n\n## 手順\n\n"
    + "水を備える。" * 40
)


def measure(bench: Bench) -> list[Row]:
    """Search one tool while its own files are imported, and while nothing happens."""
    folder, database = bench.folder / "many-notes", bench.folder / "fresh.sqlite"
    files = FILES if bench.runs is None else 300 * bench.runs
    _write(folder, files, "去年")
    run_mdvec(bench, "tool", "add", "-n", TOOL, "-d", "d", "-s", folder, "--database", database)
    run_mdvec(bench, "import", "-n", TOOL, "--database", database)
    rest, busy = anyio.run(_searches, bench, database, lambda: _write(folder, files, "今年"))
    return [
        Row(
            f"search while {files:,} changed files are imported in the background",
            f"{median(busy) / median(rest):.2f} ×: {spread(busy, 'ms', 1000)} against "
            f"{spread(rest, 'ms', 1000)} at rest",
            f"≤ {BAR} ×",
            median(busy) <= BAR * median(rest),
        )
    ]


async def _searches(
    bench: Bench, database: Path, change: Callable[[], None]
) -> tuple[list[float], list[float]]:
    """The seconds of searches at rest, and of those while an import runs."""
    server = StdioServerParameters(
        command=sys.executable,
        args=["-c", SERVER, "--database", str(database)],
        env=bench.environment,
    )
    async with Client(stdio_client(server)) as client:
        await _timed(client, SEARCHES, _always)
        rest = await _timed(client, SEARCHES, _always)
        change()
        await client.call_tool("reindex", {"wait": 0})
        while not await _is_storing(client):  # noqa: ASYNC110 - another process stores
            await anyio.sleep(0.1)
        busy = await _timed(client, SEARCHES, _is_storing)
    if not busy:
        raise RuntimeError("the import ended before a search")
    return rest, busy


async def _timed(
    client: Client, count: int, goes_on: Callable[[Client], Awaitable[bool]]
) -> list[float]:
    """The seconds of searches, of which the last was answered while ``goes_on`` held."""
    taken: list[float] = []
    for number in range(count):
        began = time.perf_counter()
        answer = await client.call_tool(TOOL, {"query": QUERIES[number % len(QUERIES)]})
        seconds = time.perf_counter() - began
        if answer.is_error:
            raise RuntimeError(str(answer.content))
        if not await goes_on(client):
            break
        taken.append(seconds)
    return taken


async def _always(_: Client) -> bool:
    return True


async def _is_storing(client: Client) -> bool:
    sources = await client.call_tool("list_sources", {})
    return re.search(r"import running: .*: [1-9][\d,]* of", sources.content[0].text) is not None


def _write(folder: Path, files: int, version: str) -> None:
    folder.mkdir(exist_ok=True)
    for number in range(files):
        subject = QUERIES[number % len(QUERIES)]
        text = TEXT.format(subject=subject, number=number, version=version)
        (folder / f"{number}.md").write_text(text, encoding="utf-8")
