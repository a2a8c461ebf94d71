"""Formats the results of the search tools, as text within a limit and as data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from itertools import islice, starmap
from typing import Any

from mdvec.documents import DocumentText
from mdvec.search import (
    Answer,
    Hit,
    ListedDocument,
    Listing,
    TextSpan,
    good_cut,
    tags_in_short,
    within_budget,
)
from mdvec.text import (
    TextFence,
    counted,
    fence_for,
    on_one_line,
    quoted,
    shortened,
    shown_name,
    some_of,
    with_page_lines,
)
from mdvec.tools import offered_name

_MAX_UNCUT = 1_000
"""Passages up to this length are shown whole or not at all, except the first."""
_CUT_BEFORE = "the text before was cut; read it"
_MAX_ALL_LINKS = 30
_MAX_LINKS = 2
"""How many links of a hit's document are named, in each direction."""
_MAX_PLACES = 5
"""How many other files with the same text a hit names."""
_BREAKS = 3
"""The line breaks around a passage."""
_MAX_TASK_CHARS = 300


def structured(answer: Answer, links: Sequence[str], *, wide: bool) -> dict[str, Any]:
    """The answer as data for programs; ``wide`` adds each hit's collection."""
    hits = [asdict(hit) for hit in answer.results]
    for number, hit in enumerate(hits):
        hit["link"] = links[number] if links else ""
        del hit["explanation"]
        if not wide:
            del hit["tool"]
    source = {"tools": list(answer.tools)} if wide else {"tool": "".join(answer.tools[:1])}
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
    """The answer in at most ``max_chars`` (or more for long notes); ``wide`` adds collections."""
    names = ", ".join(answer.tools)
    if not answer.tools:
        return (
            "no collection is active; the user can switch one on in a terminal: "
            "mdvec tool enable -n NAME (mdvec tool ls --all lists them), or add one: "
            'mdvec tool add -n NAME -d "what it contains" -s FOLDER, then mdvec import -n NAME'
        )
    if not answer.total_chunks:
        how = f"mdvec import -n {answer.tools[0] if len(answer.tools) == 1 else 'NAME'}"
        how = f"{offered_name('reindex')} imports them, or in a terminal: {how}"
        nothing = f"{names}: no documents yet; {how}"
        return "\n\n".join([nothing, *_note_lines(answer.notes)])
    passages = counted(answer.total_chunks, "passage")
    parts = [f"{len(answer.results)} of {passages} of {names}"]
    if not answer.results:
        parts = [f"{names}: nothing found in {passages}"]
    elif answer.first_sentence:
        parts.append(answer.first_sentence)
    notes = _note_lines(answer.notes)
    room = max_chars - sum(len(part) + 2 for part in (*parts, *notes))
    fence = fence_for(hit.content for hit in answer.results)
    texts = hit_texts(answer.results, links, max(room, max_chars // 2), fence, wide=wide)
    return "\n\n".join([*parts, *texts, *notes])


def document_text(
    document: DocumentText, notes: Sequence[str] = (), *, numbered: bool = False
) -> str:
    """A part of a document as text, preceded by ``notes``; ``numbered`` numbers its lines."""
    title = f", title {quoted(document.title)}" if document.title else ""
    head = (
        f"{document.tool}: {quoted(document.file_path)}:{document.start_line}-{document.end_line} "
        f"of {counted(document.total_lines, 'line')} (characters {document.start_position}-"
        f"{document.end_position} of {document.total_chars})"
        f"{f' {document.pages}' if document.pages else ''}{title}"
        f"{_link_line(document.links_to, document.linked_from, _MAX_ALL_LINKS)}"
        f"{''.join(starmap(_several_fit, islice(document.ambiguous.items(), _MAX_ALL_LINKS)))}"
    )
    cut = cut_note(document.tool, document.file_path, document.end_position)
    content = document.numbered if numbered else document.with_pages
    text = fence_for([content]).around(content)
    return "\n".join([head, *_note_lines(notes), text]) + (cut if document.truncated else "")


def _note_lines(notes: Sequence[str]) -> list[str]:
    return [f"note: {on_one_line(note)}" for note in notes]


def hit_texts(
    hits: Sequence[Hit], links: Sequence[str], max_chars: int, fence: TextFence, *, wide: bool
) -> list[str]:
    """The heads and fenced passages of the hits, in at most ``max_chars`` characters.

    Long passages are cut to equal length. Hits whose passages do not fit have only heads, which
    take at most half of the room; a note tells how many passages are missing. ``links`` is empty or
    has one link for each hit. With ``wide``, each head names its collection.
    """
    heads = [_head(number, hit, wide=wide) for number, hit in enumerate(hits, 1)]
    if links:
        heads = [f"{head}\n{quoted(link)}" for head, link in zip(heads, links, strict=True)]
    listed = _first_within(heads, max_chars // 2)
    passages = [hit.content.strip() for hit in hits[:listed]]
    room = max_chars - len(_left_out(len(hits)))
    room -= sum(len(head) + _BREAKS + fence.chars for head in heads[:listed])
    room -= sum(
        len(cut_note(hit.tool, hit.file_path, hit.end_position, _CUT_BEFORE))
        for number, (hit, passage) in enumerate(zip(hits, passages, strict=False))
        if not number or hit.truncated or len(passage) > _MAX_UNCUT
    )
    spans = within_budget([TextSpan(0, len(passage)) for passage in passages], max(room, 1))
    texts = [
        f"{head}\n{_shown_passage(hit, passage, span.end, fence)}"
        for head, hit, passage, span in zip(heads, hits, passages, spans, strict=False)
    ]
    missing = len(hits) - len(texts)
    note = [_left_out(missing)] if missing else []
    return [*texts, *heads[len(texts) : listed], *note]


def cut_note(tool: str, file_path: str, position: int, what: str = "cut here; read on") -> str:
    """A note on how to read the rest of a passage that was cut."""
    where = f"file_path={quoted(file_path)}, start_position={position}"
    return f'\n[{what} with {offered_name("get_document")}(tool="{tool}", {where})]'


def _head(number: int, hit: Hit, *, wide: bool) -> str:
    """A hit's number, file, lines, positions, headings and score, and facts about its document."""
    source = f"{hit.tool}: " if wide else ""
    heading = f" — {quoted(hit.heading)}" if hit.heading else ""
    about = f", {quoted(hit.about)}" if hit.about else ""
    span = f"{hit.start_line}-{hit.end_line} (characters {hit.start_position}-{hit.end_position})"
    span += f" {hit.pages}" if hit.pages else ""
    return (
        f"[{number}] {source}{quoted(hit.file_path)}:{span}{heading}{about}, score {hit.score:.2f}"
        f"{_relations(hit)}"
    )


def _relations(hit: Hit) -> str:
    """Where a hit's text goes on, which queries found it, other files with it, and links."""
    found_by = f"; found by {', '.join(map(quoted, hit.found_by))}" if hit.found_by else ""
    also_in = f"; also in {some_of(hit.also_in, _MAX_PLACES)}" if hit.also_in else ""
    goes_on = "" if hit.goes_on is None else f"; goes on at {hit.goes_on}"
    return goes_on + found_by + also_in + _link_line(hit.links_to, hit.linked_from, _MAX_LINKS)


def _link_line(links_to: Sequence[str], linked_from: Sequence[str], most: int) -> str:
    """The links from and to a document, for its line."""
    ways = ("links to", links_to), ("linked from", linked_from)
    return "".join(
        f"; {way} {some_of(list(map(shown_name, paths)), most)}" for way, paths in ways if paths
    )


def _several_fit(link: str, paths: Sequence[str]) -> str:
    """What an ambiguous link may lead to, for a document's line."""
    return (
        f"; {shown_name(link)} fits several: {some_of(list(map(shown_name, paths)), _MAX_PLACES)}"
    )


def listing_text(listing: Listing, max_chars: int) -> str:
    """A listing as text, a line for each document and one for each of its open tasks.

    All documents of the page are listed; tasks get the rest of ``max_chars``.
    """
    several = len(listing.tools) > 1
    heads = [_document_line(document, several=several) for document in listing.documents]
    room = max_chars - sum(len(head) + 1 for head in heads)
    lines = [listing.first_sentence]
    for document, head in zip(listing.documents, heads, strict=True):
        tasks = _task_lines(document.tasks, room)
        room -= sum(len(task) + 1 for task in tasks)
        lines += [head, *tasks]
    return "\n".join([*lines, *_note_lines(listing.notes)])


def _document_line(document: ListedDocument, *, several: bool) -> str:
    source = f"{document.tool}: " if several else ""
    about = f"{quoted(document.title)}{f' {document.date}' if document.date else ''}"
    about += f" {quoted(tags_in_short(document.tags))}" if document.tags else ""
    for key, values in document.entries:
        about += " " + quoted(f"{shortened(key)}={shortened(', '.join(values))}")
    return f"- {source}{quoted(document.file_path)} {about}"


def _task_lines(tasks: Sequence[tuple[int, str]], room: int) -> list[str]:
    """A line for each task that fits into ``room``, and a line on where the others begin."""
    lines: list[str] = []
    for number, (line, task) in enumerate(tasks):
        words = task if len(task) <= _MAX_TASK_CHARS else task[:_MAX_TASK_CHARS] + "…"
        lines.append(f"  - line {line}: {quoted(words)}")
        room -= len(lines[-1]) + 1
        if room < 0:
            more = counted(len(tasks) - number, "more task")
            return [*lines[:-1], f"  - {more} from line {line} on; narrow by path, or read them"]
    return lines


def _first_within(heads: Sequence[str], max_chars: int) -> int:
    """How many of the first heads fit into ``max_chars``, but at least one."""
    used = 0
    for number, head in enumerate(heads):
        used += len(head) + _BREAKS
        if number and used > max_chars:
            return number
    return len(heads)


def _shown_passage(hit: Hit, passage: str, end: int, fence: TextFence) -> str:
    """The passage up to ``end``, with a note on how to read the rest if it is cut."""
    note = ""
    if end < len(passage):
        cut = good_cut(passage, 0, end)
        position = hit.start_position + hit.content.index(passage) + cut
        passage, note = passage[:cut].rstrip(), cut_note(hit.tool, hit.file_path, position)
    elif hit.next_position is not None:
        note = cut_note(hit.tool, hit.file_path, hit.next_position)
    elif hit.truncated:
        note = cut_note(hit.tool, hit.file_path, 0, _CUT_BEFORE)
    return fence.around(with_page_lines(passage, hit.file_path, hit.first_page)) + note


def _left_out(number: int) -> str:
    return (
        f"note: the text of {counted(number, 'more passage')} does not fit; use a smaller k, or "
        f"read on with {offered_name('get_document')}"
    )
