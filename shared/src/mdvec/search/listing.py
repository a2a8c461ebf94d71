"""Lists the documents that pass filters, in pages, without any question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mdvec import index
from mdvec.database import open_database, snapshot
from mdvec.index import documents
from mdvec.search.answer import SearchRefused, requested_tools
from mdvec.search.core.filters import MAX_K, Filters, Sort
from mdvec.search.filtering import (
    Said,
    about_excluded,
    about_outside,
    explain_empty,
    only_outside_passages,
    passing_documents,
    without_rows,
)
from mdvec.text import Properties, counted, identifier, without_head
from mdvec.tools import KINDS, Tool

PER_PAGE = 50
NO_PAGES = f"a question has no pages, only a listing has; a larger k, up to {MAX_K}, shows more"
"""The note for a request of another page of a question's hits."""
_MAX_QUESTION = 60


@dataclass(frozen=True, slots=True)
class ListedDocument:
    """A document in a listing; ``tasks`` are its open tasks with their lines, if requested.

    ``entries`` are its values of front matter for each key that may have any or several.
    """

    tool: str
    file_path: str
    title: str
    date: str | None
    tags: tuple[str, ...]
    tasks: tuple[tuple[int, str], ...] = ()
    entries: tuple[tuple[str, tuple[str, ...]], ...] = ()


@dataclass(frozen=True, slots=True)
class Listing:
    """A page of the documents that pass the filters, out of ``total``."""

    tools: tuple[str, ...]
    documents: tuple[ListedDocument, ...]
    total: int
    page: int
    pages: int
    notes: tuple[str, ...] = ()

    @property
    def first_sentence(self) -> str:
        """How many documents pass, which page this is, and how many open tasks it has."""
        pages = f", page {self.page} of {self.pages}" if self.pages > 1 else ""
        tasks = sum(len(document.tasks) for document in self.documents)
        has = ", here with " if pages else ", with "
        open_tasks = f"{has}{counted(tasks, 'open task')}" if tasks else ""
        return f"{counted(self.total, 'document')} of {', '.join(self.tools)}{pages}{open_tasks}"


class NoListingPage(SearchRefused):
    """The listing has only ``pages`` pages."""

    def __init__(self, page: int, pages: int) -> None:
        super().__init__(f"there is no page {page}; the last is {pages}")
        self.pages = pages


def list_documents(
    database: Path,
    tools: Sequence[str] | None,
    filters: Filters,
    page: int = 1,
    sort: Sort = "relevance",
) -> Listing:
    """A page of the documents of some or all tools that pass the filters.

    They are sorted by path, or by date if ``sort`` is ``newest``, with undated documents last.

    Raises:
        SearchRefused: a tool has no texts or is disabled.
        NoListingPage: there is no such page.
    """
    with open_database(database, "read") as connection, snapshot(connection):
        named = requested_tools(connection, tools)
        requested = [tool for tool in named if not KINDS[tool.kind].is_made_of_records]
        notes = [without_rows(tool) for tool in named if tools and tool not in requested]
        excluded: list[tuple[Tool, dict[str, int]]] = []
        passing: list[tuple[Tool, Sequence[int], Said]] = []
        listed: list[tuple[Tool, str, Properties]] = []
        for tool in requested:
            if tool.model is None:
                continue
            said: Said = {}
            ids, why, of_tool = passing_documents(connection, tool, filters, said)
            passing.append((tool, ids, said))
            notes += why
            excluded.append((tool, of_tool))
            properties = index.stored_properties(tool.tables_in(connection), ids)
            listed += [
                (tool, path, properties.get(number, index.NOT_DERIVED))
                for number, path in documents.paths(tool.tables_in(connection), ids)
            ]
        notes += about_excluded("document", excluded)
        listed.sort(key=lambda document: (document[0].name, document[1]))
        if sort == "newest":
            listed.sort(key=lambda document: document[2].day or "", reverse=True)
        pages = max(1, -(-len(listed) // PER_PAGE))
        if not 1 <= page <= pages:
            raise NoListingPage(page, pages)
        if listed and page == 1:
            notes += about_outside(
                [
                    only_outside_passages(connection, tool, filters, ids, said)
                    for tool, ids, said in passing
                ]
            )
        if not listed and not filters.is_empty and requested:
            notes.append(explain_empty(connection, requested, filters))
        keys = [key for key, values in filters.where if len(values) != 1]
        first = (page - 1) * PER_PAGE
        shown = []
        for tool, path, of_document in listed[first : first + PER_PAGE]:
            stored = documents.stored_text(tool.tables_in(connection), path)
            title, content = (stored.title, stored.content) if stored is not None else ("", "")
            tasks = tuple(index.open_tasks(content, path)) if filters.open_tasks else ()
            shown.append(
                ListedDocument(
                    tool.name, path, title, of_document.day, of_document.tags, tasks,
                    tuple((key, index.values_of(of_document, key)) for key in keys),
                )
            )  # fmt: skip
    names = tuple(tool.name for tool in requested or named)
    return Listing(names, tuple(shown), len(listed), page, pages, tuple(notes))


def example_questions(database: Path, listing: Listing, count: int = 3) -> list[str]:
    """Example questions: a heading, with those above it, of the first documents with any."""
    questions: list[str] = []
    with open_database(database, "read") as connection, snapshot(connection):
        tools = {tool.name: tool for tool in requested_tools(connection, listing.tools or None)}
        for document in listing.documents:
            tables = tools[document.tool].tables_in(connection)
            row = tables.execute(
                f"SELECT heading FROM {identifier(tables.vectors)} WHERE heading LIKE '% > %' "
                f"AND document_id = (SELECT id FROM {identifier(tables.documents)} "
                "WHERE file_path = ?) ORDER BY start_position LIMIT 1",
                (document.file_path,),
            ).fetchone()
            question = " ".join(without_head(str(row[0])).split(" > ")[-2:]) if row else ""
            if question and question not in questions and len(question) <= _MAX_QUESTION:
                questions.append(question)
            if len(questions) == count:
                break
    return questions
