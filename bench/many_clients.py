"""One server over HTTP for many clients: how long a search takes alone, and among fifty."""

from __future__ import annotations

import functools
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio
import psutil
from processes import SERVER, Bench, run_mdvec
from results import Row, median, spread

sys.path.append(str(Path(__file__).parents[1] / "tests"))
from crowd import ask_together  # the tests' own crowd

CLIENTS = 50
SEARCHES = 10_000
ALONE = 200
WARM_UP = 500
PAUSE_SECONDS = 3.0
RATIO_BAR = 5.0
GROWTH_BAR_MB = 30
BRIDGE_BAR = 0.5
HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "bench", "version": "1"},
}
TOOL = "notes"
NOTES = Path(__file__).parents[1] / "docs" / "examples" / "notes"
QUERIES = ("水の備蓄", "git worktree", "お米の炊き方", "台風の前に", "バックアップの手順")


@dataclass(frozen=True, slots=True)
class Served:
    """A running server."""

    url: str
    process: psutil.Process

    def ask(self, clients: int, searches: int, pause_seconds: float = 0.0) -> list[float]:
        """The seconds that each search took."""
        work = functools.partial(
            ask_together, self.url, TOOL, QUERIES, clients=clients, searches=searches,
            pause_seconds=pause_seconds,
        )  # fmt: skip
        return anyio.run(work)


def measure(bench: Bench) -> list[Row]:
    """Both: people who read between two questions, and programs that do not."""
    searches = SEARCHES if bench.runs is None else 200 * bench.runs
    database = bench.folder / "many.sqlite"
    run_mdvec(bench, "tool", "add", "-n", TOOL, "-d", "notes", "-s", NOTES, "--database", database)
    run_mdvec(bench, "import", "-n", TOOL, "--database", database)
    with served(bench, database) as server:
        server.ask(CLIENTS, WARM_UP)
        alone = median(server.ask(1, ALONE))
        before = server.process.memory_info().rss
        paced = server.ask(CLIENTS, searches // 10, PAUSE_SECONDS)
        hurried = server.ask(CLIENTS, searches)
        bridge, stdio = [], []
        for _ in range(bench.times(7) + 1):
            bridge.append(_first_answer(bench, ["--connect", server.url]))
            stdio.append(_first_answer(bench, ["--database", str(database)]))
        del bridge[0], stdio[0]  # the first ones compile
        grown = (server.process.memory_info().rss - before) / 1e6
    what = f"search over HTTP, {CLIENTS} clients at once, 95 of 100 within"
    return [
        _row(f"{what}; each pauses {PAUSE_SECONDS:.0f} s ({len(paced):,})", paced, alone),
        _row(f"{what}; none pauses ({len(hurried):,}, no error)", hurried, alone),
        Row(
            "memory that this added to the server", f"{grown:.0f} MB", f"≤ {GROWTH_BAR_MB} MB",
            grown <= GROWTH_BAR_MB,
        ),
        Row(
            "`mdvec-mcp --connect`: from its start to the answer to `initialize`",
            f"{median(bridge) / median(stdio):.2f} ×: {spread(bridge, 's')} against "
            f"{spread(stdio, 's')} of a server over STDIO",
            f"≤ {BRIDGE_BAR} ×",
            median(bridge) <= BRIDGE_BAR * median(stdio),
        ),
    ]  # fmt: skip


def _row(what: str, taken: list[float], alone: float) -> Row:
    late = sorted(taken)[int(len(taken) * 0.95)]
    ratio = late / alone
    return Row(
        what,
        f"{1000 * late:.0f} ms, {ratio:.1f} × the {1000 * alone:.1f} ms of one client alone",
        f"≤ {RATIO_BAR:.0f} ×",
        ratio <= RATIO_BAR,
    )


def _first_answer(bench: Bench, arguments: list[str]) -> float:
    """The seconds from the start of a server, or of the bridge, to its first answer."""
    hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO}
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-c", SERVER, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        text=True, cwd=bench.folder, env=bench.environment,
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps(hello) + "\n")
    process.stdin.flush()
    answer = json.loads(process.stdout.readline())
    took = time.perf_counter() - began
    process.communicate()
    if "result" not in answer:
        raise RuntimeError(f"no handshake: {answer}")
    return took


@contextmanager
def served(bench: Bench, database: Path) -> Iterator[Served]:
    """A server of a database over HTTP, in a process of its own."""
    command = [sys.executable, "-c", SERVER, "--http", "127.0.0.1:0", "--database", str(database)]
    process = subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, cwd=bench.folder, env=bench.environment
    )
    assert process.stderr is not None
    try:
        url = process.stderr.readline().split()[-1]
        yield Served(url, psutil.Process(process.pid))
    finally:
        process.terminate()
        process.wait()
        process.stderr.close()
