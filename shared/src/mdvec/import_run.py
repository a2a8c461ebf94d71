"""One run of an import: follow what changed in a folder, or build everything again beside it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import apsw

from mdvec.core.text.chunking import Chunk, ChunkingOptions, chunk_document
from mdvec.core.text.context import texts_to_embed
from mdvec.core.text.markdown import outline
from mdvec.import_options import ImportRefused, model_to_ask_for, resolve_chunking
from mdvec.import_report import EmbedderFor, ImportReport, ImportRequest, Progress, ToolChanged
from mdvec.interfaces.database import documents, tables, tools, vectors
from mdvec.interfaces.database.sqlite import snapshot
from mdvec.interfaces.database.tables import Tables
from mdvec.interfaces.database.tools import Tool
from mdvec.interfaces.embedding.embedder import Embedder, ModelError, ModelUnavailable
from mdvec.interfaces.filesystem.scan import (
    FileText,
    FoundFile,
    Problem,
    Scan,
    UnreadableFile,
    read_text,
)
from mdvec.timing import Stopwatch

if TYPE_CHECKING:
    from mdvec.interfaces.embedding.embedder import Vectors

logger = logging.getLogger("mdvec")


@dataclass
class ImportRun:
    """One import while it runs: its connection, its counts and its model."""

    connection: apsw.Connection
    tool: Tool
    request: ImportRequest
    embedder_for: EmbedderFor
    stopwatch: Stopwatch
    on_progress: Callable[[Progress], None]
    on_notice: Callable[[str], None]
    found: Scan

    added: int = 0
    updated: int = 0
    deleted: int = 0
    unchanged: int = 0
    chunks_embedded: int = 0
    chunks_done: int = 0
    files_done: int = 0
    files: int = 0
    failed: list[Problem] = field(default_factory=list)
    _embedder: Embedder | None = None
    _options: ChunkingOptions | None = None

    def __post_init__(self) -> None:
        self.tables = Tables(self.tool.id, self.tool.name, self.tool.generation)
        self.failed.extend(self.found.problems)

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
        self._drop_leftovers()
        if self.tool.generation == 0 or (self.request.mode == "new" and not stored):
            self._begin_first_generation()
        else:
            resolve_chunking(self.tool, self.request.chunking, None, rebuild=False)
            model_to_ask_for(self.tool, self.request.model, rebuild=False)
            self._index_what_is_there()
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
        for number, file in enumerate(candidates, 1):
            self._import_file(file, stored.get(file.path))
            self.files_done = number
            self._tell()
        self._drop_gone(stored)
        with self.connection:
            self._check_tool()
            tools.record_import(self.connection, self.tool)
        return self._report(self.tables)

    def rebuild(self) -> ImportReport:
        """Mode ``replace``: fill a new generation beside the old, then put it in its place."""
        current = self.tables
        self._drop_leftovers()
        known = documents.count(self.connection, current).documents
        self._load_model(rebuild=True)
        self.tables = Tables(self.tool.id, self.tool.name, self.tool.generation + 1, staged=True)
        with self.connection:
            self._check_tool()
            tables.create_tables(self.connection, self.tables)
            tables.create_indexes(self.connection, self.tables)
        self.files = len(self.found.files)
        for number, file in enumerate(self.found.files, 1):
            self._import_file(file, None)
            self.files_done = number
            self._tell()
        if self.failed and not (self.added and self.chunks_done):
            first = self.failed[0]
            raise ImportRefused(
                f"not one file with text could be imported ({first.file_path}: {first.reason}); "
                f"the tool {self.tool.name!r} was left as it was"
            )
        with self.connection, self.stopwatch.stage("write"):
            self._check_tool()
            tables.put_in_place(self.connection, current, self.tables)
            self._record_model(self.tables.generation)
            tools.record_import(self.connection, self.tool)
        self.deleted = max(known - self.added, 0)
        return self._report(Tables(self.tool.id, self.tool.name, self.tables.generation))

    def interrupted(self) -> str:
        """What to tell the user who stopped it."""
        if self.request.mode == "replace":
            with self.connection:
                self._drop_leftovers()
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
                    self._check_tool()
                    documents.touch_document(
                        self.connection, self.tables, file.path, file.size, file.mtime_ns
                    )
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
        embedder = self._model()
        with self.stopwatch.stage("split"):
            read = outline(text.content, file.path.rpartition("/")[2])
            chunks = chunk_document(text.content, read, self._chunking(), embedder)
        logger.debug(
            "[import] %s: %d chunks, chars=%s",
            file.path, len(chunks), [chunk.end - chunk.start for chunk in chunks],
        )  # fmt: skip
        rows = self._vectors(file, text, read.title, chunks)
        document = documents.NewDocument(
            file_path=file.path,
            content_hash=text.content_hash,
            content=text.content,
            title=read.title,
            size=file.size,
            mtime_ns=file.mtime_ns,
            chunks=chunks,
            vectors=rows,
        )
        with self.stopwatch.stage("write"), self.connection:
            self._check_tool()
            documents.put_document(self.connection, self.tables, document)

    def _vectors(self, file: FoundFile, text: FileText, title: str, chunks: list[Chunk]) -> Vectors:
        """One vector per chunk; only texts without a stored vector are embedded."""
        import numpy as np

        embedder = self._model()
        context = self._chunking().context
        known: dict[str, bytes] = {}
        if not self.tables.staged:
            with snapshot(self.connection):
                self._check_tool()
                known = vectors.known_embeddings(
                    self.connection, self.tables, file.path, text.content_hash, context=context
                )
        texts = texts_to_embed(title, chunks, embedder, context=context)
        new = list(dict.fromkeys(text for text in texts if text not in known))
        for first in range(0, len(new), embedder.batch):
            part = new[first : first + embedder.batch]
            with self.stopwatch.stage("embed"):
                rows = embedder.embed_documents(part)
            known.update((key, row.tobytes()) for key, row in zip(part, rows, strict=True))
            self.chunks_embedded += len(part)
            self.chunks_done += len(part)
            self._tell()
        self.chunks_done += len(chunks) - len(new)
        joined = b"".join(known[text] for text in texts)
        return np.frombuffer(joined, dtype=np.float32).reshape(len(chunks), embedder.dimension)

    def _index_what_is_there(self) -> None:
        """Build the derived indexes where they are missing: a file of an older version has none."""
        if tables.has_indexes(self.connection, self.tables):
            return
        self.on_notice(
            f"building the search indexes of {self.tool.name!r}, which this version adds …"
        )
        with self.connection, self.stopwatch.stage("index"):
            self._check_tool()
            vectors.index_again(self.connection, self.tables)

    def _drop_gone(self, stored: dict[str, documents.StoredFile]) -> None:
        seen = {file.path for file in self.found.files}
        gone = [path for path in stored if path not in seen and not self.found.may_still_have(path)]
        if not gone:
            return
        with self.stopwatch.stage("write"), self.connection:
            self._check_tool()
            for path in gone:
                documents.delete_document(self.connection, self.tables, path)
        self.deleted = len(gone)

    def _begin_first_generation(self) -> None:
        self._load_model(rebuild=True)
        generation = self.tool.generation + 1
        fresh = Tables(self.tool.id, self.tool.name, generation)
        with self.connection:
            self._check_tool()
            tables.drop_leftovers(self.connection, self.tool.id, self.tool.name, current=-1)
            tables.create_indexes(self.connection, fresh)
            self._record_model(generation)
        self.tool = tools.get_tool(self.connection, self.tool.name)
        self.tables = fresh

    def _model(self) -> Embedder:
        if self._embedder is None:
            self._load_model(rebuild=False)
        assert self._embedder is not None  # noqa: S101 - _load_model sets it or raises
        return self._embedder

    def _chunking(self) -> ChunkingOptions:
        assert self._options is not None  # noqa: S101 - set with the model
        return self._options

    def _load_model(self, *, rebuild: bool) -> None:
        wanted = model_to_ask_for(self.tool, self.request.model, rebuild=rebuild)
        with self.stopwatch.stage("model_load"):
            embedder = self.embedder_for(wanted)
        if not rebuild and embedder.fingerprint != self.tool.fingerprint:
            raise ImportRefused(
                f"the tool {self.tool.name!r} was imported with {self.tool.fingerprint}, but this "
                f"installation has {embedder.fingerprint}; build it again with --mode replace"
            )
        self._options = resolve_chunking(
            self.tool, self.request.chunking, embedder.card, rebuild=rebuild
        )
        self._embedder = embedder

    def _record_model(self, generation: int) -> None:
        embedder = self._model()
        model = (embedder.name, embedder.fingerprint, embedder.dimension)
        tools.record_model(self.connection, self.tool, generation, model, self._chunking())

    def _check_tool(self) -> None:
        """Within a transaction: the tool is the one that this import began with."""
        now = next(
            (tool for tool in tools.list_tools(self.connection) if tool.id == self.tool.id), None
        )
        if now is None or now.generation != self.tool.generation:
            raise ToolChanged(self.tool.name)

    def _drop_leftovers(self) -> None:
        with self.connection:
            tables.drop_leftovers(
                self.connection, self.tool.id, self.tool.name, current=self.tool.generation
            )

    def _tell(self) -> None:
        self.on_progress(Progress(self.files_done, self.files, self.chunks_done))

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
