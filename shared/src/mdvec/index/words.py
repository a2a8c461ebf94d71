"""The lexical index: an FTS5 table of the terms of each chunk, its title and its headings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import apsw

from mdvec.index.tables import Tables
from mdvec.text.quoting import identifier
from mdvec.text.terms import terms

_MAX_POSTINGS = 1_500
_MIN_TERMS, _MAX_TERMS = 2, 64


def insert_terms(
    connection: apsw.Connection, tables: Tables, chunk_id: int, title: str, heading: str, text: str
) -> None:
    """Add a chunk to the index."""
    connection.execute(
        f"INSERT INTO {identifier(tables.fts)} (rowid, terms) VALUES (?, ?)",
        (chunk_id, " ".join(terms(indexed_text(title, heading, text)))),
    )


def indexed_text(title: str, heading: str, text: str) -> str:
    """The text that a chunk is found by: title, headings and its own text."""
    return f"{title}\n{heading}\n{text}"


def delete_terms(connection: apsw.Connection, tables: Tables, chunk_ids: Iterable[int]) -> None:
    """Remove chunks from the index."""
    connection.executemany(
        f"DELETE FROM {identifier(tables.fts)} WHERE rowid = ?",
        ((chunk_id,) for chunk_id in chunk_ids),
    )


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
    connection: apsw.Connection, tables: Tables, frequencies: dict[str, int], limit: int
) -> list[int]:
    """The ``limit`` best chunks by BM25 for the rarer of the query's terms.

    Terms are added from the rarest on until their postings become too many: frequent terms cost
    the most and say the least, and the candidates are scored by all terms afterwards.
    """
    known = sorted(
        (term for term, count in frequencies.items() if count), key=frequencies.__getitem__
    )
    chosen: list[str] = []
    postings = 0
    for term in known:
        postings += frequencies[term]
        if len(chosen) == _MAX_TERMS or (len(chosen) >= _MIN_TERMS and postings > _MAX_POSTINGS):
            break
        chosen.append(term)
    if not chosen:
        return []
    # A term has only letters, digits and "_", so in quotes it contains no FTS5 syntax.
    fts = identifier(tables.fts)
    rows = connection.execute(
        f"SELECT rowid FROM {fts} WHERE {fts} MATCH ? ORDER BY rank LIMIT ?",
        (" OR ".join(f'"{term}"' for term in chosen), limit),
    )
    return [int(chunk_id) for (chunk_id,) in rows]
