"""The lexical index: an FTS5 table of every chunk's terms, those of its title and headings too."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import apsw

from mdvec.index.tables import Tables
from mdvec.text.terms import terms

_POSTINGS = 1_500
_ALWAYS, _AT_MOST = 2, 64


def insert_terms(
    connection: apsw.Connection, tables: Tables, chunk_id: int, title: str, heading: str, text: str
) -> None:
    """Index a chunk."""
    connection.execute(
        f"INSERT INTO {tables.fts} (rowid, terms) VALUES (?, ?)",
        (chunk_id, " ".join(terms(indexed_text(title, heading, text)))),
    )


def indexed_text(title: str, heading: str, text: str) -> str:
    """What a chunk is found by: its text, and the title and headings that it stands under."""
    return f"{title}\n{heading}\n{text}"


def delete_terms(connection: apsw.Connection, tables: Tables, chunk_ids: Iterable[int]) -> None:
    """Take chunks out of the index."""
    connection.executemany(
        f"DELETE FROM {tables.fts} WHERE rowid = ?", ((chunk_id,) for chunk_id in chunk_ids)
    )


def document_frequencies(
    connection: apsw.Connection, tables: Tables, wanted: Sequence[str]
) -> dict[str, int]:
    """In how many chunks each term stands; 0 where none has it."""
    found = dict.fromkeys(wanted, 0)
    rows = connection.execute(
        f"SELECT term, doc FROM {tables.terms} WHERE term IN ({','.join('?' * len(found))})",
        tuple(found),
    )
    found.update((str(term), int(count)) for term, count in rows)
    return found


def matching_chunks(
    connection: apsw.Connection, tables: Tables, frequencies: dict[str, int], limit: int
) -> list[int]:
    """The ``limit`` chunks that BM25 puts first for the rarer of the query's terms.

    Terms are taken from the rarest on while their postings are few: the frequent ones cost the
    most and tell the least, and the candidates are scored by all terms afterwards.
    """
    known = sorted((term for term, count in frequencies.items() if count), key=frequencies.get)  # type: ignore[arg-type]
    chosen: list[str] = []
    postings = 0
    for term in known:
        postings += frequencies[term]
        if len(chosen) == _AT_MOST or (len(chosen) >= _ALWAYS and postings > _POSTINGS):
            break
        chosen.append(term)
    if not chosen:
        return []
    # A term is letters, digits and "_" alone: within quotes nothing of FTS5's syntax is left.
    rows = connection.execute(
        f"SELECT rowid FROM {tables.fts} WHERE {tables.fts} MATCH ? ORDER BY rank LIMIT ?",
        (" OR ".join(f'"{term}"' for term in chosen), limit),
    )
    return [int(chunk_id) for (chunk_id,) in rows]
