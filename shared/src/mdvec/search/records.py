"""The records of a tool whose chunks stand for several records each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import apsw

from mdvec.index.chunks import StoredChunk
from mdvec.search.ranking import RankedChunk
from mdvec.tools.kinds import KINDS, load_code
from mdvec.tools.rows import Tool

RecordsOf = Callable[[apsw.Connection, Tool, StoredChunk, str, int], Sequence[StoredChunk]]
"""A tool's records for a chunk and a question, at most so many: those asked for come first."""


def with_records(
    connection: apsw.Connection, ranked: Sequence[RankedChunk], question: str, k: int
) -> list[RankedChunk]:
    """The ranked chunks; those of tools made of records become records, ``k`` in all."""
    found: list[RankedChunk] = []
    seen: set[tuple[int, int]] = set()
    for one in ranked:
        records = KINDS[one.tool.kind].records
        if records is None:
            found.append(one)
            continue
        if len(seen) >= k:
            continue
        records_of: RecordsOf = load_code(records)
        for record in records_of(connection, one.tool, one.chunk, question, k):
            if (one.tool.id, record.id) not in seen and len(seen) < k:
                seen.add((one.tool.id, record.id))
                found.append(replace(one, chunk=record))
    return found
