"""Selects the chunks of documents by path, tags and date, as ranges of ids."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

import apsw

from mdvec.index.tables import Tables
from mdvec.text import identifier

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class ChunkRanges:
    """The chunks of some documents: each document's first chunk id, ascending, and chunk count."""

    first_chunks: NDArray[np.int64]
    counts: NDArray[np.int64]

    @property
    def size(self) -> int:
        """The number of chunks."""
        return int(self.counts.sum())

    def ids(self) -> NDArray[np.int64]:
        """The ids of all chunks, in order."""
        return expanded(self.first_chunks, self.counts)


def no_chunks() -> ChunkRanges:
    """The empty selection."""
    import numpy as np

    none = np.array([], dtype=np.int64)
    return ChunkRanges(none, none)


def expanded(firsts: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """All numbers of the ranges that begin at ``firsts`` and have ``counts`` numbers each."""
    import numpy as np

    before = np.cumsum(counts) - counts
    return np.repeat(firsts - before, counts) + np.arange(int(counts.sum()))


@dataclass(frozen=True, slots=True)
class Condition:
    """The condition that a document must meet; None and "" restrict nothing.

    Attributes:
        path_matches: tells whether a path matches.
        path_prefix: what every matching path begins with.
        tags: folded tags, all of which it must have, or subtags of them.
        since: the first day; a document without a date of its own meets no day.
        until: the last day.
    """

    path_matches: Callable[[str], bool] | None = None
    path_prefix: str = ""
    tags: Sequence[str] = ()
    since: date | None = None
    until: date | None = None


def chunks_passing(
    connection: apsw.Connection, tables: Tables, condition: Condition
) -> ChunkRanges:
    """The chunks of all documents that meet a condition."""
    import numpy as np

    where, values = ["document_id > 0", "chunks > 0"], list[object]()
    for tag in condition.tags:
        where.append(
            f"document_id IN (SELECT document_id FROM {identifier(tables.tags)} "
            "WHERE tag = ? OR (tag > ? AND tag < ?))"
        )
        # "0" is the next ASCII character after "/": matches tag/…
        values += [tag, f"{tag}/", f"{tag}0"]
    if condition.since is not None:
        where.append("day >= ?")
        values.append(condition.since.isoformat())
    if condition.until is not None:
        where.append("day <= ?")
        values.append(condition.until.isoformat())
    if condition.path_matches is not None:
        ids = _documents_at(connection, tables, condition)
        where.append("document_id IN carray(?)" if len(ids) else "FALSE")
        values += [apsw.carray(ids)] if len(ids) else []
    rows = connection.execute(
        f"SELECT first_chunk, chunks FROM {identifier(tables.properties)} "
        f"WHERE {' AND '.join(where)} ORDER BY first_chunk",
        values,
    ).fetchall()
    found = np.array(rows, dtype=np.int64).reshape(-1, 2)
    return ChunkRanges(found[:, 0], found[:, 1])


def _documents_at(
    connection: apsw.Connection, tables: Tables, condition: Condition
) -> NDArray[np.int64]:
    """The ids of the documents whose path matches."""
    import numpy as np

    prefix, path_matches = condition.path_prefix, condition.path_matches
    # The index on paths covers this query.
    rows = connection.execute(
        f"SELECT id, file_path FROM {identifier(tables.documents)} "
        "WHERE tool_id = ? AND file_path >= ? AND file_path < ?",
        (tables.tool_id, prefix, f"{prefix}\U0010ffff"),
    )
    ids = [
        document_id for document_id, path in rows if path_matches is None or path_matches(str(path))
    ]
    return np.array(ids, dtype=np.int64)
