"""A statement file as a searchable document, whose chunks are the subjects of its rows.

Many rows have the same subject: shop, category and memo. A subject is one chunk, at the position of
its first row, so rows of one subject share a vector and an entry in the word index. A search then
looks up the rows themselves in the ledger. Rows that only fit words by meaning are offered beside
an answer's sums, but are never in them.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import apsw

from mdvec import search  # loaded on use: it imports NumPy, which listing the tools does not need
from mdvec.embedding import default_constants
from mdvec.household.core.categories import (
    AmbiguousCategory,
    Category,
    Hierarchy,
    categories_called,
    find_by_part,
    find_category,
)
from mdvec.household.core.cells import CsvText, span_at
from mdvec.household.core.found import RowWords, near_note
from mdvec.household.core.naming import OR
from mdvec.household.core.row_sums import ShopOf, groups_by
from mdvec.household.core.shown import bracketed_name
from mdvec.household.core.sums import RowSum, totals_of
from mdvec.household.core.transaction import ListedRow, Transaction
from mdvec.household.core.wording import left_out_in_words, totals_in_words
from mdvec.household.interfaces.ledger import Ledger
from mdvec.household.interfaces.ledger_sums import transactions
from mdvec.household.interfaces.plans import all_notes, listed_rows
from mdvec.index import (
    EngineUnavailable,
    StoredChunk,
    StoredText,
    Tables,
    calibrated_constants,
    change_headings,
    documents,
    stored_chunks,
)
from mdvec.text import Chunk, folded, identifier, named_dates, terms
from mdvec.tools import Tool, list_tools

if TYPE_CHECKING:
    from mdvec.embedding import Vectors

_FORMAT = b"subjects"
_OF_SUBJECT = "description, category_major, category_minor, memo"
_NUMBER = re.compile(r"\d[\d,]*")
_MAX_AMOUNT = 10**15


class StatementSubject(NamedTuple):
    """The subject of rows in words, without date and amount; ``accounts`` has their notes, too.

    ``row_id`` and ``line`` are those of the first row; the line is 0 if its file no longer has the
    row.
    """

    row_id: int
    line: int
    words: str
    accounts: str


@dataclass(frozen=True, slots=True)
class StatementText:
    """A statement file's text, and the subjects that are stored with it.

    ``file_hash`` is that of the file; ``csv`` gives its text, which is read only if it is needed.
    """

    path: str
    size: int
    mtime_ns: int
    file_hash: str
    csv: Callable[[], CsvText]
    subjects: Sequence[StatementSubject]

    @property
    def content_hash(self) -> str:
        """The hash of the file and its subjects: it changes if a row moves or is edited."""
        digest = hashlib.sha256(_FORMAT + self.file_hash.encode())
        for subject in self.subjects:
            digest.update("\t".join(["\n", *map(str, subject)]).encode())
        return digest.hexdigest()


def chunks_of(statement: StatementText) -> list[Chunk]:
    """A chunk for each subject, numbered by its first row; empty in extent if that has no line."""
    csv = statement.csv()
    spans = csv.spans() if statement.subjects else {}
    chunks: list[Chunk] = []
    for row_id, line, words, accounts in statement.subjects:
        start, end, last_line = spans.get(line, (0, 0, line))
        row = csv.text[start:end]
        text = words or row or accounts
        chunks.append(Chunk(row_id, start, end, line, last_line, accounts, text))
    return chunks


def subjects_by_file(ledger: Ledger) -> dict[str, list[StatementSubject]]:
    """The subjects by the file of their first row; every file with rows is a key.

    Rows that left the sums because they are gone from the statements have no subject.
    """
    files = ledger.column(
        "SELECT DISTINCT source_file FROM transactions "
        "WHERE +tool_id = ? AND removal IS NOT 'removed' ORDER BY 1"
    )
    by_file: dict[str, list[StatementSubject]] = {path: [] for path in files}
    firsts = ledger.execute(
        "SELECT t.source_file, t.id, t.row_number, t.description, t.category_major, "
        "t.category_minor, t.memo, f.accounts FROM ("
        "SELECT min(id) AS id, json_group_array(DISTINCT account) AS accounts FROM transactions "
        f"WHERE tool_id = ? AND removal IS NOT 'removed' GROUP BY {_OF_SUBJECT}) AS f "
        "JOIN transactions AS t ON t.id = f.id ORDER BY t.id"
    )
    noted = _notes_by_subject(ledger)
    for path, row_id, line, *subject, accounts in firsts:
        names = _names(accounts, noted.get(tuple(subject), ()))
        by_file[path].append(StatementSubject(row_id, line, _words(*subject), names))
    return by_file


def _words(*parts: str) -> str:
    """The subject of a row in words: description, categories and memo."""
    return " ".join(part for part in parts if part.strip())


def _names(accounts: str, notes: Iterable[str]) -> str:
    """Other words that find a subject: the accounts of its rows, and the user's notes on them."""
    names = sorted(name for name in json.loads(accounts) if name.strip())
    return " ".join([*names, *notes])


def _notes_by_subject(ledger: Ledger) -> dict[tuple[object, ...], list[str]]:
    by_subject: dict[tuple[object, ...], list[str]] = {}
    subject_of = f"SELECT {_OF_SUBJECT} FROM transactions WHERE id = ?"
    for row_id, note in sorted(all_notes(ledger).items()):
        subject = ledger.connection.execute(subject_of, (row_id,)).get
        by_subject.setdefault(subject, []).extend(note.words)
    return by_subject


def _changed_headings(tables: Tables) -> dict[int, str]:
    """The new heading, by chunk id, of chunks whose rows changed category, account or notes.

    The heading includes the words of the subject if they differ from the chunk's stored text.
    """
    same = " AND ".join(f"o.{name} = t.{name}" for name in ("tool_id", *_OF_SUBJECT.split(", ")))
    rows = tables.execute(
        "SELECT v.id, v.heading, v.chunk_text, t.description, t.category_major, t.category_minor, "
        "t.memo, (SELECT json_group_array(DISTINCT o.account) FROM transactions AS o "
        f"WHERE {same} AND o.removal IS NOT 'removed') "
        f"FROM {identifier(tables.vectors)} AS v JOIN transactions AS t ON t.id = v.chunk_index "
        "WHERE t.tool_id = ?",
        (tables.tool_id,),
    )
    noted = _notes_by_subject(Ledger.undated(tables.connection, tables.tool_id))
    headings: dict[int, str] = {}
    for chunk_id, heading, text, *subject, accounts in rows:
        words = _words(*subject)
        names = _names(accounts, noted.get(tuple(subject), ()))
        now = f"{names} {words}" if words and words != text else names
        if now != heading:
            headings[chunk_id] = now
    return headings


def searchable_rows(ledger: Ledger) -> int:
    """The number of rows that a search can find."""
    return ledger.number(
        "SELECT count(*) FROM transactions WHERE tool_id = ? AND removal IS NOT 'removed'"
    )


def follow_decisions(ledger: Ledger) -> None:
    """Update the word index of a household's rows to their categories and notes.

    Nothing is embedded: the next import updates the vectors. Call within the transaction that
    changed the rows or notes.
    """
    tool = _tool_of(ledger)
    if tool is None or not tool.generation:
        return
    tables = tool.tables_in(ledger.connection)
    change_headings(tables, _changed_headings(tables))


def _tool_of(ledger: Ledger) -> Tool | None:
    tools = list_tools(ledger.connection)
    return next((tool for tool in tools if tool.id == ledger.tool_id), None)


def rows_of_chunk(
    connection: apsw.Connection, tool: Tool, chunk: StoredChunk, question: str, limit: int
) -> Sequence[StoredChunk]:
    """The rows with a chunk's subject, each as a chunk at the row's position in its own file.

    Rows whose day, amount or note the question names come first, then the newest. A chunk's id is
    that of the transaction; its heading has the row's present category and notes, and the id.
    """
    ledger = Ledger.undated(connection, tool.id)
    rows = _rows_like(ledger, chunk.chunk_index, folded(question), limit)
    files = {row.source_file for row in rows}
    texts = {path: documents.stored_text(tool.tables_in(connection), path) for path in files}
    return [_at_its_place(chunk, row, texts[row.source_file]) for row in listed_rows(ledger, rows)]


def _at_its_place(chunk: StoredChunk, row: ListedRow, stored: StoredText | None) -> StoredChunk:
    content = "" if stored is None else stored.content
    start, end, last_line = span_at(content, row.row_number)
    return replace(
        chunk,
        id=row.id,
        document_id=chunk.document_id if stored is None else stored.id,
        file_path=row.source_file,
        title="" if stored is None else stored.title,
        heading=f"{_heading(row)}{row.noted.in_words} 取引ID {row.id}",
        content=content[start:end] or row.description,
        chunk_index=row.id,
        start_position=start,
        end_position=end,
        start_line=max(row.row_number, 1),
        end_line=max(last_line, 1),
    )


def _heading(row: ListedRow) -> str:
    """A row's date, amount and category, and why it does not count, as hits show them."""
    amount = "金額なし" if row.amount is None else f"{row.amount:,}円"
    category = "/".join(name for name in (row.category_major, row.category_minor) if name)
    why = left_out_in_words(row.left_out)
    return " ".join(part for part in (f"{row.date:%Y-%m-%d}", amount, category) if part) + why


def _rows_like(ledger: Ledger, row_id: int, question: str, limit: int) -> list[Transaction]:
    """The rows with the subject of one row: first those that the question names, then the newest.

    A question names a row by its day, amount or account, or by words of the user's note on it. Rows
    that left the sums because they are gone from the statements are not among them.
    """
    words = set(terms(question))
    noted = [
        number
        for number, note in all_notes(ledger).items()
        if not words.isdisjoint(terms(" ".join(note.words)))
    ]
    figures = (int(figure.replace(",", "")) for figure in _NUMBER.findall(question))
    amounts = [figure for figure in figures if figure < _MAX_AMOUNT]
    days = [day.digits for day in named_dates(question)]
    # The dates of a question include each day's month, which would match other days.
    days = [digits for digits in days if len(digits) == len("20250612")] or days
    rows = transactions(
        ledger.connection,
        "AS t WHERE tool_id = ?1 "
        f"AND removal IS NOT 'removed' AND ({_OF_SUBJECT}) = (SELECT {_OF_SUBJECT} "
        "FROM transactions WHERE id = ?2) "
        "ORDER BY EXISTS (SELECT 1 FROM json_each(?3) "
        "WHERE replace(t.date, '-', '') LIKE value || '%') DESC, "
        "coalesce(abs(amount) IN (SELECT value FROM json_each(?4)), 0) DESC, "
        "id IN (SELECT value FROM json_each(?7)) DESC, "
        "(account <> '' AND instr(?5, account) > 0) DESC, date DESC, id DESC LIMIT ?6",
        (
            ledger.tool_id, row_id, json.dumps(days), json.dumps(amounts), question, limit,
            json.dumps(noted),
        ),
    )  # fmt: skip
    return list(rows)


Embed = Callable[[Tool, str], "Vectors | None"]
"""Embeds words with a tool's model; None if the model is not ready at once."""
_MIN_LIKENESS, _MIN_BESIDE = 2.0, 3.0
"""The least likeness, in standard deviations above unrelated passages: 病院 finds 内科クリニック
and hardly any noise. The second applies if the words name rows themselves."""
_MAX_SUBJECTS, _MAX_SHOPS, _MAX_CHARS = 12, 5, 100


def near_rows(ledger: Ledger, query: str, embed: Embed | None, *, any_named: bool) -> Sequence[int]:
    """The first row (id) of each subject (shop, category and memo) near in meaning to ``query``.

    If the words name rows themselves (``any_named``), the subject has to be nearer. Empty without
    ``embed``, if the vectors cannot be compared at once, or if ``query`` has alternatives, as these
    were chosen from an earlier answer.
    """
    tool = _tool_of(ledger)
    if (
        embed is None
        or tool is None
        or tool.model is None
        or len(query) > _MAX_CHARS
        or OR in folded(query)
    ):
        return []
    constants = calibrated_constants(ledger.connection, str(tool.fingerprint))
    constants = constants or default_constants(tool.model)
    vector = None if constants.unrelated is None else embed(tool, query)
    if vector is None:
        return []
    least = _MIN_BESIDE if any_named else _MIN_LIKENESS
    try:
        ids = search.nearest_chunks(tool.tables_in(ledger.connection), vector, _MAX_SUBJECTS)
    except EngineUnavailable:
        return []
    return [
        chunk.chunk_index  # the first row of the subject
        for chunk in stored_chunks(tool.tables_in(ledger.connection), sorted(ids), vector)
        if (constants.likeness(chunk.cosine) or 0) >= least
    ]


def related_notes(
    sums: Sequence[RowSum],
    shop: ShopOf,
    category: Category | None,
    near: Collection[tuple[str, str]],
    *,
    moved: bool,
) -> list[str]:
    """A note on the rows among ``sums`` that only fit the meaning of words; [] without any.

    These are the rows of ``category``, whose name has the words; or else of the shops of which at
    least half of the rows have a description and memo in ``near``. ``moved``: the rows are
    transfers.
    """
    if category is not None:
        others = totals_of(row_sum for row_sum in sums if row_sum.is_of(category))
        note = (
            f"カテゴリ{bracketed_name(category)}のほかの明細は合計に入れていません"
            f"（{totals_in_words(others, moved=moved)}）。カテゴリ全体は category で選べます"
        )
        return [note] if others.rows else []
    if not near:
        return []
    rows: Counter[str] = Counter()
    alike: Counter[str] = Counter()
    for row_sum in sums:
        rows[shop(row_sum.description)] += row_sum.rows
        if (row_sum.description, row_sum.memo) in near:
            alike[shop(row_sum.description)] += row_sum.rows
    shops = {name for name, count in alike.items() if 2 * count >= rows[name]}
    near_sums = [row_sum for row_sum in sums if shop(row_sum.description) in shops]
    groups = groups_by(near_sums, lambda row_sum: shop(row_sum.description), moved=moved)
    groups = groups[:_MAX_SHOPS]
    return [near_note(groups, moved=moved)] if groups else []


def category_named(words: str, hierarchy: Hierarchy) -> Category | None:
    """The only category with this name, or else with the words in its name; None if ambiguous."""
    try:
        category = find_category(words.strip(), hierarchy)
    except AmbiguousCategory:
        return None
    parts = find_by_part(words, hierarchy)
    return category or (parts[0] if len(parts) == 1 else None)


def categories_asked(words: RowWords, hierarchy: Hierarchy) -> list[Category]:
    """The category that the words of a question name together, or else those that one word names.

    A single word has to be the whole name.
    """
    together = category_named(words.query or "", hierarchy)
    if together is not None:
        return [together]
    called = (categories_called(word, hierarchy) for word in words.wanted_words)
    return list(dict.fromkeys(itertools.chain.from_iterable(called)))
