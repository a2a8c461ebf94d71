"""The public text that benchmarks read: the Japanese React documentation."""

from __future__ import annotations

import os
from pathlib import Path

from rows import Skipped

NAME = "react-ja"
BESIDE = Path(__file__).parents[2] / "shared" / "data"
SOURCE = (
    "the Japanese React documentation, CC BY 4.0: the folder src/content of "
    "https://github.com/reactjs/ja.react.dev; name it with --corpus, or put it at "
    f"$MDVEC_BENCH_DATA/{NAME}"
)


def find_corpus(asked: Path | None) -> Path:
    """The folder: ``asked``, else under ``MDVEC_BENCH_DATA``, else beside the checkout.

    Raises:
        Skipped: it is nowhere; the message says where it comes from.
    """
    data = os.environ.get("MDVEC_BENCH_DATA")
    places = [asked] if asked else [Path(data) / NAME] if data else [BESIDE / NAME]
    for place in places:
        if place.is_dir():
            return place.resolve()
    raise Skipped(f"needs {SOURCE}")


def markdown_files(folder: Path) -> list[Path]:
    """Its Markdown files, by path."""
    return sorted(folder.rglob("*.md"))
