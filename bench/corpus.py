"""The public data that benchmarks read: the Japanese React documentation, and JSQuAD."""

from __future__ import annotations

import os
from pathlib import Path

from results import Skipped

BESIDE = Path(__file__).parents[2] / "shared" / "data"
SOURCES = {
    "react-ja": (
        "the Japanese React documentation, CC BY 4.0: the folder src/content of "
        "https://github.com/reactjs/ja.react.dev; name it with --corpus"
    ),
    "jsquad": (
        "the validation split of JSQuAD 1.3, CC BY-SA 4.0, of "
        "https://github.com/yahoojapan/JGLUE, as contexts.jsonl (id, title, text) and "
        "questions.jsonl (question, context_id); name their folder with --jsquad"
    ),
}


def find_corpus(asked: Path | None, name: str = "react-ja") -> Path:
    """The folder: ``asked``, else under ``MDVEC_BENCH_DATA``, else beside the checkout.

    Raises:
        Skipped: it is nowhere; the message says where it comes from.
    """
    data = os.environ.get("MDVEC_BENCH_DATA")
    places = [asked] if asked else [Path(data) / name] if data else [BESIDE / name]
    for place in places:
        if place.is_dir():
            return place.resolve()
    raise Skipped(f"needs {SOURCES[name]}, or put it at $MDVEC_BENCH_DATA/{name}")


def markdown_files(folder: Path) -> list[Path]:
    """Its Markdown files, by path."""
    return sorted(folder.rglob("*.md"))
