"""Stores all words of a tool's chunks with their readings, to find other spellings of a word."""

from __future__ import annotations

from collections.abc import Mapping

import apsw

from mdvec.index.tables import Tables
from mdvec.text.compounds import is_katakana
from mdvec.text.loanwords import first_kana, katakana_of
from mdvec.text.morphemes import WORD_MARK
from mdvec.text.quoting import identifier
from mdvec.text.spelling import max_edits, nearest_spellings

_MAX_READING = 40
_MORE_KANA = 4
"""How many characters longer than an English word its katakana may be, the mark included."""


def insert_words(connection: apsw.Connection, tables: Tables, readings: Mapping[str, str]) -> None:
    """Add words with their readings, unless they are stored already."""
    connection.executemany(
        f"INSERT OR IGNORE INTO {identifier(tables.vocabulary)} (term, reading) VALUES (?, ?)",
        ((term, reading) for term, reading in readings.items() if len(reading) <= _MAX_READING),
    )


def delete_unused_words(connection: apsw.Connection, tables: Tables) -> None:
    """Delete the words that no longer occur in any chunk."""
    connection.execute(
        f"DELETE FROM {identifier(tables.vocabulary)} "
        f"WHERE term NOT IN (SELECT term FROM {identifier(tables.terms)})"
    )


def other_spellings(
    connection: apsw.Connection, tables: Tables, term: str, reading: str, *, is_known: bool
) -> list[str]:
    """The words to search for instead of one that occurs in no chunk.

    They are the words with the same reading (渡邊 and 渡辺, おや and 親). If there are none, and
    the word is in letters or katakana and not in the dictionary, they are those that differ by
    the fewest typing errors.
    """
    vocabulary = identifier(tables.vocabulary)
    alike = connection.execute(
        f"SELECT term FROM {vocabulary} WHERE reading = ? AND term <> ?", (reading, term)
    )
    found = [str(other) for (other,) in alike]
    spelling = term.removeprefix(WORD_MARK)
    edits = max_edits(spelling)
    if found or is_known or not edits:
        return found
    shortest, longest = len(spelling) - edits, len(spelling) + edits
    rows = connection.execute(
        f"SELECT term FROM {vocabulary} WHERE length(ltrim(term, ?)) BETWEEN ? AND ? ",
        (WORD_MARK, shortest, longest),
    )
    by_spelling = {str(other).removeprefix(WORD_MARK): str(other) for (other,) in rows}
    return [by_spelling[other] for other in nearest_spellings(spelling, by_spelling, edits)]


def in_katakana(connection: apsw.Connection, tables: Tables, word: str) -> list[str]:
    """The words in katakana that spell an English word (hook: フック); none for other words."""
    kana = first_kana(word)
    if not kana:
        return []
    rows = connection.execute(
        f"SELECT term FROM {identifier(tables.vocabulary)} "
        "WHERE term BETWEEN ? AND ? AND length(term) <= ? AND instr(?, substr(term, ?, 1))",
        (f"{WORD_MARK}ァ", f"{WORD_MARK}ヿ", len(word) + _MORE_KANA, kana, len(WORD_MARK) + 1),
    )
    known = [str(term).removeprefix(WORD_MARK) for (term,) in rows]
    return [WORD_MARK + spelling for spelling in katakana_of(word, filter(is_katakana, known))]
