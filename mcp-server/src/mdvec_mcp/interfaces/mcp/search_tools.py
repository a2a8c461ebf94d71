"""One search tool per row: what a client sees of it, and its answers."""

from __future__ import annotations

import functools
import logging
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import anyio.to_thread
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult, TextContent, ToolAnnotations
from mdvec.core.text.visible import on_one_line
from mdvec.errors import MdvecError
from mdvec.interfaces.database.sqlite import DatabaseError
from mdvec.interfaces.database.tools import Tool
from mdvec.searching import MAX_K, MAX_QUERY_CHARS, Answer, search
from pydantic import BaseModel, Field

from mdvec_mcp.interfaces.embedding.model_pool import ModelPool

if TYPE_CHECKING:
    from mdvec_mcp.interfaces.mcp.server import MdvecServer


logger = logging.getLogger("mdvec")


class HitModel(BaseModel):
    """A passage that answers the question."""

    file_path: str = Field(description="The file, from the collection's folder.")
    heading: str = Field(description="The headings it stands under, outermost first.")
    content: str = Field(description="The passage, exactly as it stands in the file.")
    score: float = Field(ge=0, le=1, description="0 to 1, higher is better.")
    chunk_index: int = Field(description="The passage's number in its file, from 0.")
    start_position: int = Field(description="Its first character, from 0.")
    end_position: int = Field(description="The character behind its last.")
    start_line: int = Field(description="Its first line, from 1.")
    end_line: int = Field(description="Its last line.")


class AnswerModel(BaseModel):
    """The passages of one collection that answer a question, best first."""

    tool: str
    query: str
    results: list[HitModel]
    total_chunks: int = Field(description="How many passages the collection has.")


Query = Annotated[
    str,
    Field(
        min_length=1,
        max_length=MAX_QUERY_CHARS,
        description="What to look for: a whole question or a few words, in any language.",
    ),
]
K = Annotated[int, Field(ge=1, le=MAX_K, description="How many passages to return at the most.")]


def add_search_tool(
    server: MdvecServer, tool: Tool, database: Path, models: ModelPool, *, default_k: int
) -> None:
    """Offer one row as a tool under its own name and description."""
    name = tool.name

    async def search_collection(
        query: Query, k: K = default_k
    ) -> Annotated[CallToolResult, AnswerModel]:
        work = functools.partial(_answer, database, name, query, k, models)
        # The search may outlive a client that goes away; nobody waits for it then.
        answer = await anyio.to_thread.run_sync(work, abandon_on_cancel=True)
        return CallToolResult(
            content=[TextContent(type="text", text=as_text(answer))],
            structured_content=asdict(answer),
        )

    server.add_tool(
        search_collection,
        name=name,
        description=tool.description,
        annotations=ToolAnnotations(
            read_only_hint=True, idempotent_hint=True, open_world_hint=False
        ),
        structured_output=True,
    )


def _answer(database: Path, name: str, query: str, k: int, models: ModelPool) -> Answer:
    try:
        return search(database, name, query, k, models.embedder)
    except DatabaseError as error:
        # Its words name the file; they are for the user, not for the model.
        logger.warning("%s: %s", name, error)
        raise ToolError(
            "the database cannot be searched now; the user finds the reason in this server's log, "
            "or in a terminal with: mdvec status"
        ) from error
    except MdvecError as error:
        raise ToolError(str(error)) from error


def as_text(answer: Answer) -> str:
    """The answer for clients that show text only: compact, and readable by people."""
    if not answer.total_chunks:
        return (
            f"{answer.tool} has no documents yet; "
            f"the user can import them with: mdvec import -n {answer.tool}"
        )
    if not answer.results:
        return f"{answer.tool}: nothing found in {answer.total_chunks} passages"
    parts = [f"{len(answer.results)} of {answer.total_chunks} passages of {answer.tool}"]
    for number, hit in enumerate(answer.results, 1):
        heading = f" — {on_one_line(hit.heading)}" if hit.heading else ""
        parts.append(
            f"[{number}] {on_one_line(hit.file_path)}:{hit.start_line}-{hit.end_line}{heading} "
            f"(score {hit.score:.2f})\n{hit.content.strip()}"
        )
    return "\n\n".join(parts)
