"""The outbox of a generation: the changes that its vector engine has not taken yet.

A generation whose vectors an engine outside the file indexes has this table in place of one of
signatures. A row is written in the transaction that stores or deletes its chunk, and deleted when
the engine has taken the change. Row 0 describes the collection. A chunk id is never used twice and
its vector never changes, so each change can be sent again without harm.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import apsw

from mdvec.text.quoting import identifier

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from mdvec.embedding.embedder import Vectors
    from mdvec.index.tables import Tables

_RETIRED = "retired_collections"
_TOKEN_BYTES = 12


@dataclass(frozen=True, slots=True)
class Collection:
    """The collection that an engine keeps for a generation, and who may write to it.

    ``writer`` is the random token that this file's last import left in the collection; ``next`` is
    the one that an import was about to leave there.
    """

    name: str
    writer: str | None = None
    next: str | None = None


@dataclass(frozen=True, slots=True)
class Batch:
    """Some of the changes: chunks to add, with their vectors, and ids to remove."""

    ids: tuple[int, ...]
    vectors: Vectors
    gone: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.ids) + len(self.gone)


def has_outbox(connection: apsw.Connection, tables: Tables) -> bool:
    """Whether an engine outside the file indexes this generation's vectors."""
    found = connection.execute(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name IN (?, ?)",
        (tables.outbox, tables.signatures),
    ).fetchall()
    # A version of mdvec without engines builds the signatures again: then they are right.
    return found == [(tables.outbox,)]


def create_outbox(connection: apsw.Connection, tables: Tables) -> None:
    """Create the outbox, empty, for a collection of a new name."""
    connection.execute(
        f"CREATE TABLE {identifier(tables.outbox)} (chunk_id INTEGER PRIMARY KEY, "
        "is_gone INTEGER NOT NULL, collection TEXT)"
    )
    connection.execute(
        f"INSERT INTO {identifier(tables.outbox)} VALUES (0, 0, ?)",
        (json.dumps(asdict(_new_collection(tables))),),
    )


def leave_collection(connection: apsw.Connection, tables: Tables) -> None:
    """Begin a collection of a new name; the present one belongs to another copy of the file."""
    set_collection(connection, tables, _new_collection(tables))
    connection.execute(f"DELETE FROM {identifier(tables.outbox)} WHERE chunk_id > 0")
    enqueue_all(connection, tables)


def _new_collection(tables: Tables) -> Collection:
    random = secrets.token_hex(_TOKEN_BYTES)
    return Collection(f"mdvec-{tables.tool_id}-{tables.generation}-{random}")


def drop_outbox(connection: apsw.Connection, tables: Tables) -> None:
    """Drop the outbox, if there is one, and remember that its collection must be deleted."""
    found = connection.execute(
        "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?", (tables.outbox,)
    ).fetchone()
    if found is not None:
        _retire(connection, collection(connection, tables).name)
        connection.execute(f"DROP TABLE {identifier(tables.outbox)}")


def enqueue(
    connection: apsw.Connection, tables: Tables, ids: Sequence[int], *, is_gone: bool
) -> None:
    """Note that chunks were stored or deleted; call within that transaction."""
    connection.executemany(
        f"INSERT OR REPLACE INTO {identifier(tables.outbox)} (chunk_id, is_gone) VALUES (?, ?)",
        ((chunk_id, is_gone) for chunk_id in ids),
    )


def enqueue_all(connection: apsw.Connection, tables: Tables) -> None:
    """Note every stored chunk as not sent yet."""
    connection.execute(
        f"INSERT OR REPLACE INTO {identifier(tables.outbox)} (chunk_id, is_gone) "
        f"SELECT id, 0 FROM {identifier(tables.vectors)}"
    )


def collection(connection: apsw.Connection, tables: Tables) -> Collection:
    """The collection of a generation."""
    (stored,) = connection.execute(
        f"SELECT collection FROM {identifier(tables.outbox)} WHERE chunk_id = 0"
    ).fetchone() or ("{}",)
    return Collection(**json.loads(str(stored)))


def collection_of(connection: apsw.Connection, tables: Tables) -> Collection | None:
    """The collection of a generation, if an engine outside the file indexes it."""
    return collection(connection, tables) if has_outbox(connection, tables) else None


def set_collection(connection: apsw.Connection, tables: Tables, changed: Collection) -> None:
    """Change the description of a generation's collection."""
    connection.execute(
        f"UPDATE {identifier(tables.outbox)} SET collection = ? WHERE chunk_id = 0",
        (json.dumps(asdict(changed)),),
    )


def waiting(connection: apsw.Connection, tables: Tables, limit: int) -> tuple[list[int], int]:
    """The ids to add that wait, and the number of ids to remove; at most ``limit`` rows in all."""
    rows = list(
        connection.execute(
            f"SELECT chunk_id, is_gone FROM {identifier(tables.outbox)} WHERE chunk_id > 0 LIMIT ?",
            (limit,),
        )
    )
    added = [int(chunk_id) for chunk_id, is_gone in rows if not is_gone]
    return added, len(rows) - len(added)


def waiting_count(connection: apsw.Connection, tables: Tables) -> int:
    """The number of changes that wait."""
    (count,) = connection.execute(
        f"SELECT count(*) FROM {identifier(tables.outbox)} WHERE chunk_id > 0"
    ).fetchone() or (0,)
    return int(count)


def waiting_outside(connection: apsw.Connection, tables: Tables) -> int | None:
    """The number of changes that wait; None if the file indexes the vectors."""
    return waiting_count(connection, tables) if has_outbox(connection, tables) else None


def next_batch(connection: apsw.Connection, tables: Tables, limit: int) -> Batch:
    """The oldest changes, at most ``limit``."""
    import numpy as np

    cursor = connection.execute(
        f"SELECT o.chunk_id, v.embedding FROM {identifier(tables.outbox)} AS o "
        f"LEFT JOIN {identifier(tables.vectors)} AS v ON v.id = o.chunk_id AND NOT o.is_gone "
        "WHERE o.chunk_id > 0 ORDER BY o.chunk_id LIMIT ?",
        (limit,),
    )
    rows = list(cursor)
    there = [(int(chunk_id), bytes(blob)) for chunk_id, blob in rows if blob is not None]
    joined = b"".join(blob for _, blob in there)
    vectors = np.frombuffer(joined, dtype=np.float32).reshape(len(there) or 1, -1)
    gone = tuple(int(chunk_id) for chunk_id, blob in rows if blob is None)
    return Batch(tuple(chunk_id for chunk_id, _ in there), vectors[: len(there)], gone)


def take_out(connection: apsw.Connection, tables: Tables, batch: Batch) -> None:
    """Forget changes that the engine has taken, unless they have changed meanwhile."""
    with connection:
        connection.executemany(
            f"DELETE FROM {identifier(tables.outbox)} WHERE chunk_id = ? AND is_gone = ?",
            [(chunk_id, 0) for chunk_id in batch.ids] + [(number, 1) for number in batch.gone],
        )


def stored_ids(connection: apsw.Connection, tables: Tables) -> NDArray[np.int64]:
    """The ids of all stored chunks, ascending."""
    import numpy as np

    rows = connection.execute(f"SELECT id FROM {identifier(tables.vectors)} ORDER BY id").fetchall()
    return np.array(rows, dtype=np.int64).reshape(-1)


def retired(connection: apsw.Connection) -> list[str]:
    """The names of the collections that no generation uses any more."""
    found = connection.execute(
        "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?", (_RETIRED,)
    ).fetchone()
    if found is None:
        return []
    return [str(name) for (name,) in connection.execute(f"SELECT name FROM {_RETIRED}")]


def tool_of(name: str) -> int:
    """The id of the tool that a collection was made for."""
    return int(name.split("-")[1])


def forget_retired(connection: apsw.Connection, name: str) -> None:
    """Forget a collection that the engine has deleted."""
    with connection:
        connection.execute(f"DELETE FROM {_RETIRED} WHERE name = ?", (name,))


def _retire(connection: apsw.Connection, name: str) -> None:
    connection.execute(f"CREATE TABLE IF NOT EXISTS {_RETIRED} (name TEXT PRIMARY KEY)")
    connection.execute(f"INSERT OR IGNORE INTO {_RETIRED} VALUES (?)", (name,))
