"""Importing the whole corpus, compared with the model alone on the same chunks."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
from corpus import markdown_files
from mdvec.manage.registering import add_tool
from processes import COMMAND_LINE, Bench, Finished, call_in_child, run_mdvec
from results import Row, median, spread

if TYPE_CHECKING:
    from mdvec.embedding.backends.use import UseBackend
    from mdvec.embedding.embedder import Vectors

RATIO_BAR = 1.1
MEMORY_BAR_MB = 500
SALES = (
    "SELECT i AS id, DATE '2025-01-01' + (i % 365)::INTEGER AS day, "
    "TIMESTAMP '2025-01-01' + to_seconds(i) AS moment, "
    "['コンビニ', 'スーパー', '駅 売店', 'Café \"A\", Inc'][1 + i % 4] AS shop, "
    "'c' || i % 40 AS kind, "
    "i % 99 AS quantity, (hash(i) % 9999999 / 100)::DECIMAL(9, 2) AS price, "
    "(hash(i) % 1000000 / 1000000)::DECIMAL(9, 6) AS share, i % 3 = 0 AS paid, "
    "CASE i % 3 WHEN 0 THEN '週末, まとめ買い' WHEN 1 THEN 'memo' END AS memo"
)
PLAIN_COPY = """import sys
from pathlib import Path
import duckdb
for number, file in enumerate(sorted(Path(sys.argv[1]).iterdir())):
    duckdb.execute(f"COPY (FROM read_csv('{file}')) TO '{sys.argv[2]}/{number}.parquet'")
"""
_BAR_COUNT = re.compile(r"(\d+)/\d+ +files")
_TERMINAL_CODE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def measure(bench: Bench) -> list[Row]:
    """The ratio within one process, then memory and bar of the command as a user runs it."""
    return [_ratio_row(bench), *_command_rows(bench)]


def _ratio_row(bench: Bench) -> Row:
    files = len(markdown_files(bench.corpus))
    runs = [
        call_in_child(bench, "import_speed", "import_beside_model", str(_new_tool(bench, f"{run}")))
        for run in range(bench.times(1))
    ]
    ratio = median([run["imported"] / run["alone"] for run in runs])
    first = runs[0]
    return Row(
        f"importing react-ja ({files} files, {first['chunks']:,} chunks) with `use`",
        f"{ratio:.2f} ×: {first['imported']:.0f} s against {first['alone']:.0f} s",
        f"≤ {RATIO_BAR} × the model alone (on the same {first['texts']:,} different texts)",
        ratio <= RATIO_BAR and first["added"] == files,
    )


def _command_rows(bench: Bench) -> list[Row]:
    done = run_mdvec(
        bench, "import", "-n", "react", "--model", "use", "--format", "json",
        "--database", _new_tool(bench, "command"),
    )  # fmt: skip
    chunks = json.loads(done.stdout)["chunks"]
    moves = _bar_moves(done)
    return [
        Row(
            "peak memory of that command",
            f"{done.peak_mb:.0f} MB ({chunks / done.seconds:.0f} chunks a second)",
            f"≤ {MEMORY_BAR_MB} MB",
            done.peak_mb <= MEMORY_BAR_MB,
        ),
        Row("its progress bar", f"{moves} different counts shown", "moves", moves > 1, minor=True),
    ]


def measure_csv(bench: Bench) -> list[Row]:
    """The processor's time of `mdvec import` beside that of DuckDB's own reader, in turns."""
    big, months = bench.folder / "big", bench.folder / "months"
    big.mkdir()
    months.mkdir()
    duckdb.execute(f"COPY ({SALES} FROM range(0, 6000000) AS t(i)) TO '{big}/sales.csv'")
    for month in range(200):
        rows = f"{SALES} FROM range({50 * month}, {50 * month + 50}) AS t(i)"
        path = f"{months}/sales_{2008 + month // 12}-{month % 12 + 1:02}.csv"
        duckdb.execute(f"COPY ({rows}) TO '{path}'")
    size = (big / "sales.csv").stat().st_size / 1_000_000
    return [
        _beside_duckdb(bench, f"a CSV file of {size:.0f} MB", big, 2),
        _beside_duckdb(bench, "200 monthly CSV files", months, 3),
    ]


def _beside_duckdb(bench: Bench, what: str, folder: Path, bar: float) -> Row:
    ours: list[float] = []
    plain: list[float] = []
    for turn in range(bench.times(5)):
        database = bench.folder / f"{folder.name}-{turn}.sqlite"
        add_tool(database, "sales", "sales", folder, "dataset")
        command = (COMMAND_LINE, "import", "-n", "sales", "--database", str(database))
        ours.append(_processor_seconds(bench, *command))
        plain.append(_processor_seconds(bench, PLAIN_COPY, str(folder), str(bench.folder)))
    ratio = median(ours) / median(plain)
    return Row(
        f"importing {what}",
        f"{ratio:.2f} ×: {spread(ours, 's')} against {spread(plain, 's')}",
        f"≤ {bar} × DuckDB alone",
        ratio <= bar,
        minor=True,
    )


def _processor_seconds(bench: Bench, *arguments: str) -> float:
    process = subprocess.Popen(
        [sys.executable, "-c", *arguments],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        cwd=bench.folder, env=bench.environment,
    )  # fmt: skip
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise RuntimeError(f"ended with {status}: {arguments}")
    return usage.ru_utime + usage.ru_stime


def _new_tool(bench: Bench, name: str) -> Path:
    database = bench.folder / f"import-{name}.sqlite"
    add_tool(database, "react", "React の日本語ドキュメント", bench.corpus, "markdown")
    return database


def _bar_moves(done: Finished) -> int:
    return len(set(_BAR_COUNT.findall(_TERMINAL_CODE.sub("", done.screen))))


@dataclass
class _Twice:
    """The model, with every list of texts encoded once more and timed: that is the model alone.

    Import and model so take turns at every list, and a busy moment of the machine meets both.
    Which of them goes first alternates: the second finds the model's rows in the cache.
    """

    backend: UseBackend
    seconds: float = 0.0
    texts: int = 0
    alone_first: bool = False

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        return getattr(self.backend, name)

    def encode_documents(self, texts: Sequence[str]) -> Vectors:
        self.alone_first = not self.alone_first
        if self.alone_first:
            self._encode_alone(texts)
        encoded = self.backend.encode_documents(texts)
        if not self.alone_first:
            self._encode_alone(texts)
        return encoded

    def _encode_alone(self, texts: Sequence[str]) -> None:
        began = time.perf_counter()
        self.backend.encode_documents(texts)
        self.seconds += time.perf_counter() - began
        self.texts += len(texts)


def import_beside_model(database: str) -> dict[str, float]:
    """Import in this process; what the model took by itself is told, and no part of the import."""
    from mdvec.embedding.backends.use import UseBackend
    from mdvec.embedding.embedder import Embedder
    from mdvec.files.scanning import ScanRules
    from mdvec.importing.job import ImportRequest
    from mdvec.importing.options import ChunkingSettings
    from mdvec.manage.tool_import import import_tool

    models: list[_Twice] = []

    def load(_: str | None) -> Embedder:
        models.append(_Twice(UseBackend()))
        return Embedder(models[0])

    rules = ScanRules((".md", ".markdown", ".txt"), (), 10 * 2**20)
    report = import_tool(
        ImportRequest(Path(database), "react", "new", rules, ChunkingSettings(), "use"), load
    )
    (model,) = models
    return {
        "imported": report.seconds - model.seconds,
        "alone": model.seconds,
        "texts": model.texts,
        "chunks": report.chunks,
        "added": report.added,
    }
