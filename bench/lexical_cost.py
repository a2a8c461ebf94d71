"""The cost of the lexical index and the signatures: file size and import time."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from finding import TOOL, imported
from mdvec.database.connection import open_database
from mdvec.embedding import catalog
from mdvec.importing.job import ImportReport
from mdvec.index import chunks as vectors
from mdvec.index import documents as documents_of_import
from mdvec.index import tables
from mdvec.index.documents import NewDocument, put_document
from mdvec.index.tables import Tables
from mdvec.tools import registry
from mdvec.tools.registry import Tool
from processes import Bench
from results import Row, median
from stored_documents import store

SIZE_BAR, TIME_BAR = 1.4, 1.25


def measure(bench: Bench) -> list[Row]:
    """An import, and its documents stored again with the indexes and without, in turns."""
    database = bench.folder / "import.sqlite"
    report, documents = _imported(database, bench.corpus)
    seconds: dict[str, list[float]] = {"with": [], "without": []}
    for number in range(bench.times(3)):
        with_indexes = bench.folder / f"with-{number}.sqlite"
        without = bench.folder / f"without-{number}.sqlite"
        seconds["with"].append(_stored(with_indexes, documents, database))
        with _replaced(vectors, insert_terms=_nothing, put_vectors=_nothing):
            seconds["without"].append(_stored(without, documents, database))
    cost = median(seconds["with"]) - median(seconds["without"])
    time_ratio = report.seconds / (report.seconds - cost)
    grown, plain = _megabytes(database), _megabytes(without)
    bare = _without_indexes(database, bench.folder / "bare.sqlite")
    return [
        Row(
            f"database of react-ja ({report.chunks:,} chunks), as the import leaves it",
            f"{grown / plain:.2f} ×: {grown:.1f} MB against {plain:.1f} MB ({grown / bare:.2f} × "
            f"the {bare:.1f} MB that are left when the indexes are dropped and the file vacuumed)",
            f"≤ {SIZE_BAR} × without indexes",
            max(grown / plain, grown / bare) <= SIZE_BAR,
        ),
        Row(
            "import of react-ja with `use`",
            f"{time_ratio:.2f} ×: {report.seconds:.1f} s, of which {cost:.1f} s for the indexes",
            f"≤ {TIME_BAR} × without indexes",
            time_ratio <= TIME_BAR,
        ),
    ]


def _imported(database: Path, corpus: Path) -> tuple[ImportReport, list[NewDocument]]:
    """Import, and keep every document that is stored."""
    documents: list[NewDocument] = []

    def keep(tables: Tables, document: NewDocument) -> None:
        documents.append(document)
        put_document(tables, document)

    with _replaced(documents_of_import, put_document=keep):
        report = imported(database, corpus, catalog.load("use"))
    return report, documents


def _stored(database: Path, documents: list[NewDocument], like: Path) -> float:
    """Seconds to store the documents as the import did."""
    with open_database(like, "read") as connection:
        tool = registry.get_tool(connection, TOOL)
    began = time.perf_counter()
    store(database, documents, _model(tool), tool.chunking)
    return time.perf_counter() - began


def _model(tool: Tool) -> tuple[str, str, int]:
    return str(tool.model), str(tool.fingerprint), int(tool.dimension or 0)


@contextmanager
def _replaced(module: ModuleType, **functions: Any) -> Iterator[None]:  # noqa: ANN401
    """Replace functions of a module within this context."""
    before = {name: getattr(module, name) for name in functions}
    vars(module).update(functions)
    try:
        yield
    finally:
        vars(module).update(before)


def _nothing(*_: object) -> None:
    pass


def _without_indexes(database: Path, copy: Path) -> float:
    """The size of a copy without the indexes, in MB."""
    with open_database(database, "read") as connection:
        connection.execute("PRAGMA query_only = OFF")
        connection.execute("VACUUM INTO ?", (str(copy),))
    with open_database(copy, "write") as connection:
        tool = registry.get_tool(connection, TOOL)
        tables.drop_derived(Tables(connection, tool.id, tool.name, tool.generation))
        connection.execute("VACUUM")
    return _megabytes(copy)


def _megabytes(path: Path) -> float:
    return path.stat().st_size / 1e6
