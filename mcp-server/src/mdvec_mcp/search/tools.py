"""The search tools: one per collection, one across all collections, and get_document."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

from mcp_types import CallToolResult
from mdvec.index.chroma_server import ChromaServer
from mdvec.search.core.bounds import (
    MAX_DAY_CHARS,
    MAX_K,
    MAX_PATH_CHARS,
    MAX_QUERY_CHARS,
    MAX_TAGS_ASKED,
    Returning,
    Sort,
)
from mdvec.settings import SearchSettings
from mdvec.tools.kinds import KINDS
from mdvec.tools.rows import Tool, ToolNotFound
from mdvec.tools.unfinished import described_tool, while_it_runs
from pydantic import Field, WithJsonSchema

from mdvec_mcp.calls import READ_ONLY, in_thread, refuse_empty_database, text_result
from mdvec_mcp.following import AnyContext, follow, has_enough
from mdvec_mcp.freshness import FreshnessWatch, Look, freshness_in_english
from mdvec_mcp.search.links import LinkKind, links_of
from mdvec_mcp.search.model_pool import ModelPool
from mdvec_mcp.search.schema import AnswerModel, DocumentModel, WideAnswerModel

if TYPE_CHECKING:
    from mdvec.search.search import Answer

    from mdvec_mcp.offer import Offer

T = TypeVar("T")

INSTRUCTIONS = (
    "Each of these tools searches one collection of the user's own documents: {names}. "
    "The tool search searches all of them at once, including collections added later. "
    "Write whole questions in the language of the documents; Japanese needs no spaces. "
    "Each result names its file and lines and quotes the text verbatim; get_document returns "
    "the text around it."
)

Query = Annotated[
    str,
    Field(
        min_length=1,
        max_length=MAX_QUERY_CHARS,
        description="A whole question or a few words, in any language.",
    ),
]
K = Annotated[int, Field(ge=1, le=MAX_K, description="Maximum number of passages.")]
Return = Annotated[
    Returning,
    Field(
        validation_alias="return",
        description="Return the matching passage (chunk), its section or its document.",
    ),
]
_TEXT = WithJsonSchema({"type": "string"})
"""A schema without bounds, which only cost characters in ``tools/list``; errors state them."""
PathLike = Annotated[
    str | None, Field(max_length=MAX_PATH_CHARS, description="As .gitignore: a/b/, *.md"), _TEXT
]
Tags = Annotated[
    list[str] | None,
    Field(max_length=MAX_TAGS_ASKED),
    WithJsonSchema({"type": "array", "items": {"type": "string"}}),
]
Since = Annotated[
    str | None, Field(max_length=MAX_DAY_CHARS, description="2025-06-01, 2025年6月, 先週"), _TEXT
]
Until = Annotated[str | None, Field(max_length=MAX_DAY_CHARS), _TEXT]
Link = Annotated[LinkKind | None, Field(description="Adds absolute paths or Obsidian links.")]
Line = Annotated[int | None, Field(ge=1, description="From 1.")]
Position = Annotated[int | None, Field(ge=0, description="Character, from 0.")]


@dataclass(frozen=True, slots=True)
class FilterArguments:
    """A call's arguments that filter and sort the hits, not yet parsed."""

    path: str | None = None
    tags: list[str] | None = None
    since: str | None = None
    until: str | None = None
    sort: Sort = "relevance"


NO_FILTER_ARGUMENTS = FilterArguments()


@dataclass(frozen=True, slots=True)
class SearchContext:
    """What the search tools share."""

    database: Path
    models: ModelPool
    settings: SearchSettings
    freshness: FreshnessWatch
    engine: ChromaServer | None = None

    def search(
        self,
        query: str,
        tools: tuple[str, ...] | None,
        k: int,
        returning: Returning,
        arguments: FilterArguments = NO_FILTER_ARGUMENTS,
    ) -> Answer:
        """Search the named tools, or all active ones, with the settings' mode and max_chars."""
        from mdvec.manage.searching import answer_question
        from mdvec.search.core.filters import filters_of
        from mdvec.search.search import Question

        today = datetime.now().astimezone().date()
        filters = filters_of(
            today, path=arguments.path, tags=arguments.tags, since=arguments.since,
            until=arguments.until,
        )  # fmt: skip
        question = Question(
            query, tools, k, self.settings.mode, returning, self.settings.max_chars, filters,
            arguments.sort,
        )  # fmt: skip
        look = self.look(tools)
        answer = answer_question(
            self.database, question, self.models.embedder, self.engine, self.models.reranker
        )
        notes = [self._as_it_runs(note) for note in answer.notes]
        return replace(answer, notes=(*notes, *look.notes(freshness_in_english)))

    def _as_it_runs(self, note: str) -> str:
        """A note on an unfinished import, which may be running in this server."""
        for tool in self.freshness.imports.running_tools():
            note = while_it_runs(note, tool)
        return note

    def look(self, tools: tuple[str, ...] | None) -> Look:
        """Begin a look at the sources of the named tools, or of all that are searched."""
        if tools is None:
            return self.freshness.look("texts", lambda tool: KINDS[tool.kind].has_texts)
        return self.freshness.look(f"tools {' '.join(tools)}", lambda tool: tool.name in tools)

    async def first_documents(self, tools: tuple[str, ...] | None, ctx: AnyContext) -> None:
        """Wait some seconds for the first import of one of the tools, if one runs."""
        if self.freshness.is_auto or self.freshness.always_auto is not None:
            await in_thread(self.freshness.wait_for_first_looks)
        run = self.freshness.first_import(tools)
        if run is not None:
            await follow([run], ctx, has_enough)

    def result(self, answer: Answer, link: LinkKind | None, *, wide: bool) -> CallToolResult:
        """The answer as text of at most the settings' max_chars, and as structured content."""
        from mdvec_mcp.search.answers import as_text, structured

        links = links_of(self.database, answer, link)
        text = as_text(answer, self.settings.max_chars, links, wide=wide)
        return text_result(text, structured(answer, links, wide=wide))

    async def run(self, work: Callable[[], T]) -> T:
        """Run ``work`` in a thread; if a tool is missing, say so if the whole database is empty."""

        def checked() -> T:
            try:
                return work()
            except ToolNotFound:
                refuse_empty_database(self.database)
                raise

        return await in_thread(checked)


def add_search_tool(offer: Offer, tool: Tool, context: SearchContext, tags: Sequence[str]) -> None:
    """Add the tool of one collection, with its name, its description and its frequent ``tags``."""

    async def search_collection(
        ctx: AnyContext,
        query: Query,
        k: K = context.settings.k,
        return_: Return = "chunk",
        path: PathLike = None,
        tags: Tags = None,
        since: Since = None,
        until: Until = None,
        sort: Sort = "relevance",
        link: Link = None,
    ) -> Annotated[CallToolResult, AnswerModel]:
        arguments = FilterArguments(path, tags, since, until, sort)
        return await _search_one(context, ctx, tool.name, query, k, return_, arguments, link)

    async def search_household(
        ctx: AnyContext, query: Query, k: K = context.settings.k
    ) -> Annotated[CallToolResult, AnswerModel]:
        return await _search_one(context, ctx, tool.name, query, k, "chunk")

    offer.add_row_tool(
        search_household if KINDS[tool.kind].is_made_of_records else search_collection,
        name=tool.name,
        title=tool.title,
        description=_with_tags(described_tool(tool), tags),
        annotations=READ_ONLY,
        structured_output=True,
    )


def _with_tags(description: str, tags: Sequence[str]) -> str:
    """A description with the tags that most documents have."""
    return f"{description}\n\nIts most frequent tags: {', '.join(tags)}." if tags else description


async def _search_one(
    context: SearchContext,
    ctx: AnyContext,
    name: str,
    query: str,
    k: int,
    returning: Returning,
    arguments: FilterArguments = NO_FILTER_ARGUMENTS,
    link: LinkKind | None = None,
) -> CallToolResult:
    def work() -> CallToolResult:
        answer = context.search(query, (name,), k, returning, arguments)
        return context.result(answer, link, wide=False)

    await context.first_documents((name,), ctx)
    return await context.run(work)


def add_search_across(offer: Offer, context: SearchContext) -> None:
    """Add the tool that searches several collections, by default all active ones."""

    async def search_across(
        ctx: AnyContext,
        query: Query,
        tools: Annotated[
            list[str] | None,
            Field(min_length=1, description="Names of collections; default all."),
        ] = None,
        k: K = context.settings.k,
        return_: Return = "chunk",
        path: PathLike = None,
        tags: Tags = None,
        since: Since = None,
        until: Until = None,
        sort: Sort = "relevance",
        link: Link = None,
    ) -> Annotated[CallToolResult, WideAnswerModel]:
        names = None if tools is None else tuple(tools)
        arguments = FilterArguments(path, tags, since, until, sort)

        def work() -> CallToolResult:
            answer = context.search(query, names, k, return_, arguments)
            if not answer.tools:
                refuse_empty_database(context.database)
            return context.result(answer, link, wide=True)

        await context.first_documents(names, ctx)
        return await context.run(work)

    offer.add_tool(
        search_across,
        name="search",
        description="Search all of the user's active collections, or those in tools, at once.",
        annotations=READ_ONLY,
        structured_output=True,
    )


def add_get_document(offer: Offer, context: SearchContext) -> None:
    """Add the tool that reads a document, or a part of it."""

    async def get_document(
        tool: Annotated[str, Field(max_length=100, description="The collection, as in a result.")],
        file_path: Annotated[str, Field(max_length=4_096, description="As in a result.")],
        start_line: Line = None,
        end_line: Line = None,
        start_position: Position = None,
        end_position: Position = None,
    ) -> Annotated[CallToolResult, DocumentModel]:
        def work() -> CallToolResult:
            from mdvec.documents.reading import DocumentPart, read_document

            from mdvec_mcp.search.answers import document_text

            part = DocumentPart(start_line, end_line, start_position, end_position)
            max_chars = context.settings.max_chars
            look = context.look((tool,))
            document = read_document(context.database, tool, file_path, part, max_chars)
            notes = look.notes(freshness_in_english)  # not in the listed schema, to keep that short
            return text_result(document_text(document, notes), {**asdict(document), "notes": notes})

        return await context.run(work)

    offer.add_tool(
        get_document,
        name="get_document",
        description="Read a document, or a range of its lines or characters, for example the text "
        "around a search result.",
        annotations=READ_ONLY,
        structured_output=True,
    )
