"""Formats hits as text for a model, within a limit on the whole text."""

from __future__ import annotations

import json
from collections.abc import Sequence

from mdvec.search.core.passages import TextSpan, good_cut, within_budget
from mdvec.search.hits import Hit
from mdvec.text.one_line import on_one_line

_MAX_UNCUT = 1_000
"""Passages up to this length are shown whole or not at all, except the first."""
_CUT_BEFORE = "the text before was cut; read it"
_BREAKS = 3
"""The line breaks around a passage."""


def hit_texts(
    hits: Sequence[Hit], links: Sequence[str], max_chars: int, *, wide: bool
) -> list[str]:
    """The heads and passages of the hits, together at most ``max_chars``.

    Long passages are cut to the same length. Hits whose passages do not fit have only their heads,
    and a note says so. ``links`` has one link per hit, or is empty; ``wide`` adds each hit's
    collection.
    """
    heads = [_head(number, hit, wide=wide) for number, hit in enumerate(hits, 1)]
    if links:
        heads = [f"{head}\n{link}" for head, link in zip(heads, links, strict=True)]
    listed = _first_within(heads, max_chars // 2)
    passages = [hit.content.strip() for hit in hits[:listed]]
    room = max_chars - len(_left_out(len(hits)))
    room -= sum(len(head) + _BREAKS for head in heads[:listed])
    room -= sum(
        len(cut_note(hit.tool, hit.file_path, hit.end_position, _CUT_BEFORE))
        for number, (hit, passage) in enumerate(zip(hits, passages, strict=False))
        if not number or hit.truncated or len(passage) > _MAX_UNCUT
    )
    spans = within_budget([TextSpan(0, len(passage)) for passage in passages], max(room, 1))
    texts = [
        f"{head}\n{_shown(hit, passage, span.end)}"
        for head, hit, passage, span in zip(heads, hits, passages, spans, strict=False)
    ]
    missing = len(hits) - len(texts)
    note = [_left_out(missing)] if missing else []
    return [*texts, *heads[len(texts) : listed], *note]


def cut_note(tool: str, file_path: str, position: int, what: str = "cut here; read on") -> str:
    """A note on how to read the rest of a passage that was cut."""
    path = json.dumps(file_path, ensure_ascii=False)
    return (
        f'\n[{what} with get_document(tool="{tool}", file_path={path}, start_position={position})]'
    )


def _head(number: int, hit: Hit, *, wide: bool) -> str:
    """A hit's number, file, lines, headings and score, then its document's title, tags and date."""
    source = f"{hit.tool}: " if wide else ""
    heading = f" — {on_one_line(hit.heading)}" if hit.heading else ""
    about = f"\n{on_one_line(hit.about)}" if hit.about else ""
    return (
        f"[{number}] {source}{on_one_line(hit.file_path)}:{hit.start_line}-{hit.end_line}{heading} "
        f"(score {hit.score:.2f}){about}"
    )


def _first_within(heads: Sequence[str], max_chars: int) -> int:
    """How many of the heads fit; at least one."""
    used = 0
    for number, head in enumerate(heads):
        used += len(head) + _BREAKS
        if number and used > max_chars:
            return number
    return len(heads)


def _shown(hit: Hit, passage: str, end: int) -> str:
    """The passage up to ``end``, with a note on how to read the rest if it is cut."""
    if end < len(passage):
        cut = good_cut(passage, 0, end)
        position = hit.start_position + hit.content.index(passage) + cut
        return passage[:cut].rstrip() + cut_note(hit.tool, hit.file_path, position)
    if hit.next_position is not None:
        return passage + cut_note(hit.tool, hit.file_path, hit.next_position)
    if hit.truncated:
        return passage + cut_note(hit.tool, hit.file_path, 0, _CUT_BEFORE)
    return passage


def _left_out(number: int) -> str:
    return (
        f"note: the text of {number} more passages does not fit; use a smaller k, or read them "
        "with get_document"
    )
