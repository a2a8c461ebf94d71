"""The word index: terms by field (FTS5), their counts, and the words of a tool with readings."""

from __future__ import annotations

import struct
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, repeat
from typing import TYPE_CHECKING
from zlib import crc32

import apsw

from mdvec.index.tables import Tables, has_words
from mdvec.text import (
    FIELDS,
    WORD_MARK,
    ChunkFields,
    FieldCounts,
    FieldTerms,
    are_homophones,
    field_terms,
    first_kana,
    is_katakana,
    is_letters,
    katakana_of,
    max_edits,
    nearest_spellings,
)

if TYPE_CHECKING:
    from mdvec.index.conditions import ChunkRanges

_MAX_READING = 64
_MAX_CONTAINING = 48
_MORE_KANA = 4
"""How many characters longer than an English word its katakana may be, including the mark."""
_KATAKANA_WORDS = (f"{WORD_MARK}ァ", f"{WORD_MARK}ヿ")
_ALL_WORDS = ("", chr(sys.maxunicode))
_BYTES_EACH = 6
_MAX_COUNT = 255
_DELETED = -1
"""The id of a row that marks deletions, after which the vocabulary may have unused words."""
_FIRST_TOMBSTONE = 1 << 53
"""The lowest id of tombstone pages in FTS5's data table."""
_MAX_SEGMENTS = 8
"""More segments, all of which every term is looked up in, are merged at the end of an import."""
_MERGED_PAGES = 64
"""How many pages are merged before the pages merged so far are freed for the next."""
_MAX_WITH_PHRASES = 100
_MAX_POSTINGS = 1_500
_MAX_POSTINGS_WITHIN = 20_000
_MIN_TERMS, _MAX_TERMS = 2, 64


def insert_words(tables: Tables, readings: Mapping[str, str]) -> None:
    """Add words with their readings, unless they are stored already."""
    tables.connection.executemany(
        f"INSERT OR IGNORE INTO {tables.vocabulary} (term, reading) VALUES (?, ?)",
        ((term, reading) for term, reading in readings.items() if len(reading) <= _MAX_READING),
    )


def words_containing(tables: Tables, part: str) -> list[str]:
    """Some indexed words in letters that contain ``part``, shortest first; "_" is ignored."""
    return tables.column(
        f"SELECT term FROM {tables.vocabulary} "
        "WHERE instr(replace(term, '_', ''), ?) AND substr(term, 1, 1) <> ? "
        "ORDER BY length(term), term LIMIT ?",
        (part.replace("_", ""), WORD_MARK, _MAX_CONTAINING),
    )


def has_beginning(tables: Tables, letters: str) -> bool:
    """Whether a word begins with these letters."""
    within = (letters, letters[:-1] + chr(ord(letters[-1]) + 1))
    some = f"SELECT 1 FROM {tables.terms} WHERE term >= ? AND term < ? LIMIT 1"
    return bool(tables.column(some, within))


def other_spellings(tables: Tables, term: str, reading: str) -> list[str]:
    """Stored words with the reading of a word that no chunk has (渡邊: 渡辺, おや: 親)."""
    alike = f"SELECT term FROM {tables.vocabulary} WHERE reading = ? AND term <> ?"
    others = tables.column(alike, (reading, term))
    return [other for other in others if not are_homophones(term, other)]


def nearest_words(tables: Tables, term: str) -> list[str]:
    """The words that differ from a term in letters or katakana by the fewest typing errors."""
    spelling = term.removeprefix(WORD_MARK)
    edits = max_edits(spelling)
    if not edits:
        return []
    shortest, longest = len(spelling) - edits, len(spelling) + edits
    alphabet = _KATAKANA_WORDS if is_katakana(spelling) else _ALL_WORDS
    terms = tables.column(
        f"SELECT term FROM {tables.vocabulary} "
        "WHERE term BETWEEN ? AND ? AND length(ltrim(term, ?)) BETWEEN ? AND ?",
        (*alphabet, WORD_MARK, shortest, longest),
    )
    by_spelling = {other.removeprefix(WORD_MARK): other for other in terms}
    return [by_spelling[other] for other in nearest_spellings(spelling, by_spelling, edits)]


def in_katakana(tables: Tables, word: str) -> list[str]:
    """The katakana words that may spell an English word (hook: フック); none for other words."""
    kana = first_kana(word)
    if not kana:
        return []
    terms = tables.column(
        f"SELECT term FROM {tables.vocabulary} "
        "WHERE term BETWEEN ? AND ? AND length(term) <= ? AND instr(?, substr(term, ?, 1))",
        (*_KATAKANA_WORDS, len(word) + _MORE_KANA, kana, len(WORD_MARK) + 1),
    )
    known = [term.removeprefix(WORD_MARK) for term in terms]
    return [WORD_MARK + spelling for spelling in katakana_of(word, filter(is_katakana, known))]


def insert_word_counts(tables: Tables, chunk_id: int, words: Sequence[Sequence[str]]) -> None:
    """Store the counts of a chunk's words by field."""
    checksums: list[int] = []
    counts: list[int] = []
    fields: list[int] = []
    for field, field_words in enumerate(words):
        counted = Counter(field_words)
        checksums += [crc32(term.encode()) for term in counted]
        counts += [min(count, _MAX_COUNT) for count in counted.values()]
        fields += [field] * len(counted)
    if checksums:
        size = len(checksums)
        tables.execute(
            f"INSERT INTO {tables.counts} (chunk_id, counts) VALUES (?, ?)",
            (chunk_id, struct.pack(f"<{size}I{2 * size}B", *checksums, *counts, *fields)),
        )


def delete_word_counts(tables: Tables, chunk_ids: Iterable[int]) -> None:
    """Delete the counts of chunks, and mark that there were deletions."""
    counts = tables.counts
    tables.connection.executemany(
        f"DELETE FROM {counts} WHERE chunk_id = ?", ((chunk_id,) for chunk_id in chunk_ids)
    )
    tables.execute(
        f"INSERT OR IGNORE INTO {counts} (chunk_id, counts) VALUES (?, x'')", (_DELETED,)
    )


def word_counts(
    tables: Tables, chunk_ids: Iterable[int], variants: Mapping[str, Iterable[str]]
) -> dict[int, dict[str, FieldCounts]]:
    """How often each word of a question occurs in each field of each chunk.

    ``variants`` has for each word the indexed terms that count as this word.
    """
    word_of = {crc32(term.encode()): word for word, terms in variants.items() for term in terms}
    numbers = ",".join(map(str, chunk_ids))
    rows = tables.execute(
        f"SELECT chunk_id, counts FROM {tables.counts} WHERE chunk_id IN ({numbers})"
    )
    return {int(chunk_id): _field_counts(bytes(packed), word_of) for chunk_id, packed in rows}


def _field_counts(packed: bytes, word_of: Mapping[int, str]) -> dict[str, FieldCounts]:
    size = len(packed) // _BYTES_EACH
    checksums = struct.unpack_from(f"<{size}I", packed)
    by_word: dict[str, list[int]] = {}
    for position in [at for at, checksum in enumerate(checksums) if checksum in word_of]:
        counts = by_word.setdefault(word_of[checksums[position]], [0] * len(FIELDS))
        counts[packed[5 * size + position]] += packed[4 * size + position]
    return {
        word: (title, names, heading, text)
        for word, (title, names, heading, text) in by_word.items()
    }


def chunks_matching(tables: Tables, expression: str, limit: int = -1) -> list[int]:
    """The chunks that match an FTS5 expression, at most ``limit``; in no order."""
    fts = tables.fts
    sql = f"SELECT rowid FROM {fts} WHERE {fts} MATCH ? LIMIT ?"
    return tables.column(sql, (expression, limit))


def chunks_with_phrases(tables: Tables, phrases: Iterable[Sequence[str]]) -> list[int]:
    """The best hundred chunks that have the terms of one of the phrases in sequence."""
    return _best_by_bm25(tables, (" ".join(phrase) for phrase in phrases), _MAX_WITH_PHRASES)


def insert_terms(tables: Tables, chunks: Iterable[tuple[int, ChunkFields]]) -> None:
    """Add a document's chunks, each with its id, to the index."""
    known: dict[str, FieldTerms] = {}
    readings: dict[str, str] = {}
    sql = f"INSERT INTO {tables.fts} (rowid, title, names, heading, text) VALUES (?, ?, ?, ?, ?)"
    for chunk_id, fields in chunks:
        by_field: list[FieldTerms] = []
        for text in fields:
            if text not in known:
                known[text] = field_terms(text)
                readings |= known[text].readings
            by_field.append(known[text])
        tables.execute(sql, (chunk_id, *map(_indexed_text, by_field)))
        insert_word_counts(tables, chunk_id, [field.words for field in by_field])
    insert_words(tables, readings)


def _indexed_text(field: FieldTerms) -> str:
    """The terms of a field for FTS5; words in letters are already among the plain terms."""
    return " ".join([*field.plain, *(word for word in field.words if word[0] == WORD_MARK)])


def delete_terms(tables: Tables, chunk_ids: Sequence[int]) -> None:
    """Remove chunks from the index."""
    tables.connection.executemany(
        f"DELETE FROM {tables.fts} WHERE rowid = ?",
        ((chunk_id,) for chunk_id in chunk_ids),
    )
    delete_word_counts(tables, chunk_ids)


def finish_word_index(tables: Tables) -> None:
    """Erase deleted terms and unused words, and merge many segments; call after an import.

    FTS5 may already have merged its tombstones away; so a mark in the word counts records deletions
    too.
    """
    tombstones = f"SELECT 1 FROM {tables.fts}_data WHERE id >= ? LIMIT 1"
    segments = tables.column(f"SELECT count(DISTINCT segid) FROM {tables.fts}_idx")[0]
    if segments > _MAX_SEGMENTS or tables.column(tombstones, (_FIRST_TOMBSTONE,)):
        rewrite_lexical_index(tables)
    elif has_words(tables) and _clear_deletion_mark(tables):
        _delete_unused_words(tables)


def rewrite_lexical_index(tables: Tables) -> None:
    """Rewrite the lexical index as one segment, without deleted rows and their words.

    In small steps, as each frees the pages that it merged; FTS5's "optimize" needs twice the space.
    """
    merge = f"INSERT INTO {tables.fts} ({tables.fts}, rank) VALUES ('merge', ?)"
    for pages in chain([-_MERGED_PAGES], repeat(_MERGED_PAGES)):  # below 0: with all segments
        before = tables.connection.total_changes()
        tables.execute(merge, (pages,))
        if tables.connection.total_changes() - before < 2:  # nothing was left to merge
            break
    if has_words(tables):
        _clear_deletion_mark(tables)
        _delete_unused_words(tables)


def _clear_deletion_mark(tables: Tables) -> bool:
    """Clear the mark of deletions; returns whether it was set."""
    tables.execute(f"DELETE FROM {tables.counts} WHERE chunk_id = ?", (_DELETED,))
    return tables.connection.changes() > 0


def _delete_unused_words(tables: Tables) -> None:
    """Delete the words that no longer occur in any chunk."""
    tables.execute(
        f"DELETE FROM {tables.vocabulary} WHERE term NOT IN (SELECT term FROM {tables.terms})"
    )


def document_frequencies(tables: Tables, wanted: Sequence[str]) -> dict[str, int]:
    """The number of chunks that contain each term."""
    frequencies = dict.fromkeys(wanted, 0)
    placeholders = ",".join("?" * len(frequencies))
    rows = tables.execute(
        f"SELECT term, doc FROM {tables.terms} WHERE term IN ({placeholders})",
        tuple(frequencies),
    )
    frequencies.update((str(term), int(count)) for term, count in rows)
    return frequencies


def matching_chunks(
    tables: Tables, frequencies: Mapping[str, int], limit: int, within: ChunkRanges | None = None
) -> list[int]:
    """The ``limit`` best chunks by BM25 for the query's rarest terms; then half as many for words.

    Terms are used from the rarest on until they have too many postings: frequent terms cost the
    most and are the least specific, and candidates are scored by all terms later. A name in letters
    is one term, but a few Japanese words yield dozens, which would outvote it; so the rarest words
    in letters are also searched alone. With ``within``, only those chunks are found, and more
    postings are read, as most belong to other chunks.
    """
    known = sorted(
        (term for term, count in frequencies.items() if count), key=frequencies.__getitem__
    )
    most = _MAX_POSTINGS if within is None else _MAX_POSTINGS_WITHIN
    chosen = _rarest(known, frequencies, most, _MIN_TERMS)
    seats = limit // 2
    rarest = _rarest(list(filter(is_letters, known)), frequencies, seats, 1)
    best = _best_by_bm25(tables, chosen, limit, within)
    if rarest == chosen:  # the same search with fewer seats
        return best
    return [*best, *_best_by_bm25(tables, rarest, seats, within)]


def _rarest(
    terms: Sequence[str], frequencies: Mapping[str, int], most: int, least: int
) -> list[str]:
    """The first terms with at most ``most`` postings in all, but at least ``least`` terms."""
    chosen: list[str] = []
    postings = 0
    for term in terms[:_MAX_TERMS]:
        postings += frequencies[term]
        if len(chosen) >= least and postings > most:
            break
        chosen.append(term)
    return chosen


def _best_by_bm25(
    tables: Tables, phrases: Iterable[str], limit: int, within: ChunkRanges | None = None
) -> list[int]:
    """The best chunks by BM25 that have any of the phrases."""
    # A term has only letters, digits, "_" and "=", so in quotes it contains no FTS5 syntax.
    match = " OR ".join(f'"{phrase}"' for phrase in phrases)
    if not match or not limit:
        return []
    fts = tables.fts
    if within is None:
        sql = f"SELECT rowid FROM {fts} WHERE {fts} MATCH ? ORDER BY rank LIMIT ?"
        return tables.column(sql, (match, limit))
    # "+" keeps FTS5 from looking up ids one by one; bm25() is called only for the rows that pass.
    return tables.column(
        f"SELECT rowid FROM {fts} WHERE {fts} MATCH ? AND +rowid IN carray(?) "
        f"ORDER BY bm25({fts}) LIMIT ?",
        (match, apsw.carray(within.ids()), limit),
    )
