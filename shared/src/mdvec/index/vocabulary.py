"""Every word of a tool's chunks with its reading, to find a word that is spelled otherwise."""

from __future__ import annotations

from collections.abc import Mapping

import apsw

from mdvec.index.tables import Tables
from mdvec.text.morphemes import WORD_MARK
from mdvec.text.quoting import identifier
from mdvec.text.spelling import max_edits, nearest_spellings

_MAX_READING = 40


def insert_words(connection: apsw.Connection, tables: Tables, readings: Mapping[str, str]) -> None:
    """Add words with their readings, unless they are known."""
    connection.executemany(
        f"INSERT OR IGNORE INTO {identifier(tables.vocabulary)} (term, reading) VALUES (?, ?)",
        ((term, reading) for term, reading in readings.items() if len(reading) <= _MAX_READING),
    )


def forget_deleted_words(connection: apsw.Connection, tables: Tables) -> None:
    """Remove the words that no chunk has any more."""
    connection.execute(
        f"DELETE FROM {identifier(tables.vocabulary)} "
        f"WHERE term NOT IN (SELECT term FROM {identifier(tables.terms)})"
    )


def other_spellings(
    connection: apsw.Connection, tables: Tables, term: str, reading: str, *, is_known: bool
) -> list[str]:
    """The words to search instead of one that no chunk has.

    They are those that are read alike (渡邊 and 渡辺, おや and 親), or else, for a word in letters
    or katakana that is not ``is_known`` to the dictionary, those with the fewest letters mistyped.
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
