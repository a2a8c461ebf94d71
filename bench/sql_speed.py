"""SQL without bulk data: a million seconds of running, queried through mdvec and DuckDB in turn."""

from __future__ import annotations

import gc
import json
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import psutil
from mdvec.analysis import safe_json_output, safe_load_export, safe_summary_table, validate_output
from mdvec.analysis.exports import ExportFolder
from mdvec.settings import AnalyticsSettings
from mdvec.sql.process.messages import Data, ParquetTable, QueryLimits
from mdvec.sql.process.query_process import QueryProcess
from mdvec.sql.questions import Prepared
from mdvec.sql.service import Analytics
from processes import Bench, call_in_child
from results import Row, median, spread

sys.path.append(str(Path(__file__).parents[1] / "docs" / "examples" / "analysis"))

SIZES = {10_000: 0.3, 100_000: 1.0, 1_000_000: 5.0}
MAX_SIZE = max(SIZES)
SIX = ["pace", "heart_rate", "cadence", "ground_contact_time", "power", "elevation"]
JOIN = (
    "SELECT a.activity_id, a.pace, b.pace AS other_pace FROM runs a "
    "JOIN runs b ON a.activity_id = b.activity_id AND a.elapsed_seconds = b.elapsed_seconds + 60"
)
ASKED = "SELECT activity_id, avg(pace), avg(other_pace) FROM {} GROUP BY activity_id"
SMALL = "SELECT activity_id, count(*) AS n FROM lately GROUP BY activity_id ORDER BY n LIMIT 5"
MEGABYTE = 1_000_000
Seconds = dict[str, list[float]]


def measure(bench: Bench) -> list[Row]:
    """Measure everything in one child process."""
    times, facts = call_in_child(bench, "sql_speed", "work", str(bench.folder), bench.times(7))
    return [
        *_export_rows(times, facts),
        *_format_rows(times, facts),
        _row("profile of 6 columns, 1,000,000 rows", times["profile"], 0.5, minor=True),
        _row("histogram of a number, 1,000,000 rows", times["histogram"], 0.5, minor=True),
        _ratio("a query over the join", times["join"], "materialized", times["kept"], 3),
        _overhead(times),
        *(
            _row(f"`{name}`", times[name], bar, minor=True)
            for name, bar in (
                ("validate_output", 0.010), ("safe_json_output", 0.050),
                ("safe_summary_table", 0.100),
            )
        ),
        Row(
            "1,000 exports and queries: server and child grow by",
            f"{facts['server_grows']:.1f} MB and {facts['child_grows']:.1f} MB "
            f"(between the 200th and the last); {facts['left']} files left",
            "flat; no file",
            facts["server_grows"] + facts["child_grows"] <= 20 and not facts["left"],
        ),
    ]  # fmt: skip


def _export_rows(times: Seconds, facts: dict[str, float]) -> list[Row]:
    found = []
    for rows, bar in SIZES.items():
        ours, plain = times[f"export {rows}"], times[f"plain {rows}"]
        ratio = median(ours) / median(plain)
        found.append(
            Row(
                f"export of {rows:,} rows to Parquet",
                f"{spread(ours, 's')}, {ratio:.2f} × plain DuckDB",
                f"≤ {bar} s; ≤ 1.3 ×", median(ours) <= bar and ratio <= 1.3,
                minor=rows < MAX_SIZE,
            )
        )  # fmt: skip
    found.append(
        Row(
            "memory that an export of 100,000 rows adds (server and child)",
            f"{facts['export_grows']:.0f} MB", "≤ 100 MB", facts["export_grows"] <= 100,
            minor=True,
        )
    )  # fmt: skip
    return found


def _format_rows(times: Seconds, facts: dict[str, float]) -> list[Row]:
    parquet, csv = median(times["read parquet"]), median(times["read csv"])
    return [
        Row(
            "CSV instead of Parquet, 1,000,000 rows: writing",
            f"{spread(times['csv'], 's')} and {facts['csv_mb']:.0f} MB against "
            f"{spread(times[f'export {MAX_SIZE}'], 's')} and {facts['parquet_mb']:.0f} MB",
        ),
        Row(
            "`safe_load_export` of CSV instead of Parquet",
            f"{csv / parquet:.1f} ×: {csv:.2f} s against {parquet:.2f} s",
            "≥ 3 × Parquet", csv >= 3 * parquet,
        ),
    ]  # fmt: skip


def _overhead(times: Seconds) -> Row:
    more = 1000 * (median(times["small"]) - median(times["plain small"]))
    return Row(
        "what a small query costs on top of plain DuckDB, warm",
        f"{more:.1f} ms: {spread(times['small'], 'ms', 1000)} against "
        f"{spread(times['plain small'], 'ms', 1000)}",
        "≤ 30 ms", more <= 30,
    )  # fmt: skip


def _ratio(what: str, slow: list[float], other: str, quick: list[float], bar: float) -> Row:
    ratio = median(slow) / median(quick)
    return Row(
        f"{what}, {other}",
        f"{ratio:.1f} × faster: {spread(quick, 's')} against {spread(slow, 's')}",
        f"≥ {bar} × faster", ratio >= bar,
    )  # fmt: skip


def _row(what: str, seconds: list[float], bar: float, *, minor: bool = False) -> Row:
    return Row(what, spread(seconds, "s"), f"≤ {bar} s", median(seconds) <= bar, minor)


def work(folder: str, times: int) -> tuple[Seconds, dict[str, float]]:
    """The seconds of each step, and the counts of their results."""
    from activity_sample import write_runs

    runs = Path(folder) / "runs.parquet"
    write_runs(runs, rows=MAX_SIZE, activities=370)
    size = runs.stat()
    table = ParquetTable("runs", runs, size.st_size, size.st_mtime_ns)
    exports = ExportFolder(Path(folder) / "exports", 3_600, 4_000 * MEGABYTE)
    settings = AnalyticsSettings()
    queries = QueryProcess(
        exports.folder,
        QueryLimits(60, settings.max_memory_mb, settings.max_export_mb * MEGABYTE),
        lambda: Data((table,), Path(folder) / "none.sqlite", ()),
    )
    plain = duckdb.connect()
    plain.execute(f"SET threads = {psutil.cpu_count()}")
    plain.execute(f"CREATE VIEW runs AS FROM '{runs}'")
    try:
        return _measured(Analytics(queries, exports, settings), plain, Path(folder), times)
    finally:
        queries.close()


def _measured(
    ours: Analytics, plain: duckdb.DuckDBPyConnection, folder: Path, times: int
) -> tuple[Seconds, dict[str, float]]:
    seconds: Seconds = {}
    facts: dict[str, float] = {}

    def took(name: str, work: Callable[[], Any]) -> Any:  # noqa: ANN401 - what the work returns
        began = time.perf_counter()
        result = work()
        seconds.setdefault(name, []).append(time.perf_counter() - began)
        return result

    ours.summaries.profile("runs", None, None, ["pace"], exact=False)
    before = sum(_memory())
    ours.exporter.export("SELECT * FROM runs LIMIT 100000", "parquet", None)
    facts["export_grows"] = sum(_memory()) - before
    target = folder / "plain.parquet"
    for rows in SIZES:
        query = f"SELECT * FROM runs LIMIT {rows}"
        for _ in range(times):
            took(f"export {rows}", partial(ours.exporter.export, query, "parquet", MAX_SIZE))
            took(f"plain {rows}", partial(plain.execute, f"COPY ({query}) TO '{target}'"))
    for _ in range(max(3, times // 2)):
        parquet = ours.exporter.export("runs", "parquet", MAX_SIZE)
        csv = took("csv", lambda: ours.exporter.export("runs", "csv", MAX_SIZE))
        for name, made in (("read parquet", parquet), ("read csv", csv)):
            load = partial(
                safe_load_export, made["handle"], MAX_SIZE, folder=ours.exporter.exports.folder
            )
            took(name, load)
    facts |= {"parquet_mb": parquet["size_mb"], "csv_mb": csv["size_mb"]}
    for _ in range(times):
        took("profile", lambda: ours.summaries.profile("runs", None, None, SIX, exact=False))
        took("histogram", lambda: ours.summaries.histogram("runs", "pace", 20, None, None))
    ours.exporter.materialize("pairs", JOIN, None)
    ours.exporter.materialize("lately", "SELECT * FROM runs LIMIT 10000", None)
    plain.execute("CREATE TABLE lately AS SELECT * FROM runs LIMIT 10000")
    for _ in range(times):
        took(
            "join",
            lambda: ours.questions.rows(Prepared(ASKED.format(f"({JOIN})")), ours.guard),
        )
        took("kept", lambda: ours.questions.rows(Prepared(ASKED.format("pairs")), ours.guard))
    for _ in range(30 * times):
        took("small", lambda: ours.questions.rows(Prepared(SMALL), ours.guard))
        took("plain small", lambda: plain.execute(SMALL).fetchall())
    _guards(took, ours, parquet["handle"], times)
    facts |= _endurance(ours)
    return seconds, facts


def _guards(took: Callable[..., Any], ours: Analytics, handle: str, times: int) -> None:
    frame = safe_load_export(handle, MAX_SIZE, folder=ours.exporter.exports.folder)
    figures = {f"列{n}": {"平均": n / 7, "件数": n} for n in range(20)}
    text = json.dumps(figures, ensure_ascii=False)
    for _ in range(times):
        took("validate_output", lambda: validate_output(text * 50))
        took("safe_json_output", lambda: safe_json_output(figures, 10_000))
        took("safe_summary_table", lambda: safe_summary_table(frame))


def _endurance(ours: Analytics) -> dict[str, float]:
    """A thousand queries and exports; then the files' times are moved back, so that they expire."""
    begin: tuple[float, float] = (0, 0)
    for number in range(1_000):
        ours.exporter.export(f"SELECT * FROM runs LIMIT {number}", "parquet", None)
        ours.questions.rows(Prepared(SMALL), ours.guard)
        if number == 200:
            gc.collect()
            begin = _memory()
    gc.collect()
    end = _memory()
    later = ExportFolder(
        ours.exporter.exports.folder, 3_600, MEGABYTE, clock=lambda: time.time() + 3_601
    )
    later.sweep()
    # The lock of the query process is no export: it goes with the process.
    files = [path for path in ours.exporter.exports.folder.rglob("*.*") if path.is_file()]
    return {
        "server_grows": end[0] - begin[0], "child_grows": end[1] - begin[1], "left": len(files)
    }  # fmt: skip


def _memory() -> tuple[float, float]:
    """The megabytes of this process and of its children."""
    this = psutil.Process()
    children = sum(child.memory_info().rss for child in this.children())
    return this.memory_info().rss / MEGABYTE, children / MEGABYTE
