"""A search as a user or a model states it: in words, with filters that are not parsed yet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from mdvec.dates import today
from mdvec.search.answer import Question
from mdvec.search.core.filters import Filters, Returning, Sort, filters_of
from mdvec.search.core.fusion import SearchMode
from mdvec.search.core.typed import TypedQuery
from mdvec.search.listing import query_like
from mdvec.text import is_blank


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """What to search for, and where; ``tools`` is None for all of them.

    ``queries`` say the same as ``query`` in other words. ``related_to`` and ``links_to`` name a
    document by its path, name or alias.
    """

    query: str
    tools: tuple[str, ...] | None
    k: int
    returning: Returning = "chunk"
    path: str | None = None
    tags: Sequence[str] = ()
    since: str | None = None
    until: str | None = None
    sort: Sort = "relevance"
    exact: Sequence[str] = ()
    exclude: Sequence[str] = ()
    queries: Sequence[str] = ()
    links_to: str | None = None
    where: Mapping[str, object] | None = None
    tasks: bool = False
    related_to: str | None = None

    def filters(self) -> Filters:
        """The parsed filters; relative days refer to today.

        Raises:
            InvalidFilter: one of them cannot be parsed.
        """
        return filters_of(
            today(), path=self.path, tags=self.tags, since=self.since, until=self.until,
            exact=self.exact, exclude=self.exclude, links_to=self.links_to, where=self.where,
            open_tasks=self.tasks,
        )  # fmt: skip

    def with_typed(self, typed: TypedQuery) -> SearchRequest:
        """The request with the signs in its query as filters; a query of signs alone stays."""
        return replace(
            self,
            query=typed.words or self.query,
            path=self.path or typed.path,
            tags=[*self.tags, *typed.tags],
            exact=[*self.exact, *typed.exact],
            exclude=[*self.exclude, *typed.exclude],
        )

    def with_next_query(self) -> SearchRequest:
        """The request with the first of ``queries`` as its query."""
        return replace(self, query=self.queries[0], queries=self.queries[1:])

    def question(self, database: Path, mode: SearchMode, max_chars: int) -> Question:
        """The question that `search` answers; without a query, that of a document to relate to.

        Raises:
            InvalidFilter, SearchRefused: a filter cannot be parsed, or there is no such document.
        """
        filters = self.filters()
        query, source, is_asked = self.query, None, not is_blank(self.query)
        if self.related_to is not None:
            source, like = query_like(database, self.tools, self.related_to)
            query = query if is_asked else like
        return Question(
            query=query,
            tools=self.tools,
            k=self.k,
            mode=mode,
            returning=self.returning,
            max_chars=max_chars,
            filters=filters,
            sort=self.sort,
            queries=tuple(self.queries),
            related_to=source,
            is_asked=is_asked,
        )
