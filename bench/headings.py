"""Headings as questions for their own sections, in Japanese and in English, in three modes."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from pathlib import Path

from corpus import markdown_files
from finding import HITS, MODES, Quality, first_among, hits_of, quality
from mdvec.embedding import catalog
from mdvec.embedding.embedder import Embedder
from mdvec.embedding.reranker import Reranker
from mdvec.importing.options import DEFAULT_HEADING_LEVELS, DEFAULT_MIN_CHARS
from mdvec.index.documents import NewDocument
from mdvec.search.core.fusion import SearchMode
from mdvec.text.chunking import Chunk, chunk_document
from mdvec.text.readable import texts_to_embed
from mdvec.text.tokens import ChunkingOptions, is_blank
from processes import Bench
from results import Row
from section_finding import (
    Document,
    SectionKey,
    heading_questions,
    read_document,
    sections_of,
    without_headings,
)
from stored_documents import store

LANGUAGES = {
    "Japanese headings": lambda question: question.words,
    "their English anchors": lambda question: question.anchor,
}
BARS = {"Japanese headings": (0.48, 0.02), "their English anchors": (0.33, 0.0)}
"""The least nDCG@10 of both together, and how far it is at least above the better leg."""

Owners = dict[tuple[str, int], list[SectionKey]]


@dataclass(frozen=True, slots=True)
class Index:
    """A database, and which sections each of its chunks reaches into, by file and number."""

    database: Path
    owners: Owners
    embedder: Embedder


def measure(bench: Bench) -> list[Row]:
    """Every language in every mode; the bar looks at the odd questions."""
    documents = [read_document(path) for path in markdown_files(bench.corpus)]
    questions = [question for question in heading_questions(documents) if question.anchor]
    index = headless_index(bench, documents, catalog.load("use"))
    rows, reranker = [], bench.reranker
    for language, words in LANGUAGES.items():
        asked = [(words(question), question.answer) for question in questions]
        rows += _rows(language, {mode: _ranks(index, asked, mode) for mode in MODES})
        if reranker is not None:
            found = quality(_ranks(index, asked[1::2], "hybrid", reranker))
            rows.append(Row(f"react-ja, {language}, hybrid and a reranker", str(found)))
    return rows


def _rows(language: str, ranks: dict[SearchMode, list[int | None]]) -> list[Row]:
    odd = {mode: quality(of_mode[1::2]) for mode, of_mode in ranks.items()}
    least, above = BARS[language]
    bar = max(least, above + max(odd["vector"].ndcg, odd["lexical"].ndcg))
    return [
        Row(
            f"react-ja, {language}, {mode}",
            f"{odd[mode]} (of all {len(of_mode):,}: {_short(quality(of_mode))})",
            f"nDCG@10 ≥ {bar:.3f} (at least {least}, and {above:g} above the better leg)"
            if mode == "hybrid"
            else "",
            odd[mode].ndcg >= bar if mode == "hybrid" else None,
        )
        for mode, of_mode in ranks.items()
    ]


def _short(all_of_them: Quality) -> str:
    return f"{all_of_them.ndcg:.3f}, {all_of_them.first:.3f}"


def _ranks(
    index: Index,
    asked: list[tuple[str, SectionKey]],
    mode: SearchMode,
    reranker: Reranker | None = None,
) -> list[int | None]:
    """The place of each right section, where a section ranks by its best chunk."""
    ranks = []
    for words, answer in asked:
        found = hits_of(index.database, words, HITS, mode, index.embedder, reranker)
        sections = [index.owners[hit.file_path, hit.chunk_index] for hit in found]
        ranks.append(first_among(sections, answer))
    return ranks


def headless_index(bench: Bench, documents: list[Document], embedder: Embedder) -> Index:
    """The corpus without a single heading line: what stands under them has to be found by itself.

    What is left in front of a chunk is its document's title. It is made once a run.
    """
    database = bench.databases / f"headless-{embedder.name}.sqlite"
    owners = database.with_suffix(".owners")
    if not owners.exists():
        owners.write_bytes(pickle.dumps(store_headless(database, documents, embedder)))
    return Index(database, pickle.loads(owners.read_bytes()), embedder)


def store_headless(database: Path, documents: list[Document], embedder: Embedder) -> Owners:
    """A new database of documents without their heading lines, and each chunk's sections."""
    card = embedder.card
    options = ChunkingOptions(
        "heading", card.default_size, card.default_overlap,
        DEFAULT_HEADING_LEVELS, DEFAULT_MIN_CHARS,
    )  # fmt: skip
    owners: Owners = {}
    stored = []
    for number, document in enumerate(documents):
        name = f"{number:05}.md"
        chunks = []
        for chunk in chunk_document(document.content, document.outline, options, embedder):
            text = without_headings(document, chunk)
            if not is_blank(text):
                owners[name, chunk.index] = [
                    (number, start) for start in sections_of(document, chunk)
                ]
                chunks.append(_bare(chunk, text))
        stored.append(_new_document(name, document, chunks, embedder))
    store(database, stored, (embedder.name, embedder.fingerprint, embedder.dimension), options)
    return owners


def _bare(chunk: Chunk, text: str) -> Chunk:
    return Chunk(chunk.index, chunk.start, chunk.end, chunk.start_line, chunk.end_line, "", text)


def _new_document(
    name: str,
    document: Document,
    chunks: list[Chunk],
    embedder: Embedder,
) -> NewDocument:
    title = document.outline.title
    texts = texts_to_embed(name, title, chunks, embedder)
    vectors = embedder.embed_documents(texts)
    return NewDocument(name, name, document.content, title, 0, 0, chunks, vectors)
