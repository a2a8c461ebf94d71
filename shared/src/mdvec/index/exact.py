"""Finds the chunks nearest to a vector exactly, by their stored embeddings."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import apsw

from mdvec.index.nearest import Near
from mdvec.index.tables import Tables
from mdvec.text import identifier

if TYPE_CHECKING:
    from mdvec.embedding import Vectors


def nearest_among(
    connection: apsw.Connection, tables: Tables, query: Vectors, limit: int, within: Iterable[int]
) -> list[Near]:
    """The ``limit`` stored chunks nearest to a query vector among the ids in ``within``."""
    rows = connection.execute(
        "SELECT id, vec_distance_cosine(embedding, ?) AS distance "
        f"FROM {identifier(tables.vectors)} WHERE id IN ({','.join(map(str, within))}) "
        "ORDER BY distance, id LIMIT ?",
        (query.tobytes(), limit),
    )
    return [Near(int(chunk_id), 1.0 - distance) for chunk_id, distance in rows]
