"""Importing the whole corpus, compared with the model alone on the same chunks."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from corpus import markdown_files
from mdvec.manage.registering import add_tool
from processes import Bench, Finished, call_in_child, run_mdvec
from results import Row, median

if TYPE_CHECKING:
    from mdvec.embedding.backends.use import UseBackend
    from mdvec.embedding.embedder import Vectors

RATIO_BAR = 1.1
MEMORY_BAR_MB = 500
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
