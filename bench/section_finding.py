"""How well a model finds a section by its heading, for several chunk sizes.

A question is a Japanese heading of level 2 or 3 that occurs once. No heading line is left in the
indexed text, so only the passage itself can answer. The right answer is the section that stood
under the heading; sections rank by their best chunk.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from corpus import markdown_files
from mdvec.embedding import catalog
from mdvec.embedding.embedder import Embedder
from mdvec.text.chunking import Chunk, chunk_document
from mdvec.text.markdown import Outline, outline
from mdvec.text.tokens import ChunkingOptions, is_blank

LEVELS = (1, 2, 3)
TOP = 10
SHORTEST_SECTION = 50
_JAPANESE = re.compile(r"[ぁ-んァ-ヶ一-龯]")
_ANCHOR = re.compile(r"\{/\*([\w-]+)\*/\}\s*$")

SectionKey = tuple[int, int]
"""The number of a file and the position of a heading in it."""


@dataclass(frozen=True, slots=True)
class Document:
    """A file of the corpus."""

    content: str
    outline: Outline


@dataclass(frozen=True, slots=True)
class Question:
    """A heading's words, and the section they stand above."""

    words: str
    answer: SectionKey
    anchor: str
    """The English name that links to the section has, its hyphens as spaces; "" without one."""


@dataclass(frozen=True, slots=True)
class Result:
    """What one chunk size gives."""

    size: int
    questions: int
    chunks: int
    characters: int
    ndcg: float
    first: float


def compare(corpus: str, sizes: list[int], files: int) -> list[dict[str, float]]:
    """Index the same files once per size, and ask the same questions."""
    embedder = catalog.load("use")
    documents = [read_document(path) for path in _every_nth(markdown_files(Path(corpus)), files)]
    questions = heading_questions(documents)
    asked = np.stack([embedder.embed_query(question.words) for question in questions])
    return [asdict(_result(size, documents, questions, asked, embedder)) for size in sizes]


def _result(
    size: int,
    documents: list[Document],
    questions: list[Question],
    asked: np.ndarray,
    embedder: Embedder,
) -> Result:
    texts, owners = _indexed(size, documents, embedder)
    scores = asked @ embedder.embed_documents(texts).T
    ranks = [_rank(row, owners, question) for row, question in zip(scores, questions, strict=True)]
    return Result(
        size=size,
        questions=len(questions),
        chunks=len(texts),
        characters=sum(map(len, texts)) // len(texts),
        ndcg=sum(1 / math.log2(1 + rank) for rank in ranks if rank <= TOP) / len(ranks),
        first=ranks.count(1) / len(ranks),
    )


def _indexed(
    size: int, documents: list[Document], embedder: Embedder
) -> tuple[list[str], list[set[SectionKey]]]:
    """Every chunk without heading lines, and the sections that it reaches into."""
    options = ChunkingOptions("heading", size, size // 8, LEVELS, SHORTEST_SECTION)
    texts, owners = [], []
    for number, document in enumerate(documents):
        for chunk in chunk_document(document.content, document.outline, options, embedder):
            text = without_headings(document, chunk)
            if not is_blank(text):
                texts.append(text)
                owners.append({(number, start) for start in sections_of(document, chunk)})
    return texts, owners


def _rank(scores: np.ndarray, owners: list[set[SectionKey]], question: Question) -> int:
    """The place of the right section among the sections, from 1."""
    seen: set[SectionKey] = set()
    for place in np.argsort(-scores, kind="stable"):
        if question.answer in owners[place]:
            return len(seen) + 1
        seen |= owners[place]
        if len(seen) > 10 * TOP:
            break
    return len(seen) + 1


def heading_questions(documents: list[Document]) -> list[Question]:
    found = [
        Question(heading.words, (number, heading.start), _anchor(document, heading.start))
        for number, document in enumerate(documents)
        for heading in document.outline.headings
        if heading.level in LEVELS[1:]
        and _JAPANESE.search(heading.words)
        and len(own_text(document, heading.start).strip()) >= SHORTEST_SECTION
    ]
    often = Counter(question.words for question in found)
    return [question for question in found if often[question.words] == 1]


def _anchor(document: Document, start: int) -> str:
    found = _ANCHOR.search(document.content[start:].partition("\n")[0])
    return found[1].replace("-", " ") if found else ""


def own_text(document: Document, start: int) -> str:
    """What stands under a heading, up to the next that cuts."""
    line_end = document.content.find("\n", start) + 1
    cuts = [cut for cut in _cuts(document) if cut > start]
    return document.content[line_end : cuts[0] if cuts else None]


def _cuts(document: Document) -> list[int]:
    return [heading.start for heading in document.outline.headings if heading.level in LEVELS]


def sections_of(document: Document, chunk: Chunk) -> list[int]:
    """The headings whose own text a chunk holds some of; joined short sections make several."""
    return sections_at(document, chunk.start, chunk.end)


def sections_at(document: Document, first: int, last: int) -> list[int]:
    """The headings whose own text lies between two positions, in part at least."""
    edges = [document.outline.body, *_cuts(document), len(document.content)]
    return [
        start
        for start, end in zip(edges[:-1], edges[1:], strict=True)
        if start < last and first < end
    ]


def without_headings(document: Document, chunk: Chunk) -> str:
    text = chunk.text
    for heading in reversed(document.outline.headings):
        start = heading.start - chunk.start
        if 0 <= start < len(text):
            end = text.find("\n", start)
            text = text[:start] + (text[end + 1 :] if end >= 0 else "")
    return text


def read_document(path: Path) -> Document:
    content = path.read_text(encoding="utf-8")
    return Document(content, outline(content, path.name))


def _every_nth(files: list[Path], count: int) -> list[Path]:
    count = min(count, len(files))
    return [files[number * len(files) // count] for number in range(count)]
