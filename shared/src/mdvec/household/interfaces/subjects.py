"""The subjects of a ledger's rows, the rows of each subject, and the words that find them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import apsw

from mdvec.household.core.statement_text import StatementSubject, subject_words
from mdvec.household.core.transaction import Transaction
from mdvec.household.interfaces.plans import all_notes
from mdvec.household.interfaces.transactions import TRANSACTION_COLUMNS, read_transaction
from mdvec.index import Tables, change_headings
from mdvec.text import identifier, terms
from mdvec.tools import list_tools

_OF_SUBJECT = "description, category_major, category_minor, memo"


def subjects_by_file(
    connection: apsw.Connection, tool_id: int
) -> dict[str, list[StatementSubject]]:
    """The subjects whose first row is in each file; every file with rows.

    Rows that left the sums because they are gone from the statements have no subject.
    """
    files = connection.execute(
        "SELECT DISTINCT source_file FROM transactions "
        "WHERE +tool_id = ? AND removal IS NOT 'removed' ORDER BY 1",
        (tool_id,),
    )
    by_file: dict[str, list[StatementSubject]] = {str(path): [] for (path,) in files}
    firsts = connection.execute(
        "SELECT t.source_file, t.id, t.row_number, t.description, t.category_major, "
        "t.category_minor, t.memo, f.accounts FROM ("
        "SELECT min(id) AS id, json_group_array(DISTINCT account) AS accounts FROM transactions "
        f"WHERE tool_id = ? AND removal IS NOT 'removed' GROUP BY {_OF_SUBJECT}) AS f "
        "JOIN transactions AS t ON t.id = f.id ORDER BY t.id",
        (tool_id,),
    )
    noted = _notes_by_subject(connection, tool_id)
    for path, row_id, line, description, major, minor, memo, accounts in firsts:
        words = subject_words(str(description), str(major), str(minor), str(memo))
        names = _names(accounts, noted.get((description, major, minor, memo), ()))
        by_file[str(path)].append(StatementSubject(int(row_id or 0), int(line or 0), words, names))
    return by_file


def _names(accounts: object, notes: Iterable[str]) -> str:
    """Other words that find a subject: the accounts of its rows, and the user's notes on them."""
    names = sorted(name for name in json.loads(str(accounts)) if name.strip())
    return " ".join([*names, *notes])


def _notes_by_subject(
    connection: apsw.Connection, tool_id: int
) -> dict[tuple[object, ...], list[str]]:
    by_subject: dict[tuple[object, ...], list[str]] = {}
    for row_id, note in sorted(all_notes(connection, tool_id).items()):
        subject = connection.execute(
            f"SELECT {_OF_SUBJECT} FROM transactions WHERE id = ?", (row_id,)
        ).fetchone()
        by_subject.setdefault(tuple(subject or ()), []).extend(note.words)
    return by_subject


def changed_headings(connection: apsw.Connection, tables: Tables) -> dict[int, str]:
    """The heading of each chunk whose rows have other categories, accounts or notes than stored.

    It has the words of the row's subject if they differ from the stored text.
    """
    same = " AND ".join(f"o.{name} = t.{name}" for name in ("tool_id", *_OF_SUBJECT.split(", ")))
    rows = connection.execute(
        "SELECT v.id, v.heading, v.chunk_text, t.description, t.category_major, t.category_minor, "
        "t.memo, (SELECT json_group_array(DISTINCT o.account) FROM transactions AS o "
        f"WHERE {same} AND o.removal IS NOT 'removed') "
        f"FROM {identifier(tables.vectors)} AS v JOIN transactions AS t ON t.id = v.chunk_index "
        "WHERE t.tool_id = ?",
        (tables.tool_id,),
    )
    noted = _notes_by_subject(connection, tables.tool_id)
    headings: dict[int, str] = {}
    for chunk_id, heading, text, *subject, accounts in rows:
        words = subject_words(*map(str, subject))
        names = _names(accounts, noted.get(tuple(subject), ()))
        now = f"{names} {words}" if words and words != text else names
        if now != heading:
            headings[int(str(chunk_id))] = now
    return headings


def searchable_rows(connection: apsw.Connection, tool_id: int) -> int:
    """The number of rows that a search finds."""
    (count,) = connection.execute(
        "SELECT count(*) FROM transactions WHERE tool_id = ? AND removal IS NOT 'removed'",
        (tool_id,),
    ).fetchone() or (0,)
    return int(count)


@dataclass(frozen=True, slots=True)
class RowMentions:
    """What a question says of rows: days or months as digits (20250612), amounts, and its text."""

    days: Sequence[str]
    amounts: Sequence[int]
    text: str


def rows_like(
    connection: apsw.Connection, tool_id: int, row_id: int, wanted: RowMentions, limit: int
) -> list[Transaction]:
    """The rows with the subject of one row: first those that the question names, then the newest.

    It names a row by its day, its amount, words of the user's note on it, or its account.

    Rows that left the sums because they are gone from the statements are not among them.
    """
    rows = connection.execute(
        f"SELECT {TRANSACTION_COLUMNS} FROM transactions AS t WHERE tool_id = ?1 "
        f"AND removal IS NOT 'removed' AND ({_OF_SUBJECT}) = (SELECT {_OF_SUBJECT} "
        "FROM transactions WHERE id = ?2) "
        "ORDER BY EXISTS (SELECT 1 FROM json_each(?3) "
        "WHERE replace(t.date, '-', '') LIKE value || '%') DESC, "
        "coalesce(abs(amount) IN (SELECT value FROM json_each(?4)), 0) DESC, "
        "id IN (SELECT value FROM json_each(?7)) DESC, "
        "(account <> '' AND instr(?5, account) > 0) DESC, date DESC, id DESC LIMIT ?6",
        (
            tool_id, row_id, json.dumps(list(wanted.days)), json.dumps(list(wanted.amounts)),
            wanted.text, limit, json.dumps(_noted_as(connection, tool_id, wanted.text)),
        ),
    )  # fmt: skip
    return [read_transaction(row) for row in rows]


def _noted_as(connection: apsw.Connection, tool_id: int, question: str) -> list[int]:
    """The ids of the rows whose note has a word of a question."""
    question_terms = set(terms(question))
    return [
        row_id
        for row_id, note in all_notes(connection, tool_id).items()
        if not question_terms.isdisjoint(terms(" ".join(note.words)))
    ]


def follow_decisions(connection: apsw.Connection, tool_id: int) -> None:
    """Bring the words by which a household's rows are found up to its categories and notes.

    Nothing is embedded: vectors follow with the next import. Call within the transaction that
    changed the rows or notes.
    """
    tool = next(
        (candidate for candidate in list_tools(connection) if candidate.id == tool_id), None
    )
    if tool is None or not tool.generation:
        return
    headings = changed_headings(connection, tool.tables)
    change_headings(connection, tool.tables, headings)
