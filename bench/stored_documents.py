"""Documents of a benchmark's own making in a database, through the library's functions."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from finding import TOOL
from mdvec.database.connection import open_database
from mdvec.index import tables
from mdvec.index.documents import NewDocument, put_document
from mdvec.index.signature_cache import renew_signatures
from mdvec.index.tables import Tables
from mdvec.manage.registering import add_tool
from mdvec.text.tokens import ChunkingOptions
from mdvec.tools import registry


def store(
    database: Path,
    documents: Iterable[NewDocument],
    model: tuple[str, str, int],
    options: ChunkingOptions,
) -> None:
    """A new database with one tool that has these documents, a transaction each, as of an import.

    ``model`` is the name, the fingerprint and the dimension of what made the vectors.
    """
    add_tool(database, TOOL, "what the benchmark asks", database.parent, "markdown")
    with open_database(database, "write") as connection:
        tool = registry.get_tool(connection, TOOL)
        names = Tables(connection, tool.id, tool.name, tool.generation + 1)
        with connection:
            tables.create_signatures(names)
            tables.create_text_indexes(names)
            registry.record_model(connection, tool, names.generation, model, options)
        for document in documents:
            with connection:
                put_document(names, document)
        with connection:
            renew_signatures(names)
