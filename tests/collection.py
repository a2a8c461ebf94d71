"""A folder, a database and a tiny model, for tests of importing and searching."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from imported import RULES
from mdvec.converters import NO_COMMANDS, OwnCommands
from mdvec.database.connection import open_database
from mdvec.embedding.embedder import Embedder
from mdvec.files.scanning import ScanRules
from mdvec.importing.job import ImportReport, ImportRequest, Mode, Progress
from mdvec.importing.options import ChunkingSettings
from mdvec.index.chroma import ChromaServer
from mdvec.index.chroma_collections import collection_of
from mdvec.index.properties import other_names, stored_properties
from mdvec.index.signature_cache import entries, read_build
from mdvec.index.tables import Tables
from mdvec.manage import RECORDS, registering
from mdvec.manage.tool_import import import_tool
from mdvec.search.answer import Answer, Question, search
from mdvec.search.core.filters import Filters, filters_of
from mdvec.text.fields import chunk_fields, field_terms, searched_names
from mdvec.text.one_line import identifier
from tiny_embedder import TinyBackend


@dataclass
class Collection:
    """One tool over one folder, imported and searched through the library."""

    folder: Path
    database: Path
    name: str = "notes"
    backend: TinyBackend = field(default_factory=TinyBackend)
    rules: ScanRules = RULES
    is_new: bool = True
    engine: ChromaServer | None = None
    converting: OwnCommands = NO_COMMANDS

    def __post_init__(self) -> None:
        if not self.is_new:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        registering.add_tool(self.database, self.name, "the test's notes", self.folder, "markdown")

    @classmethod
    def of(cls, folder: Path, notes: Mapping[str, str]) -> Collection:
        """A collection of these texts by their paths, imported."""
        collection = cls(folder / "notes", folder / "vectors.sqlite")
        for path, text in notes.items():
            collection.write(path, text)
        collection.import_("new")
        return collection

    def write(self, path: str, text: str) -> None:
        """Write a file with exactly these characters."""
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode("utf-8"))

    def request(
        self, mode: Mode = "update", *, is_background: bool = False, **overrides: object
    ) -> ImportRequest:
        """A request to import this collection."""
        return ImportRequest(
            database=self.database,
            tool=self.name,
            mode=mode,
            rules=self.rules,
            chunking=ChunkingSettings(**overrides),
            engine=self.engine,
            converting=self.converting,
            is_background=is_background,
        )

    def import_(
        self,
        mode: Mode = "update",
        *,
        on_progress: Callable[[Progress], None] = lambda _: None,
        on_notice: Callable[[str], None] = lambda _: None,
        **overrides: object,
    ) -> ImportReport:
        """Import the folder with the tiny model."""
        return import_tool(
            self.request(mode, **overrides), lambda _: Embedder(self.backend),
            on_progress=on_progress, on_notice=on_notice,
        )  # fmt: skip

    def search(self, query: str, k: int = 5, **more: Any) -> Answer:
        """Search the collection (or other ``tools``) with the tiny model."""
        embedder = Embedder(self.backend)
        question = Question(query, more.pop("tools", (self.name,)), k, **more)
        return search(
            self.database, question, lambda _: nullcontext(embedder), self.engine,
            records=RECORDS,
        )  # fmt: skip

    def places(self, query: str, k: int = 5, **more: object) -> list[str]:
        """The files that a search finds, best first."""
        return [hit.file_path for hit in self.search(query, k, **more).results]

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """The rows that a SQL statement selects."""
        with open_database(self.database, "read") as connection:
            return list(connection.execute(sql))

    def contents(self) -> list[tuple[object, ...]]:
        """Every document with its chunks, in order, without ids."""
        return self.rows(
            "SELECT d.file_path, d.content_hash, d.title, v.chunk_index, v.start_position, "
            "v.end_position, v.start_line, v.end_line, v.heading, v.chunk_text, v.embedding "
            f'FROM "documents_{self.name}" AS d LEFT JOIN "vectors_{self.name}" AS v '
            "ON v.document_id = d.id ORDER BY d.file_path, v.chunk_index"
        )

    def check(self) -> None:
        """Every document is whole, and the index holds what the table holds."""
        with open_database(self.database, "read") as connection:
            assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
            row = connection.execute(
                "SELECT id, generation FROM tools WHERE name = ?", (self.name,)
            ).fetchone()
            assert row is not None
            if row[1] == 0:
                return
            check_indexes(Tables(connection, row[0], self.name, row[1]))
            parts = connection.execute(
                f"SELECT d.content, v.start_position, v.end_position, v.chunk_text "
                f'FROM "vectors_{self.name}" AS v JOIN "documents_{self.name}" AS d '
                "ON d.id = v.document_id"
            )
            assert all(content[start:end] == text for content, start, end, text in parts)


def imported_notes(notes: Mapping[str, str]) -> Any:
    """A fixture of a test module: a collection of these texts by their paths, imported."""

    @pytest.fixture(scope="module")
    def collection(tmp_path_factory: pytest.TempPathFactory) -> Collection:
        return Collection.of(tmp_path_factory.mktemp("notes"), notes)

    return collection


def filtered(**said: Any) -> Filters:
    """The filters that someone gives on the first day of 2026."""
    return filters_of(date(2026, 1, 1), **said)


def water_and_rice(folder: Path) -> Collection:
    """Two imported notes, in a folder with a Japanese name."""
    notes = Collection(folder / "メモ", folder / "v.sqlite")
    notes.write("水.md", "# 水\n\n三リットル。\n")
    notes.write("米.md", "# 米\n\n五キロ。\n")
    notes.import_()
    return notes


def check_indexes(tables: Tables) -> None:
    """The lexical index, and the signatures if there are any, are exactly those of the chunks."""
    chunks: list[tuple[Any, ...]] = tables.execute(
        f"SELECT v.id, v.document_id, d.title, v.heading, v.chunk_text, v.embedding, d.file_path "
        f"FROM {identifier(tables.vectors)} AS v "
        f"JOIN {identifier(tables.documents)} AS d ON d.id = v.document_id "
        "ORDER BY v.id"
    ).fetchall()
    properties = stored_properties(tables, {row[1] for row in chunks})
    wanted = {
        row[0]: indexed_terms(
            row[2], searched_names(row[2], row[6], other_names(properties[row[1]])), row[3], row[4]
        )
        for row in chunks
    }
    assert indexed(tables) == {key: found for key, found in wanted.items() if found}
    if collection_of(tables) is not None:
        return
    signed: list[tuple[Any, ...]] = tables.execute(
        f"SELECT first_chunk, document_id, signatures FROM {identifier(tables.signatures)} "
        "WHERE first_chunk > 0 ORDER BY first_chunk"
    ).fetchall()
    by_chunk = {}
    sizes = Counter(row[1] for row in chunks)
    for first, document, blob in signed:
        size = len(blob) // sizes[document]
        for place in range(len(blob) // size):
            by_chunk[first + place] = (document, blob[place * size : (place + 1) * size])
    centre = read_build(tables).centre
    assert by_chunk == {
        row[0]: (row[1], entries(np.frombuffer(row[5], np.float32).reshape(1, -1), centre))
        for row in chunks
        if row[5]  # the others have no vector yet
    }


def indexed_terms(title: str, names: str, heading: str, text: str) -> Counter[str]:
    """The terms that a chunk should be found by in the lexical index."""
    found: Counter[str] = Counter()
    for words in chunk_fields(title, names, heading, text):
        of_field = field_terms(words)
        found.update(of_field.plain)
        found.update(word for word in of_field.words if word.startswith("="))
    return found


def indexed(tables: Tables) -> dict[int, Counter[str]]:
    """The terms of each chunk as the lexical index has them."""
    tables.execute("PRAGMA query_only = OFF")
    tables.execute(
        f"CREATE VIRTUAL TABLE temp.found USING fts5vocab('main', '{tables.fts}', 'instance')"
    )
    found: dict[int, Counter[str]] = defaultdict(Counter)
    for number, term, count in tables.execute(
        "SELECT doc, term, count(*) FROM temp.found GROUP BY doc, term"
    ):
        found[number][term] = count
    tables.execute("DROP TABLE temp.found")
    tables.execute("PRAGMA query_only = ON")
    return found
