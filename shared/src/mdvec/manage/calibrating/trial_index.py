"""A database for one calibration: the documents without headings, in a folder that is deleted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import apsw

from mdvec.database.connection import open_database
from mdvec.embedding.embedder import Embedder
from mdvec.index import tables
from mdvec.index.documents import NewDocument, put_document
from mdvec.index.signature_build import renew_signatures
from mdvec.index.tables import Tables
from mdvec.manage.calibrating.headless import Headless, HeadlessDocument, SectionKey, chunking_for
from mdvec.search.candidates import find_candidates
from mdvec.search.ranking import Pool, pooled
from mdvec.text.questions import analyse_question
from mdvec.timing import Stopwatch
from mdvec.tools import import_state
from mdvec.tools import rows as tools
from mdvec.tools.rows import Tool

_TOOL = "calibration"
_HITS = 10


@dataclass(frozen=True, slots=True)
class FoundPool:
    """A question's candidates, and the sections that each reaches into."""

    pool: Pool
    sections: Sequence[frozenset[SectionKey]]


@dataclass(frozen=True, slots=True)
class TrialIndex:
    """The documents, ready to be asked."""

    connection: apsw.Connection
    tool: Tool
    embedder: Embedder
    sections: Mapping[tuple[str, int], frozenset[SectionKey]]
    on_embedded: Callable[[int], None]

    def ask(self, words: str) -> FoundPool:
        """The candidates that words and vectors find for a question."""
        query = analyse_question(words)
        vector = self.embedder.embed_query(words)
        self.on_embedded(1)
        found = find_candidates(
            self.connection, self.tool, query, vector, _HITS, "hybrid", Stopwatch()
        )
        pool = pooled([found], query)
        return FoundPool(
            pool, [self.sections[chunk.file_path, chunk.chunk_index] for _, chunk in pool.owners]
        )


@contextmanager
def trial_index(
    headless: Headless, embedder: Embedder, on_embedded: Callable[[int], None]
) -> Iterator[TrialIndex]:
    """Embed and index the documents; ``on_embedded`` gets the number of texts of each step."""
    with TemporaryDirectory(prefix="mdvec-calibration-") as folder:
        database = Path(folder) / "trial.sqlite"
        with open_database(database, "create") as connection:
            tool = tools.add_tool(connection, _TOOL, "calibration", Path(folder), "markdown")
            _store(connection, tool, headless, embedder, on_embedded)
            tool = tools.get_tool(connection, _TOOL)
            yield TrialIndex(connection, tool, embedder, _sections(headless), on_embedded)


def _store(
    connection: apsw.Connection,
    tool: Tool,
    headless: Headless,
    embedder: Embedder,
    on_embedded: Callable[[int], None],
) -> None:
    names = Tables(tool.id, tool.name, tool.generation + 1)
    model = (embedder.name, embedder.fingerprint, embedder.dimension)
    with connection:
        tables.create_indexes(connection, names)
        import_state.record_model(connection, tool, names.generation, model, chunking_for(embedder))
        for document in headless.documents:
            put_document(connection, names, _new(document, embedder, on_embedded))
        renew_signatures(connection, names)


def _new(
    document: HeadlessDocument, embedder: Embedder, on_embedded: Callable[[int], None]
) -> NewDocument:
    import numpy as np

    texts = [chunk.text for chunk in document.chunks]
    vectors = np.empty((len(texts), embedder.dimension), dtype=np.float32)
    for first in range(0, len(texts), embedder.batch):
        part = texts[first : first + embedder.batch]
        vectors[first : first + len(part)] = embedder.embed_documents(part)
        on_embedded(len(part))
    return NewDocument(
        document.name, document.name, document.content, "", 0, 0, document.chunks, vectors
    )


def _sections(headless: Headless) -> dict[tuple[str, int], frozenset[SectionKey]]:
    return {
        (document.name, chunk.index): sections
        for document in headless.documents
        for chunk, sections in zip(document.chunks, document.sections, strict=True)
    }
