"""Headings as questions for the text under them, which is indexed without any heading or title."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from mdvec.embedding.embedder import Embedder
from mdvec.importing.options import DEFAULT_HEADING_LEVELS, DEFAULT_MIN_CHARS
from mdvec.text.chunking import Chunk, chunk_document
from mdvec.text.markdown import Outline, outline
from mdvec.text.options import ChunkingOptions
from mdvec.text.tokens import is_blank

MAX_CHUNKS = 2_000
MAX_QUESTIONS = 400
MIN_QUESTIONS = 30

SectionKey = tuple[int, int]
"""The number of a document, and the position of a heading in it."""


@dataclass(frozen=True, slots=True)
class HeadingQuestion:
    """A heading's words, and the section under it."""

    words: str
    answer: SectionKey


@dataclass(frozen=True, slots=True)
class HeadlessDocument:
    """A document's chunks without their heading lines, and the sections that each reaches into."""

    name: str
    content: str
    chunks: Sequence[Chunk]
    sections: Sequence[frozenset[SectionKey]]


@dataclass(frozen=True, slots=True)
class Headless:
    """Documents without headings, and the questions that their headings make."""

    documents: Sequence[HeadlessDocument]
    questions: Sequence[HeadingQuestion]

    @property
    def chunks(self) -> int:
        """How many chunks the documents have."""
        return sum(len(document.chunks) for document in self.documents)


def chunking_for(embedder: Embedder) -> ChunkingOptions:
    """The chunking that an import with this model has by default."""
    card = embedder.card
    return ChunkingOptions(
        "heading", card.default_size, card.default_overlap,
        DEFAULT_HEADING_LEVELS, DEFAULT_MIN_CHARS,
    )  # fmt: skip


def headless(
    texts: Iterable[tuple[str, str]],
    embedder: Embedder,
    max_chunks: int = MAX_CHUNKS,
    max_questions: int = MAX_QUESTIONS,
) -> Headless:
    """Take the headings out of documents, each a path and a content.

    Of many documents some are taken, the same ones each time, until they have ``max_chunks``, and
    some more while there are too few questions. Only headings that occur once, above some text of
    their own, make questions.
    """
    options = chunking_for(embedder)
    documents: list[HeadlessDocument] = []
    questions: list[HeadingQuestion] = []
    chunks = 0
    for path, content in sorted(texts, key=lambda one: zlib.crc32(one[0].encode())):
        read = outline(content, path.rpartition("/")[2])
        most = max_chunks if len(questions) >= 2 * MIN_QUESTIONS else MAX_CHUNKS
        if not read.headings or chunks >= most:
            continue
        number = len(documents)
        document = _begin(_document(number, content, read, options, embedder), most - chunks)
        chunks += len(document.chunks)
        documents.append(document)
        there = frozenset().union(*document.sections)
        questions += [one for one in _questions(number, content, read) if one.answer in there]
    often = Counter(question.words for question in questions)
    once = [question for question in questions if often[question.words] == 1]
    count = min(len(once), max_questions)
    return Headless(documents, [once[place * len(once) // count] for place in range(count)])


def _document(
    number: int, content: str, read: Outline, options: ChunkingOptions, embedder: Embedder
) -> HeadlessDocument:
    sections = _sections(content, read)
    chunks, owners = [], []
    for chunk in chunk_document(content, read, options, embedder):
        text = _without_headings(chunk, read)
        if chunk.start >= read.body and not is_blank(text):
            chunks.append(
                Chunk(
                    chunk.index, chunk.start, chunk.end, chunk.start_line, chunk.end_line, "", text
                )
            )
            owners.append(
                frozenset(
                    (number, start)
                    for start, end in sections
                    if start < chunk.end and chunk.start < end
                )
            )
    return HeadlessDocument(f"{number:05}.md", content, chunks, owners)


def _begin(document: HeadlessDocument, count: int) -> HeadlessDocument:
    """A document with its first chunks only."""
    return replace(document, chunks=document.chunks[:count], sections=document.sections[:count])


def _questions(number: int, content: str, read: Outline) -> list[HeadingQuestion]:
    words = {heading.start: heading.words for heading in read.headings}
    found = []
    for start, end in _sections(content, read):
        own = content[start:end].partition("\n")[2]
        if not is_blank(words.get(start, "")) and len(own.strip()) >= DEFAULT_MIN_CHARS:
            found.append(HeadingQuestion(words[start], (number, start)))
    return found


def _sections(content: str, read: Outline) -> list[tuple[int, int]]:
    """Where the text under each heading begins, its line included, and ends."""
    levels = DEFAULT_HEADING_LEVELS
    cuts = [heading.start for heading in read.headings if heading.level in levels]
    edges = [read.body, *cuts, len(content)]
    return list(zip(edges[:-1], edges[1:], strict=True))


def _without_headings(chunk: Chunk, read: Outline) -> str:
    text = chunk.text
    for heading in reversed(read.headings):
        start = heading.start - chunk.start
        if 0 <= start < len(text):
            end = text.find("\n", start)
            text = text[:start] + (text[end + 1 :] if end >= 0 else "")
    return text
