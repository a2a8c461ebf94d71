"""Start-up time: the server to its list of tools, the command line to its help."""

from __future__ import annotations

import subprocess
import sys
import time
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import anyio
import psutil
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mdvec.embedding.catalog import load
from mdvec.manage.registering import add_tool, list_tools
from mdvec.settings import load_settings
from mdvec_mcp.search.model_pool import ModelPool
from mdvec_mcp.server import wired_server
from processes import COMMAND_LINE, SERVER, Bench, run_mdvec
from results import Row, median, spread
from updating import SUBJECTS

ROWS = {20: 1.2, 200: 1.35}
"""Rows of the database, and the bar of the handshake with them."""
ALWAYS = 4  # search, get_document, and two that keep the index fresh
MAKING_BAR = 1.5
MEMORY_BAR = 1.3
LIST_BAR = 18_000
SAMPLES = Path(__file__).parents[1] / "docs" / "examples"
HELP_BAR = 0.5
FIRST_SEARCH_BAR = 0.5
HEAVY = ("numpy", "torch")
EMPTY_SERVER = "from mcp.server.mcpserver import MCPServer; MCPServer('empty').run()"
TELL_HEAVY = f"import atexit, sys; atexit.register(lambda: print(*{{*{HEAVY}}} & {{*sys.modules}}))"


def measure(bench: Bench) -> list[Row]:
    """All from the start of a process, but for the search."""
    return [
        *(_handshake_row(bench, rows) for rows in ROWS),
        _making_row(bench),
        _memory_row(bench),
        _list_row(bench),
        _first_search_row(bench),
        *_help_rows(bench),
    ]


def _handshake_row(bench: Bench, rows: int) -> Row:
    """Our server and an empty one in turn, so that a busy moment affects both."""
    ours, empty = [], []
    arguments = ["--database", str(_database(bench, rows))]
    for _ in range(bench.times(11) + 1):
        ours.append(anyio.run(_handshake, bench, SERVER, arguments, rows + ALWAYS))
        empty.append(anyio.run(_handshake, bench, EMPTY_SERVER, [], 0))
    del ours[0], empty[0]  # the first ones compile
    ratio = median(ours) / median(empty)
    return Row(
        f"`initialize` + `tools/list` over STDIO, {rows} rows (process start included)",
        f"{ratio:.2f} ×: {spread(ours, 's')} against {spread(empty, 's')}",
        f"≤ {ROWS[rows]} × an empty server (of the same SDK)",
        ratio <= ROWS[rows],
    )


def _making_row(bench: Bench) -> Row:
    """In this process, by turns; the first of each imports what it needs."""
    seconds: dict[int, list[float]] = {rows: [] for rows in ROWS}
    settings = load_settings({}, config=None, flags={})
    for _ in range(bench.times(11) + 1):
        for rows, taken in seconds.items():
            database = _database(bench, rows)
            tools = list_tools(database, active_only=True)
            models = ModelPool(load, idle_seconds=1, memory_threshold=1, memory_use=lambda: 0.0)
            began = time.perf_counter()
            wired_server(database, tools, models, settings)
            taken.append(time.perf_counter() - began)
    few, many = (taken[1:] for taken in seconds.values())
    ratio = median(many) / median(few)
    return Row(
        "making the tools of 200 rows",
        f"{ratio:.2f} ×: {spread(many, 's')} against {spread(few, 's')}",
        f"≤ {MAKING_BAR} × those of 20 rows",
        ratio <= MAKING_BAR,
        minor=True,
    )


def _memory_row(bench: Bench) -> Row:
    """Right after the list, with a household and a dataset among the rows, but no model."""
    arguments = ["--database", str(_mixed(bench))]
    ours = [anyio.run(_memory, bench, SERVER, arguments) for _ in range(bench.times(3))]
    empty = [anyio.run(_memory, bench, EMPTY_SERVER, []) for _ in range(bench.times(3))]
    ratio = median(ours) / median(empty)
    return Row(
        "memory of an idle server (without a model, its child processes included)",
        f"{ratio:.2f} ×: {spread(ours, 'MB')} against {spread(empty, 'MB')}",
        f"≤ {MEMORY_BAR} × an empty server (of the same SDK)",
        ratio <= MEMORY_BAR,
    )


async def _memory(bench: Bench, program: str, arguments: list[str]) -> float:
    async with Client(_server(bench, program, arguments)) as client:
        await client.list_tools()
        (server,) = psutil.Process().children()
        processes = [server, *server.children(recursive=True)]
        return sum(process.memory_info().rss for process in processes) / 1e6


def _list_row(bench: Bench) -> Row:
    """What each conversation pays for."""
    chars = anyio.run(_list_chars, bench)
    return Row(
        "`tools/list` with notes, a household and a dataset",
        f"{chars:,} characters",
        f"≤ {LIST_BAR:,}",
        chars <= LIST_BAR,
    )


async def _list_chars(bench: Bench) -> int:
    arguments = ["--database", str(_mixed(bench))]
    async with Client(_server(bench, SERVER, arguments)) as client:
        listed = await client.list_tools()
    return len(listed.model_dump_json(by_alias=True, exclude_none=True))


def _server(bench: Bench, program: str, arguments: list[str]) -> AbstractAsyncContextManager[Any]:
    server = StdioServerParameters(
        command=sys.executable, args=["-c", program, *arguments],
        env=bench.environment, cwd=bench.folder,
    )  # fmt: skip
    return stdio_client(server)


async def _handshake(bench: Bench, program: str, arguments: list[str], tools: int) -> float:
    server = _server(bench, program, arguments)
    began = time.perf_counter()
    async with Client(server) as client:
        found = (await client.list_tools()).tools
        seconds = time.perf_counter() - began
    if len(found) != tools:
        raise RuntimeError(f"the server listed {len(found)} tools, not {tools}")
    return seconds


def _first_search_row(bench: Bench) -> Row:
    """A client that asks as soon as it has the list of tools."""
    source, database = bench.folder / "notes", bench.folder / "notes.sqlite"
    source.mkdir()
    for number, subject in enumerate(SUBJECTS):
        text = f"# {subject}\n\n{subject}について、手順を順に書く。\n"
        (source / f"{number}.md").write_text(text, encoding="utf-8")
    add_tool(database, "notes", "十のメモ", source, "markdown")
    run_mdvec(bench, "import", "-n", "notes", "--model", "use", "--database", database)
    seconds = [anyio.run(_first_search, bench, database) for _ in range(bench.times(11) + 1)][1:]
    return Row(
        "the first search, right after `tools/list` (`use` is loaded meanwhile)",
        spread(seconds, "s"),
        f"≤ {FIRST_SEARCH_BAR} s",
        median(seconds) <= FIRST_SEARCH_BAR,
    )


async def _first_search(bench: Bench, database: Path) -> float:
    async with Client(_server(bench, SERVER, ["--database", str(database)])) as client:
        await client.list_tools()
        began = time.perf_counter()
        answer = await client.call_tool("notes", {"query": f"{SUBJECTS[0]}の手順"})
        seconds = time.perf_counter() - began
    if answer.is_error or "\n[1] " not in answer.content[0].text:
        raise RuntimeError(f"nothing found: {answer.content}")
    return seconds


def _database(bench: Bench, rows: int) -> Path:
    """A database of that many collections; made once."""
    database = bench.folder / f"{rows}-rows.sqlite"
    if not database.exists():
        for number in range(rows):
            add_tool(
                database, f"notes-{number}", f"開発メモその{number}。質問に答える節を返す。",
                bench.folder, "markdown",
            )  # fmt: skip
    return database


def _mixed(bench: Bench) -> Path:
    """A database of a collection, a household and a dataset; made once."""
    database = bench.folder / "mixed.sqlite"
    if not database.exists():
        (bench.folder / "runs.csv").write_text("day,km\n2025-06-01,5\n", encoding="utf-8")
        add_tool(database, "notes", "開発メモ", SAMPLES / "notes", "markdown")
        add_tool(database, "kakeibo", "家計簿の見本", SAMPLES / "household", "household")
        add_tool(database, "runs", "走った記録", bench.folder / "runs.csv", "dataset")
    return database


def _help_rows(bench: Bench) -> list[Row]:
    seconds = [_help(bench, COMMAND_LINE)[0] for _ in range(bench.times(11) + 1)][1:]
    heavy = _help(bench, f"{TELL_HEAVY}; {COMMAND_LINE}")[1].splitlines()[-1].split()
    return [
        Row(
            "`mdvec --help` (process start included)",
            spread(seconds, "s"),
            f"≤ {HELP_BAR} s",
            median(seconds) <= HELP_BAR,
        ),
        Row(
            "what `mdvec --help` imports of numpy and torch",
            ", ".join(sorted(heavy)) or "neither",
            "neither",
            not heavy,
            minor=True,
        ),
    ]


def _help(bench: Bench, program: str) -> tuple[float, str]:
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", program, "--help"], stdout=subprocess.PIPE, text=True, check=True,
        cwd=bench.folder, env=bench.environment,
    )  # fmt: skip
    return time.perf_counter() - began, done.stdout
