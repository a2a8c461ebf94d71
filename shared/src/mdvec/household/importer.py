"""Imports a household: its statement files into the ledger, its ledger into searchable texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial

import apsw

from mdvec.embedding import ModelError, ModelUnavailable
from mdvec.files import FileState, Problem, Scan
from mdvec.household import review as duplicate_review
from mdvec.household.core.cells import CsvText
from mdvec.household.core.pair import CandidateCounts, DuplicateDetectionError
from mdvec.household.interfaces import ledger_statements, ledger_sums, subjects
from mdvec.household.interfaces.ledger import Ledger
from mdvec.household.interfaces.mappings import mappings_digest, own_mappings
from mdvec.household.interfaces.subjects import StatementText, chunks_of
from mdvec.household.ledger_import import import_ledger
from mdvec.household.options import HouseholdOptions
from mdvec.household.reading import LedgerFile, unsupported_files, with_advice
from mdvec.household.report import HouseholdReport, LedgerReport, left_open
from mdvec.importing import (
    Importer,
    ImportInterrupted,
    ImportJob,
    ImportRefused,
    ImportReport,
    NoFiles,
    ProgressCount,
    TextIndex,
)
from mdvec.index import NewDocument, StoredFile
from mdvec.text import Chunk, counted, some_of
from mdvec.tools import Tool

_MAX_NAMED = 20


def import_household(job: ImportJob) -> ImportReport:
    """Update a household's ledger from its statement files, and its texts from the ledger.

    Raises:
        ImportRefused: the mode, the model or a row to restore does not fit what is stored.
        ImportInterrupted: the user stopped it.
    """
    importing = _HouseholdImport(job)
    with suppress(KeyboardInterrupt):
        return importing.run()
    importing.index.keep_paid()
    raise ImportInterrupted(f"stopped; what was finished is kept, continue with: {job.again}")


def _stored_states(connection: apsw.Connection, tool: Tool) -> Mapping[str, FileState]:
    """The stored states, except of files read with other mappings, which an import reads again."""
    digest = mappings_digest(tool.source)
    files = ledger_statements.known_files(Ledger.undated(connection, tool.id)).values()
    return {
        file.path: (file.size, file.mtime_ns)
        for file in files
        if file.is_present and file.app_version.partition(" ")[2] == digest
    }


def _found_states(_: apsw.Connection, tool: Tool, scan: Scan) -> Mapping[str, FileState]:
    files = (LedgerFile.of(tool.source, file) for file in scan.files)
    return {file.path: (file.size, file.mtime_ns) for file in files}


def _left_out(connection: apsw.Connection, tool: Tool) -> Sequence[str]:
    ledger = Ledger.undated(connection, tool.id)
    files = ledger_statements.files_left_out(ledger)
    unread = ledger_statements.first_unread_lines(ledger)
    return [*files, *(f"{path}:{line}" for path, line in unread if path not in files)]


def _content(connection: apsw.Connection, tool: Tool) -> str:
    rows = ledger_sums.row_count(Ledger.undated(connection, tool.id))
    return counted(rows, "transaction") if rows else ""


HOUSEHOLD = Importer(import_household, _stored_states, _found_states, _content, _left_out)


class _HouseholdImport:
    """One import of a household while it runs."""

    def __init__(self, job: ImportJob) -> None:
        options = job.request.options
        self.options = options if isinstance(options, HouseholdOptions) else HouseholdOptions()
        self.job = job
        self.ledger = Ledger.undated(job.connection, job.tool.id)
        self.progress = ProgressCount(job.on_progress)
        self.index = TextIndex(job, self.progress)
        own = own_mappings(job.tool.source)
        self.files = [LedgerFile.of(job.tool.source, file, own) for file in job.scan.files]
        self.failed = [*job.scan.problems, *own.problems]
        self.vectors: dict[str, bytes] = {}
        """The vectors of this import, by embedded text."""

    def run(self) -> ImportReport:
        """Import the ledger, then its texts, then look for duplicates."""
        self._check_files()
        self._check_kept_rows()
        rebuilds = self.job.request.mode == "replace" and self.index.has_generation
        if rebuilds or self._may_have_new_texts():
            self.index.prepare_for_texts(rebuild=rebuilds)
        else:
            self.index.check_model(rebuild=rebuilds)
        if rebuilds:
            with self.index.rebuilding(len(self.files)):
                ledger = self._import_ledger()
                self._store_all(self._texts(self.index.stored_files()))
            with self.ledger.connection:
                self._mark_index_current()
        else:
            self.index.begin(len(self.files))
            self.index.drop_leftovers()
            ledger = self._import_ledger()
            self._update_texts()
        candidates = self._look_for_duplicates(ledger)
        return self.job.report(
            added=ledger.imported,
            updated=ledger.updated,
            deleted=ledger.deleted,
            unchanged=ledger.unchanged,
            failed=self.failed,
            model=self.index.model_name,
            chunks=subjects.searchable_rows(self.ledger),
            chunks_embedded=self.index.chunks_embedded,
            details=HouseholdReport(ledger, *candidates),
            undecided=tuple(left_open(ledger, self.job.tool.name)),
        )

    def _look_for_duplicates(self, ledger: LedgerReport) -> tuple[CandidateCounts | None, int]:
        """The new likely candidates (None without a search), and a number of bills.

        These bills left the sums because of an earlier decision on all bills of their card.
        """
        options = self.options.detection
        changes = ledger.imported or ledger.updated or ledger.deleted or ledger.removed
        if options is None or not changes:
            return None, 0
        with self.job.stopwatch.stage("detect"):
            try:
                detection = duplicate_review.detect(self.ledger, options, by_user=False)
            except DuplicateDetectionError:
                return None, 0  # the user's own search reports it, with advice
        news = duplicate_review.count_news(self.ledger)
        return news, detection.followed_count

    def _check_files(self) -> None:
        tool = self.job.tool
        rows = ledger_sums.row_count(self.ledger)
        if rows and not self.files and not self.job.scan.unseen:
            raise NoFiles(
                self.job.scan,
                f"there is no CSV file in {tool.source}, but {tool.name!r} has "
                f"{rows} transactions; put the files back (is a disk not mounted?), or "
                f"delete the tool with: mdvec tool delete -n {tool.name}",
            )

    def _may_have_new_texts(self) -> bool:
        """Whether files changed, rows are to be restored, or the texts of rows are out of date."""
        if not self.files:
            return False
        job = self.job
        before = _stored_states(job.connection, job.tool)
        is_changed = before != _found_states(job.connection, job.tool, job.scan)
        has_all_texts = ledger_statements.is_indexed(self.ledger)
        return is_changed or bool(self.options.removals.keep) or not has_all_texts

    def _check_kept_rows(self) -> None:
        gone = ledger_statements.ids_of_gone_rows(self.ledger)
        for row_id in self.options.removals.keep:
            if row_id not in gone:
                those = some_of([str(each) for each in sorted(gone)], _MAX_NAMED)
                raise ImportRefused(
                    f"no row {row_id} of {self.job.tool.name!r} is gone from its statements; "
                    + (f"gone are: {those}" if gone else "none is")
                )

    def _import_ledger(self) -> LedgerReport:
        scan = self.job.scan
        with self.job.stopwatch.stage("ledger"):
            ledger = import_ledger(
                self.ledger,
                self.files,
                "replace" if self.job.request.mode == "replace" else "update",
                complete=not scan.unseen,
                may_exist=scan.may_still_have,
                removal_options=self.options.removals,
            )
        self.failed += [with_advice(problem, self.job.tool.name) for problem in ledger.unread]
        passed_over = [
            *(with_advice(problem, self.job.tool.name) for problem in ledger.passed_over),
            *unsupported_files(scan.others),
        ]
        return replace(
            ledger, passed_over=tuple(sorted(passed_over, key=lambda skipped: skipped.file_path))
        )

    def _update_texts(self) -> None:
        """Store the files whose rows changed, and delete those without rows."""
        if not self.index.has_generation:
            self.index.begin_first_generation()
        else:
            self.index.create_missing_indexes()
            if ledger_statements.is_indexed(self.ledger):
                self.index.finish()
                self.index.send_vectors()
                return
        stored = self.index.stored_files()
        texts = self._texts(stored)
        changed = [
            text
            for text in texts
            if text.path not in stored or stored[text.path].content_hash != text.content_hash
        ]
        words = [chunk.text for text in changed for chunk in chunks_of(text)]
        self.vectors |= self.index.stored_vectors(words)
        self._store_all(changed)
        paths = {text.path for text in texts}
        with self.ledger.connection:
            self.index.delete([path for path in stored if path not in paths])
            self._mark_index_current()
            self.index.finish()
        self.index.send_vectors()

    def _mark_index_current(self) -> None:
        """Within a transaction: record that the texts match the ledger."""
        if not self.failed:
            ledger_statements.mark_index(self.ledger, current=True)

    def _texts(self, stored: Mapping[str, StoredFile]) -> list[StatementText]:
        """The text of each file that rows come from; the stored text if the file cannot be read."""
        by_path = {file.path: file for file in self.files}
        known = ledger_statements.known_files(self.ledger)
        paths = {file.content_hash: path for path, file in stored.items()}
        texts = []
        for path, of_file in subjects.subjects_by_file(self.ledger).items():
            file = by_path.get(path)
            size, mtime_ns = (0, 0) if file is None else (file.size, file.mtime_ns)
            file_hash = known[path].content_hash if path in known else ""
            read = partial(self._csv, path, file, is_stored=path in stored)
            text = StatementText(path, size, mtime_ns, file_hash, read, of_file)
            former = paths.get(text.content_hash)
            if former is not None and path not in stored:  # renamed: it need not be parsed again
                text = replace(text, csv=cache(partial(self._stored_csv, former)))
            texts.append(text)
        return texts

    def _csv(self, path: str, file: LedgerFile | None, *, is_stored: bool) -> CsvText:
        csv = None if file is None else file.csv()
        return csv or (self._stored_csv(path) if is_stored else CsvText.of(""))

    def _stored_csv(self, path: str) -> CsvText:
        stored = self.index.stored_text(path)
        return CsvText.of("" if stored is None else stored.content)

    def _store_all(self, texts: Sequence[StatementText]) -> None:
        if texts:
            words = (chunk.text for text in texts for chunk in chunks_of(text))
            self.index.embed_ahead(word for word in words if word not in self.vectors)
        self.progress.files = len(texts)
        for text in texts:
            try:
                self._store(text, chunks_of(text))
            except ModelUnavailable:
                raise
            except ModelError as error:
                self.failed.append(Problem(text.path, str(error)))
            self.progress.file_done()

    def _store(self, text: StatementText, chunks: Sequence[Chunk]) -> None:
        rows = self.index.embed([chunk.text for chunk in chunks], self.vectors)
        self.index.put(
            NewDocument(
                file_path=text.path,
                content_hash=text.content_hash,
                content=text.csv().text,
                title="",  # a file's name says nothing about a subject
                size=text.size,
                mtime_ns=text.mtime_ns,
                chunks=list(chunks),
                vectors=rows,
            )
        )
