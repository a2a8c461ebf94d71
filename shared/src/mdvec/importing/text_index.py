"""What every import of a tool works with: its connection, its tables, its model, its counts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import apsw

from mdvec.embedding.embedder import Embedder
from mdvec.files.scan import Problem, Scan, ScanRules
from mdvec.importing.options import ImportRefused, model_to_ask_for, resolve_chunking
from mdvec.importing.report import EmbedderFor, ImportRequest, Progress, ToolChanged
from mdvec.index import chunks as vectors
from mdvec.index import documents, tables
from mdvec.index.documents import NewDocument
from mdvec.index.erasing import erase_deleted_terms
from mdvec.index.tables import Tables
from mdvec.text.chunking import ChunkingOptions
from mdvec.timing import Stopwatch
from mdvec.tools import rows as tools
from mdvec.tools.rows import Tool

if TYPE_CHECKING:
    from mdvec.embedding.embedder import Vectors


@dataclass
class ToolImport:
    """One import while it runs."""

    connection: apsw.Connection
    tool: Tool
    request: ImportRequest
    embedder_for: EmbedderFor
    stopwatch: Stopwatch
    on_progress: Callable[[Progress], None]
    on_notice: Callable[[str], None]
    found: Scan
    scan_rules: ScanRules
    """The tool's own, which this import stores."""

    added: int = 0
    updated: int = 0
    deleted: int = 0
    unchanged: int = 0
    chunks_embedded: int = 0
    chunks_done: int = 0
    files_done: int = 0
    files: int = 0
    done: int = 0
    failed: list[Problem] = field(default_factory=list)
    _embedder: Embedder | None = None
    _options: ChunkingOptions | None = None

    def __post_init__(self) -> None:
        self.tables = Tables(self.tool.id, self.tool.name, self.tool.generation)
        self.failed.extend(self.found.problems)

    def embedded(self, texts: Sequence[str], known: dict[str, bytes]) -> Vectors:
        """One vector per text; only texts that are not ``known`` are embedded, each once.

        ``known`` gains what was embedded.
        """
        import numpy as np

        embedder = self.model()
        new = list(dict.fromkeys(text for text in texts if text not in known))
        for first in range(0, len(new), embedder.batch):
            part = new[first : first + embedder.batch]
            with self.stopwatch.stage("embed"):
                rows = embedder.embed_documents(part)
            known.update((key, row.tobytes()) for key, row in zip(part, rows, strict=True))
            self.chunks_embedded += len(part)
            self.chunks_done += len(part)
            self.tell()
        self.chunks_done += len(texts) - len(new)
        joined = b"".join(known[text] for text in texts)
        return np.frombuffer(joined, dtype=np.float32).reshape(len(texts), embedder.dimension)

    def index_what_is_there(self) -> None:
        """Build the derived indexes where they are missing: a file of an older version has none."""
        if tables.has_indexes(self.connection, self.tables):
            return
        self.on_notice(
            f"building the search indexes of {self.tool.name!r}, which this version adds …"
        )
        with self.connection, self.stopwatch.stage("index"):
            self.check_tool()
            vectors.index_again(self.connection, self.tables)

    def begin_first_generation(self) -> None:
        """Tie an empty tool to a model and a way of cutting, and make its indexes."""
        self.load_model(rebuild=True)
        generation = self.tool.generation + 1
        fresh = Tables(self.tool.id, self.tool.name, generation)
        with self.connection:
            self.check_tool()
            tables.drop_leftovers(self.connection, self.tool.id, self.tool.name, current=-1)
            tables.create_indexes(self.connection, fresh)
            self.record_model(generation)
        self.tool = tools.get_tool(self.connection, self.tool.name)
        self.tables = fresh

    def model(self) -> Embedder:
        """The tool's model, loaded when it is first needed."""
        if self._embedder is None:
            self.load_model(rebuild=False)
        assert self._embedder is not None  # noqa: S101 - load_model sets it or raises
        return self._embedder

    def chunking(self) -> ChunkingOptions:
        """The way of cutting, known once the model is."""
        assert self._options is not None  # noqa: S101 - set with the model
        return self._options

    def load_model(self, *, rebuild: bool) -> None:
        """Load the tool's model; a rebuild may take another.

        Raises:
            ModelError: it is not here.
            ImportRefused: it is not the one that the tool was imported with.
        """
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

    def record_model(self, generation: int) -> None:
        """Within a transaction: tie the tool to the model that is loaded."""
        embedder = self.model()
        model = (embedder.name, embedder.fingerprint, embedder.dimension)
        tools.record_model(self.connection, self.tool, generation, model, self.chunking())

    def begin_work(self, files: int, done: int) -> None:
        """Note that an import of so many files has begun, ``done`` of which are in already."""
        with self.connection:
            self.check_tool()
            tools.begin_import(self.connection, self.tool, self.scan_rules, files, done)
        self.done = done

    def count_done(self) -> None:
        """Within a transaction: one more of the files is in."""
        if not self.tables.staged:
            self.done += 1
            tools.count_done(self.connection, self.tool, self.done)

    def record_end(self) -> None:
        """Within a transaction: the import came to its end, and what it deleted is erased."""
        if not self.tables.staged and tables.has_indexes(self.connection, self.tables):
            with self.stopwatch.stage("erase"):
                erase_deleted_terms(self.connection, self.tables)
        tools.record_import(self.connection, self.tool, self.scan_rules)

    def check_tool(self) -> None:
        """Within a transaction: the tool is the one that this import began with."""
        now = next(
            (tool for tool in tools.list_tools(self.connection) if tool.id == self.tool.id), None
        )
        if now is None or now.generation != self.tool.generation:
            raise ToolChanged(self.tool.name)

    def drop_leftovers(self) -> None:
        """Drop what an interrupted rebuild left behind."""
        with self.connection:
            tables.drop_leftovers(
                self.connection, self.tool.id, self.tool.name, current=self.tool.generation
            )

    def put(self, document: NewDocument) -> None:
        """Store a document whole."""
        with self.stopwatch.stage("write"), self.connection:
            self.check_tool()
            documents.put_document(self.connection, self.tables, document)
            self.count_done()

    def begin_staged(self) -> Tables:
        """Begin the next generation beside the current one, whose tables are returned."""
        current = self.tables
        self.load_model(rebuild=True)
        self.tables = Tables(self.tool.id, self.tool.name, self.tool.generation + 1, staged=True)
        with self.connection:
            self.check_tool()
            tables.create_tables(self.connection, self.tables)
            tables.create_indexes(self.connection, self.tables)
        return current

    def put_staged_in_place(self, current: Tables) -> Tables:
        """Put the finished generation in the place of ``current``; return its tables."""
        with self.connection, self.stopwatch.stage("write"):
            self.check_tool()
            tables.put_in_place(self.connection, current, self.tables)
            self.record_model(self.tables.generation)
            self.record_end()
        return Tables(self.tool.id, self.tool.name, self.tables.generation)

    def tell(self) -> None:
        """Say how far it is."""
        self.on_progress(Progress(self.files_done, self.files, self.chunks_done))
