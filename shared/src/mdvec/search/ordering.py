"""Orders hits by the dates of their documents."""

from __future__ import annotations

from collections.abc import Sequence

import apsw

from mdvec.index.properties import stored_properties
from mdvec.search.ranking import RankedChunk

_SHARE_OF_BEST = 0.5
"""A passage with at least this share of the best score is put in order with the best."""


def newest_first(
    connection: apsw.Connection, ranked: Sequence[RankedChunk], k: int
) -> list[RankedChunk]:
    """The passages that answer about as well as the best, at least ``k``, the latest first.

    What has no date is behind what has one.
    """
    if not ranked:
        return []
    least = _SHARE_OF_BEST * ranked[0].scored.score
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
