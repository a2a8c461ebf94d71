"""A statement file as a searchable document, whose chunks are transactions.

A transaction that is in several files is a chunk of the file that the ledger took it from. A
chunk is the row's exact text in the file; its vector covers only the subject of the row, without
date and amount.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from mdvec.household.core.csv_text import CsvText
from mdvec.household.core.transaction import Transaction
from mdvec.text.chunking import Chunk


@dataclass(frozen=True, slots=True)
class StatementText:
    """A statement file's text, and the transactions that the ledger took from it, by line."""

    path: str
    size: int
    mtime_ns: int
    csv: CsvText
    rows: Mapping[int, Transaction]

    @property
    def content_hash(self) -> str:
        """Of the text and the rows: it differs if a row moves to another file or is edited."""
        digest = hashlib.sha256(self.csv.text.encode("utf-8", "surrogatepass"))
        for line, row in sorted(self.rows.items()):
            digest.update(f"\n{line}\t{_heading(row)}\t{_subject(row)}".encode())
        return digest.hexdigest()


def chunks_of(statement: StatementText) -> tuple[list[Chunk], list[str]]:
    """A chunk for each of the file's rows, and the subject of each."""
    spans = statement.csv.spans()
    chunks: list[Chunk] = []
    subjects: list[str] = []
    for line, row in sorted(statement.rows.items()):
        if line not in spans:
            continue  # the file is gone, and nothing was stored of it
        start, end, last_line = spans[line]
        text = statement.csv.text[start:end]
        chunks.append(Chunk(len(chunks), start, end, line, last_line, _heading(row), text))
        subjects.append(_subject(row) or text)
    return chunks, subjects


def _subject(row: Transaction) -> str:
    """The subject of a row in words, without date and amount."""
    words = (row.description, row.category_major, row.category_minor, row.memo)
    return " ".join(word for word in words if word.strip())


def _heading(row: Transaction) -> str:
    """A row's date, amount and category, as hits show them."""
    amount = "金額なし" if row.amount is None else f"{row.amount:,}円"
    category = "/".join(name for name in (row.category_major, row.category_minor) if name)
    return " ".join(part for part in (f"{row.date:%Y-%m-%d}", amount, category) if part)
