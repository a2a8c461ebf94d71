"""Many short texts of one language: overlapping windows of the Japanese React documentation."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from corpus import markdown_files
from finding import evenly
from mdvec.embedding import catalog
from mdvec.index.documents import NewDocument
from mdvec.text.chunking import Chunk
from mdvec.text.tokens import ChunkingOptions, is_blank
from stored_documents import store

MAX_WINDOWS = 100_000
CHARACTERS = 120
PER_DOCUMENT = 200
NOISE = 0.3
"""The length of what is added to a vector of length 1."""
OPTIONS = ChunkingOptions("token", 64, 8, (1, 2, 3), 50)
"""The chunking options stored for the tool; nothing is chunked with them here."""


@functools.cache
def embedded_windows(corpus: Path) -> tuple[list[str], np.ndarray]:
    """``MAX_WINDOWS`` windows in the order of the text, and their vectors."""
    texts = _windows(corpus, MAX_WINDOWS)
    return texts, catalog.load("use").embed_documents(texts)


def perturbed_windows(corpus: Path, count: int) -> tuple[list[str], np.ndarray]:
    """More windows than are embedded: each has the vector of one near it, moved a little."""
    _, vectors = embedded_windows(corpus)
    random = np.random.default_rng(1)
    moved = np.repeat(vectors, -(-count // len(vectors)), axis=0)[:count]
    for first in range(0, count, MAX_WINDOWS):
        part = moved[first : first + MAX_WINDOWS]
        part += random.standard_normal(part.shape, dtype=np.float32) * (
            NOISE / part.shape[1] ** 0.5
        )
        part /= np.linalg.norm(part, axis=1, keepdims=True)
    return _windows(corpus, count), moved


def _windows(corpus: Path, count: int) -> list[str]:
    text = "\n".join(path.read_text(encoding="utf-8") for path in markdown_files(corpus))
    step = (len(text) - CHARACTERS) / (count * 1.01)  # some are blank
    starts = [int(number * step) for number in range(int(count * 1.01))]
    windows = [text[start : start + CHARACTERS] for start in starts]
    return evenly([window for window in windows if not is_blank(window)], count)


def store_windows(
    database: Path, texts: list[str], vectors: np.ndarray, model: tuple[str, str, int]
) -> None:
    """A new database with one tool, its documents of ``PER_DOCUMENT`` windows each.

    ``model`` is the name, the fingerprint and the dimension of what made the vectors.
    """
    store(database, _documents(texts, vectors), model, OPTIONS)


def _documents(texts: list[str], vectors: np.ndarray) -> Iterator[NewDocument]:
    for first in range(0, len(texts), PER_DOCUMENT):
        part = texts[first : first + PER_DOCUMENT]
        chunks, position = [], 0
        for index, text in enumerate(part):
            end = position + len(text)
            chunks.append(Chunk(index, position, end, 1, 1, "", text))
            position = end
        name = f"{first:06}.md"
        yield NewDocument(
            name, name, "".join(part), name, position, 0, chunks,
            vectors[first : first + PER_DOCUMENT],
        )  # fmt: skip
