"""Formats the results of the search tools, as text and as data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from mdvec.documents.reading import DocumentText
from mdvec.search.search import UNSURE, Answer
from mdvec.text.counting import counted
from mdvec.text.one_line import fence_for, on_one_line, quoted
from mdvec.tools.names import offered_name

from mdvec_mcp.search.hit_texts import cut_note, hit_texts


def structured(answer: Answer, links: Sequence[str], *, wide: bool) -> dict[str, Any]:
    """The answer as data for programs, as seed 002 has it; ``wide`` adds each hit's collection."""
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
    """The answer as readable text; ``wide`` adds each hit's collection.

    It has at most ``max_chars`` characters, unless long notes need more.
    """
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
        return "\n\n".join([nothing, *_noted(answer.notes)])
    passages = counted(answer.total_chunks, "passage")
    parts = [f"{len(answer.results)} of {passages} of {names}"]
    if not answer.results:
        parts = [f"{names}: nothing found in {passages}"]
    elif not answer.confident:
        parts.append(UNSURE)
    notes = _noted(answer.notes)
    if answer.truncated and not any(hit.truncated for hit in answer.results):
        notes.append("note: more was found than fits; use a smaller k, or ask more precisely")
    room = max_chars - sum(len(part) + 2 for part in (*parts, *notes))
    fence = fence_for(hit.content for hit in answer.results)
    texts = hit_texts(answer.results, links, max(room, max_chars // 2), fence, wide=wide)
    return "\n\n".join([*parts, *texts, *notes])


def document_text(document: DocumentText, notes: Sequence[str] = ()) -> str:
    """A part of a document as text, after ``notes`` on it."""
    title = f", title {quoted(document.title)}" if document.title else ""
    head = (
        f"{document.tool}: {quoted(document.file_path)}:{document.start_line}-{document.end_line} "
        f"of {counted(document.total_lines, 'line')} (characters {document.start_position}-"
        f"{document.end_position} of {document.total_chars}){title}"
    )
    cut = cut_note(document.tool, document.file_path, document.end_position)
    text = fence_for([document.content]).around(document.content)
    return "\n".join([head, *_noted(notes), text]) + (cut if document.truncated else "")


def _noted(notes: Sequence[str]) -> list[str]:
    return [f"note: {on_one_line(note)}" for note in notes]
