"""The view that searches, and the one that shows a passage in its document."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from urllib.parse import quote, urlencode

from markupsafe import Markup, escape
from mdvec import search
from mdvec.dates import today
from mdvec.documents import (
    DocumentPart,
    DocumentText,
    ReadingRefused,
    named_document,
    read_document,
)
from mdvec.files import UnreadableFile, opened_within
from mdvec.manage import find_tool, overview
from mdvec.text import bundle_of, is_katakana, is_markdown, readable_chunk
from mdvec.tools import KINDS, Tool
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from mdvec_mcp.search import link_to
from mdvec_mcp.web.page.rendered import PICTURES, Rendered, rendered_document
from mdvec_mcp.web.page.views import Query, Views, Visit, page_or_last

_MAX_SHOWN = 200_000
"""The most characters of a document on a page; a longer document is cut around the passage."""
_BEFORE = 20_000
_HITS = 10
"""The default number of hits on a page: more than a model needs at once."""
_MAX_WORDS = 100
_MAX_PICTURE = 20 * 2**20
_MAX_FACETS = 12
_ATTACHMENTS = ("attachments", "Attachments", "assets", "images", "img", "files", "media")
"""Folders in which note apps keep pictures; their notes contain only the picture's name."""


@dataclass(frozen=True, slots=True)
class ShownHit:
    """A hit with the additional values of its template."""

    hit: search.Hit
    text: Markup
    address: str
    quotation: str
    editors: tuple[tuple[str, str], ...]


def routes(views: Views) -> list[Route]:
    """The routes of both views."""
    return [
        views.route("/", show_search, has_form=True),
        views.route("/document", show_document),
        views.route("/document/picture", picture),
    ]


async def show_search(visit: Visit) -> Response:
    """The form with hits or, without a question, documents, which a script loads."""
    query = visit.query
    question = query.text("q").strip()[: search.MAX_QUERY_CHARS]
    active = await visit.run(lambda: visit.views.tools(active_only=True))
    tools = [tool for tool in active if KINDS[tool.kind].has_texts]
    answer = await visit.run(partial(_answer, visit, question)) if question else None
    known = {tool.name: tool for tool in tools}
    results = () if answer is None else answer.results
    hits = [_shown_hit(hit, known.get(hit.tool)) for hit in results]
    listing, welcome = None, None
    if answer is None and tools:
        listing = await visit.run(partial(_listing, visit))
        if not query.others("k", "part", "sort"):
            welcome = await visit.run(partial(_welcome, visit.wiring.database, listing))
    return visit.page(
        "hits.html" if query.text("part") == "hits" else "search.html",
        asked=question, tools=tools, answer=answer,
        k=_count(query), max_k=search.MAX_K, listing=listing, welcome=welcome,
        hits=hits, documents=_by_document(hits), facets=_facets(hits, query),
        folders=[] if listing is None else _folders(listing, query.text("path")),
    )  # fmt: skip


def _listing(visit: Visit) -> search.Listing:
    """A page of the documents that pass the filters, the newest first; else the last page."""
    stated = replace(_question_of(visit.query, ""), sort="newest")
    return page_or_last(visit.query, partial(visit.wiring.search.list_documents, stated))


def _welcome(database: Path, listing: search.Listing) -> dict[str, object]:
    """The template's values without a question: the tools, and questions to try."""
    seen = overview(database).tools
    sources = [tool for tool in seen if tool.is_active and KINDS[tool.kind].has_texts]
    return {"sources": sources, "questions": search.example_questions(database, listing)}


def _answer(visit: Visit, question: str) -> search.Answer:
    stated = _question_of(visit.query, question).with_typed(search.typed_query(question))
    answer = visit.wiring.search.search(stated)
    unread = search.signs_read_as_text(question, is_code=False)
    return replace(answer, notes=(*unread, *answer.notes))


def _question_of(query: Query, question: str) -> search.Question:
    """The search in an address, with filters."""
    tags = query.text("tags").replace("、", ",").replace(" ", ",").split(",")
    where = search.where_entries(query.text("where").replace("、", ",").split(","))
    filters = search.filters_of(
        today(),
        path=query.text("path").strip() or None,
        tags=[tag for tag in tags if tag],
        since=query.text("since").strip() or None,
        until=query.text("until").strip() or None,
        links_to=query.text("links_to").strip() or None,
        where=where or None,
        open_tasks="tasks" in query,
    )
    tools = tuple(filter(None, query.all("tool"))) or None
    sort: search.Sort = "newest" if query.text("sort") == "newest" else "relevance"
    return search.Question(question, tools, _count(query), filters=filters, sort=sort)


def _folders(listing: search.Listing, path: str) -> list[str]:
    """The folders of the documents on a page, below the folder shown."""
    above = path if path.endswith("/") else ""
    below = (
        document.file_path[len(above) :].partition("/")
        for document in listing.documents
        if document.file_path.startswith(above)
    )
    return sorted({f"{above}{folder}/" for folder, slash, _ in below if slash})


def _by_document(hits: Iterable[ShownHit]) -> list[list[ShownHit]]:
    """The hits grouped by document, in the order of their best hits."""
    documents: dict[tuple[str, str], list[ShownHit]] = {}
    for shown in hits:
        documents.setdefault((shown.hit.tool, shown.hit.file_path), []).append(shown)
    return list(documents.values())


def _facets(hits: list[ShownHit], query: Query) -> list[tuple[str, int, str]]:
    """Filters that keep some of the hits: label, number of hits kept, and query."""
    counts: Counter[tuple[str, str, str]] = Counter()
    for shown in hits:
        hit = shown.hit
        folder, slash, _ = hit.file_path.rpartition("/")
        counts[("tool", hit.tool, hit.tool)] += 1
        if slash:
            counts[("path", f"{folder}/", f"{folder}/")] += 1
        for tag in hit.tags:
            counts[("tags", tag, f"#{tag}")] += 1
    return [
        (words, count, query.with_(**{name: value}, part=None))
        for (name, value, words), count in counts.most_common()
        if count < len(hits) and value not in query.all(name)
    ][:_MAX_FACETS]


def _count(query: Query) -> int:
    """The maximum number of hits to show."""
    return query.number("k", _HITS, 1, search.MAX_K)


def _shown_hit(hit: search.Hit, tool: Tool | None) -> ShownHit:
    fields = {"tool": hit.tool, "path": hit.file_path, "start": hit.start_line, "end": hit.end_line}
    quoted = "\n".join(f"> {line}" for line in hit.content.strip().splitlines())
    where = hit.pages or f"{hit.start_line}-{hit.end_line}"
    words = (*hit.explanation.matched_words, *hit.explanation.matched_terms)
    return ShownHit(
        hit=hit,
        text=marked(readable_chunk(hit.file_path, hit.content).strip("\n"), words),
        address=f"/document?{urlencode(fields)}#hit",
        quotation=f"{quoted}\n>\n> — {hit.file_path}:{where}\n",
        editors=() if tool is None else editors(tool, hit.file_path, hit.start_line),
    )


def editors(tool: Tool, file_path: str, line: int) -> tuple[tuple[str, str], ...]:
    """Names of editors, with links that open a file at a line."""
    bundle = bundle_of(file_path)
    is_part = bundle is not None and (tool.source / bundle).is_file()
    file = tool.source / (bundle if is_part and bundle else file_path)
    return (
        ("VS Code", f"vscode://file{quote(str(file))}:{line}"),
        ("Obsidian", link_to(file, "obsidian")),
    )


async def show_document(visit: Visit) -> Response:
    """A document as imported, with a passage marked; links may give only the document's name."""
    query = visit.query
    name, path = query.text("tool"), query.text("path")
    if "tool" not in query or "path" not in query:
        return visit.refusal("no_page", 404)
    start = query.number("start", 1, 1, 10**9)
    end = query.number("end", start, start, 10**9)
    database = visit.wiring.database

    def read() -> tuple[Tool, DocumentText, Rendered] | str:
        try:
            document = _document_around(database, name, path, start)
        except ReadingRefused:
            beside = query.text("beside")  # the folder of the note with the link
            by_name = path.removeprefix(f"{beside}/")
            named = named_document(database, name, path, beside) or named_document(
                database, name, by_name, beside
            )
            if named is None or named == path:
                raise
            return named
        if document.file_path != path and "start" not in query:
            return document.file_path  # the path alone opens it in an editor
        text = rendered_document(
            document, range(start, end + 1) if "start" in query else range(0),
            as_markdown=is_markdown(path.rpartition("/")[2]),
        )  # fmt: skip
        return find_tool(database, name), document, text

    shown = await visit.run(read)
    if isinstance(shown, str):
        return RedirectResponse(f"/document?{urlencode({'tool': name, 'path': shown})}", 303)
    tool, document, text = shown
    return visit.page(
        "document.html", tool=tool, document=document, text=text,
        editors=editors(tool, path, start),
    )  # fmt: skip


async def picture(visit: Visit) -> Response:
    """A picture from a tool's folder; anything else is not found."""
    query = visit.query
    name, path = query.text("tool"), query.text("path")
    kind = PICTURES.get(Path(path).suffix.lower())

    def read() -> bytes:
        folder = find_tool(visit.wiring.database, name).source
        file = next(filter(Path.is_file, _places(folder, path)), folder / path)
        with (
            opened_within(file, folder) as descriptor,
            open(descriptor, "rb", closefd=False) as picture,
        ):
            return picture.read(_MAX_PICTURE + 1)

    try:
        data = b"" if kind is None else await visit.run(read)
    except (UnreadableFile, ValueError):
        data = b""
    if not data or len(data) > _MAX_PICTURE:
        return visit.refusal("no_page", 404)
    return Response(data, media_type=kind)


def _places(folder: Path, path: str) -> Iterator[Path]:
    """The places to try for a picture: its path, then folders for pictures here and above."""
    file = folder / path
    yield file
    if ".." in file.parts or not file.is_relative_to(folder):
        return
    for above in (file.parent, *file.parent.parents):
        yield from (above / name / file.name for name in _ATTACHMENTS)
        yield above / file.name
        if above == folder:
            return


def _document_around(database: Path, name: str, path: str, line: int) -> DocumentText:
    """The document or, if it is too long, the part around a line."""
    document = read_document(database, name, path, DocumentPart(), _MAX_SHOWN)
    if not document.truncated or line <= document.end_line:
        return document
    target = read_document(database, name, path, DocumentPart(start_line=line), 1)
    start = max(target.start_position - _BEFORE, 0)
    return read_document(database, name, path, DocumentPart(start_position=start), _MAX_SHOWN)


def marked(text: str, words: Iterable[str]) -> Markup:
    """The text as HTML with the words in ``<mark>``; overlapping marks are merged.

    A katakana word is marked only as a whole word: アップ is not marked in セットアップ.
    """
    folded = _fold(text)
    is_marked = bytearray(len(text))
    for word in list(dict.fromkeys(map(_fold, words)))[:_MAX_WORDS]:
        if not word.strip():
            continue
        start = folded.find(word)
        while start >= 0:
            if not _is_inside(folded, start, start + len(word)):
                is_marked[start : start + len(word)] = b"\1" * len(word)
            start = folded.find(word, start + 1)
    parts, start = [], 0
    while start < len(text):
        end = is_marked.find(1 - is_marked[start], start)
        end = len(text) if end < 0 else end
        piece = escape(text[start:end])
        parts.append(f"<mark>{piece}</mark>" if is_marked[start] else piece)
        start = end
    return Markup("".join(parts))  # noqa: S704 - each piece is escaped


def _is_inside(text: str, start: int, end: int) -> bool:
    """Whether a katakana word continues before or after; a final ー does not count."""
    if not is_katakana(text[start:end]):
        return False
    after = text[end : end + 2].removeprefix("ー")[:1]
    return any(sign and is_katakana(sign) for sign in (text[max(start - 1, 0) : start], after))


class _Folds(dict[int, str]):
    """A cache of characters folded in case and width."""

    def __missing__(self, code: int) -> str:
        folded = unicodedata.normalize("NFKC", chr(code)).casefold()
        self[code] = folded if len(folded) == 1 else chr(code)
        return self[code]


_FOLDS = _Folds()


def _fold(text: str) -> str:
    """The text folded in case and width, with the same number of characters."""
    return text.translate(_FOLDS)
