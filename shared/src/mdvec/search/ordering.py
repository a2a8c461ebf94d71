"""Orders hits by the dates of their documents."""

from __future__ import annotations

from collections.abc import Sequence

import apsw

from mdvec.index.properties import stored_properties
from mdvec.search.ranking import RankedChunk

_SHARE_OF_BEST = 0.5
"""Passages with at least this share of the best score are sorted by date."""


def newest_first(
    connection: apsw.Connection, ranked: Sequence[RankedChunk], k: int
) -> list[RankedChunk]:
    """The passages that answer about as well as the best, at least ``k``, newest first.

    Passages without a date come last.
    """
    if not ranked:
        return []
    least = _SHARE_OF_BEST * max(one.scored.score for one in ranked)
    good = sum(one.scored.score >= least for one in ranked)
    chosen = ranked[: max(good, k)]
    days: dict[tuple[int, int], str] = {}
    for tables in {one.tables for one in chosen}:
        ids = {one.chunk.document_id for one in chosen if one.tables == tables}
        stored = stored_properties(connection, tables, ids)
        days |= {(tables.tool_id, number): found.day or "" for number, found in stored.items()}
    return sorted(
        chosen,
        key=lambda one: days.get((one.tables.tool_id, one.chunk.document_id), ""),
        reverse=True,
    )
