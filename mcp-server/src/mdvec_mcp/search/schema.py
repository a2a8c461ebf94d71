"""The output schemas of the search tools."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

_CONFIDENT = "Whether the first passage is likely to answer."


class HitModel(BaseModel):
    """A passage that answers the question, and the collection it is from."""

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
    next_position: int | None = Field(description="If cut: start_position for get_document.")
    link: str = ""
    tool: str


class AnswerModel(BaseModel):
    """The passages of one collection that answer a question, best first.

    ``results`` are :class:`HitModel` without ``tool``. Every row's tool lists this schema, so it
    does not repeat what ``search`` says of them.
    """

    tool: str
    query: str
    results: list[dict[str, Any]] = Field(description="As search's, without tool.")
    total_chunks: int
    confident: bool = Field(description=_CONFIDENT)
    truncated: bool
    notes: list[str]


class WideAnswerModel(BaseModel):
    """The passages of several collections that answer a question, best first."""

    tools: list[str] = Field(description="The collections searched.")
    query: str
    results: list[HitModel]
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
