"""Reads a stored document or a part of it, for example the text after a hit."""

from __future__ import annotations

import difflib
import re
from bisect import bisect_right
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from mdvec import index
from mdvec.database import open_database, snapshot
from mdvec.errors import MdvecError
from mdvec.index import documents
from mdvec.search import SearchRefused, good_cut, requested_tools
from mdvec.text import (
    counted,
    line_starts,
    page_label,
    page_starts,
    page_unit,
    pages_between,
    quoted,
    shortened,
    with_page_lines,
)
from mdvec.tools import Tool, not_imported, registry, unfinished

_MAX_NAMES, _MAX_SHOWN = 5, 200
_ENDS_EARLY = "the part ends before it begins; name its start before its end"
_AS_A_HIT = re.compile(r"(?P<path>.+):(?P<first>[1-9][0-9]{0,8})-(?P<last>[1-9][0-9]{0,8})")
"""A document's path and lines, as a hit shows them."""


class ReadingRefused(MdvecError):
    """The document does not exist, or its requested part does not."""


@dataclass(frozen=True, slots=True)
class DocumentPart:
    """A part of a document: lines count from 1, positions from 0; None is its start or end.

    ``page`` counts from 1, in the file that it was converted from; it replaces the other fields.
    """

    start_line: int | None = None
    end_line: int | None = None
    start_position: int | None = None
    end_position: int | None = None
    page: int | None = None


@dataclass(frozen=True, slots=True)
class DocumentText:
    """A part of a document, exactly as it is stored.

    If ``truncated``, the limit cut it short and the rest begins at ``next_position``.
    ``links_to`` are the documents that it links to, with the headings or blocks
    ("note.md#heading"); ``linked_from`` are those that link to it; ``unresolved`` are links that
    lead to no document, ``ambiguous`` those of them that several fit. ``pages`` names the pages of
    the original file, beginning with ``first_page``; "" and 0 if it has none.
    """

    tool: str
    file_path: str
    title: str
    content: str
    start_position: int
    end_position: int
    start_line: int
    end_line: int
    total_chars: int
    total_lines: int
    truncated: bool
    next_position: int | None
    links_to: tuple[str, ...] = ()
    linked_from: tuple[str, ...] = ()
    unresolved: tuple[str, ...] = ()
    ambiguous: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    pages: str = ""
    first_page: int = 0

    @property
    def with_pages(self) -> str:
        """The part with a line such as "[page 13]" where a page begins."""
        return with_page_lines(self.content, self.file_path, self.first_page)

    @property
    def numbered(self) -> str:
        """The part, with the line number before each line."""
        text = self.with_pages
        edges = [*line_starts(text), len(text)]
        lines = [text[start:end] for start, end in pairwise(edges) if start < end]
        return "".join(f"{self.start_line + at}: {line}" for at, line in enumerate(lines))


def read_document(
    database: Path, tool_name: str, file_path: str, part: DocumentPart, max_chars: int
) -> DocumentText:
    """Read a document of an active tool from the database; files are never opened.

    Raises:
        ToolNotFound: there is no such tool.
        ReadingRefused: the tool is switched off, or has no such document or part of it.
    """
    with open_database(database, "read") as connection, snapshot(connection):
        try:
            (tool,) = requested_tools(connection, [tool_name])
        except SearchRefused as error:
            raise ReadingRefused(str(error)) from error
        tables = tool.tables_in(connection)
        stored = _stored(tables, file_path)
        if stored is None and part == DocumentPart() and (hit := _AS_A_HIT.fullmatch(file_path)):
            stored = _stored(tables, hit["path"])
            part = DocumentPart(int(hit["first"]), int(hit["last"]))
        if stored is None:
            raise ReadingRefused(_no_document(tool, tables, file_path))
        links = index.links_of(tables, [stored.id]).get(stored.id, index.DocumentLinks())
    lines = [start for start in line_starts(stored.content) if start < len(stored.content)] or [0]
    start, end = _page_range(stored, part.page) or _range(stored.content, lines, part)
    cut = end
    if end - start > max_chars:
        cut = good_cut(stored.content, start, start + max_chars)
    first_page, last_page = pages_between(stored.content, start, cut)
    pages = page_label(stored.file_path, first_page, last_page)
    return DocumentText(
        tool=tool_name,
        file_path=stored.file_path,
        title=stored.title,
        content=stored.content[start:cut],
        start_position=start,
        end_position=cut,
        start_line=bisect_right(lines, start),
        end_line=bisect_right(lines, max(cut - 1, start)),
        total_chars=len(stored.content),
        total_lines=len(lines),
        truncated=cut < end,
        next_position=cut if cut < end else None,
        links_to=tuple(
            f"{link.file_path}#{link.fragment}" if link.fragment else link.file_path
            for link in links.to
        ),
        linked_from=tuple(dict.fromkeys(link.file_path for link in links.back)),
        unresolved=links.unresolved,
        ambiguous=links.ambiguous,
        pages=pages,
        first_page=first_page if pages else 0,
    )


def _stored(tables: index.Tables, file_path: str) -> index.StoredText | None:
    """The text of the document with this path, or of the only document with this name."""
    with suppress(UnicodeEncodeError):  # no path has a lone surrogate
        stored = documents.stored_text(tables, file_path)
        if stored is not None:
            return stored
        called = index.documents_called(tables, file_path)
        path = documents.path_meant(tables, called) if len(called) == 1 else None
        return None if path is None else documents.stored_text(tables, path)
    return None


def named_document(database: Path, tool_name: str, name: str, folder: str = "") -> str | None:
    """The path of the document that a link with this name means; None if it means none.

    If several have the name, the one in the link's ``folder`` is meant, else the one with the
    shortest path.

    Raises:
        ToolNotFound: there is no such tool.
    """
    with open_database(database, "read") as connection, snapshot(connection):
        tables = registry.get_tool(connection, tool_name).tables_in(connection)
        ids = index.documents_named(tables, name)
        return documents.path_meant(tables, ids, folder)


def _page_range(stored: index.StoredText, page: int | None) -> tuple[int, int] | None:
    """Where a page begins and ends; None if no page is requested."""
    if page is None:
        return None
    unit, starts = page_unit(stored.file_path), page_starts(stored.content)
    if not unit:
        raise ReadingRefused(
            f"{quoted(stored.file_path)} has no pages; name lines of it instead, or nothing"
        )
    if page > len(starts):
        raise ReadingRefused(
            f"{quoted(stored.file_path)} has {counted(len(starts), unit)}; there is no {page}"
        )
    end = starts[page] - 1 if page < len(starts) else len(stored.content)
    return starts[page - 1], end


def _range(content: str, lines: list[int], part: DocumentPart) -> tuple[int, int]:
    """Where a part starts and ends (exclusive): the overlap of its lines and its positions."""
    if part.start_line is not None and part.start_position is not None:
        raise ReadingRefused(
            "start_line and start_position both say where to begin; name one of them"
        )
    start, end = part.start_position or 0, len(content)
    if (
        part.start_line is not None
        and part.end_line is not None
        and part.start_line > part.end_line
    ):
        raise ReadingRefused(_ENDS_EARLY)
    if part.end_position is not None:
        end = min(end, part.end_position)
    if part.start_line is not None:
        if part.start_line > len(lines):
            raise ReadingRefused(
                f"the document has {len(lines)} lines; line {part.start_line} is behind its end"
            )
        start = max(start, lines[part.start_line - 1])
    if part.end_line is not None and part.end_line < len(lines):
        end = min(end, lines[part.end_line])
    if start > len(content):
        raise ReadingRefused(
            f"the document has {len(content)} characters; position {start} is behind its end"
        )
    if start > end:
        raise ReadingRefused(_ENDS_EARLY)
    return start, end


def _no_document(tool: Tool, tables: index.Tables, file_path: str) -> str:
    missing = unfinished(tables.connection, tool)
    known = [line.file_path for line in documents.document_lines(tables)]
    if not known:
        return f"{tool.name} has no documents yet; import them with: mdvec import -n {tool.name}"
    waiting = not_imported(tables.connection, [tool], file_path)
    if waiting is not None:
        return f"{waiting}{f'. {missing}' if missing else ''}"
    near = list[str]()
    asked = file_path.removeprefix(f"{tool.source}/")  # documents are named by relative paths
    with suppress(UnicodeEncodeError):  # no title has a lone surrogate
        called = documents.paths(tables, index.documents_called(tables, file_path))
        near += sorted(path for _, path in called)
    near += difflib.get_close_matches(asked, known, n=_MAX_NAMES, cutoff=0.4)
    near += [path for path in known if path.endswith(f"/{asked}")]
    names = list(map(quoted, dict.fromkeys(near)))[:_MAX_NAMES]
    hint = f"; nearest are: {', '.join(names)}" if names else ""
    shown = repr(shortened(file_path, _MAX_SHOWN))
    return (
        f"{tool.name} has no document {shown}{hint}; hits name the documents there are"
        f"{f'. {missing}' if missing else ''}"
    )
