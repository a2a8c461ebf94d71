"""Stores how often each word occurs in each field of a chunk, for scoring.

The lexical index tells which chunks contain a word; these counts score the candidates without
analysing their text again. A chunk's row has, for all words of all fields, their checksums of four
bytes each, then their counts, then the numbers of their fields, one byte each.
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
"""The id of a row that marks deletions: the vocabulary may have words that occur in no chunk."""


def insert_word_counts(
    connection: apsw.Connection, tables: Tables, chunk_id: int, words: Sequence[Sequence[str]]
) -> None:
    """Store the counts of a chunk's words, which are given by field."""
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
    """Delete the counts of chunks, and mark that there were deletions."""
    counts = identifier(tables.counts)
    connection.executemany(
        f"DELETE FROM {counts} WHERE chunk_id = ?", ((chunk_id,) for chunk_id in chunk_ids)
    )
    connection.execute(
        f"INSERT OR IGNORE INTO {counts} (chunk_id, counts) VALUES (?, x'')", (_DELETED,)
    )


def clear_deletion_mark(connection: apsw.Connection, tables: Tables) -> bool:
    """Clear the mark of deletions; returns whether it was set."""
    connection.execute(f"DELETE FROM {identifier(tables.counts)} WHERE chunk_id = ?", (_DELETED,))
    return connection.changes() > 0


def word_counts(
    connection: apsw.Connection,
    tables: Tables,
    chunk_ids: Iterable[int],
    variants: Mapping[str, Iterable[str]],
) -> dict[int, dict[str, FieldCounts]]:
    """How often each word of a question occurs in each field of each chunk.

    ``variants`` has, for each word, the terms of the index that count as this word.
    """
    word_of = {crc32(term.encode()): word for word, terms in variants.items() for term in terms}
    numbers = ",".join(map(str, chunk_ids))
    rows = connection.execute(
        f"SELECT chunk_id, counts FROM {identifier(tables.counts)} WHERE chunk_id IN ({numbers})"
    )
    return {int(chunk_id): _counted(bytes(packed), word_of) for chunk_id, packed in rows}


def _counted(packed: bytes, word_of: Mapping[int, str]) -> dict[str, FieldCounts]:
    size = len(packed) // _BYTES_EACH
    checksums = struct.unpack_from(f"<{size}I", packed)
    found: dict[str, list[int]] = {}
    if word_of.keys().isdisjoint(checksums):
        return {}
    for place, checksum in enumerate(checksums):
        if checksum in word_of:
            counts = found.setdefault(word_of[checksum], [0] * len(FIELDS))
            counts[packed[5 * size + place]] += packed[4 * size + place]
    return {
        word: (title, names, heading, text) for word, (title, names, heading, text) in found.items()
    }
