"""Splitting a file's text into chunks, measured in tokens of ``use``."""

from __future__ import annotations

import time
from pathlib import Path

from corpus import markdown_files
from processes import Bench, call_in_child
from results import Row, median

BAR_MS = 8.0


def measure(bench: Bench) -> list[Row]:
    """Every file of the corpus, several times."""
    measured: list[float] = call_in_child(
        bench, "splitting", "milliseconds", str(bench.corpus), bench.times(5)
    )
    slow = sorted(measured)[int(len(measured) * 0.95)]
    return [
        Row(
            "splitting, per file of react-ja",
            f"{median(measured):.1f} ms (median; 95 % under {slow:.1f} ms, all under "
            f"{max(measured):.0f} ms)",
            f"≤ {BAR_MS:.0f} ms (median)",
            median(measured) <= BAR_MS,
            minor=True,
        )
    ]


def milliseconds(corpus: str, runs: int) -> list[float]:
    """How long each file takes, outline included: the median of its runs."""
    from mdvec.embedding import catalog
    from mdvec.text.chunking import chunk_document
    from mdvec.text.markdown import outline
    from mdvec.text.tokens import ChunkingOptions

    embedder = catalog.load("use")
    card = embedder.card
    options = ChunkingOptions("heading", card.default_size, card.default_overlap, (1, 2, 3), 50)

    def split(path: Path) -> float:
        content = path.read_text(encoding="utf-8")
        began = time.perf_counter()
        chunk_document(content, outline(content, path.name), options, embedder)
        return (time.perf_counter() - began) * 1000

    return [median([split(path) for _ in range(runs)]) for path in markdown_files(Path(corpus))]
