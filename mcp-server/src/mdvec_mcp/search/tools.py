"""The search tools: one per collection, one across all collections, and get_document."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeVar
from urllib.parse import quote

from mdvec import documents, manage, search
from mdvec.database import KeptReader
from mdvec.dates import today
from mdvec.index import ChromaServer
from mdvec.manage import list_tools
from mdvec.search import (
    MAX_DAY_CHARS,
    MAX_K,
    MAX_PATH_CHARS,
    MAX_QUERIES,
    MAX_QUERY_CHARS,
    MAX_TAGS_ASKED,
    MAX_TEXTS,
    Returning,
    Sort,
)
from mdvec.settings import SearchSettings
from mdvec.tools import KINDS, Tool, ToolNotFound, described_tool
from pydantic import BeforeValidator, Field, WithJsonSchema

from mdvec_mcp.calls import READ_ONLY, ToolReply, in_thread, refuse_empty_database
from mdvec_mcp.freshness import (
    AnyContext,
    FreshnessWatch,
    SourceCheck,
    follow,
    freshness_in_english,
    has_enough,
)
from mdvec_mcp.offer import ALWAYS_LOADED, Offer
from mdvec_mcp.search.model_pool import ModelPool

if TYPE_CHECKING:
    from mdvec.search import Answer, Listing, Question
    from mdvec.sync import Freshness

LinkKind = Literal["path", "obsidian"]


def links_of(database: Path, answer: Answer, kind: LinkKind | None) -> list[str]:
    """A link for each hit; none if ``kind`` is None."""
    if kind is None:
        return []
    sources = {tool.name: tool.source for tool in list_tools(database, active_only=False)}
    return [
        link_to(sources[hit.tool] / hit.file_path, kind) if hit.tool in sources else ""
        for hit in answer.results
    ]


def link_to(file: Path, kind: LinkKind) -> str:
    """The absolute path, or the ``obsidian://`` URI that opens the note in its vault."""
    return str(file) if kind == "path" else f"obsidian://open?path={quote(str(file), safe='')}"


T = TypeVar("T")

_COLLECTION = "Search this collection of the user's notes or documents (several: search)."
_RECORDS = (
    "Search the transactions of this one household ledger by words, such as a shop or a memo "
    "(for sums, days and amounts: {sums})."
)
_USUAL_RESULT_CHARS = 50_000
"""The longest answer that Claude Code passes on whole, unless the tool announces longer ones."""
_MAX_NOTES = 3_000
"""The most characters that notes and heads without passages add to max_chars."""

_TEXT = WithJsonSchema({"type": "string"})
"""A schema without bounds, to keep ``tools/list`` short; errors state the bounds."""
_TEXTS = WithJsonSchema({"type": "array", "items": {"type": "string"}})
Query = Annotated[
    str, Field(min_length=1, max_length=MAX_QUERY_CHARS, description="A question or words."), _TEXT
]
OptionalQuery = Annotated[
    str, Field(max_length=MAX_QUERY_CHARS), BeforeValidator(lambda given: given or ""), _TEXT
]
"""Text or null, declared as text: for other types the SDK would parse JSON in the text."""
Choice = Annotated[bool | None, Field()]
Where = Annotated[
    dict[str, object] | None,
    Field(description="Front matter; null: any value."),
    WithJsonSchema({"type": "object"}),
]
PathText = Annotated[str | None, Field(max_length=MAX_PATH_CHARS), _TEXT]
Page = Annotated[int | None, Field(ge=1), WithJsonSchema({"type": "integer"})]
K = Annotated[int, Field(ge=1, le=MAX_K), WithJsonSchema({"type": "integer"})]
Return = Annotated[Returning, Field(validation_alias="return")]
Queries = Annotated[list[str] | None, Field(max_length=MAX_QUERIES), _TEXTS]
Exact = Annotated[list[str] | None, Field(max_length=MAX_TEXTS), _TEXTS]
PathLike = Annotated[
    str | None, Field(max_length=MAX_PATH_CHARS, description="As .gitignore: a/b/, *.md"), _TEXT
]
Tags = Annotated[list[str] | None, Field(max_length=MAX_TAGS_ASKED), _TEXTS]
Since = Annotated[
    str | None, Field(max_length=MAX_DAY_CHARS, description="2025-06-01, 2025年6月, 先週"), _TEXT
]
Until = Annotated[str | None, Field(max_length=MAX_DAY_CHARS), _TEXT]
_NUMBER = WithJsonSchema({"type": "integer"})
Line = Annotated[int | None, Field(ge=1), _NUMBER]
Position = Annotated[int | None, Field(ge=0), _NUMBER]
FirstPosition = Annotated[int | None, Field(ge=0, description="Character, from 0."), _NUMBER]


_UNANSWERED_SECONDS = 2
"""How long a check is valid if no hit seems to answer the question."""


def _freshness(state: Freshness, is_importing: bool) -> str:  # noqa: FBT001 - a Wording
    """A search's note on a source; the answer itself reports the progress of a first import."""
    is_first = is_importing and not state.is_imported
    return "" if is_first else freshness_in_english(state, is_importing)


@dataclass(frozen=True, slots=True)
class SearchContext:
    """The context that the search tools share."""

    database: Path
    models: ModelPool
    settings: SearchSettings
    freshness: FreshnessWatch
    engine: ChromaServer | None = None
    kept: KeptReader | None = None

    def search(self, question: Question) -> Answer:
        """Search the named tools, or all active tools, with the configured mode and max_chars."""
        tools = self.freshness.served_names(question.tools)
        check = self.check(tools)
        mode, max_chars = self.settings.mode, self.settings.max_chars
        question = replace(question, tools=tools, mode=mode, max_chars=max_chars)
        answer = search.search(
            self.database, question, self.models.embedder, self.engine, self.models.reranker,
            manage.RECORDS, self.kept, self.freshness.imports.has_begun,
        )  # fmt: skip
        shown: dict[str, list[str]] = {}
        for hit in answer.results:
            shown.setdefault(hit.tool, []).append(hit.file_path)
        older = self.freshness.about_shown(shown, self.kept)
        if older:
            check = self.check(tools, 0)
        elif not answer.confident:  # the answer may have just been written
            check = self.check(tools, _UNANSWERED_SECONDS)
        return replace(answer, notes=(*answer.notes, *older, *check.notes(_freshness)))

    def list_documents(self, stated: Question, page: int) -> Listing:
        """A page of the documents that pass the filters."""
        tools = self.freshness.served_names(stated.tools)
        check = self.check(tools)
        listing = search.list_documents(self.database, tools, stated.filters, page, stated.sort)
        return replace(listing, notes=(*listing.notes, *check.notes(freshness_in_english)))

    def search_as_typed(self, question: Question) -> Answer:
        """Search for a query that a model wrote; its operators work unless it looks like code.

        Quotes are ignored if no text contains the quoted words.
        """
        typed = search.typed_query(question.query)
        is_code = search.looks_like_code(question.query)
        if is_code or typed == search.TypedQuery(question.query):
            answer = self.search(question)
            unread = search.signs_read_as_text(question.query, is_code=is_code)
            return replace(answer, notes=(*unread, *answer.notes))
        stated = question.with_typed(typed)
        answer = self.search(stated)
        if answer.results or not typed.exact:
            return answer
        unquoted = replace(stated.filters, exact=question.filters.exact)
        again = self.search(replace(stated, filters=unquoted))
        written = ", ".join(f'"{words}"' for words in typed.exact)
        note = f"no passage says {written} as it is written, so the quotes forced nothing"
        return replace(again, notes=(note, *again.notes))

    def check(self, tools: tuple[str, ...] | None, seconds: int | None = None) -> SourceCheck:
        """Start a check of the sources of the named tools, or of all tools that are searched.

        An earlier check is valid for ``seconds``, or for the configured time.
        """
        if tools is None:
            scope, concerns = "texts", lambda tool: KINDS[tool.kind].has_texts
        else:
            scope, concerns = f"tools {' '.join(tools)}", lambda tool: tool.name in tools
        return self.freshness.check(scope, concerns, seconds)

    async def first_documents(self, tools: tuple[str, ...] | None, ctx: AnyContext) -> None:
        """Wait some seconds for the first import of one of the tools, if one runs."""
        if self.freshness.waits_for_first_checks:
            await in_thread(self.freshness.wait_for_first_checks)
        run = self.freshness.first_import(tools)
        if run is not None:
            await follow([run], ctx, has_enough)

    def reply(self, answer: Answer, link: LinkKind | None, *, wide: bool) -> ToolReply:
        """The answer as text of at most the configured max_chars, and as data."""
        from mdvec_mcp.search.answers import as_text, structured  # loaded after the start

        links = links_of(self.database, answer, link)
        text = as_text(answer, self.settings.max_chars, links, wide=wide)
        return ToolReply(text, partial(structured, answer, links, wide=wide))

    @property
    def meta(self) -> dict[str, object]:
        """The ``_meta`` of a tool whose answers have up to the configured max_chars."""
        longest = max(self.settings.max_chars + _MAX_NOTES, _USUAL_RESULT_CHARS)
        return {"anthropic/maxResultSizeChars": longest}

    async def run(self, work: Callable[[], T]) -> T:
        """Run ``work`` in a thread; reports an empty database as such, not as a missing tool."""

        def checked() -> T:
            try:
                return work()
            except ToolNotFound:
                refuse_empty_database(self.database)
                raise

        return await in_thread(checked)


def add_search_tool(offer: Offer, tool: Tool, context: SearchContext, sums: str) -> None:
    """Add a collection's search tool; that of a household mentions ``sums``, which adds up."""

    async def search_collection(
        ctx: AnyContext,
        query: Query,
        queries: Queries = None,
        exact: Exact = None,
        exclude: Exact = None,
        k: K = context.settings.k,
        return_: Return = "chunk",
        path: PathLike = None,
        tags: Tags = None,
        since: Since = None,
        until: Until = None,
        sort: Sort = "relevance",
        link: LinkKind | None = None,
    ) -> ToolReply:
        def stated() -> Question:
            filters = search.filters_of(
                today(), path=path, tags=tags, since=since, until=until, exact=exact,
                exclude=exclude,
            )  # fmt: skip
            return search.Question(
                query, (tool.name,), k, returning=return_, filters=filters, sort=sort,
                queries=tuple(queries or ()),
            )  # fmt: skip

        return await _search_one(context, ctx, tool.name, stated, link)

    async def search_household(
        ctx: AnyContext, query: Query, k: K = context.settings.k
    ) -> ToolReply:
        stated = partial(search.Question, query, (tool.name,), k)
        return await _search_one(context, ctx, tool.name, stated)

    has_records = KINDS[tool.kind].is_made_of_records
    what = _RECORDS.format(sums=sums) if has_records else _COLLECTION
    offer.tool(
        name=tool.name,
        title=tool.title,
        description=f"{what} {described_tool(tool)}",
        annotations=READ_ONLY,
        meta=context.meta if context.settings.max_chars > _USUAL_RESULT_CHARS else None,
        is_row=True,
    )(search_household if has_records else search_collection)


async def _search_one(
    context: SearchContext,
    ctx: AnyContext,
    tool: str,
    stated: Callable[[], Question],
    link: LinkKind | None = None,
) -> ToolReply:
    await context.first_documents((tool,), ctx)
    return await context.run(
        lambda: context.reply(context.search_as_typed(stated()), link, wide=False)
    )


def add_search_across(offer: Offer, context: SearchContext) -> None:
    """Add the tool that searches several collections, by default all active ones."""

    @offer.tool(
        name="search",
        description="Search the user's notes, documents and households, or those in tools: find "
        "passages by meaning and words; without query list what passes the filters. "
        "メモや文書の検索、一覧、探す。",
        annotations=READ_ONLY,
        meta=ALWAYS_LOADED | context.meta,
    )
    async def search_across(
        ctx: AnyContext,
        query: OptionalQuery = "",
        tools: Annotated[list[str] | None, Field(min_length=1), _TEXTS] = None,
        queries: Queries = None,
        exact: Exact = None,
        exclude: Exact = None,
        k: K = context.settings.k,
        return_: Return = "chunk",
        path: PathLike = None,
        tags: Tags = None,
        since: Since = None,
        until: Until = None,
        sort: Sort = "relevance",
        link: LinkKind | None = None,
        where: Where = None,
        links_to: PathText = None,
        related_to: PathText = None,
        tasks: Choice = None,
        page: Page = None,
    ) -> ToolReply:
        names = None if tools is None else tuple(tools)

        def work() -> ToolReply:
            filters = search.filters_of(
                today(), path=path, tags=tags, since=since, until=until, exact=exact,
                exclude=exclude, links_to=links_to, where=where, open_tasks=tasks is True,
            )  # fmt: skip
            question = search.Question(
                query, names, k, returning=return_, filters=filters, sort=sort,
                queries=tuple(queries or ()), related_to=related_to,
            )  # fmt: skip
            return _found_or_listed(context, question, page or 1, link)

        await context.first_documents(names, ctx)
        return await context.run(work)


def _found_or_listed(
    context: SearchContext, question: Question, page: int, link: LinkKind | None
) -> ToolReply:
    """The hits or, without any query, the documents that pass the filters."""
    typed = search.typed_query(question.query)
    if question.related_to is None and not typed.words:
        question = question.with_typed(typed)
        if not question.queries:
            from mdvec_mcp.search.answers import listing_text  # loaded after the start

            listing = context.list_documents(question, page)
            text = listing_text(listing, context.settings.max_chars)
            return ToolReply(text, partial(asdict, listing))
        question = question.with_next_query()
    answer = context.search_as_typed(question)
    if page > 1:
        answer = replace(answer, notes=(search.NO_PAGES, *answer.notes))
    if not answer.tools:
        refuse_empty_database(context.database)
    return context.reply(answer, link, wide=True)


def add_get_document(offer: Offer, context: SearchContext) -> None:
    """Add the tool that reads a document, or a part of it."""

    @offer.tool(
        description="Read a document, file or note, whole or lines or characters of it, such as "
        "around a search result. 文書の続きや全文を読む。",
        annotations=READ_ONLY,
        meta=ALWAYS_LOADED | context.meta,
    )
    async def get_document(
        tool: Annotated[str, Field(max_length=100), _TEXT],
        file_path: Annotated[str, Field(max_length=4_096, description="As in a result."), _TEXT],
        start_line: Line = None,
        end_line: Line = None,
        start_position: FirstPosition = None,
        end_position: Position = None,
        line_numbers: Choice = None,
    ) -> ToolReply:
        def work() -> ToolReply:
            from mdvec_mcp.search.answers import document_text  # loaded after the start

            part = documents.DocumentPart(start_line, end_line, start_position, end_position)
            max_chars = context.settings.max_chars
            context.freshness.served_names((tool,))
            check = context.check((tool,))
            document = documents.read_document(context.database, tool, file_path, part, max_chars)
            older = context.freshness.about_shown({tool: [document.file_path]}, context.kept)
            check = context.check((tool,), 0) if older else check
            notes = [*older, *check.notes(freshness_in_english)]
            return ToolReply(
                document_text(document, notes, numbered=line_numbers is True),
                lambda: {**asdict(document), "notes": notes},
            )

        return await context.run(work)
