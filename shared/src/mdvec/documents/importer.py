"""Imports a folder of documents: indexes its changes, or rebuilds its index."""

from __future__ import annotations

import hashlib
import logging
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, replace

import apsw

from mdvec import importing
from mdvec.converters import Converter
from mdvec.embedding import ModelError, ModelUnavailable
from mdvec.files import (
    FileBytes,
    FileState,
    FoundFile,
    Problem,
    UnreadableFile,
    decode_text,
    read_bytes,
)
from mdvec.index import NewDocument, StoredFile, documents
from mdvec.text import (
    Chunk,
    Outline,
    bundle_of,
    counted,
    has_readable_text,
    is_blank,
    is_bundle,
    is_converted,
    is_machine_file,
    on_one_line,
    outline,
    properties_of,
    searchable_chunks,
    shown_name,
    some_of,
    texts_to_embed,
)
from mdvec.tools import Tool

logger = logging.getLogger("mdvec")

_MAX_NAMED = 8
_LEFT_OUT = (
    "stored, but not searched, as only machines read it (lock files, minified code, encoded data): "
    "{}; to leave such files out, name them in [scan] exclude"
)
_BROKEN = (
    "the front matter of {} is not valid YAML; each of its entries was read by itself, and a block "
    "with other lines is searched as text, too (quote values that hold a colon)"
)
_MAX_KEPT_CHARS = 20_000_000
"""How many characters of split files are kept in memory while an endpoint embeds them."""


def import_documents(job: importing.ImportJob) -> importing.ImportReport:
    """Bring the index of a folder's documents in line with its files.

    Raises:
        ImportRefused: the mode, the model or the chunking does not fit what is stored.
        ImportInterrupted: the user stopped it.
    """
    run = _FolderImport(job)
    try:
        # Until the interrupt is handled, its traceback keeps queries open; their tables are locked.
        with suppress(KeyboardInterrupt):
            return run.rebuild() if run.rebuilds else run.follow()
        run.index.keep_paid()
        raise importing.ImportInterrupted(run.stopped())
    finally:
        run.converter.close()


def _stored_states(connection: apsw.Connection, tool: Tool) -> Mapping[str, FileState]:
    stored = documents.stored_files(tool.tables_in(connection))
    return {path: file.state for path, file in stored.items() if bundle_of(path) not in stored}


def _content(connection: apsw.Connection, tool: Tool) -> str:
    number = documents.document_counts(tool.tables_in(connection)).documents
    return counted(number, "document") if number else ""


DOCUMENTS = importing.Importer(
    import_documents, _stored_states, importing.states_as_found, _content
)


@dataclass(frozen=True, slots=True)
class _FileText:
    """A document's text as it is stored, and its hash: of a file, the SHA-256 of its bytes."""

    content: str
    content_hash: str
    lists_parts: bool = False


@dataclass(frozen=True, slots=True)
class _CutFile:
    """A file's structure, its chunks, and the text to embed for each."""

    outline: Outline
    chunks: list[Chunk]
    texts: list[str]
    is_left_out: bool


class _FolderImport:
    """One import of a folder while it runs."""

    def __init__(self, job: importing.ImportJob) -> None:
        self.job = job
        self.progress = importing.ProgressCount(job.on_progress)
        self.index = importing.TextIndex(job, self.progress)
        self.added = 0
        self.updated = 0
        self.unchanged = 0
        self.failed = list(job.scan.problems)
        self.left_out: list[str] = []
        self.broken_matter: list[str] = []
        self.converter = Converter(job.request.converting, on_page=self.progress.report)
        self.conversion_notes: dict[str, tuple[str, ...]] = {}
        self.has_read_text = False
        self.parts: dict[str, set[str]] = {}
        self._stored_in: Counter[str] = Counter()
        self._kept_cuts: dict[tuple[str, str], _CutFile] = {}
        self._kept_chars = 0

    @property
    def rebuilds(self) -> bool:
        """Whether a new index is built while searches still read the old one.

        The index of an empty tool is built in place, so that it can be searched at once.
        """
        request = self.job.request
        return request.mode == "replace" and (
            self.index.has_generation or not request.is_background
        )

    def follow(self) -> importing.ImportReport:
        """Modes ``new`` and ``update``: store changed files, then delete missing ones."""
        files = self.job.scan.files
        stored = self.index.stored_files()
        self._check_files(stored)
        self._ready_index(stored)
        self._stored_in = Counter(bundle_of(path) or path for path in stored)
        changed = [file for file in files if self._has_changed(file, stored)]
        logger.debug(
            "[import] scan: %d files (new or changed=%d), %d documents stored",
            len(files), len(changed), len(stored),
        )  # fmt: skip
        for path in {file.path for file in files}.difference(file.path for file in changed):
            self._count_unchanged(path)
        if changed:
            self.index.embed_ahead(self._texts_to_embed(changed, stored))
            self.index.begin(len(files), len(files) - len(changed))
        self._import_files(changed, stored)
        seen = {file.path for file in files}
        gone = [path for path in stored if path not in seen and self._is_gone(path, seen)]
        self.index.delete(gone)
        if not self.job.request.is_background:
            self.failed += self.index.embed_pending()
        self.index.finish()
        self.index.send_vectors()
        return self._report(deleted=len(gone))

    def _ready_index(self, stored: Mapping[str, StoredFile]) -> None:
        """Begin the index of an empty tool, or adapt an existing one to this version and engine."""
        self.index.drop_leftovers()
        if not self.index.has_generation or (self.job.request.mode == "new" and not stored):
            self.index.begin_first_generation()
        else:
            self.index.check_options()
            self.index.create_missing_indexes()

    def _has_changed(self, file: FoundFile, stored: Mapping[str, StoredFile]) -> bool:
        """Whether a file must be read: it is new or not as stored, or it is read in any case."""
        known = stored.get(file.path)
        is_as_stored = known is not None and known.state == file.state
        is_read_anyway = self.job.request.checksum or self._lacks_parts(file.path)
        return is_read_anyway or not is_as_stored

    def _lacks_parts(self, path: str) -> bool:
        """Whether a bundle was stored as a single document, as an earlier version did."""
        return is_bundle(path) and self._stored_in[path] <= 1

    def _is_gone(self, path: str, seen: Set[str]) -> bool:
        """Whether a stored document no longer exists, neither as a file nor in a bundle.

        The parts of a bundle that was not read this time stay.
        """
        bundle = bundle_of(path)
        if bundle in seen:
            return bundle in self.parts and path not in self.parts[bundle]
        return not self.job.scan.may_still_have(path)

    def rebuild(self) -> importing.ImportReport:
        """Mode ``replace``: fill a new generation, then let it replace the old one."""
        before = self.index.size().documents
        with self.index.rebuilding():
            self.index.embed_ahead(self._texts_to_embed(self.job.scan.files, {}))
            self._import_files(self.job.scan.files, {})
            if self.failed and not self.has_read_text:
                first = self.failed[0]
                raise importing.ImportRefused(
                    "not one file with text could be imported "
                    f"({shown_name(first.file_path)}: {first.reason}); "
                    f"the tool {self.job.tool.name!r} was left as it was"
                )
        return self._report(deleted=max(before - self.added, 0))

    def stopped(self) -> str:
        """The message after the user stopped the import."""
        name, files = self.job.tool.name, self.progress.files
        # Ctrl-C may have come after a file was stored and before it was counted.
        stored = max(self.added + self.updated, self.index.files_stored())
        is_rebuild = self.job.request.mode == "replace"
        if is_rebuild:
            self.index.drop_leftovers()
        if not files:
            return f"stopped before the first file of {name!r}; nothing was changed"
        if is_rebuild:
            return (
                f"stopped after {stored} of {counted(files, 'file')}; "
                f"the tool {name!r} still has what it had before"
            )
        return (
            f"stopped after {stored} of {counted(files, 'file')}, which are kept; "
            f"continue with: mdvec import -n {name} --mode update"
        )

    def _check_files(self, stored: Mapping[str, StoredFile]) -> None:
        tool, scan = self.job.tool, self.job.scan
        if stored and not scan.files and not scan.unseen:
            raise importing.NoFiles(
                scan,
                f"there is no file to import in {tool.source}, but {tool.name!r} has "
                f"{counted(len(stored), 'document')}; put the files back (is a disk not mounted?), "
                "or empty the tool with --mode replace",
            )

    def _import_files(self, files: Sequence[FoundFile], stored: Mapping[str, StoredFile]) -> None:
        self.progress.files = len(files)
        for file in files:
            with self.job.stopwatch.of_file(on_one_line(file.path)):
                self._import_file(file, stored)
            self.progress.file_done()

    def _import_file(self, file: FoundFile, stored: Mapping[str, StoredFile]) -> None:
        """Store one file, or note why it cannot be imported; the parts of a bundle come first.

        After a kill between two parts the bundle still counts as changed.
        """
        try:
            with self.job.stopwatch.stage("read_and_hash"):
                read = read_bytes(self.job.tool.source, file.path)
            if self._is_stored(file, read, stored):
                self._count_unchanged(file.path)
                self.index.touch(file.path, file.size, file.mtime_ns)
                return
            whole, *parts = self._documents_of(file, read)
            for document, text in parts:
                known = stored.get(document.path)
                if known is None or known.content_hash != text.content_hash:
                    self._store(document, text)
                    self._count(known)
                else:
                    self.unchanged += 1
            if parts:
                self.parts[file.path] = {document.path for document, _ in parts}
            self._store(*whole)
        except ModelUnavailable:
            raise
        except UnreadableFile as error:
            self.failed.append(error.problem(file.path))
            return
        except ModelError as error:
            self.failed.append(Problem(file.path, str(error)))
            return
        self._count(stored.get(file.path))

    def _count(self, known: StoredFile | None) -> None:
        if known is None:
            self.added += 1
        else:
            self.updated += 1

    def _count_unchanged(self, path: str) -> None:
        """Count the documents of a file that is as it was stored; a bundle has several."""
        self.unchanged += max(self._stored_in[path], 1)

    def _is_stored(
        self, file: FoundFile, read: FileBytes, stored: Mapping[str, StoredFile]
    ) -> bool:
        known = stored.get(file.path)
        return (
            known is not None
            and known.content_hash == read.content_hash
            and not self._lacks_parts(file.path)
        )

    def _documents_of(self, file: FoundFile, read: FileBytes) -> list[tuple[FoundFile, _FileText]]:
        """The documents that a file becomes, decoded or converted: itself, then a bundle's parts.

        Raises:
            UnreadableFile: it cannot be decoded or converted.
        """
        if not is_converted(file.path):
            return [(file, _FileText(decode_text(read.data), read.content_hash))]
        with self.job.stopwatch.stage("convert"):
            converted = self.converter.convert(read.data, file.path)
        if converted.notes:
            self.conversion_notes[file.path] = converted.notes
        documents = [(file, _FileText(converted.content, read.content_hash, bool(converted.parts)))]
        for part in converted.parts:
            content_hash = hashlib.sha256(part.content.encode()).hexdigest()
            document = replace(file, path=f"{file.path}/{part.name}")
            documents.append((document, _FileText(part.content, content_hash)))
        return documents

    def _texts_to_embed(
        self, files: Sequence[FoundFile], stored: Mapping[str, StoredFile]
    ) -> Iterator[str]:
        """The texts of changed files that have no vector yet; storing a file reads it again."""
        for file in files:
            try:
                read = read_bytes(self.job.tool.source, file.path)
                if self._is_stored(file, read, stored):
                    continue
                documents = self._documents_of(file, read)
            except UnreadableFile:
                continue  # storing it reports that
            for document, text in documents:
                cut = self._cut(document, text)
                if self._kept_chars < _MAX_KEPT_CHARS:
                    self._kept_cuts[document.path, text.content_hash] = cut
                    self._kept_chars += len(text.content)
                vectors = self.index.known_vectors(document.path, text.content_hash)
                yield from (passage for passage in cut.texts if passage not in vectors)

    def _cut(self, file: FoundFile, text: _FileText) -> _CutFile:
        embedder, chunking = self.index.embedder(), self.index.chunking()
        name = file.path.rpartition("/")[2]
        read = outline(text.content, name)
        chunks = searchable_chunks(text.content, read, chunking, embedder)
        if text.lists_parts or (chunking.strategy == "heading" and is_machine_file(name)):
            chunks = []
        texts = texts_to_embed(file.path, read.title, chunks, embedder)
        may_be_left_out = not chunks and not text.lists_parts
        is_left_out = may_be_left_out and _says_something(text.content[read.body :], read)
        if chunks and is_blank(texts[0]):  # an empty file without a title
            chunks, texts = [], []
        return _CutFile(read, chunks, texts, is_left_out=is_left_out)

    def _store(self, file: FoundFile, text: _FileText) -> None:
        self.index.embedder()  # loading is a stage of its own, not part of splitting
        with self.job.stopwatch.stage("split"):
            kept_cut = self._kept_cuts.pop((file.path, text.content_hash), None)
            if kept_cut is not None:
                self._kept_chars -= len(text.content)
            cut = kept_cut or self._cut(file, text)
            read = cut.outline
            properties = properties_of(text.content, read.matter, file.path)
        if cut.is_left_out:
            self.left_out.append(file.path)
        if read.matter.is_broken:
            self.broken_matter.append(file.path)
        logger.debug(
            "[import] %s: %d chunks, chars=%s",
            on_one_line(file.path), len(cut.chunks),
            [chunk.end - chunk.start for chunk in cut.chunks],
        )  # fmt: skip
        known = self.index.known_vectors(file.path, text.content_hash)
        self.index.put(
            NewDocument(
                file_path=file.path,
                content_hash=text.content_hash,
                content=text.content,
                title=read.title,
                size=file.size,
                mtime_ns=file.mtime_ns,
                chunks=cut.chunks,
                vectors=self.index.embed(cut.texts, known),
                properties=properties,
            )
        )
        self.has_read_text |= not is_blank(text.content)

    def _report(self, *, deleted: int) -> importing.ImportReport:
        return self.job.report(
            added=self.added,
            updated=self.updated,
            deleted=deleted,
            unchanged=self.unchanged,
            failed=self.failed,
            model=self.index.model_name,
            chunks=self.index.size().chunks,
            chunks_embedded=self.index.chunks_embedded,
            chunks_pending=self.index.chunks_pending,
            hints=(
                *(
                    hint.format(some_of([shown_name(path) for path in paths], _MAX_NAMED))
                    for paths, hint in ((self.left_out, _LEFT_OUT), (self.broken_matter, _BROKEN))
                    if paths
                ),
                *_conversion_hints(self.conversion_notes),
            ),
        )


def _says_something(body: str, read: Outline) -> bool:
    """Whether a document's body has more than blank space and Markdown comments."""
    return has_readable_text(body) if read.is_markdown else not is_blank(body)


def _conversion_hints(notes: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    lines = [f"{shown_name(path)}: {'; '.join(sentences)}" for path, sentences in notes.items()]
    if len(lines) > _MAX_NAMED:
        more = f"{len(lines) - _MAX_NAMED} more files have pages or texts that were left out"
        lines = [*lines[:_MAX_NAMED], more]
    return tuple(lines)
