"""One run of an import: follow what changed in a folder, or build everything again beside it."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from mdvec.database.connection import snapshot
from mdvec.embedding.embedder import ModelError, ModelUnavailable
from mdvec.files.scan import (
    FileText,
    FoundFile,
    Problem,
    UnreadableFile,
    read_text,
)
from mdvec.importing.options import ImportRefused, model_to_ask_for, resolve_chunking
from mdvec.importing.report import ImportReport
from mdvec.importing.text_index import ToolImport
from mdvec.index import chunks as vectors
from mdvec.index import documents
from mdvec.index.tables import Tables
from mdvec.text.chunking import chunk_document
from mdvec.text.context import texts_to_embed
from mdvec.text.markdown import outline

logger = logging.getLogger("mdvec")


@dataclass
class ImportRun(ToolImport):
    """One import of a folder of documents while it runs."""

    def run(self) -> ImportReport:
        """Follow the folder, or build everything again."""
        return self.rebuild() if self.request.mode == "replace" else self.follow()

    def follow(self) -> ImportReport:
        """Modes ``new`` and ``update``: bring in what changed, then drop what is gone."""
        stored = documents.stored_files(self.connection, self.tables)
        if self.request.mode == "new" and stored:
            raise ImportRefused(
                f"the tool {self.tool.name!r} has {len(stored)} documents already; "
                "use --mode update to follow changes, or --mode replace to build it again"
            )
        if stored and not self.found.files and not self.found.unseen:
            raise ImportRefused(
                f"there is no file to import in {self.tool.source}, but {self.tool.name!r} has "
                f"{len(stored)} documents; put the files back (is a disk not mounted?), "
                "or empty the tool with --mode replace"
            )
        self.drop_leftovers()
        if self.tool.generation == 0 or (self.request.mode == "new" and not stored):
            self.begin_first_generation()
        else:
            resolve_chunking(self.tool, self.request.chunking, None, rebuild=False)
            model_to_ask_for(self.tool, self.request.model, rebuild=False)
            self.index_what_is_there()
        candidates = [
            file
            for file in self.found.files
            if file.path not in stored or stored[file.path].state != (file.size, file.mtime_ns)
        ]
        self.unchanged = len(self.found.files) - len(candidates)
        self.files = len(candidates)
        logger.debug(
            "[import] scan: %d files (new or changed=%d, unchanged=%d), %d documents stored",
            len(self.found.files), self.files, self.unchanged, len(stored),
        )  # fmt: skip
        if candidates:
            self.begin_work(len(self.found.files), self.unchanged)
        for number, file in enumerate(candidates, 1):
            self._import_file(file, stored.get(file.path))
            self.files_done = number
            self.tell()
        self._drop_gone(stored)
        with self.connection:
            self.check_tool()
            self.record_end()
        return self._report(self.tables)

    def rebuild(self) -> ImportReport:
        """Mode ``replace``: fill a new generation beside the old, then put it in its place."""
        self.drop_leftovers()
        known = documents.count(self.connection, self.tables).documents
        current = self.begin_staged()
        self.files = len(self.found.files)
        for number, file in enumerate(self.found.files, 1):
            self._import_file(file, None)
            self.files_done = number
            self.tell()
        if self.failed and not (self.added and self.chunks_done):
            first = self.failed[0]
            raise ImportRefused(
                f"not one file with text could be imported ({first.file_path}: {first.reason}); "
                f"the tool {self.tool.name!r} was left as it was"
            )
        final = self.put_staged_in_place(current)
        self.deleted = max(known - self.added, 0)
        return self._report(final)

    def interrupted(self) -> str:
        """What to tell the user who stopped it."""
        if self.request.mode == "replace":
            with self.connection:
                self.drop_leftovers()
            return (
                f"stopped after {self.added} of {self.files} files; "
                f"the tool {self.tool.name!r} still has what it had before"
            )
        if not self.files:
            return f"stopped before the first file of {self.tool.name!r}; nothing was changed"
        return (
            f"stopped after {self.added + self.updated} of {self.files} files, which are kept; "
            f"go on with: mdvec import -n {self.tool.name} --mode update"
        )

    def _import_file(self, file: FoundFile, known: documents.StoredFile | None) -> None:
        """Bring one file in, or note why it cannot be."""
        try:
            with self.stopwatch.stage("read_and_hash"):
                text = read_text(self.tool.source, file.path)
            if known is not None and known.content_hash == text.content_hash:
                self.unchanged += 1
                with self.connection:
                    self.check_tool()
                    documents.touch_document(
                        self.connection, self.tables, file.path, file.size, file.mtime_ns
                    )
                    self.count_done()
                return
            self._store(file, text)
        except ModelUnavailable:
            raise
        except (UnreadableFile, ModelError) as error:
            self.failed.append(Problem(file.path, str(error)))
            return
        if known is None:
            self.added += 1
        else:
            self.updated += 1

    def _store(self, file: FoundFile, text: FileText) -> None:
        embedder = self.model()
        with self.stopwatch.stage("split"):
            read = outline(text.content, file.path.rpartition("/")[2])
            chunks = chunk_document(text.content, read, self.chunking(), embedder)
        logger.debug(
            "[import] %s: %d chunks, chars=%s",
            file.path, len(chunks), [chunk.end - chunk.start for chunk in chunks],
        )  # fmt: skip
        context = self.chunking().context
        texts = texts_to_embed(read.title, chunks, embedder, context=context)
        rows = self.embedded(texts, self._known(file, text, context=context))
        self.put(
            documents.NewDocument(
                file_path=file.path,
                content_hash=text.content_hash,
                content=text.content,
                title=read.title,
                size=file.size,
                mtime_ns=file.mtime_ns,
                chunks=chunks,
                vectors=rows,
            )
        )

    def _known(self, file: FoundFile, text: FileText, *, context: bool) -> dict[str, bytes]:
        """The vectors that the tool has already for texts of this document."""
        if self.tables.staged:
            return {}
        with snapshot(self.connection):
            self.check_tool()
            return vectors.known_embeddings(
                self.connection, self.tables, file.path, text.content_hash, context=context
            )

    def _drop_gone(self, stored: dict[str, documents.StoredFile]) -> None:
        seen = {file.path for file in self.found.files}
        gone = [path for path in stored if path not in seen and not self.found.may_still_have(path)]
        if not gone:
            return
        with self.stopwatch.stage("write"), self.connection:
            self.check_tool()
            for path in gone:
                documents.delete_document(self.connection, self.tables, path)
        self.deleted = len(gone)

    def _report(self, final: Tables) -> ImportReport:
        model = self._embedder.name if self._embedder else str(self.tool.model)
        return ImportReport(
            tool=self.tool.name,
            mode=self.request.mode,
            model=model,
            added=self.added,
            updated=self.updated,
            deleted=self.deleted,
            unchanged=self.unchanged,
            failed=tuple(sorted(self.failed, key=lambda problem: problem.file_path)),
            chunks=documents.count(self.connection, final).chunks,
            chunks_embedded=self.chunks_embedded,
            seconds=round(self.stopwatch.total, 3),
        )
