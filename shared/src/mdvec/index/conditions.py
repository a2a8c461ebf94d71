"""Selects chunks and documents by conditions on their properties."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

import apsw
import numpy as np

from mdvec.index.tables import Tables
from mdvec.text import identifier

if TYPE_CHECKING:
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


def chunk_ids(tables: Tables) -> NDArray[np.int64]:
    """The ids of all chunks, in order."""
    ids = tables.column(f"SELECT id FROM {identifier(tables.vectors)} ORDER BY id")
    return np.array(ids, dtype=np.int64)


def chunks_at(tables: Tables, file_path: str) -> list[int]:
    """The ids of a document's chunks."""
    return tables.column(
        f"SELECT v.id FROM {identifier(tables.vectors)} AS v "
        f"JOIN {identifier(tables.documents)} AS d ON d.id = v.document_id "
        "WHERE d.tool_id = ? AND d.file_path = ?",
        (tables.tool_id, file_path),
    )


def single_chunks(ids: NDArray[np.int64]) -> ChunkRanges:
    """The chunks with these ids, in order."""
    return ChunkRanges(ids, np.ones_like(ids))


def no_chunks() -> ChunkRanges:
    """The empty selection."""
    none = np.array([], dtype=np.int64)
    return ChunkRanges(none, none)


def expanded(firsts: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """All numbers of the ranges that begin at ``firsts`` and have ``counts`` numbers each."""
    before = np.cumsum(counts) - counts
    return np.repeat(firsts - before, counts) + np.arange(int(counts.sum()))


@dataclass(frozen=True, slots=True)
class Condition:
    """The condition that a document must meet; None and "" restrict nothing.

    Every matching path begins with ``path_prefix``. The document must have each of the folded tags,
    or a subtag of it, and be among ``documents``. A document without a date of its own is excluded
    by ``since`` and ``until``.
    """

    path_matches: Callable[[str], bool] | None = None
    path_prefix: str = ""
    tags: Sequence[str] = ()
    since: date | None = None
    until: date | None = None
    documents: frozenset[int] | None = None


def chunks_passing(tables: Tables, condition: Condition) -> ChunkRanges:
    """The chunks of all documents that meet a condition."""
    where, values = _passing(tables, condition)
    rows = tables.execute(
        f"SELECT first_chunk, chunks FROM {tables.properties} "
        f"WHERE chunks > 0 AND {where} ORDER BY first_chunk",
        values,
    ).fetchall()
    ranges = np.array(rows, dtype=np.int64).reshape(-1, 2)
    return ChunkRanges(ranges[:, 0], ranges[:, 1])


def documents_passing(tables: Tables, condition: Condition) -> list[int]:
    """The documents that meet a condition, including those without chunks."""
    where, values = _passing(tables, condition)
    return tables.column(f"SELECT document_id FROM {tables.properties} WHERE {where}", values)


def _passing(tables: Tables, condition: Condition) -> tuple[str, list[object]]:
    """The condition as SQL on the table of properties, and its parameters."""
    where, values = ["document_id > 0"], list[object]()
    for tag in condition.tags:
        where.append(
            f"document_id IN (SELECT document_id FROM {tables.tags} "
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
    selections: list[NDArray[np.int64]] = []
    if condition.documents is not None:
        selections.append(np.array(sorted(condition.documents), dtype=np.int64))
    if condition.path_matches is not None:
        selections.append(_documents_at(tables, condition))
    for ids in selections:
        if len(ids):
            where.append("document_id IN carray(?)")
            values.append(apsw.carray(ids))
        else:
            where.append("FALSE")
    return " AND ".join(where), values


def _documents_at(tables: Tables, condition: Condition) -> NDArray[np.int64]:
    """The ids of the documents whose path matches."""
    prefix, path_matches = condition.path_prefix, condition.path_matches
    # The index on paths covers this query.
    rows = tables.execute(
        f"SELECT id, file_path FROM {identifier(tables.documents)} "
        "WHERE tool_id = ? AND file_path >= ? AND file_path < ?",
        (tables.tool_id, prefix, f"{prefix}\U0010ffff"),
    )
    ids = [
        document_id for document_id, path in rows if path_matches is None or path_matches(str(path))
    ]
    return np.array(ids, dtype=np.int64)
