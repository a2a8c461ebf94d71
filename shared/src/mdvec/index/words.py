"""The lexical index: an FTS5 table of each chunk's terms, with a column per field."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import apsw

from mdvec.index.ranges import ChunkRanges
from mdvec.index.tables import Tables
from mdvec.index.vocabulary import insert_words
from mdvec.index.word_counts import delete_word_counts, insert_word_counts
from mdvec.text.fields import ChunkFields, FieldTerms, field_terms
from mdvec.text.morphemes import WORD_MARK
from mdvec.text.quoting import identifier

_MAX_POSTINGS = 1_500
_MAX_POSTINGS_WITHIN = 20_000
_MIN_TERMS, _MAX_TERMS = 2, 64


def insert_terms(
    connection: apsw.Connection, tables: Tables, chunks: Iterable[tuple[int, ChunkFields]]
) -> None:
    """Add a document's chunks, each with its id, to the index."""
    known: dict[str, FieldTerms] = {}
    readings: dict[str, str] = {}
    sql = (
        f"INSERT INTO {identifier(tables.fts)} (rowid, title, names, heading, text) "
        "VALUES (?, ?, ?, ?, ?)"
    )
    for chunk_id, fields in chunks:
        found: list[FieldTerms] = []
        for text in fields.each():
            if text not in known:
                known[text] = field_terms(text)
                readings |= known[text].readings
            found.append(known[text])
        connection.execute(sql, (chunk_id, *map(_indexed, found)))
        insert_word_counts(connection, tables, chunk_id, [field.words for field in found])
    insert_words(connection, tables, readings)


def _indexed(field: FieldTerms) -> str:
    """The terms of a field for FTS5; words in letters are already among the plain terms."""
    return " ".join([*field.plain, *(word for word in field.words if word[0] == WORD_MARK)])


def delete_terms(connection: apsw.Connection, tables: Tables, chunk_ids: Sequence[int]) -> None:
    """Remove chunks from the index."""
    connection.executemany(
        f"DELETE FROM {identifier(tables.fts)} WHERE rowid = ?",
        ((chunk_id,) for chunk_id in chunk_ids),
    )
    delete_word_counts(connection, tables, chunk_ids)


def document_frequencies(
    connection: apsw.Connection, tables: Tables, wanted: Sequence[str]
) -> dict[str, int]:
    """The number of chunks that contain each term."""
    found = dict.fromkeys(wanted, 0)
    placeholders = ",".join("?" * len(found))
    rows = connection.execute(
        f"SELECT term, doc FROM {identifier(tables.terms)} WHERE term IN ({placeholders})",
        tuple(found),
    )
    found.update((str(term), int(count)) for term, count in rows)
    return found


def matching_chunks(
    connection: apsw.Connection,
    tables: Tables,
    frequencies: Mapping[str, int],
    limit: int,
    within: ChunkRanges | None = None,
) -> list[int]:
    """The ``limit`` best chunks by BM25 for the rarest of the query's terms.

    Terms are used from the rarest on until they have too many postings: frequent terms cost the
    most and tell the least, and candidates are scored by all terms later. With ``within``, only
    those chunks are found, and more postings are read because most belong to other chunks.
    """
    known = sorted(
        (term for term, count in frequencies.items() if count), key=frequencies.__getitem__
    )
    chosen: list[str] = []
    postings, most = 0, _MAX_POSTINGS if within is None else _MAX_POSTINGS_WITHIN
    for term in known:
        postings += frequencies[term]
        if len(chosen) == _MAX_TERMS or (len(chosen) >= _MIN_TERMS and postings > most):
            break
        chosen.append(term)
    if not chosen or not limit:
        return []
    # A term has only letters, digits, "_" and "=", so in quotes it contains no FTS5 syntax.
    fts = identifier(tables.fts)
    match = " OR ".join(f'"{term}"' for term in chosen)
    if within is None:
        rows = connection.execute(
            f"SELECT rowid FROM {fts} WHERE {fts} MATCH ? ORDER BY rank LIMIT ?", (match, limit)
        )
    else:
        # "+" keeps FTS5 from looking up the ids one by one. bm25() is called only for these rows.
        rows = connection.execute(
            f"SELECT rowid FROM {fts} WHERE {fts} MATCH ? AND +rowid IN carray(?) "
            f"ORDER BY bm25({fts}) LIMIT ?",
            (match, apsw.carray(within.ids()), limit),
        )
    return [int(chunk_id) for (chunk_id,) in rows]
