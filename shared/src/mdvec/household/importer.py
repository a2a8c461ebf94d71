"""A ledger's rows as searchable chunks: a document is an export, a chunk a transaction.

The ledger says which rows count as whose: a transaction that stands in several exports is a
chunk of the one that had the last word. A chunk is the row as it stands in the file; what is
embedded is what the row is about, without its date and amount.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from mdvec.database.connection import snapshot
from mdvec.embedding.embedder import ModelError, ModelUnavailable
from mdvec.files.scan import Problem
from mdvec.household import review as duplicate_review
from mdvec.household.core.moneyforward import NotTransactions, decoded, record_spans
from mdvec.household.core.transaction import Transaction
from mdvec.household.interfaces import rows as transactions
from mdvec.household.interfaces import statements as ledger_statements
from mdvec.household.ledger import import_ledger
from mdvec.household.report import LedgerFile, LedgerReport, not_looked_into
from mdvec.importing.options import ImportRefused, model_to_ask_for
from mdvec.importing.report import ImportReport
from mdvec.importing.text_index import ToolImport
from mdvec.index import chunks as vectors
from mdvec.index import documents
from mdvec.index.documents import NewDocument, StoredFile
from mdvec.index.tables import Tables
from mdvec.text.chunking import Chunk


@dataclass(frozen=True, slots=True)
class _Export:
    """A file that rows come from: its text, its rows by line, and a hash of both."""

    path: str
    size: int
    mtime_ns: int
    text: str
    rows: Mapping[int, Transaction]

    @property
    def content_hash(self) -> str:
        """Changes with the text, with the rows that are the file's own, and with their values."""
        digest = hashlib.sha256(self.text.encode("utf-8", "surrogatepass"))
        for line, row in sorted(self.rows.items()):
            digest.update(f"\n{line}\t{_heading(row)}\t{_subject(row)}".encode())
        return digest.hexdigest()


@dataclass
class HouseholdRun(ToolImport):
    """One import of a household: its ledger first, then the texts that searches find."""

    _subjects: dict[str, bytes] = field(default_factory=dict)
    """The embeddings of this run, by what was embedded: many rows are about the same."""

    def run(self) -> ImportReport:
        """Bring the ledger in line with the exports, and the searchable texts with the ledger."""
        files = [LedgerFile.of(self.tool.source, found) for found in self.found.files]
        self._check_mode(files)
        self.begin_work(len(files), 0)
        with self.stopwatch.stage("ledger"):
            ledger = import_ledger(
                self.connection,
                self.tool.id,
                files,
                "replace" if self.request.mode == "replace" else "update",
                complete=not self.found.unseen,
                wish=self.request.removals,
            )
        passed_over = [*ledger.passed_over, *not_looked_into(self.found.others)]
        ledger = replace(
            ledger, passed_over=tuple(sorted(passed_over, key=lambda one: one.file_path))
        )
        self.failed += ledger.unread
        self.drop_leftovers()
        if self.request.mode == "replace" and self.tool.generation:
            final = self._rebuild(files)
        else:
            final = self._follow(files)
        candidates = None
        if self.request.detection is not None:
            with self.stopwatch.stage("detect"):
                found = duplicate_review.detect(
                    self.connection, self.tool.id, self.request.detection
                )
            candidates = found.candidates_count
        return self._report(ledger, final, candidates)

    def interrupted(self) -> str:
        """What to tell the user who stopped it."""
        return (
            f"stopped; what was finished is kept, "
            f"go on with: mdvec import -n {self.tool.name} --mode update"
        )

    def _check_mode(self, files: list[LedgerFile]) -> None:
        rows = transactions.statistics(self.connection, self.tool.id).rows
        if self.request.mode == "new" and rows:
            raise ImportRefused(
                f"the tool {self.tool.name!r} has {rows} transactions already; "
                "use --mode update to follow changes, or --mode replace to build it again"
            )
        if rows and not files and not self.found.unseen:
            raise ImportRefused(
                f"there is no CSV file in {self.tool.source}, but {self.tool.name!r} has "
                f"{rows} transactions; put the files back (is a disk not mounted?), or give the "
                f"tool up with: mdvec tool delete -n {self.tool.name}"
            )
        gone = ledger_statements.ids_of_gone(self.connection, self.tool.id)
        for row_id in self.request.removals.keep:
            if row_id not in gone:
                raise ImportRefused(
                    f"no row {row_id} of {self.tool.name!r} is gone from its statements; "
                    "the import that took rows out of the sums named their ids, and "
                    "get_monthly_household still shows them"
                )

    def _follow(self, files: list[LedgerFile]) -> Tables:
        """Write anew what differs from the ledger, drop what has no rows left."""
        if self.tool.generation == 0:
            self.begin_first_generation()
        else:
            model_to_ask_for(self.tool, self.request.model, rebuild=False)
            self.index_what_is_there()
            if ledger_statements.is_indexed(self.connection, self.tool.id):
                with self.connection:
                    self.check_tool()
                    self.record_end()
                return self.tables
        stored = documents.stored_files(self.connection, self.tables)
        exports = self._exports(files, stored)
        changed = [
            export
            for export in exports
            if export.path not in stored or stored[export.path].content_hash != export.content_hash
        ]
        self._store_all(changed)
        kept = {export.path for export in exports}
        with self.connection, self.stopwatch.stage("write"):
            self.check_tool()
            for path in stored:
                if path not in kept:
                    documents.delete_document(self.connection, self.tables, path)
            self._note_indexed()
            self.record_end()
        return self.tables

    def _note_indexed(self) -> None:
        """Within a transaction: the next import has nothing to do here while the ledger stays."""
        if not self.failed:
            ledger_statements.index_followed(self.connection, self.tool.id)

    def _rebuild(self, files: list[LedgerFile]) -> Tables:
        """Fill a new generation beside the old, then put it in its place."""
        exports = self._exports(files, documents.stored_files(self.connection, self.tables))
        current = self.begin_staged()
        self._store_all(exports)
        final = self.put_staged_in_place(current)
        with self.connection:
            self._note_indexed()
        return final

    def _exports(self, files: list[LedgerFile], stored: Mapping[str, StoredFile]) -> list[_Export]:
        """The files that rows come from; one that is gone has the text that was stored of it."""
        rows: dict[str, dict[int, Transaction]] = {}
        for row in transactions.list_transactions(self.connection, self.tool.id):
            if not row.is_removed:
                rows.setdefault(row.source_file, {})[row.row_number] = row
        found = {file.path: file for file in files}
        exports = []
        for path, of_file in sorted(rows.items()):
            file = found.get(path)
            try:
                text = None if file is None else decoded(file.read())
            except (OSError, NotTransactions):
                text = None  # the ledger's report has named it
            if text is None:
                text = self._stored_content(path) if path in stored else ""
            size, mtime_ns = (0, 0) if file is None else (file.size, file.mtime_ns)
            exports.append(_Export(path, size, mtime_ns, text, of_file))
        return exports

    def _stored_content(self, path: str) -> str:
        names = Tables(self.tool.id, self.tool.name, self.tool.generation)
        kept = documents.stored_text(self.connection, names, path)
        return "" if kept is None else kept.content

    def _store_all(self, exports: list[_Export]) -> None:
        self.files = len(exports)
        for number, export in enumerate(exports, 1):
            try:
                self._store(export)
            except ModelUnavailable:
                raise
            except ModelError as error:
                self.failed.append(Problem(export.path, str(error)))
            self.files_done = number
            self.tell()

    def _store(self, export: _Export) -> None:
        chunks, subjects = _chunks(export)
        known = dict(self._subjects)
        if not self.tables.staged:
            with snapshot(self.connection):
                self.check_tool()
                by_row = vectors.known_embeddings(
                    self.connection, self.tables, export.path, export.content_hash, context=False
                )
            known |= {
                subject: by_row[chunk.text]
                for chunk, subject in zip(chunks, subjects, strict=True)
                if chunk.text in by_row
            }
        rows = self.embedded(subjects, known)
        self._subjects.update((subject, known[subject]) for subject in subjects)
        self.put(
            NewDocument(
                file_path=export.path,
                content_hash=export.content_hash,
                content=export.text,
                title=export.path.rpartition("/")[2].rpartition(".")[0],
                size=export.size,
                mtime_ns=export.mtime_ns,
                chunks=chunks,
                vectors=rows,
            )
        )

    def _report(self, ledger: LedgerReport, final: Tables, candidates: int | None) -> ImportReport:
        return ImportReport(
            tool=self.tool.name,
            mode=self.request.mode,
            model=self._embedder.name if self._embedder else str(self.tool.model),
            added=ledger.imported,
            updated=ledger.updated,
            deleted=ledger.deleted,
            unchanged=ledger.unchanged,
            failed=tuple(sorted(self.failed, key=lambda problem: problem.file_path)),
            chunks=documents.count(self.connection, final).chunks,
            chunks_embedded=self.chunks_embedded,
            seconds=round(self.stopwatch.total, 3),
            ledger=ledger,
            duplicate_candidates=candidates,
        )


def _chunks(export: _Export) -> tuple[list[Chunk], list[str]]:
    """The export's own rows in its order, and what each is about."""
    spans = record_spans(export.text)
    chunks: list[Chunk] = []
    subjects: list[str] = []
    for line, row in sorted(export.rows.items()):
        if line not in spans:
            continue  # the file is gone, and nothing was stored of it
        start, end, last_line = spans[line]
        text = export.text[start:end]
        chunks.append(Chunk(len(chunks), start, end, line, last_line, _heading(row), text))
        subjects.append(_subject(row) or text)
    return chunks, subjects


def _subject(row: Transaction) -> str:
    """What a row is about, in words."""
    words = (row.description, row.category_major, row.category_minor, row.memo)
    return " ".join(word for word in words if word.strip())


def _heading(row: Transaction) -> str:
    """What a reader wants to see of a row at a glance."""
    amount = "金額なし" if row.amount is None else f"{row.amount:,}円"
    category = "/".join(name for name in (row.category_major, row.category_minor) if name)
    return " ".join(part for part in (f"{row.date:%Y-%m-%d}", amount, category) if part)
