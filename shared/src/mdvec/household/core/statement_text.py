"""A statement file as a searchable document, whose chunks are the subjects of its rows.

Many rows have the same subject: shop, category and memo. A subject is one chunk, at the place of
its first row, so equal subjects share one vector and one entry in the index of words. A search
looks up the rows themselves in the ledger.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from mdvec.household.core.csv_text import CsvText
from mdvec.household.core.transaction import Transaction
from mdvec.household.core.wording import REASONS_IN_WORDS
from mdvec.text import Chunk

_FORMAT = b"subjects"


class StatementSubject(NamedTuple):
    """The subject of rows in words, without date and amount, and their ``accounts`` and notes.

    ``row_id`` and ``line`` are those of the first row; the line is 0 if its file holds others now.
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
        """Of the file and the subjects: it differs if a row moves to another file or is edited."""
        digest = hashlib.sha256(_FORMAT + self.file_hash.encode())
        for subject in self.subjects:
            digest.update("\t".join(["\n", *map(str, subject)]).encode())
        return digest.hexdigest()


def chunks_of(statement: StatementText) -> list[Chunk]:
    """A chunk for each subject, numbered by its first row; without extent if that has no line."""
    csv = statement.csv()
    spans = csv.spans() if statement.subjects else {}
    chunks: list[Chunk] = []
    for row_id, line, words, accounts in statement.subjects:
        start, end, last_line = spans.get(line, (0, 0, line))
        row = csv.text[start:end]
        text = words or row or accounts
        chunks.append(Chunk(row_id, start, end, line, last_line, accounts, text))
    return chunks


def subject_words(*parts: str) -> str:
    """The subject of a row in words: description, categories and memo."""
    return " ".join(part for part in parts if part.strip())


def row_heading(row: Transaction) -> str:
    """A row's date, amount and category, and why it does not count, as hits show them."""
    amount = "金額なし" if row.amount is None else f"{row.amount:,}円"
    category = "/".join(name for name in (row.category_major, row.category_minor) if name)
    why = f"（集計外: {REASONS_IN_WORDS[row.left_out]}）" if row.left_out else ""
    return " ".join(part for part in (f"{row.date:%Y-%m-%d}", amount, category) if part) + why
