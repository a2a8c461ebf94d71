"""Notes and tags on rows; they stay with a row over imports."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import apsw

from mdvec.errors import MdvecError
from mdvec.household.core.answers import AnswerText, answer_text
from mdvec.household.core.found import row_line
from mdvec.household.core.transaction import RowNote, Transaction
from mdvec.household.core.wording import format_currency
from mdvec.household.interfaces.subjects import follow_decisions
from mdvec.household.interfaces.transactions import TRANSACTION_COLUMNS, read_transaction
from mdvec.text import on_one_line, shown_name

_MAX_NOTE, _MAX_TAG, _MAX_TAGS = 500, 40, 10
_MAX_LISTED = 50


class InvalidNote(MdvecError):
    """A note that cannot be kept; the message says why."""


@dataclass(frozen=True, slots=True)
class NotedRow:
    """A row with its note ("" for none) and tags."""

    row: Transaction
    note: str
    tags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NotesAnswer:
    """Rows with notes, by date, at most 50; ``total`` is the yen of all that count, signed."""

    rows: tuple[NotedRow, ...]
    total_rows: int
    total: int
    text: AnswerText


def note_row(
    connection: apsw.Connection,
    tool_id: int,
    *,
    transaction_id: int,
    note: str | None = "",
    tags: Sequence[str] | None = (),
) -> NotesAnswer:
    """Put a note and tags on a row, in place of those it has; without both, it has none.

    None for one of them leaves what the row has.

    Raises:
        InvalidNote: there is no such row, or the note or a tag is too long.
    """
    if abs(transaction_id) >= 2**63:  # SQLite's integers
        raise InvalidNote(
            "その ID の取引はありません。find_transactions で ID を確認してください。"
        )
    noted = _noted(connection, tool_id, "t.id = ?", (transaction_id,))
    if note is None:
        note = noted[0].note if noted else ""
    if tags is None:
        tags = noted[0].tags if noted else ()
    note = " ".join(on_one_line(note).split())
    cleaned = tuple(dict.fromkeys(cleaned_tag for tag in tags if (cleaned_tag := _tag(tag))))
    if len(note) > _MAX_NOTE or len(cleaned) > _MAX_TAGS or any(len(t) > _MAX_TAG for t in cleaned):
        raise InvalidNote(
            f"メモは {_MAX_NOTE}文字、タグは {_MAX_TAG}文字を {_MAX_TAGS}個までです。"
        )
    with connection:
        row = connection.execute(
            "SELECT identity FROM transactions WHERE tool_id = ? AND id = ?",
            (tool_id, transaction_id),
        ).fetchone()
        if row is None:
            raise InvalidNote(f"取引 {transaction_id} はこの家計簿にありません。")
        key = (tool_id, row[0])
        connection.execute("DELETE FROM row_notes WHERE tool_id = ? AND identity = ?", key)
        if note or cleaned:
            connection.execute(
                "INSERT INTO row_notes (tool_id, identity, note, tags) VALUES (?, ?, ?, ?)",
                (*key, note, json.dumps(cleaned, ensure_ascii=False)),
            )
        # A search by words keeps the rows in memory until the ledger's version changes. An import
        # that runs now may store texts without the note; the next one compares them.
        connection.execute(
            "UPDATE ledger_versions SET version = version + 1, is_indexed = 0 WHERE tool_id = ?",
            (tool_id,),
        )
        follow_decisions(connection, tool_id)
        rows = _noted(connection, tool_id, "t.id = ?", (transaction_id,))
    if not rows:
        return NotesAnswer((), 0, 0, f"取引 {transaction_id} のメモとタグを消しました。")
    text = answer_text(["記録しました。", _line(rows[0])])
    return NotesAnswer(tuple(rows), 1, rows[0].row.amount or 0, text)


def list_notes(connection: apsw.Connection, tool_id: int, *, tag: str | None = None) -> NotesAnswer:
    """The rows with notes or tags, or those with one tag, and the sum of those that count."""
    if tag is None or not _tag(tag):
        rows = _noted(connection, tool_id, "true", ())
        what = "メモかタグのある明細"
    else:
        condition = "EXISTS (SELECT 1 FROM json_each(n.tags) WHERE value = ?)"
        rows = _noted(connection, tool_id, condition, (_tag(tag),))
        what = f"タグ「{_tag(tag)}」の明細"
    total = sum(noted.row.amount or 0 for noted in rows if noted.row.counts)
    head = (
        f"{what}は {len(rows):,}件、集計に入る合計は {format_currency(total, signed=True)} です。"
    )
    shown = rows[-_MAX_LISTED:]
    is_cut = len(rows) > len(shown)
    more = [f"新しいほうから {_MAX_LISTED}件を示します（tags で絞れます）。"] if is_cut else []
    text = answer_text([head, *more, *map(_line, shown)])
    return NotesAnswer(tuple(shown), len(rows), total, text)


def _tag(tag: str) -> str:
    return " ".join(on_one_line(tag).split()).lstrip("#＃")


def _noted(
    connection: apsw.Connection, tool_id: int, condition: str, values: tuple[int | str, ...]
) -> list[NotedRow]:
    rows: list[tuple[Any, ...]] = connection.execute(
        f"SELECT n.note, n.tags, {_OF_ROW} FROM row_notes AS n "
        "JOIN transactions AS t ON t.tool_id = n.tool_id AND t.identity = n.identity "
        f"WHERE n.tool_id = ? AND {condition} ORDER BY t.date, t.id",
        (tool_id, *values),
    ).fetchall()
    return [
        NotedRow(read_transaction(row), note, tuple(json.loads(tags))) for note, tags, *row in rows
    ]


_OF_ROW = ", ".join(f"t.{column}" for column in TRANSACTION_COLUMNS.split(", "))


def _line(noted: NotedRow) -> str:
    row = noted.row
    line = row_line(row, RowNote(noted.note, noted.tags))
    return f"{line}（ID {row.id}、{shown_name(row.source_file)}:{row.row_number}）"
