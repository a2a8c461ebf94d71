"""Constants of models that were fitted on the user's own documents, by fingerprint.

`bench/calibrate.py` fits and stores them. It makes the table, which belongs to no numbered format:
a file without it lacks nothing.
"""

from __future__ import annotations

import apsw

from mdvec.embedding import ModelConstants


def calibrated_constants(connection: apsw.Connection, fingerprint: str) -> ModelConstants | None:
    """The constants of the model with that fingerprint; None if none were stored."""
    there = connection.execute(
        "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'model_constants'"
    )
    if there.fetchone() is None:
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
