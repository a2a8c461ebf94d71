"""Start-up time: the server to its list of tools, the command line to its help."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import anyio
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mdvec.manage.registering import add_tool
from processes import COMMAND_LINE, SERVER, Bench, run_mdvec
from results import Row, median, spread
from updating import SUBJECTS

TOOLS = 20
ALWAYS = 2  # search and get_document
HANDSHAKE_BAR = 1.5
HELP_BAR = 0.5
FIRST_SEARCH_BAR = 0.5
HEAVY = ("numpy", "torch")
EMPTY_SERVER = "from mcp.server.mcpserver import MCPServer; MCPServer('empty').run()"
TELL_HEAVY = f"import atexit, sys; atexit.register(lambda: print(*{{*{HEAVY}}} & {{*sys.modules}}))"


def measure(bench: Bench) -> list[Row]:
    """All from the start of a process, but for the search."""
    return [_handshake_row(bench), _first_search_row(bench), *_help_rows(bench)]


def _handshake_row(bench: Bench) -> Row:
    """Our server and an empty one in turn, so that a busy moment affects both."""
    database = bench.folder / "twenty.sqlite"
    _add_tools(database, bench.folder)
    ours, empty = [], []
    for _ in range(bench.times(11) + 1):
        ours.append(
            anyio.run(_handshake, bench, SERVER, ["--database", str(database)], TOOLS + ALWAYS)
        )
        empty.append(anyio.run(_handshake, bench, EMPTY_SERVER, [], 0))
    del ours[0], empty[0]  # the first ones compile
    ratio = median(ours) / median(empty)
    return Row(
        f"`initialize` + `tools/list` over STDIO, {TOOLS} rows, process start included",
        f"{ratio:.2f} ×: {spread(ours, 's')} against {spread(empty, 's')}",
        f"≤ {HANDSHAKE_BAR} × an empty server of the same SDK",
        ratio <= HANDSHAKE_BAR,
    )


async def _handshake(bench: Bench, program: str, arguments: list[str], tools: int) -> float:
    server = StdioServerParameters(
        command=sys.executable, args=["-c", program, *arguments],
        env=bench.environment, cwd=bench.folder,
    )  # fmt: skip
    began = time.perf_counter()
    async with Client(stdio_client(server)) as client:
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
        "the first search, asked right after `tools/list`, `use` loaded meanwhile",
        spread(seconds, "s"),
        f"≤ {FIRST_SEARCH_BAR} s",
        median(seconds) <= FIRST_SEARCH_BAR,
    )


async def _first_search(bench: Bench, database: Path) -> float:
    server = StdioServerParameters(
        command=sys.executable, args=["-c", SERVER, "--database", str(database)],
        env=bench.environment, cwd=bench.folder,
    )  # fmt: skip
    async with Client(stdio_client(server)) as client:
        await client.list_tools()
        began = time.perf_counter()
        answer = await client.call_tool("notes", {"query": f"{SUBJECTS[0]}の手順"})
        seconds = time.perf_counter() - began
    if answer.is_error or not answer.structured_content["results"]:
        raise RuntimeError(f"nothing found: {answer.content}")
    return seconds


def _add_tools(database: Path, source: Path) -> None:
    for number in range(TOOLS):
        add_tool(
            database, f"notes-{number}", f"開発メモその{number}。質問に答える節を返す。", source,
            "markdown",
        )  # fmt: skip


def _help_rows(bench: Bench) -> list[Row]:
    seconds = [_help(bench, COMMAND_LINE)[0] for _ in range(bench.times(11) + 1)][1:]
    heavy = _help(bench, f"{TELL_HEAVY}; {COMMAND_LINE}")[1].splitlines()[-1].split()
    return [
        Row(
            "`mdvec --help`, process start included",
            spread(seconds, "s"),
            f"≤ {HELP_BAR} s",
            median(seconds) <= HELP_BAR,
        ),
        Row(
            "what `mdvec --help` imports of numpy and torch",
            ", ".join(sorted(heavy)) or "neither",
            "neither",
            not heavy,
        ),
    ]


def _help(bench: Bench, program: str) -> tuple[float, str]:
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", program, "--help"], stdout=subprocess.PIPE, text=True, check=True,
        cwd=bench.folder, env=bench.environment,
    )  # fmt: skip
    return time.perf_counter() - began, done.stdout
