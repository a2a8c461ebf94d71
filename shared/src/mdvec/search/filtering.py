"""Narrows a search to the chunks that its filters leave, and says why where that is nothing."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass

import apsw

from mdvec.index.narrowing import Condition, chunks_passing
from mdvec.index.ranges import ChunkRanges, no_chunks
from mdvec.index.tables import has_properties
from mdvec.index.tags import tag_counts
from mdvec.search.core.filters import Filters
from mdvec.text.properties import folded_tag
from mdvec.tools.kinds import KINDS
from mdvec.tools.rows import Tool

_MAX_NAMED_TAGS = 5


@dataclass(frozen=True, slots=True)
class Narrowed:
    """What filters leave of a tool; ``chunks`` is None for all of it.

    ``note`` says that the filters could not be applied.
    """

    chunks: ChunkRanges | None
    note: str | None = None


ALL_CHUNKS = Narrowed(None)


def narrow(connection: apsw.Connection, tool: Tool, filters: Filters) -> Narrowed:
    """The chunks of a tool that the filters leave."""
    if filters.is_empty or tool.model is None:
        return ALL_CHUNKS
    if KINDS[tool.kind].is_made_of_records:
        return Narrowed(
            no_chunks(),
            f"{tool.name} was left out: it holds rows, which have no path, tags or date of their "
            "own to filter by",
        )
    if not has_properties(connection, tool.tables):
        return Narrowed(
            None,
            f"{tool.name} was searched without the filters ({filters.in_words}): its tags and "
            f"dates are read by the next import (mdvec import -n {tool.name} --mode update)",
        )
    return Narrowed(chunks_passing(connection, tool.tables, _condition(filters)))


def why_nothing(connection: apsw.Connection, asked: Sequence[Tool], filters: Filters) -> str:
    """Which of the filters leaves nothing of the tools, or that only all together do."""
    names = ", ".join(tool.name for tool in asked)
    for single in filters.each():
        if _left(connection, asked, single):
            continue
        if single.tags:
            nearest = _nearest(connection, asked, single.tags[0])
            return f"no note of {names} has the tag {single.tags[0]}; {nearest}"
        if single.path:
            return f"no note of {names} has a path like {single.path.said}"
        return f"no note of {names} has a date {single.in_words}"
    return (
        f"each filter alone leaves notes of {names}, all together ({filters.in_words}) leave none"
    )


def _condition(filters: Filters) -> Condition:
    path = filters.path
    return Condition(
        has_path=None if path is None else path.matches,
        path_prefix="" if path is None else path.prefix,
        tags=filters.tags,
        since=filters.since,
        until=filters.until,
    )


def _left(connection: apsw.Connection, asked: Sequence[Tool], filters: Filters) -> bool:
    return any(
        narrowed.chunks is None or narrowed.chunks.size
        for narrowed in (narrow(connection, tool, filters) for tool in asked)
    )


def _nearest(connection: apsw.Connection, asked: Sequence[Tool], tag: str) -> str:
    """The known tags that look most like one that nothing has; else the most frequent."""
    known = {
        folded_tag(one.tag): one.tag
        for tool in asked
        for one in tag_counts(connection, tool.tables)
    }
    if not known:
        return "it has no tags at all" if len(asked) == 1 else "they have no tags at all"
    near = [one for one in known if tag in one or one in tag]
    near += difflib.get_close_matches(tag, known, n=_MAX_NAMED_TAGS, cutoff=0.4)
    if near:
        named = [known[one] for one in dict.fromkeys(near)]
        return f"the nearest it knows: {', '.join(named[:_MAX_NAMED_TAGS])}"
    named = list(known.values())
    return f"its most frequent: {', '.join(named[:_MAX_NAMED_TAGS])}"
