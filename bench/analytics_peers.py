"""Eleven questions over a million rows: our server, plain DuckDB and another server, by turns."""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from functools import partial
from pathlib import Path
from typing import Any, TextIO

import anyio
import duckdb
import psutil
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from processes import SERVER, Bench, run_mdvec
from results import Row, median, spread

sys.path.append(str(Path(__file__).parents[1] / "docs" / "examples" / "analysis"))

ROWS, ACTIVITIES = 1_000_000, 370
PEER = "mcp-server-motherduck"
SMOOTH = (
    "SELECT activity_id, avg(power) OVER (PARTITION BY activity_id ORDER BY elapsed_seconds "
    "ROWS 29 PRECEDING) AS smooth FROM runs"
)
MEANS = "SELECT activity_id, avg(heart_rate) AS mean FROM runs GROUP BY activity_id"
RANKS = "[0.05, 0.25, 0.5, 0.75, 0.95]"
QUESTIONS = {
    "count": "SELECT count(*) FROM runs",
    "average, least, most": "SELECT avg(heart_rate), min(heart_rate), max(heart_rate) FROM runs",
    "by lap": "SELECT lap, count(*), avg(pace), avg(heart_rate) FROM runs GROUP BY lap "
    "ORDER BY lap",
    "by month, the last twelve": "SELECT date_trunc('month', timestamp) AS month, count(*), "
    "avg(pace) FROM runs GROUP BY month ORDER BY month DESC LIMIT 12",
    "top 10": "SELECT timestamp, activity_id, power FROM runs ORDER BY power DESC, timestamp "
    "LIMIT 10",
    "quantiles": f"SELECT quantile_cont(pace, {RANKS}), quantile_cont(heart_rate, {RANKS}) "
    "FROM runs",
    "correlation and slope": "SELECT corr(pace, heart_rate), regr_slope(heart_rate, pace) "
    "FROM runs",
    "distinct pairs": "SELECT count(*) FROM (SELECT DISTINCT activity_id, lap FROM runs)",
    "a window": f"SELECT activity_id, max(smooth) AS best FROM ({SMOOTH}) GROUP BY activity_id "
    "ORDER BY best DESC LIMIT 10",
    "a join": f"SELECT count(*) FROM runs r JOIN ({MEANS}) m USING (activity_id) "
    "WHERE r.heart_rate > m.mean + 10",
    "median by lap": "SELECT lap, median(pace) FROM runs GROUP BY lap ORDER BY lap",
}
LONG = "SELECT activity_id, avg(pace) FROM runs GROUP BY activity_id ORDER BY activity_id"
SMALL = "SELECT * FROM runs LIMIT 10"
DUCKDB_BAR, PEER_BAR, QUANTILES_BAR, PROFILE_BAR = 1.4, 0.75, 1.3, 1.3
START_BAR, COMMAND_BAR = 0.7, 0.7
Seconds = dict[str, list[float]]
Ask = Callable[[str], Awaitable[list[Any] | None]]
"""Asks a query; the rows, where they are read back to be compared."""


def measure(bench: Bench) -> list[Row]:
    """The eleven, a profile, a long result; then the first answers of new processes."""
    runs = _imported(bench)
    times = anyio.run(_asked_by_turns, bench, runs)
    starts = [anyio.run(_first_answer, bench) for _ in range(bench.times(11) + 1)][1:]
    command = ("query", SMALL, "--database", _database(bench))
    commands = [run_mdvec(bench, *command).seconds for _ in range(bench.times(11) + 1)][1:]
    return [
        *(_row(name, times[name]) for name in QUESTIONS),
        _mean_row(times, "DuckDB", "plain DuckDB's", DUCKDB_BAR),
        _mean_row(times, PEER, f"{PEER}'s", PEER_BAR),
        _row("of these, the quantiles", times["quantiles"], QUANTILES_BAR),
        _row("`profile` of 22 columns", times["profile"], PROFILE_BAR),
        _row("370 rows: ours is the first, their number and a file of all", times["long"]),
        Row(
            "from the server's start to the answer of its first query",
            spread(starts, "s"), f"≤ {START_BAR} s", median(starts) <= START_BAR,
        ),
        Row(
            "`mdvec query` for ten rows (process start included)",
            spread(commands, "s"), f"≤ {COMMAND_BAR} s", median(commands) <= COMMAND_BAR,
        ),
    ]  # fmt: skip


def _row(name: str, times: Seconds, bar: float | None = None) -> Row:
    ours, plain = median(times["ours"]), median(times["DuckDB"])
    shown = f"{ours / plain:.2f} ×: {spread(times['ours'], 'ms', 1000)} against "
    shown += spread(times["DuckDB"], "ms", 1000)
    if peers := times.get(PEER):
        shown += f"; {PEER} {spread(peers, 'ms', 1000)}"
    if bar is None:
        return Row(name, shown)
    return Row(name, shown, f"≤ {bar} × plain DuckDB", ours <= bar * plain)


def _mean_row(times: dict[str, Seconds], other: str, whose: str, bar: float) -> Row:
    what, bar_said = f"eleven queries, their time over {whose} (geometric mean)", f"≤ {bar} ×"
    if any(other not in times[name] for name in QUESTIONS):
        return Row(what, f"not measured: install {other}, or name its program with --peer")
    logarithms = (
        math.log(median(times[name]["ours"]) / median(times[name][other])) for name in QUESTIONS
    )
    ratio = math.exp(sum(logarithms) / len(QUESTIONS))
    return Row(what, f"{ratio:.2f} ×", bar_said, ratio <= bar)


def _imported(bench: Bench) -> Path:
    """The Parquet file, which the database names as a table; the import copies no row."""
    from activity_sample import write_runs

    runs = bench.folder / "runs.parquet"
    write_runs(runs, rows=ROWS, activities=ACTIVITIES)
    here = ("-n", "runs", "--database", _database(bench))
    run_mdvec(bench, "tool", "add", "-d", "走った記録", "-s", runs, "--kind", "dataset", *here)
    run_mdvec(bench, "import", *here)
    return runs


def _database(bench: Bench) -> Path:
    return bench.folder / "runs.sqlite"


async def _asked_by_turns(bench: Bench, runs: Path) -> dict[str, Seconds]:
    """The seconds of each question, by who was asked; the answers are compared once."""
    times: dict[str, Seconds] = {}
    async with AsyncExitStack() as stack:
        plain = stack.enter_context(duckdb.connect())
        plain.execute(f"SET threads = {psutil.cpu_count()}")
        plain.execute(f"CREATE VIEW runs AS FROM '{runs}'")
        client = await stack.enter_async_context(Client(_ours(bench)))
        asks: dict[str, Ask] = {"ours": partial(_ask_us, client), "DuckDB": partial(_ask, plain)}
        if bench.peer is not None:
            log = stack.enter_context((bench.folder / "peer.log").open("w"))
            peer = await stack.enter_async_context(Client(_peer(bench, bench.peer, runs, log)))
            asks[PEER] = partial(_ask_peer, peer)
        for name, sql in {**QUESTIONS, "long": LONG}.items():
            _compare(name, await asks["ours"](sql), await asks["DuckDB"](sql))
            times[name] = await _by_turns(asks, sql, bench.times(15))
        profiles: dict[str, Ask] = {"ours": partial(_profile, client), "DuckDB": asks["DuckDB"]}
        figures = _figures(plain)
        for ask in profiles.values():
            await ask(figures)
        times["profile"] = await _by_turns(profiles, figures, bench.times(5))
    return times


async def _by_turns(asks: dict[str, Ask], sql: str, times: int) -> Seconds:
    found: Seconds = {name: [] for name in asks}
    for _ in range(times + 1):
        for name, ask in asks.items():
            began = time.perf_counter()
            await ask(sql)
            found[name].append(time.perf_counter() - began)
    return {name: taken[1:] for name, taken in found.items()}


async def _ask(plain: duckdb.DuckDBPyConnection, sql: str) -> list[Any]:
    return plain.execute(sql).fetchall()


async def _ask_us(client: Client, sql: str) -> list[Any]:
    answer = await client.call_tool("query", {"query": sql})
    if answer.is_error:
        raise RuntimeError(f"ours refused {sql}: {answer.content}")
    rows: list[Any] = json.loads(answer.content[0].text)["rows"]
    return rows


async def _profile(client: Client, _sql: str) -> None:
    answer = await client.call_tool("profile", {"table_or_query": "runs"})
    if answer.is_error:
        raise RuntimeError(f"no profile: {answer.content}")


async def _ask_peer(client: Client, sql: str) -> None:
    answer = await client.call_tool("execute_query", {"sql": sql})
    if answer.is_error or not json.loads(answer.content[0].text)["success"]:
        raise RuntimeError(f"{PEER} refused {sql}: {answer.content}")


def _figures(plain: duckdb.DuckDBPyConnection) -> str:
    """What a profile tells of each column, as one would ask plain DuckDB for it."""
    asked = ["count(*)", "min(timestamp)", "max(timestamp)"]
    for name, kind, *_ in plain.execute("DESCRIBE runs").fetchall():
        asked += [f"{figure}({name})" for figure in ("count", "min", "max")]
        asked.append(f"count(DISTINCT {name})")
        if kind != "TIMESTAMP":
            asked += [f"avg({name})", f"stddev_samp({name})"]
            asked.append(f"quantile_cont({name}, [0.25, 0.5, 0.75])")
    return f"SELECT {', '.join(asked)} FROM runs"


def _compare(name: str, ours: list[Any] | None, plain: list[Any] | None) -> None:
    """Raise unless the numbers of our rows, as far as an answer goes, are those of DuckDB."""
    pairs = zip(map(_numbers, ours or ()), map(_numbers, plain or ()), strict=False)
    if not ours or any(not _is_close(here, there) for here, there in pairs):
        raise RuntimeError(f"{name}: {ours} is not {plain}")


def _is_close(here: list[float], there: list[float]) -> bool:
    """Sums in several threads differ in their last digits."""
    close = (math.isclose(*pair, rel_tol=1e-9) for pair in zip(here, there, strict=True))
    return len(here) == len(there) and all(close)


def _numbers(row: object) -> list[float]:
    if isinstance(row, Sequence) and not isinstance(row, str):
        return [number for cell in row for number in _numbers(cell)]
    return [float(row)] if isinstance(row, int | float) else []


def _ours(bench: Bench) -> AbstractAsyncContextManager[Any]:
    arguments = ["-c", SERVER, "--database", str(_database(bench))]
    return stdio_client(
        StdioServerParameters(
            command=sys.executable, args=arguments, env=bench.environment, cwd=bench.folder
        )
    )


def _peer(bench: Bench, program: Path, runs: Path, log: TextIO) -> AbstractAsyncContextManager[Any]:
    """The other server, which asks the network for nothing."""
    arguments = ["--db-path", ":memory:", "--read-write", "--init-sql"]
    server = StdioServerParameters(
        command=str(program),
        args=[*arguments, f"CREATE VIEW runs AS FROM '{runs}'"],
        env=bench.environment | {"FASTMCP_CHECK_FOR_UPDATES": "off"},
        cwd=bench.folder,
    )
    return stdio_client(server, log)


async def _first_answer(bench: Bench) -> float:
    """A client that asks its first query at once, in a new process."""
    began = time.perf_counter()
    async with Client(_ours(bench)) as client:
        await _ask_us(client, QUESTIONS["count"])
        return time.perf_counter() - began
