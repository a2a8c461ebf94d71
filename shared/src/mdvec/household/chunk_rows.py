"""The rows of a household that a search finds: those with the subject of a chunk."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import apsw

from mdvec.household.core.csv_text import span_at
from mdvec.household.core.statement_text import row_heading
from mdvec.household.core.transaction import RowNote, Transaction
from mdvec.household.interfaces import subjects
from mdvec.household.interfaces.plans import notes_on
from mdvec.household.interfaces.subjects import RowMentions
from mdvec.index import StoredChunk, StoredText, documents
from mdvec.text import folded, named_dates
from mdvec.tools import Tool

_NUMBER = re.compile(r"\d[\d,]*")
_MAX_AMOUNT = 10**15


def rows_of_chunk(
    connection: apsw.Connection, tool: Tool, chunk: StoredChunk, question: str, limit: int
) -> Sequence[StoredChunk]:
    """The rows with a chunk's subject, each as the chunk of its place in its file.

    Those whose day, amount or note the question names come first, then the newest. A row has the
    id of its transaction, also at the end of its heading, and the present marks of the ledger.
    """
    rows = subjects.rows_like(connection, tool.id, chunk.chunk_index, _wanted(question), limit)
    files = {row.source_file for row in rows}
    texts = {path: documents.stored_text(connection, tool.tables, path) for path in files}
    noted = notes_on(connection, tool.id, [row.id for row in rows])
    return [_at_its_place(chunk, row, noted.get(row.id), texts[row.source_file]) for row in rows]


def _wanted(question: str) -> RowMentions:
    text = folded(question)
    numbers = (int(figure.replace(",", "")) for figure in _NUMBER.findall(text))
    days = [day.digits for day in named_dates(text)]
    # A day also yields its month, which would match other days.
    exact = [digits for digits in days if len(digits) == 8] or days
    return RowMentions(exact, [number for number in numbers if number < _MAX_AMOUNT], text)


def _at_its_place(
    chunk: StoredChunk, row: Transaction, note: RowNote | None, stored: StoredText | None
) -> StoredChunk:
    content = "" if stored is None else stored.content
    start, end, last_line = span_at(content, row.row_number)
    return replace(
        chunk,
        id=row.id,
        document_id=chunk.document_id if stored is None else stored.id,
        file_path=row.source_file,
        title="" if stored is None else stored.title,
        heading=f"{row_heading(row)}{note.in_words if note else ''} 取引ID {row.id}",
        content=content[start:end] or row.description,
        chunk_index=row.id,
        start_position=start,
        end_position=end,
        start_line=max(row.row_number, 1),
        end_line=max(last_line, 1),
    )
