"""The search tools: one per row, one across all of them, and one to read on in a document."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import anyio.to_thread
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult, TextContent, ToolAnnotations
from mdvec.database.connection import DatabaseError
from mdvec.documents.reading import DocumentText, Part, read_document
from mdvec.errors import MdvecError
from mdvec.search.core.passages import Returning
from mdvec.search.search import MAX_K, MAX_QUERY_CHARS, Answer, Question, search
from mdvec.settings import SearchSettings
from mdvec.tools.rows import Tool, ToolNotFound
from mdvec.tools.unfinished import described
from pydantic import Field

from mdvec_mcp.database_trouble import emptied_in_english, in_english, is_emptied
from mdvec_mcp.search.model_pool import ModelPool
from mdvec_mcp.search.schema import (
    AnswerModel,
    DocumentModel,
    WideAnswerModel,
    as_text,
    document_text,
    structured,
)

if TYPE_CHECKING:
    from mdvec_mcp.server import MdvecServer

logger = logging.getLogger("mdvec")
T = TypeVar("T")
_READS = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)

Query = Annotated[
    str,
    Field(
        min_length=1,
        max_length=MAX_QUERY_CHARS,
        description="What to look for: a whole question or a few words, in any language.",
    ),
]
K = Annotated[int, Field(ge=1, le=MAX_K, description="How many passages to return at the most.")]
Return = Annotated[
    Returning,
    Field(
        validation_alias="return",
        description="What to return of each find: the passage itself (chunk), the section it "
        "stands in, or its document.",
    ),
]
Line = Annotated[int | None, Field(ge=1, description="A line, from 1.")]
Position = Annotated[int | None, Field(ge=0, description="A character's position, from 0.")]


@dataclass(frozen=True, slots=True)
class Searching:
    """What the search tools work with."""

    database: Path
    models: ModelPool
    settings: SearchSettings

    def ask(
        self, query: str, tools: tuple[str, ...] | None, k: int, returning: Returning
    ) -> Answer:
        """Search, with the mode and the budget of the settings."""
        question = Question(query, tools, k, self.settings.mode, returning, self.settings.max_chars)
        return search(self.database, question, self.models.embedder)


def add_search_tool(server: MdvecServer, tool: Tool, searching: Searching) -> None:
    """Offer one row as a tool under its own name and description."""

    async def search_collection(
        query: Query, k: K = searching.settings.k, return_: Return = "chunk"
    ) -> Annotated[CallToolResult, AnswerModel]:
        return await _one_tool(searching, tool.name, query, k, return_)

    async def search_household(
        query: Query, k: K = searching.settings.k
    ) -> Annotated[CallToolResult, AnswerModel]:
        return await _one_tool(searching, tool.name, query, k, "chunk")

    server.add_tool(
        search_household if tool.kind == "household" else search_collection,
        name=tool.name,
        description=described(tool),
        annotations=_READS,
        structured_output=True,
    )


async def _one_tool(
    searching: Searching, name: str, query: str, k: int, returning: Returning
) -> CallToolResult:
    answer = await _in_thread(
        searching.database, functools.partial(searching.ask, query, (name,), k, returning)
    )
    return CallToolResult(
        content=[TextContent(type="text", text=as_text(answer, wide=False))],
        structured_content=structured(answer, wide=False),
    )


def add_search_across(server: MdvecServer, searching: Searching) -> None:
    """Offer the tool that searches every active collection, those of this moment."""

    async def search_across(
        query: Query,
        tools: Annotated[
            list[str] | None,
            Field(min_length=1, description="The names of the tools to search; all without it."),
        ] = None,
        k: K = searching.settings.k,
        return_: Return = "chunk",
    ) -> Annotated[CallToolResult, WideAnswerModel]:
        names = None if tools is None else tuple(tools)
        answer = await _in_thread(
            searching.database, functools.partial(_everywhere, searching, query, names, k, return_)
        )
        return CallToolResult(
            content=[TextContent(type="text", text=as_text(answer, wide=True))],
            structured_content=structured(answer, wide=True),
        )

    server.add_tool(
        search_across,
        name="search",
        description="Search all of the user's active collections at once, or those that are named; "
        "every find tells which collection it is from.",
        annotations=_READS,
        structured_output=True,
    )


def add_get_document(server: MdvecServer, searching: Searching) -> None:
    """Offer the tool that reads on in a document that a search found."""

    async def get_document(
        tool: Annotated[
            str, Field(max_length=100, description="The collection's tool, as a find names it.")
        ],
        file_path: Annotated[
            str, Field(max_length=4_096, description="The document, as a find names it.")
        ],
        start_line: Line = None,
        end_line: Line = None,
        start_position: Position = None,
        end_position: Position = None,
    ) -> Annotated[CallToolResult, DocumentModel]:
        part = Part(start_line, end_line, start_position, end_position)
        document: DocumentText = await _in_thread(
            searching.database,
            functools.partial(
                read_document,
                searching.database, tool, file_path, part, searching.settings.max_chars,
            )
        )  # fmt: skip
        return CallToolResult(
            content=[TextContent(type="text", text=document_text(document))],
            structured_content={
                name: getattr(document, name) for name in DocumentModel.model_fields
            },
        )

    server.add_tool(
        get_document,
        name="get_document",
        description="Read a document of a collection, or a part of it by lines or positions: to "
        "go on where a passage ends, or to see what stands around it.",
        annotations=_READS,
        structured_output=True,
    )


def _everywhere(
    searching: Searching,
    query: str,
    names: tuple[str, ...] | None,
    k: int,
    returning: Returning,
) -> Answer:
    answer = searching.ask(query, names, k, returning)
    if not answer.tools and is_emptied(searching.database):
        raise ToolError(emptied_in_english(searching.database))
    return answer


async def _in_thread(database: Path, work: Callable[[], T]) -> T:
    """Run a piece of work beside the event loop; what it refuses is for the model to read."""
    try:
        # The work may outlive a client that goes away; nobody waits for it then.
        return await anyio.to_thread.run_sync(work, abandon_on_cancel=True)
    except DatabaseError as error:
        logger.warning("%s", error)
        raise ToolError(in_english(error)) from error
    except ToolNotFound as error:
        if is_emptied(database):
            raise ToolError(emptied_in_english(database)) from error
        raise ToolError(str(error)) from error
    except MdvecError as error:
        raise ToolError(str(error)) from error
