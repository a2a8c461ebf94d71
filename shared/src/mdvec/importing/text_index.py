"""The searchable texts of a tool while an import changes them: documents, chunks and vectors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace

import apsw

from mdvec import embedding, index
from mdvec.database import has_table, roll_back, snapshot
from mdvec.files import Problem
from mdvec.importing.endpoint_texts import (
    EndpointTexts,
    PaidVectors,
    ask_about_questions,
    forget_paid,
)
from mdvec.importing.job import ImportJob, ProgressCount, check_unchanged
from mdvec.importing.options import ImportRefused, model_to_load, resolve_chunking
from mdvec.index import chunks, documents, table_changes
from mdvec.text import ChunkingOptions, texts_to_embed
from mdvec.tools import KINDS, registry


class TextIndex:
    """One tool's texts and the model that embeds them, held by an importer for one import.

    Every write first checks that the tool is still the same. A rebuild is staged: it fills the
    tables of the next generation while searches still read those of the current generation.
    """

    def __init__(self, job: ImportJob, progress: ProgressCount) -> None:
        self._embedded_here = 0
        self._endpoint: EndpointTexts | None = None
        self._job = job
        self._progress = progress
        self._connection = job.connection
        self._tool = job.tool
        self._tables = job.tool.tables_in(job.connection)
        self._files_stored = 0
        self._files_before: int | None = None
        self._loaded: tuple[embedding.Embedder, ChunkingOptions] | None = None
        if job.request.engine is not None:
            index.check_client_installed()

    @property
    def has_generation(self) -> bool:
        """Whether the tool has been imported before."""
        return self._tool.generation > 0

    @property
    def _current(self) -> index.Tables:
        """The tables that searches read."""
        return self._tool.tables_in(self._connection)

    @property
    def chunks_embedded(self) -> int:
        """How many texts this import embedded."""
        return self._embedded_here + (0 if self._endpoint is None else self._endpoint.sent)

    @property
    def model_name(self) -> str:
        """The name of the tool's model."""
        return str(self._tool.model) if self._loaded is None else self._loaded[0].name

    def stored_files(self) -> dict[str, index.StoredFile]:
        """The documents of the current generation, by path."""
        return documents.stored_files(self._current)

    def stored_text(self, path: str) -> index.StoredText | None:
        """A document of the current generation."""
        return documents.stored_text(self._current, path)

    def size(self) -> documents.DocumentCounts:
        """The number of documents and chunks of the current generation."""
        return documents.document_counts(self._current)

    def known_vectors(self, path: str, content_hash: str) -> dict[str, bytes]:
        """Vectors to reuse, by text: of the documents at ``path`` and with that content."""
        if self._tables.staged:
            return {}
        with snapshot(self._connection):
            check_unchanged(self._connection, self._tool)
            return chunks.known_embeddings(self._tables, path, content_hash)

    def stored_vectors(self, texts: Sequence[str]) -> dict[str, bytes]:
        """The vectors of the current generation's chunks with these texts, by text."""
        if not texts or not self.has_generation:
            return {}
        with snapshot(self._connection):
            check_unchanged(self._connection, self._tool)
            return chunks.embeddings_of(self._current, texts)

    def embedder(self) -> embedding.Embedder:
        """The tool's model, loaded on first use.

        Raises:
            ModelError: it is not installed.
            ImportRefused: the tool was imported with another model.
        """
        return self._model()[0]

    def chunking(self) -> ChunkingOptions:
        """The chunking options; their defaults depend on the model, which is loaded first."""
        return self._model()[1]

    def check_options(self) -> None:
        """Check that the requested model and chunking are those of the current generation.

        Raises:
            ImportRefused: they differ, which only a rebuild allows.
        """
        chosen, how = self._job.request.chunking, self._job.rebuilt_by
        resolve_chunking(self._tool, chosen, None, rebuild=False, rebuilt_by=how)
        self.check_model()

    def check_model(self, *, rebuild: bool = False) -> None:
        """Check the requested model before an import begins; for a new generation, load it.

        Raises:
            ImportRefused: it is not that of the current generation.
            ModelError: it cannot be loaded.
        """
        if rebuild or not self.has_generation:
            self._model(rebuild=True)
        else:
            request = self._job.request
            model_to_load(self._tool, request.model, request.usual_model, rebuild=False)

    def prepare_for_texts(self, *, rebuild: bool) -> None:
        """Load the model for new texts; for a new generation, also ask whether they may be sent.

        Raises:
            ImportRefused: it is not that of the current generation.
            SendingRefused: the user does not allow it.
            ModelError: it cannot be loaded.
        """
        is_new = rebuild or not self.has_generation
        self._model(rebuild=is_new)
        if is_new and (endpoint := self._endpoint_texts()) is not None:
            endpoint.ask()

    def embed_ahead(self, texts: Iterable[str]) -> None:
        """Start embedding the texts of an import if its model is behind an endpoint.

        Batches span files, while ``embed`` and ``put`` store what is finished. With a local model
        ``texts`` is not even read.

        Raises:
            SendingRefused: the user does not allow it.
        """
        if self._loaded is None and not embedding.is_endpoint_model(str(self._tool.model)):
            return  # the model need not be loaded: perhaps no file has changed
        if (endpoint := self._endpoint_texts()) is not None:
            endpoint.begin(texts)

    def keep_paid(self) -> None:
        """Keep the vectors of the request in flight after the import was stopped."""
        roll_back(self._connection)
        if self._endpoint is not None:
            self._endpoint.keep_last()

    def embed(self, texts: Sequence[str], known: dict[str, bytes]) -> embedding.Vectors | None:
        """One vector per text; reuses the ``known`` vectors and adds new ones to them.

        A background import embeds later and gets None, unless all vectors are known or it is a
        rebuild, which must be complete before searches read it.

        Raises:
            EndpointStopped: the model's endpoint failed; finished vectors are kept.
        """
        import numpy as np

        new = list(dict.fromkeys(text for text in texts if text not in known))
        if new and self._job.request.is_background and not self._tables.staged:
            if reused := {text: known[text] for text in texts if text in known}:
                with self._connection:
                    self._paid().keep(reused)
            return None
        endpoint = self._endpoint_texts()
        if endpoint is None:
            self._embed_here(new, known)
        else:
            known.update(endpoint.vectors(new))
        self._progress.units_done += len(texts) - len(new)
        joined = b"".join(known[text] for text in texts)
        return np.frombuffer(joined, np.float32).reshape(len(texts), self.embedder().dimension)

    def embed_pending(self) -> list[Problem]:
        """Embed the documents stored without vectors, one by one; returns those that failed.

        Each document gets its vectors in one transaction, so a kill loses those of at most one
        document.
        """
        problems = []
        waiting = index.pending_documents(self._tables)
        self._progress.files += len(waiting)
        for document_id in waiting:
            document = index.pending_document(self._tables, document_id)
            embedder = self.embedder()
            texts = texts_to_embed(document.file_path, document.title, document.chunks, embedder)
            try:
                vectors = self.embed(texts, self._paid().vectors_of(texts))
            except embedding.ModelUnavailable:
                raise
            except embedding.ModelError as error:
                problems.append(Problem(document.file_path, str(error)))
                continue
            if vectors is not None:
                with self._job.stopwatch.stage("write"), self._writing():
                    index.fill_vectors(self._tables, document, vectors)
            self._progress.file_done()
        if waiting:
            with self._connection:
                index.end_pending(self._tables)
        return problems

    @property
    def chunks_pending(self) -> int:
        """The number of chunks in the current generation without a vector."""
        return index.pending_count(self._current)

    def _paid(self) -> PaidVectors:
        return PaidVectors(self._connection, self._tool.id, self.embedder().fingerprint)

    def _embed_here(self, texts: Sequence[str], known: dict[str, bytes]) -> None:
        embedder = self.embedder()
        for first in range(0, len(texts), embedder.batch):
            part = texts[first : first + embedder.batch]
            with self._job.stopwatch.stage("embed"):
                rows = embedder.embed_documents(part)
            known.update((key, row.tobytes()) for key, row in zip(part, rows, strict=True))
            self._embedded_here += len(part)
            self._progress.add_units(len(part))

    def _endpoint_texts(self) -> EndpointTexts | None:
        """The sender of texts to the model's endpoint; None for a local model."""
        embedder = self.embedder()
        if self._endpoint is None and isinstance(embedder, embedding.RemoteEmbedder):
            self._endpoint = EndpointTexts(
                self._job,
                embedder,
                self._progress,
                lambda: check_unchanged(self._connection, self._tool),
            )
        return self._endpoint

    def _model(self, *, rebuild: bool = False) -> tuple[embedding.Embedder, ChunkingOptions]:
        if self._loaded is not None:
            return self._loaded
        job, tool = self._job, self._tool
        request = job.request
        wanted = model_to_load(tool, request.model, request.usual_model, rebuild=rebuild)
        with job.stopwatch.stage("model_load"):
            embedder = job.embedder_for(wanted)
        if not rebuild and embedder.fingerprint != tool.fingerprint:
            raise ImportRefused(
                f"the tool {tool.name!r} was imported with {tool.fingerprint}, but this "
                f"installation has {embedder.fingerprint}; build it again with: {tool.rebuilt_by}"
            )
        if request.is_background and (
            isinstance(embedder, embedding.RemoteEmbedder) or request.engine is not None
        ):
            raise ImportRefused(
                f"the vectors of {tool.name!r} cannot come later, as they come from an endpoint or "
                "go to a Chroma server; leave out --background"
            )
        chosen, how = request.chunking, job.rebuilt_by
        chunking = resolve_chunking(tool, chosen, embedder.card, rebuild=rebuild, rebuilt_by=how)
        self._loaded = embedder, chunking
        return self._loaded

    def begin(self, files: int, stored: int = 0) -> None:
        """Record that an import of ``files`` files begins, of which ``stored`` are unchanged."""
        with self._writing():
            registry.begin_import(self._connection, self._tool, self._job.rules, files, stored)
        self._files_before = self._files_stored = stored

    def files_stored(self) -> int:
        """How many files this import has stored, according to the database."""
        if self._tables.staged:
            if not has_table(self._connection, self._tables.documents):
                return 0  # the rebuild has not begun, or has already replaced the old generation
            return documents.document_counts(self._tables).documents
        done = registry.get_tool(self._connection, self._tool.name).import_done
        return 0 if done is None or self._files_before is None else done - self._files_before

    def begin_first_generation(self) -> None:
        """Choose the model and the chunking of an empty tool, and create its indexes."""
        self._model(rebuild=True)
        name, generation = self._tool.name, self._tool.generation + 1
        with self._writing():
            table_changes.drop_leftovers(self._connection, self._tool.id, name, current=-1)
            self._create_indexes(index.Tables(self._connection, self._tool.id, name, generation))
            self._record_model(generation)
        # Keep the scan rules that the import began with, even if the user has set others meanwhile.
        self._tool = replace(registry.get_tool(self._connection, name), scan=self._tool.scan)
        self._tables = self._current

    def create_missing_indexes(self) -> None:
        """Build missing or outdated indexes, and move vectors to the configured engine.

        Raises:
            OtherWriter: another copy of the database changed the vectors on a server.
        """
        tables = self._tables
        engine, tool = self._job.request.engine, self._tool.name
        words = f"building the {{}} of {tool!r} for this version of mdvec …"
        if not (index.has_word_indexes(tables) and index.has_vector_index(tables)):
            with self._building(words.format("search indexes")):
                chunks.rebuild_indexes(tables)
        elif not (
            index.tables.has_current_words(tables) and index.tables.has_current_properties(tables)
        ):
            with self._building(words.format("index of words")):
                chunks.rebuild_word_indexes(tables)
        if (index.collection_of(tables) is None) != (engine is None):
            where = "the database file" if engine is None else engine.name
            with self._building(f"moving the vectors of {tool!r} to {where} …"):
                index.rebuild_vector_index(tables, outside=engine is not None)
        if engine is not None:
            index.check_writer(tables, engine)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """A transaction on the tool; checks first that it is still the same."""
        with self._connection:
            check_unchanged(self._connection, self._tool)
            yield

    @contextmanager
    def _building(self, notice: str) -> Iterator[None]:
        self._job.on_notice(notice)
        with self._job.stopwatch.stage("index"), self._writing():
            yield

    def _create_indexes(self, tables: index.Tables) -> None:
        outside = self._job.request.engine is not None
        index.create_vector_index(tables, outside=outside)
        index.tables.create_text_indexes(tables)

    def put(self, document: index.NewDocument) -> None:
        """Store a document with its chunks."""
        with self._job.stopwatch.stage("write"), self._writing():
            if document.vectors is None:
                index.expect_vectors(self._tables)
            documents.put_document(self._tables, document)
            self._count_stored()

    def touch(self, path: str, size: int, mtime_ns: int) -> None:
        """Store a file's new time; its content is unchanged."""
        with self._writing():
            documents.touch_document(self._tables, path, size, mtime_ns)
            self._count_stored()

    def delete(self, paths: Sequence[str]) -> None:
        """Delete documents."""
        if not paths:
            return
        with self._job.stopwatch.stage("write"), self._writing():
            for path in paths:
                documents.delete_document(self._tables, path)

    def finish(self) -> None:
        """Record that the import has finished, and purge deleted terms from the file."""
        ask_about_questions(self._job, self.model_name, self.embedder)
        with self._writing():
            self._record_end()

    def send_vectors(self) -> None:
        """Send the vectors to the server that indexes them, if any; call after the commit.

        Raises:
            OtherWriter: another copy of the database changed the vectors there.
        """
        job, engine = self._job, self._job.request.engine
        if engine is None:
            return
        count = index.unsent_count(self._tables) or 0
        if count > index.MAX_UNSENT:
            job.on_notice(f"sending {count:,} vectors to {engine.name} …")
        try:
            with job.stopwatch.stage("engine"):
                index.send_vectors(self._tables, engine)
                index.delete_unused_collections(self._connection, engine)
        except index.EngineUnavailable as error:
            job.hints.append(
                f"{error}; nothing is lost, and the next import sends what is missing there "
                f"(mdvec import -n {job.tool.name} --mode update)"
            )

    def drop_leftovers(self) -> None:
        """Drop the tables that an interrupted rebuild left behind."""
        with self._writing():
            table_changes.drop_leftovers(
                self._connection, self._tool.id, self._tool.name, current=self._tool.generation
            )

    @contextmanager
    def rebuilding(self, files: int | None = None) -> Iterator[None]:
        """Fill an empty next generation in the block; then it replaces the current one.

        With ``files``, the import begins with it, as by ``begin``. After an error nothing of it
        stays, unless the tool's status names the import as unfinished or it was unattended: from
        what is left, the status knows what to begin again.
        """
        self._begin_rebuild(files)
        try:
            yield
            self._finish_rebuild()
        except Exception:
            if self._files_before is None and not self._job.request.is_unattended:
                with suppress(apsw.Error):  # the error above is what the user must read
                    self.drop_leftovers()
            raise

    def _begin_rebuild(self, files: int | None) -> None:
        self._model(rebuild=True)
        tool = self._tool
        self._tables = index.Tables(
            self._connection, tool.id, tool.name, tool.generation + 1, staged=True
        )
        with self._writing():  # at once, so that the status always knows the options
            self.drop_leftovers()
            if files is not None:
                self.begin(files)
            index.tables.create_tables(self._tables)
            self._create_indexes(self._tables)
            index.keep_options(self._tables, self._options_of_rebuild())

    def _options_of_rebuild(self) -> list[str]:
        """The options that a rebuild is begun again with; a model of the settings is one, too."""
        request, tool = self._job.request, self._tool
        if request.model is not None or self.model_name != tool.model:
            request = replace(request, model=self.model_name)
        return request.options_for_texts(is_split=KINDS[tool.kind].has_passages)

    def _finish_rebuild(self) -> None:
        """Send the new generation's vectors, then let it replace the old one."""
        ask_about_questions(self._job, self.model_name, self.embedder)
        self.send_vectors()
        with self._job.stopwatch.stage("write"), self._writing():
            index.finish_word_index(self._tables)
            index.renew_vector_index(self._tables)
            table_changes.replace_tables(self._current, self._tables)
            self._record_model(self._tables.generation)
            self._record_end()
        self._tool = replace(self._tool, generation=self._tables.generation)
        self._tables = self._current

    def _record_model(self, generation: int) -> None:
        embedder, chunking = self._model()
        model = (embedder.name, embedder.fingerprint, embedder.dimension)
        registry.record_model(self._connection, self._tool, generation, model, chunking)

    def _count_stored(self) -> None:
        if not self._tables.staged:
            self._files_stored += 1
            registry.count_done(self._connection, self._tool, self._files_stored)

    def _record_end(self) -> None:
        if not self._tables.staged and index.has_word_indexes(self._tables):
            with self._job.stopwatch.stage("erase"):
                index.finish_word_index(self._tables)
            with self._job.stopwatch.stage("index"):
                index.renew_vector_index(self._tables)
        if not self._job.request.is_background:
            forget_paid(self._connection, self._tool.id)
        registry.record_import(self._connection, self._tool, self._job.rules)
