"""Finds the chunks nearest to a vector among given ids, and stores constants of models."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from typing import TYPE_CHECKING

from mdvec.embedding import ModelConstants
from mdvec.errors import MdvecError
from mdvec.text import identifier

if TYPE_CHECKING:
    import apsw

    from mdvec.embedding import Vectors
    from mdvec.index.tables import Tables


class EngineUnavailable(MdvecError):
    """The vector index cannot answer now; a search by words still can, and nothing is lost."""


def nearest_among(tables: Tables, query: Vectors, limit: int, within: Iterable[int]) -> list[int]:
    """The ids of the ``limit`` stored chunks nearest to a query vector among those ``within``."""
    import apsw  # the settings import this module, and the bridge only needs those

    ids = array("q", within)
    if not ids:
        return []
    return tables.column(
        f"SELECT id FROM {identifier(tables.vectors)} WHERE id IN carray(?) "
        "AND length(embedding) > 0 ORDER BY vec_distance_cosine(embedding, ?), id LIMIT ?",
        (apsw.carray(ids), query.tobytes(), limit),
    )


def stored_vectors(tables: Tables, where: str) -> Vectors:
    """The vectors of the stored chunks that meet a SQL condition, as rows in the order of ids."""
    import numpy as np

    rows = tables.execute(
        f"SELECT embedding FROM {identifier(tables.vectors)} "
        f"WHERE length(embedding) > 0 AND {where} ORDER BY id"
    )
    blobs = [bytes(embedding) for (embedding,) in rows]
    return np.frombuffer(b"".join(blobs), np.float32).reshape(len(blobs), -1 if blobs else 0)


def calibrated_constants(connection: apsw.Connection, fingerprint: str) -> ModelConstants | None:
    """The constants of the model with that fingerprint; None if none were stored."""
    from mdvec.database import has_table  # the settings import this module, but no database

    if not has_table(connection, "model_constants"):
        return None
    row = connection.execute(
        "SELECT trust, mean, deviation FROM model_constants WHERE fingerprint = ?", (fingerprint,)
    ).fetchone()
    if row is None:
        return None
    trust, mean, deviation = row
    unrelated = None if mean is None else (float(mean), float(deviation))
    return ModelConstants(float(trust), unrelated)


def store_constants(
    connection: apsw.Connection, fingerprint: str, constants: ModelConstants
) -> None:
    """Store the constants of a model; call within a transaction."""
    connection.execute(
        "CREATE TABLE IF NOT EXISTS model_constants (fingerprint TEXT PRIMARY KEY, "
        "trust REAL NOT NULL, mean REAL, deviation REAL)"
    )
    mean, deviation = constants.unrelated or (None, None)
    connection.execute(
        "INSERT OR REPLACE INTO model_constants VALUES (?, ?, ?, ?)",
        (fingerprint, constants.vector_trust, mean, deviation),
    )
