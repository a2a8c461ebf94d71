"""Turns ranked chunks into hits: passages of the requested extent, within a length budget."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import TypeVar

import apsw

from mdvec import index
from mdvec.index import documents
from mdvec.search.core.filters import Returning
from mdvec.search.core.neighbours import (
    TextSpan,
    Window,
    good_cut,
    joined_windows,
    section_at,
    within_budget,
)
from mdvec.search.ranking import RankedChunk
from mdvec.text import (
    WORD_MARK,
    Outline,
    Properties,
    described,
    folded,
    is_blank,
    line_starts,
    machine_text,
    outline,
    page_unit,
    shown_name,
    some_of,
    without_head,
)
from mdvec.tools import KINDS

_MAX_TAGS_CHARS = 300
_MAX_DESCRIPTION = 200
_LINKED_PLACES, _MAX_LINKS = 5, 2
"""How many other files with a hit's text get links shown, and how many links per direction."""
_OfDocument = TypeVar("_OfDocument")


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a hit has its rank: the ranks and scores by vectors and by words.

    ``fused`` is the score that determines the rank; the hit's probability derives from it.
    ``cosine`` is None if vectors were not used. ``lexical_weight`` is the weight of the lexical
    score. ``document_coverage`` also counts what other candidates of the document contain.
    ``matched_words`` are the question's words in the hit, in normalised form; ``matched_terms`` are
    the pairs of characters and the words that match as spelled.
    """

    fused: float
    vector_rank: int | None
    cosine: float | None
    vector_score: float
    lexical_rank: int
    lexical_score: float
    bm25: float
    coverage: float
    document_coverage: float
    named: float
    lexical_weight: float
    matched_words: tuple[str, ...]
    matched_terms: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage that answers a question.

    ``score`` estimates the probability that it answers, 0 to 1. Positions count characters of the
    stored document from 0, lines count from 1; ``content`` is exactly the text between the
    positions. ``heading`` is the path of headings above it, ``chunk_index`` the number of the
    chunk found. ``title``, ``tags`` and ``date`` (ISO) are the document's own; the date is None if
    neither its front matter nor its name has one. ``found_by`` are the queries that found it, if
    several were asked, ``also_in`` other files with the same text, ``links_to`` and
    ``linked_from`` the paths that its document links to and is linked from. ``truncated`` says
    whether the passage was cut at either end; if its end was cut, it continues at
    ``next_position``. If it ends uncut, ``goes_on`` is where its section continues. ``pages`` are
    those of the original file that hold it, such as "pages 12-13", beginning with ``first_page``;
    "" and 0 if the file has no pages. ``description`` is from the document's front matter, if it
    has words of the question that the passage lacks.
    """

    tool: str
    file_path: str
    title: str
    tags: tuple[str, ...]
    date: str | None
    heading: str
    content: str
    score: float
    chunk_index: int
    start_position: int
    end_position: int
    start_line: int
    end_line: int
    truncated: bool
    next_position: int | None
    explanation: Explanation
    found_by: tuple[str, ...] = ()
    also_in: tuple[str, ...] = ()
    links_to: tuple[str, ...] = ()
    linked_from: tuple[str, ...] = ()
    goes_on: int | None = None
    pages: str = ""
    first_page: int = 0
    description: str = ""

    @property
    def about(self) -> str:
        """The title (unless path or headings repeat it), tags, date and description."""
        known = (
            self.heading.partition(" > ")[0],
            self.file_path.rpartition("/")[2].partition(".")[0],
        )
        parts = [] if self.title in known else [self.title]
        if self.tags:
            parts.append(tags_in_short(self.tags))
        if self.date:
            parts.append(self.date)
        if self.description:
            parts.append(f"({self.description})")
        return " ".join(parts).rstrip()


def tags_in_short(tags: Sequence[str]) -> str:
    """The first tags in a line about a document, and the number of the others."""
    shown = ""
    for number, tag in enumerate(tags):
        if number and len(shown) + len(tag) > _MAX_TAGS_CHARS:
            return f"{shown} and {len(tags) - number} more"
        shown += f" #{tag}" if shown else f"#{tag}"
    return shown


@dataclass(frozen=True, slots=True)
class _Passage:
    """A passage; ``wanted`` is the requested range, and ``span`` its part without machine text.

    ``content`` is the whole document if the passage extends beyond one chunk, ``goes_on_at`` where
    the wanted text continues after machine text. ``also_in`` are chunks of other documents with the
    same text or, if joined chunks are not all there, with a part of it; each with its place.
    """

    ranked_chunk: RankedChunk
    span: TextSpan
    content: str | None
    wanted: TextSpan
    goes_on_at: int | None = None
    also_in: tuple[tuple[RankedChunk, str], ...] = ()


def hits(
    connection: apsw.Connection,
    ranked: Sequence[RankedChunk],
    returning: Returning,
    k: int,
    max_chars: int,
) -> tuple[list[Hit], int]:
    """The first ``k`` distinct passages, and how many of them the budget omitted."""
    passages = _passages(connection, ranked, returning, k)
    spans = within_budget([passage.span for passage in passages], max_chars)
    first = passages[: len(spans)]
    chunks = [passage.ranked_chunk for passage in first]
    notes = [hit for hit in chunks if not KINDS[hit.tool.kind].is_made_of_records]
    properties = of_documents(connection, notes, index.stored_properties)
    others = [other for passage in first for other, _ in passage.also_in[:_LINKED_PLACES]]
    links = of_documents(connection, [*notes, *others], index.links_of)
    shown = [
        _with_links(
            connection,
            passage,
            links,
            _hit(passage, span, properties.get(passage.ranked_chunk.document, index.NOT_DERIVED)),
        )
        for passage, span in zip(passages, spans, strict=False)
    ]
    return shown, len(passages) - len(shown)


def of_documents(
    connection: apsw.Connection,
    ranked: Sequence[RankedChunk],
    read: Callable[[index.Tables, set[int]], Mapping[int, _OfDocument]],
) -> dict[tuple[int, int], _OfDocument]:
    """Call ``read`` for the documents of chunks; the result is by ``RankedChunk.document``."""
    stored: dict[tuple[int, int], _OfDocument] = {}
    for tool_id, tool in {hit.tool.id: hit.tool for hit in ranked}.items():
        ids = {hit.chunk.document_id for hit in ranked if hit.tool.id == tool_id}
        by_id = read(tool.tables_in(connection), ids)
        stored |= {(tool_id, number): about for number, about in by_id.items()}
    return stored


def _with_links(
    connection: apsw.Connection,
    passage: _Passage,
    of_document: Mapping[tuple[int, int], index.DocumentLinks],
    hit: Hit,
) -> Hit:
    ranked = passage.ranked_chunk
    if KINDS[ranked.tool.kind].is_made_of_records:
        return hit
    number = ranked.chunk.document_id
    pages, first_page = documents.pages_of(
        ranked.tool.tables_in(connection), hit.file_path, hit.start_position, hit.end_position
    )
    links = of_document.get(ranked.document, index.DocumentLinks())
    return replace(
        hit,
        pages=pages,
        first_page=first_page,
        also_in=tuple(
            f"{place}{_link_note(of_document.get(other.document, links), links)}"
            for other, place in passage.also_in
        ),
        links_to=_paths(links.to),
        linked_from=_paths(links.back),
        goes_on=None
        if hit.next_position is not None
        else index.section_goes_on(
            ranked.tool.tables_in(connection), number, hit.heading, hit.end_position
        ),
    )


def _paths(links: Sequence[index.LinkedDocument]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(link.file_path for link in links))


def _link_note(links: index.DocumentLinks, of_hit: index.DocumentLinks) -> str:
    """A note on links of another document with the same text that the hit's document lacks."""
    ways = ("links to", links.to, of_hit.to), ("linked from", links.back, of_hit.back)
    parts: list[str] = []
    for way, own, known in ways:
        paths = [shown_name(path) for path in _paths(own) if path not in _paths(known)]
        if paths:
            parts.append(f"{way} {some_of(paths, _MAX_LINKS)}")
    return f" ({'; '.join(parts)})" if parts else ""


def _passages(
    connection: apsw.Connection, ranked: Sequence[RankedChunk], returning: Returning, k: int
) -> list[_Passage]:
    text_of = cache(_text_of)

    def text_for(hit: RankedChunk) -> _Text:
        return text_of(hit.tool.tables_in(connection), hit.chunk.file_path)

    if returning == "chunk":
        return [
            _Passage(
                ranked[run.best],
                run.span,
                None if run.first == run.last else text_for(ranked[run.best]).content,
                run.span,
                also_in=_also_in([ranked[rank] for rank in run.ranks]),
            )
            for run in joined_windows(map(_window, ranked), k)
        ]
    passages: list[_Passage] = []
    for hit in ranked:
        text = text_for(hit)
        _add(passages, _readable(hit, text, _wider(hit, text, returning)))
        if len(passages) == k:
            break
    return passages


def _also_in(joined: Sequence[RankedChunk]) -> tuple[tuple[RankedChunk, str], ...]:
    """The chunks of other documents with the text of joined chunks, and the place of each.

    Chunks that follow each other like all the joined ones are one place, which comes before parts.
    """
    in_order = sorted(joined, key=lambda member: member.chunk.chunk_index)
    repeats: dict[tuple[int, int], list[tuple[int, RankedChunk]]] = {}
    for number, member in enumerate(in_order):
        for other in member.also_in:
            repeats.setdefault(other.document, []).append((number, other))
    whole: list[tuple[RankedChunk, str]] = []
    parts: list[tuple[RankedChunk, str]] = []
    for of_document in repeats.values():
        chunks = [other for _, other in of_document]
        first, last = chunks[0], chunks[-1]
        follow = [(at, first.chunk.chunk_index + at) for at in range(len(joined))]
        if len(joined) == 1:
            whole += [(other, other.place()) for other in chunks]
        elif [(number, other.chunk.chunk_index) for number, other in of_document] == follow:
            whole.append((first, first.place(last)))
        else:
            parts += [(other, f"{other.place()} (in part)") for other in chunks]
    return (*whole, *parts)


@dataclass(frozen=True)
class _Text:
    """A document with hits; its outline is parsed once."""

    content: str
    file_path: str

    @cached_property
    def outline(self) -> Outline:
        return outline(self.content, self.file_path.rpartition("/")[2])

    @cached_property
    def machine(self) -> list[tuple[int, int]]:
        """The ranges of machine text."""
        return machine_text(self.content, line_starts(self.content), self.outline.body)


def _text_of(tables: index.Tables, file_path: str) -> _Text:
    stored = documents.stored_text(tables, file_path)
    return _Text("" if stored is None else stored.content, file_path)


def _window(ranked: RankedChunk) -> Window:
    chunk = ranked.chunk
    # Pages are not joined, so that a hit cites the one on which it was found.
    is_apart = KINDS[ranked.tool.kind].is_made_of_records or page_unit(chunk.file_path)
    return Window(
        (ranked.tool.id, chunk.document_id),
        "" if is_apart else without_head(chunk.heading),
        chunk.chunk_index,
        TextSpan(chunk.start_position, chunk.end_position),
        chunk.content.lstrip().startswith("#"),
    )


def _wider(ranked: RankedChunk, text: _Text, returning: Returning) -> TextSpan:
    content = text.content
    if KINDS[ranked.tool.kind].is_made_of_records:
        return TextSpan(ranked.chunk.start_position, ranked.chunk.end_position)
    if returning == "document" or ranked.tool.chunking is None:
        return TextSpan(0, len(content))
    read = text.outline
    levels = ranked.tool.chunking.heading_levels
    # A short section is joined to the next, so a chunk may begin in one and end in another.
    first = section_at(content, read, levels, ranked.chunk.start_position)
    last = section_at(content, read, levels, max(ranked.chunk.end_position - 1, first.start))
    # A chunk before all sections is the front matter of a note without a body.
    start = min(first.start, ranked.chunk.start_position)
    return TextSpan(start, max(first.end, last.end, ranked.chunk.end_position))


def _readable(ranked: RankedChunk, text: _Text, wanted: TextSpan) -> _Passage:
    """The part of a span around a chunk that ends where machine text precedes or follows."""
    chunk = ranked.chunk
    before = [end for _, end in text.machine if wanted.start < end <= chunk.start_position]
    after = [span for span in text.machine if chunk.end_position <= span[0] < wanted.end]
    start = before[-1] if before else wanted.start
    end, goes_on_at = after[0] if after else (wanted.end, None)
    if goes_on_at is not None and is_blank(text.content[goes_on_at : wanted.end]):
        wanted, goes_on_at = TextSpan(wanted.start, end), None
    return _Passage(ranked, TextSpan(start, end), text.content, wanted, goes_on_at)


def _add(passages: list[_Passage], new: _Passage) -> None:
    """Append a passage unless an earlier one has its chunk; replace passages that it contains."""
    of_document = [p for p in passages if p.ranked_chunk.document == new.ranked_chunk.document]
    chunk = new.ranked_chunk.chunk
    if any(
        p.span.start <= chunk.start_position and chunk.end_position <= p.span.end
        for p in of_document
    ):
        return
    within = [
        p for p in of_document if new.span.start <= p.span.start and p.span.end <= new.span.end
    ]
    if not within:
        passages.append(new)
        return
    passages[passages.index(within[0])] = replace(new, ranked_chunk=within[0].ranked_chunk)
    for passage in within[1:]:
        passages.remove(passage)


def _hit(passage: _Passage, shown: TextSpan, properties: Properties) -> Hit:
    chunk = passage.ranked_chunk.chunk
    text = chunk.content if passage.content is None else passage.content
    offset = chunk.start_position if passage.content is None else 0
    start, end = _range_around(chunk, shown)
    if end < passage.span.end:
        cut = offset + good_cut(text, start - offset, end - offset)
        end = cut if cut >= chunk.end_position or end < chunk.end_position else end
    content = text[start - offset : end - offset]
    first_line, last_line = chunk.start_line, chunk.end_line
    if passage.content is not None:
        lines = line_starts(passage.content)
        first_line = bisect_right(lines, start)
        last_line = bisect_right(lines, max(end - 1, start))
    elif end < chunk.end_position:
        last_line = first_line + bisect_right(line_starts(content), len(content) - 1) - 1
    return Hit(
        tool=passage.ranked_chunk.tool.name,
        file_path=chunk.file_path,
        title=chunk.title,
        tags=properties.tags,
        date=properties.day,
        heading=chunk.heading,
        content=content,
        score=passage.ranked_chunk.likelihood,
        chunk_index=chunk.chunk_index,
        start_position=start,
        end_position=end,
        start_line=first_line,
        end_line=last_line,
        truncated=(start, end) != (passage.wanted.start, passage.wanted.end),
        next_position=end if end < passage.span.end else passage.goes_on_at,
        explanation=_explanation(passage.ranked_chunk),
        found_by=passage.ranked_chunk.found_by,
        description=_description(passage.ranked_chunk.scored.matched, content, properties),
    )


def _description(matched: Sequence[str], content: str, properties: Properties) -> str:
    """The description in a document's front matter, if a passage was found by its words."""
    text = folded(content)
    lacking = [term for term in matched if term[0] != WORD_MARK and term not in text]
    description = next(
        (
            description
            for description in described(properties.values)
            if any(term in folded(description) for term in lacking)
        ),
        "",
    )
    return (
        description
        if len(description) <= _MAX_DESCRIPTION
        else f"{description[:_MAX_DESCRIPTION]}…"
    )


def _range_around(chunk: index.StoredChunk, shown: TextSpan) -> tuple[int, int]:
    """The range of text to show, moved to include the chunk."""
    if chunk.end_position <= shown.end:
        return shown.start, shown.end
    room = shown.end - shown.start
    start = max(min(chunk.start_position, chunk.end_position - room), shown.start)
    if chunk.end_position - chunk.start_position > room:
        start = chunk.start_position
    return start, start + room


def _explanation(ranked: RankedChunk) -> Explanation:
    cosine = ranked.chunk.cosine
    matched = ranked.scored.matched
    return Explanation(
        fused=round(ranked.scored.score, 4),
        vector_rank=None if cosine is None else ranked.vector_rank,
        cosine=None if cosine is None else round(cosine, 4),
        vector_score=round(ranked.scored.vector, 4),
        lexical_rank=ranked.lexical_rank,
        lexical_score=round(ranked.scored.lexical, 4),
        bm25=round(ranked.scored.bm25, 3),
        coverage=round(ranked.scored.own_coverage, 4),
        document_coverage=round(ranked.scored.coverage, 4),
        named=round(ranked.scored.named, 4),
        lexical_weight=round(ranked.scored.lexical_weight, 4),
        matched_words=tuple(
            term.removeprefix(WORD_MARK) for term in matched if term[0] == WORD_MARK
        ),
        matched_terms=tuple(term for term in matched if term[0] != WORD_MARK),
    )
