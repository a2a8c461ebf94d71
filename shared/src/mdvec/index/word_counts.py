"""How often each word occurs in each field of a chunk, stored for scoring.

The lexical index tells in which chunks a word occurs; candidates are scored by these counts, so
that no passage is analysed anew for a question. A chunk's row has four bytes of checksum for each
word of each field, then a byte each of their counts, then a byte each of their fields.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from zlib import crc32

import apsw

from mdvec.index.tables import Tables
from mdvec.text.fields import FIELDS, FieldCounts
from mdvec.text.quoting import identifier

_BYTES_EACH = 6
_MAX_COUNT = 255
_DELETED = -1
"""Row that says that chunks were deleted, so that there may be words that no chunk has."""


def insert_word_counts(
    connection: apsw.Connection, tables: Tables, chunk_id: int, words: Sequence[Sequence[str]]
) -> None:
    """Store the counts of a chunk's words, given for each field."""
    checksums: list[int] = []
    counts: list[int] = []
    fields: list[int] = []
    for field, found in enumerate(words):
        counted = Counter(found)
        checksums += [crc32(term.encode()) for term in counted]
        counts += [min(count, _MAX_COUNT) for count in counted.values()]
        fields += [field] * len(counted)
    if checksums:
        size = len(checksums)
        connection.execute(
            f"INSERT INTO {identifier(tables.counts)} (chunk_id, counts) VALUES (?, ?)",
            (chunk_id, struct.pack(f"<{size}I{2 * size}B", *checksums, *counts, *fields)),
        )


def delete_word_counts(
    connection: apsw.Connection, tables: Tables, chunk_ids: Iterable[int]
) -> None:
    """Remove the counts of chunks, and remember that some were removed."""
    counts = identifier(tables.counts)
    connection.executemany(
        f"DELETE FROM {counts} WHERE chunk_id = ?", ((chunk_id,) for chunk_id in chunk_ids)
    )
    connection.execute(
        f"INSERT OR IGNORE INTO {counts} (chunk_id, counts) VALUES (?, x'')", (_DELETED,)
    )


def forget_deletions(connection: apsw.Connection, tables: Tables) -> bool:
    """Forget that chunks were deleted; whether any were."""
    connection.execute(f"DELETE FROM {identifier(tables.counts)} WHERE chunk_id = ?", (_DELETED,))
    return connection.changes() > 0


def word_counts(
    connection: apsw.Connection,
    tables: Tables,
    chunk_ids: Iterable[int],
    wanted: Mapping[str, Iterable[str]],
) -> dict[int, dict[str, FieldCounts]]:
    """How often each wanted term occurs in each field of each chunk.

    A term of the question stands for the terms of the index that ``wanted`` has for it.
    """
    stands_for = {crc32(term.encode()): asked for asked, terms in wanted.items() for term in terms}
    numbers = ",".join(map(str, chunk_ids))
    rows = connection.execute(
        f"SELECT chunk_id, counts FROM {identifier(tables.counts)} WHERE chunk_id IN ({numbers})"
    )
    return {int(chunk_id): _counted(bytes(packed), stands_for) for chunk_id, packed in rows}


def _counted(packed: bytes, stands_for: Mapping[int, str]) -> dict[str, FieldCounts]:
    size = len(packed) // _BYTES_EACH
    checksums = struct.unpack_from(f"<{size}I", packed)
    found: dict[str, list[int]] = {}
    if stands_for.keys().isdisjoint(checksums):
        return {}
    for place, checksum in enumerate(checksums):
        if checksum in stands_for:
            counts = found.setdefault(stands_for[checksum], [0] * len(FIELDS))
            counts[packed[5 * size + place]] += packed[4 * size + place]
    return {
        asked: (title, names, heading, text)
        for asked, (title, names, heading, text) in found.items()
    }
