"""Importing: the command line on the whole corpus, against the model alone on its chunks."""

from __future__ import annotations

import itertools
import json
import re
import time
from pathlib import Path

from corpus import markdown_files
from mdvec.registering import add_tool
from processes import Bench, Finished, call_in_child, run_mdvec
from rows import Row, median, spread

RATIO_BAR = 1.3
MEMORY_BAR_MB = 500
_BAR_COUNT = re.compile(r"(\d+)/\d+ +files")


def measure(bench: Bench) -> list[Row]:
    """Import and model in turns, each in a process of its own."""
    files = len(markdown_files(bench.corpus))
    imports, alone = [], []
    for number in range(bench.times(2)):
        database = bench.folder / f"import-{number}.sqlite"
        imports.append(_import(bench, database))
        alone.append(call_in_child(bench, "importing", "encode_alone", str(database)))
    reports = [json.loads(done.stdout) for done in imports]
    seconds = [report["seconds"] for report in reports]
    model = [seconds for seconds, _ in alone]
    ratio = median([whole / part for whole, part in zip(seconds, model, strict=True)])
    peak = max(done.peak_mb for done in imports)
    moves = min(_bar_moves(done) for done in imports)
    return [
        Row(
            f"importing react-ja ({files} files, {reports[0]['chunks']:,} chunks) with `use`",
            f"{ratio:.2f} ×: {spread(seconds, 's')} against {spread(model, 's')}",
            f"≤ {RATIO_BAR} × the model alone on the same {alone[0][1]:,} texts",
            ratio <= RATIO_BAR and reports[0]["added"] == files,
        ),
        Row(
            "its peak memory",
            f"{peak:.0f} MB",
            f"≤ {MEMORY_BAR_MB} MB",
            peak <= MEMORY_BAR_MB,
        ),
        Row("its progress bar", f"{moves} different counts shown", "moves", moves > 1),
    ]


def _import(bench: Bench, database: Path) -> Finished:
    add_tool(database, "react", "React の日本語ドキュメント", bench.corpus, "markdown")
    return run_mdvec(
        bench, "import", "-n", "react", "--model", "use", "--format", "json",
        "--database", database,
    )  # fmt: skip


def _bar_moves(done: Finished) -> int:
    return len(set(_BAR_COUNT.findall(re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", done.screen))))


def encode_alone(database: str) -> tuple[float, int]:
    """Seconds of the model for the texts that an import gave it, in the same lists; their number.

    No loading, no checks, no database: nothing but the encoder.
    """
    from mdvec.interfaces.embedding.use import UseBackend

    lists = _embedded_texts(Path(database))
    backend = UseBackend()
    began = time.perf_counter()
    for texts in lists:
        for first in range(0, len(texts), backend.batch):
            backend.encode_documents(texts[first : first + backend.batch])
    return time.perf_counter() - began, sum(map(len, lists))


def _embedded_texts(database: Path) -> list[list[str]]:
    """The different texts of each document."""
    from mdvec.interfaces.database.sqlite import open_database

    with open_database(database, "read") as connection:
        rows = connection.execute(
            "SELECT document_id, chunk_text FROM vectors_react ORDER BY id"
        ).fetchall()
    return [
        list(dict.fromkeys(str(text) for _, text in group))
        for _, group in itertools.groupby(rows, key=lambda row: row[0])
    ]
