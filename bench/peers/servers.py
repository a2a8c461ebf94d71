"""MCP servers side by side: what their tools cost a model to read, and what they answer."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import anyio
import duckdb
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from processes import SERVER, Bench, run_mdvec

ROWS, TIMES = 100_000, 15
SQL = (
    "SELECT count(*) AS n FROM runs",
    "SELECT lap, median(pace) AS pace FROM runs GROUP BY lap ORDER BY lap",
    "SELECT id, avg(pace) AS pace FROM runs GROUP BY id ORDER BY id",
)
"""One row, ten rows, and 370."""


def asked(
    name: str, server: StdioServerParameters, tool: str, calls: Sequence[dict[str, Any]]
) -> str:
    """A row of the table: a few calls each with its size and median time, of many the medians.

    Raises:
        RuntimeError: the server refuses a call.
    """
    tools, listed, sizes, times = anyio.run(_ask, server, tool, calls)
    if len(calls) > len(SQL):
        sizes, times = [median(sizes)], [median(times)]
    answers = "; ".join(f"{size:,.0f}" for size in sizes)
    return (
        f"| {name} | {tools} | {listed:,} | {answers} | {'; '.join(f'{ms:.1f}' for ms in times)} |"
    )


async def _ask(
    server: StdioServerParameters, tool: str, calls: Sequence[dict[str, Any]]
) -> tuple[int, int, list[float], list[float]]:
    """How many tools, the characters of their list, and of each call its characters and time."""
    with (Path(server.cwd or ".") / "server.log").open("a") as log:
        async with Client(stdio_client(server, log)) as client:
            tools = [
                each.model_dump(exclude_none=True, by_alias=True, mode="json")
                for each in (await client.list_tools()).tools
            ]
            sizes, medians = [], []
            for call in calls:
                spent = []
                for _ in range(1 + (TIMES if len(calls) <= len(SQL) else 1)):
                    began = time.perf_counter()
                    answer = await client.call_tool(tool, call)
                    spent.append((time.perf_counter() - began) * 1000)
                if answer.is_error:
                    raise RuntimeError(f"{server.command} refused {call}: {answer.content}")
                medians.append(median(spent[1:]))
                sizes.append(sum(len(part.text) for part in answer.content if part.type == "text"))
    return len(tools), len(json.dumps(tools, ensure_ascii=False)), sizes, medians


def ours(bench: Bench, database: Path) -> StdioServerParameters:
    """Our server over a database."""
    return _server(bench, sys.executable, "-c", SERVER, "--database", str(database))


def sql_side_by_side(bench: Bench, program: str) -> Iterator[str]:
    """The same SQL over the same Parquet file, asked of us and of motherduck's server."""
    runs, database = bench.folder / "runs.parquet", bench.folder / "runs.sqlite"
    duckdb.execute(
        f"COPY (SELECT i % 370 AS id, i % 10 AS lap, 300 + (i * 7919) % 60 AS pace "
        f"FROM range({ROWS}) AS t(i)) TO '{runs}'"
    )
    here = ("-n", "runs", "--database", database)
    run_mdvec(bench, "tool", "add", "-d", "runs", "-s", runs, "--kind", "dataset", *here)
    run_mdvec(bench, "import", *here)
    view = f"CREATE VIEW runs AS FROM '{runs}'"
    peer = _server(bench, program, "--db-path", ":memory:", "--read-write", "--init-sql", view)
    rows = "SQL for 1, 10 and 370 rows"
    queries = [{"query": sql} for sql in SQL]
    yield asked(f"mdvec, {rows}", ours(bench, database), "query", queries)
    statements = [{"sql": sql} for sql in SQL]
    yield asked(f"mcp-server-motherduck, {rows}", peer, "execute_query", statements)


def _server(bench: Bench, program: str, *arguments: str) -> StdioServerParameters:
    environment = bench.environment | {"FASTMCP_CHECK_FOR_UPDATES": "off"}
    return StdioServerParameters(
        command=program, args=list(arguments), env=environment, cwd=bench.folder
    )
