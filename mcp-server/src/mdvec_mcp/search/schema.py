"""The results of the search tools: their output schemas, and their texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from mdvec.documents.reading import DocumentText
from mdvec.search.search import UNSURE, Answer
from mdvec.text.one_line import on_one_line
from pydantic import BaseModel, Field

from mdvec_mcp.search.hit_texts import cut_note, hit_texts

_CONFIDENT = "Whether the first passage is likely to answer."


class HitModel(BaseModel):
    """A passage that answers the question."""

    file_path: str
    title: str
    tags: list[str]
    date: str | None
    heading: str = Field(description="Headings above it, outermost first.")
    content: str
    score: float = Field(ge=0, le=1, description="About the probability that it answers.")
    chunk_index: int
    start_position: int = Field(description="From 0; the end is exclusive.")
    end_position: int
    start_line: int
    end_line: int
    truncated: bool
    next_position: int | None = Field(
        description="If cut: continue with get_document at this start_position."
    )
    link: str = ""


class AnswerModel(BaseModel):
    """The passages of one collection that answer a question, best first."""

    tool: str
    query: str
    results: list[HitModel]
    total_chunks: int
    confident: bool = Field(description=_CONFIDENT)
    truncated: bool
    notes: list[str]


class SourcedHitModel(HitModel):
    """A passage that answers the question, and the collection it is from."""

    tool: str


class WideAnswerModel(BaseModel):
    """The passages of several collections that answer a question, best first."""

    tools: list[str] = Field(description="The collections searched.")
    query: str
    results: list[SourcedHitModel]
    total_chunks: int
    confident: bool = Field(description=_CONFIDENT)
    truncated: bool
    notes: list[str]


class DocumentModel(BaseModel):
    """A part of a document, exactly as it is stored."""

    tool: str
    file_path: str
    title: str
    content: str
    start_position: int = Field(description="First character, from 0.")
    end_position: int = Field(description="Exclusive.")
    start_line: int = Field(description="From 1.")
    end_line: int = Field(description="Inclusive.")
    total_chars: int
    total_lines: int
    truncated: bool
    next_position: int | None = Field(description="If cut: the start_position to continue at.")


def structured(answer: Answer, links: Sequence[str], *, wide: bool) -> dict[str, Any]:
    """The answer as AnswerModel has it, or with ``wide`` as WideAnswerModel."""
    hits = [asdict(hit) for hit in answer.results]
    for hit, link in zip(hits, links, strict=False):
        hit["link"] = link
    for hit in hits:
        del hit["explanation"]
        if not wide:
            del hit["tool"]
    source = {"tools": list(answer.tools)} if wide else {"tool": answer.tools[0]}
    return {
        **source,
        "query": answer.query,
        "results": hits,
        "total_chunks": answer.total_chunks,
        "confident": answer.confident,
        "truncated": answer.truncated,
        "notes": list(answer.notes),
    }


def as_text(answer: Answer, max_chars: int, links: Sequence[str], *, wide: bool) -> str:
    """The answer as text that people can read; ``wide`` names each hit's collection.

    It has at most ``max_chars``, unless long notes need more.
    """
    names = ", ".join(answer.tools)
    if not answer.tools:
        return (
            "no collection is active; the user can switch one on in a terminal: "
            "mdvec tool enable -n NAME (mdvec tool ls --all lists them), or add one: "
            'mdvec tool add -n NAME -d "what it contains" -s FOLDER, then mdvec import -n NAME'
        )
    if not answer.total_chunks:
        how = f"mdvec import -n {answer.tools[0] if len(answer.tools) == 1 else 'NAME'}"
        nothing = f"{names}: no documents yet; the user can import them with: {how}"
        return "\n\n".join([nothing, *(f"note: {note}" for note in answer.notes)])
    parts = [f"{len(answer.results)} of {answer.total_chunks} passages of {names}"]
    if not answer.results:
        parts = [f"{names}: nothing found in {answer.total_chunks} passages"]
    elif not answer.confident:
        parts.append(UNSURE)
    notes = [f"note: {note}" for note in answer.notes]
    if answer.truncated and not any(hit.truncated for hit in answer.results):
        notes.append("note: more was found than fits; ask with a smaller k, or more precisely")
    room = max_chars - sum(len(part) + 2 for part in (*parts, *notes))
    texts = hit_texts(answer.results, links, max(room, max_chars // 2), wide=wide)
    return "\n\n".join([*parts, *texts, *notes])


def document_text(document: DocumentText) -> str:
    """A part of a document as text."""
    head = (
        f"{document.tool}: {on_one_line(document.file_path)}:"
        f"{document.start_line}-{document.end_line} of {document.total_lines} lines"
    )
    cut = cut_note(document.tool, document.file_path, document.end_position)
    return f"{head}\n\n{document.content}{cut if document.truncated else ''}"
