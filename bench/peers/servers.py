"""MCP servers side by side: what their tools cost a model to read, and what they answer."""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

import duckdb
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from processes import SERVER, Bench, run_mdvec

ROWS, TIMES = 100_000, 15
SQL = (
    "SELECT count(*) AS n FROM runs",
    "SELECT lap, median(pace) AS pace FROM runs GROUP BY lap ORDER BY lap",
    "SELECT id, avg(pace) AS pace FROM runs GROUP BY id ORDER BY id",
)
"""One row, ten rows, and 370."""


@dataclass(frozen=True, slots=True)
class Command:
    """How a server is started."""

    program: str
    arguments: Sequence[str]
    environment: dict[str, str]
    folder: Path

    def connect(self, log: TextIO) -> AbstractAsyncContextManager[Any]:
        """A transport to it, for the SDK's client."""
        server = StdioServerParameters(
            command=self.program, args=list(self.arguments), env=self.environment, cwd=self.folder
        )
        return stdio_client(server, log)


@dataclass(frozen=True, slots=True)
class Asked:
    """The characters of `tools/list`, how many tools, and of each call its time and characters."""

    tools: int
    list_chars: int
    milliseconds: list[float]
    chars: list[int]


async def ask(command: Command, tool: str, calls: Sequence[dict[str, Any]], times: int) -> Asked:
    """Start a server, read its tools, make every call so often; each median counts.

    Raises:
        RuntimeError: it refuses a call.
    """
    with (command.folder / "server.log").open("a") as log:
        async with Client(command.connect(log)) as client:
            tools = (await client.list_tools()).tools
            listed = json.dumps(
                [each.model_dump(exclude_none=True, by_alias=True, mode="json") for each in tools],
                ensure_ascii=False,
            )
            medians, chars = [], []
            for call in calls:
                spent = []
                for _ in range(times + 1):
                    began = time.perf_counter()
                    answer = await client.call_tool(tool, call)
                    spent.append((time.perf_counter() - began) * 1000)
                if answer.is_error:
                    raise RuntimeError(f"{command.program} refused {call}: {answer.content}")
                medians.append(statistics.median(spent[1:]))
                chars.append(sum(len(part.text) for part in answer.content if part.type == "text"))
    return Asked(len(tools), len(listed), medians, chars)


def ours(bench: Bench, database: Path) -> Command:
    """Our server over a database."""
    arguments = ["-c", SERVER, "--database", str(database)]
    return Command(sys.executable, arguments, bench.environment, bench.folder)


async def sql_side_by_side(bench: Bench, program: str) -> dict[str, Asked]:
    """The same SQL over the same Parquet file, asked of us and of motherduck's server."""
    runs, database = bench.folder / "runs.parquet", bench.folder / "runs.sqlite"
    duckdb.execute(
        f"COPY (SELECT i % 370 AS id, i % 10 AS lap, 300 + (i * 7919) % 60 AS pace "
        f"FROM range({ROWS}) AS t(i)) TO '{runs}'"
    )
    here = ("-n", "runs", "--database", database)
    run_mdvec(bench, "tool", "add", "-d", "runs", "-s", runs, "--kind", "dataset", *here)
    run_mdvec(bench, "import", *here)
    peer = Command(
        program,
        ["--db-path", ":memory:", "--read-write", "--init-sql",
         f"CREATE VIEW runs AS FROM '{runs}'"],
        bench.environment | {"FASTMCP_CHECK_FOR_UPDATES": "off"},
        bench.folder,
    )  # fmt: skip
    return {
        "mdvec": await ask(ours(bench, database), "query", [{"query": sql} for sql in SQL], TIMES),
        "mcp-server-motherduck": await ask(
            peer, "execute_query", [{"sql": sql} for sql in SQL], TIMES
        ),
    }
