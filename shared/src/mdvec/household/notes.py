"""Notes, tags and categories that the user gives to single rows; imports preserve them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from mdvec.errors import MdvecError
from mdvec.household.core.answers import AnswerText, answer_text, safe_line
from mdvec.household.core.found import row_line
from mdvec.household.core.shown import shown_path
from mdvec.household.core.transaction import RowNote, Transaction, listed_row
from mdvec.household.core.wording import format_currency
from mdvec.household.interfaces.ledger import Ledger
from mdvec.household.interfaces.ledger_sums import TRANSACTION_COLUMNS, read_transaction
from mdvec.household.interfaces.plans import apply_rules
from mdvec.household.interfaces.subjects import follow_decisions
from mdvec.household.rules import chosen_category, warnings
from mdvec.text import on_one_line

_MAX_NOTE, _MAX_TAG, _MAX_TAGS = 500, 40, 10
_MAX_LISTED = 50


class InvalidNote(MdvecError):
    """A note that cannot be stored; the message says why."""


@dataclass(frozen=True, slots=True)
class NotedRow:
    """A row with its note ("" for none) and tags; the user may have given it a category."""

    row: Transaction
    note: str
    tags: tuple[str, ...]
    has_own_category: bool = False


@dataclass(frozen=True, slots=True)
class NotesAnswer:
    """Rows with notes, by date; ``total`` is the signed sum in yen of all that count."""

    rows: tuple[NotedRow, ...]
    total_rows: int
    total: int
    text: AnswerText


def note_row(
    ledger: Ledger,
    *,
    transaction_id: int,
    note: str | None = "",
    tags: Sequence[str] | None = (),
    category: str | None = None,
) -> NotesAnswer:
    """Replace a row's note, tags and category; an empty value removes what the row has.

    None leaves the row's value unchanged.

    Raises:
        InvalidNote: there is no such row, or the note or a tag is too long.
        UnknownCategory, InvalidRule: as in ``categorize_rows``.
    """
    said: list[str] = []
    with ledger.connection:
        if note is not None or tags is not None:
            said = _store_note(ledger, transaction_id, note, tags)
        if category is not None:
            ids = [transaction_id]
            answer = categorize_rows(ledger, transaction_ids=ids, category=category)
            return replace(answer, text="\n".join([*map(safe_line, said), answer.text]))
        noted = noted_row(ledger, transaction_id)
    if not (noted.note or noted.tags):
        return NotesAnswer((), 0, 0, answer_text(said))
    return NotesAnswer((noted,), 1, noted.row.amount or 0, answer_text([*said, _line(noted)]))


def _store_note(
    ledger: Ledger, transaction_id: int, note: str | None, tags: Sequence[str] | None
) -> list[str]:
    """Store a row's note and tags (None: unchanged); returns lines on what was done."""
    before = noted_row(ledger, transaction_id)
    if note is None:
        note = before.note
    if tags is None:
        tags = before.tags
    note = " ".join(on_one_line(note).split())
    cleaned = tuple(dict.fromkeys(cleaned_tag for tag in tags if (cleaned_tag := _tag(tag))))
    if len(note) > _MAX_NOTE or len(cleaned) > _MAX_TAGS or any(len(t) > _MAX_TAG for t in cleaned):
        raise InvalidNote(
            f"メモは {_MAX_NOTE}文字、タグは {_MAX_TAG}文字を {_MAX_TAGS}個までです。"
        )
    _put(ledger, [transaction_id], {"note": note, "tags": json.dumps(cleaned, ensure_ascii=False)})
    gone = [tag for tag in before.tags if tag not in cleaned]
    cleared = RowNote("" if note == before.note else before.note, tuple(gone)).in_words
    has_any = note or cleaned
    done = "記録しました。" if has_any else f"取引 {transaction_id} のメモとタグを消しました。"
    return [done, f"消したもの:{cleared}。"] if cleared else [done]


def categorize_rows(
    ledger: Ledger, *, transaction_ids: Sequence[int], category: str
) -> NotesAnswer:
    """Give rows a category that outranks rules; "" gives them back the category of rules or files.

    Raises:
        InvalidNote: a row does not exist.
        UnknownCategory: no category, or several, have that name.
        InvalidRule: the category is a total.
    """
    before = [noted_row(ledger, each).row for each in transaction_ids]
    told: list[str] = []
    with ledger.connection:
        major, minor = "", ""
        if category.strip():
            chosen = chosen_category(ledger, category)
            major, minor = chosen.major, chosen.minor or ""
            counted = [(row.is_income, row.amount or 0) for row in before if row.counts]
            told = warnings(ledger, chosen, counted)
        values = {"category_major": major, "category_minor": minor}
        _put(ledger, transaction_ids, values)
        rows = [noted_row(ledger, row_id) for row_id in transaction_ids]
    done = "カテゴリを決めました。" if major else "カテゴリを規則かファイルのものに戻しました。"
    total = sum(noted.row.amount or 0 for noted in rows if noted.row.counts)
    text = answer_text([done, *told, *map(_line, rows[:_MAX_LISTED])])
    return NotesAnswer(tuple(rows), len(rows), total, text)


def _put(ledger: Ledger, ids: Sequence[int], values: dict[str, str]) -> None:
    """Store some columns of rows' notes, and leave the others; call within a transaction."""
    columns = ", ".join(values)
    ledger.connection.executemany(
        "INSERT INTO row_notes (tool_id, identity, note, tags) "
        "SELECT tool_id, identity, '', '[]' FROM transactions WHERE tool_id = ? AND id = ? "
        "ON CONFLICT DO NOTHING",
        [(ledger.tool_id, row_id) for row_id in ids],
    )
    ledger.connection.executemany(
        f"UPDATE row_notes SET ({columns}, noted_at) = ({'?, ' * len(values)}CURRENT_TIMESTAMP) "
        "WHERE tool_id = ? AND identity = (SELECT identity FROM transactions WHERE id = ?)",
        [(*values.values(), ledger.tool_id, row_id) for row_id in ids],
    )
    ledger.execute(
        "DELETE FROM row_notes WHERE tool_id = ? AND (note, tags, category_major) = ('', '[]', '')"
    )
    if "category_major" in values:
        apply_rules(ledger)
    # A search by words caches rows until the ledger's version changes. An import that is running
    # now may store texts without the note; the next import corrects that.
    ledger.execute(
        "UPDATE ledger_versions SET version = version + 1, is_indexed = 0 WHERE tool_id = ?"
    )
    follow_decisions(ledger)


def list_notes(ledger: Ledger, *, tag: str | None = None) -> NotesAnswer:
    """The rows with notes, tags or own categories, or those with ``tag``, and their sum."""
    if tag is None or not _tag(tag):
        rows = _noted_rows(ledger, "true", ())
        what = "メモ、タグ、自分の分類のある明細"
    else:
        condition = "EXISTS (SELECT 1 FROM json_each(n.tags) WHERE value = ?)"
        rows = _noted_rows(ledger, condition, (_tag(tag),))
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


def noted_row(ledger: Ledger, transaction_id: int) -> NotedRow:
    """A row with its note, tags and own category, if any.

    Raises:
        InvalidNote: there is no such row.
    """
    if abs(transaction_id) >= 2**63:  # larger than SQLite's integers
        raise InvalidNote(
            "その ID の取引はありません。find_transactions で ID を確認してください。"
        )
    rows = _noted_rows(ledger, "t.id = ?", (transaction_id,), _ANY_ROW)
    if not rows:
        raise InvalidNote(f"取引 {transaction_id} はこの家計簿にありません。")
    return rows[0]


# CROSS JOIN keeps this order of tables; otherwise SQLite would scan all rows of the ledger.
_SAME_ROW = "ON t.tool_id = n.tool_id AND t.identity = n.identity WHERE"
_NOTED_ROWS = f"row_notes AS n CROSS JOIN transactions AS t {_SAME_ROW} n.tool_id"
_ANY_ROW = f"transactions AS t LEFT JOIN row_notes AS n {_SAME_ROW} t.tool_id"


def _noted_rows(
    ledger: Ledger, condition: str, values: tuple[int | str, ...], which: str = _NOTED_ROWS
) -> list[NotedRow]:
    rows: list[tuple[Any, ...]] = ledger.connection.execute(
        f"SELECT coalesce(n.note, ''), coalesce(n.tags, '[]'), n.category_major <> '', {_OF_ROW} "
        f"FROM {which} = ? AND {condition} ORDER BY t.date, t.id",
        (ledger.tool_id, *values),
    ).fetchall()
    return [
        NotedRow(read_transaction(row), note, tuple(json.loads(tags)), bool(has_own))
        for note, tags, has_own, *row in rows
    ]


_OF_ROW = ", ".join(f"t.{column}" for column in TRANSACTION_COLUMNS.split(", "))


def _line(noted: NotedRow) -> str:
    row = noted.row
    line = row_line(listed_row(row, RowNote(noted.note, noted.tags)))
    own = "分類はこの明細だけのもの、" if noted.has_own_category else ""
    return f"{line}（{own}ID {row.id}、{shown_path(row.source_file)}:{row.row_number}）"
