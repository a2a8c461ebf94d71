"""A collection of vectors in Chroma beside the database that it belongs to."""

from __future__ import annotations

from typing import Any

import apsw
from chroma_process import ChromaProcess
from collection import Collection
from mdvec.database.connection import open_database
from mdvec.index.chroma import ChromaIndex, ChromaServer
from mdvec.index.chroma_collections import (
    StoredCollection,
    collection_of,
    differences,
    unsent_count,
)
from mdvec.index.tables import Tables
from mdvec.manage.doctor.database import check_engine
from mdvec.manage.doctor.examination import CheckGroup, examine
from mdvec.settings.loading import Loaded, load_with_origins
from mdvec.tools import registry


def installation(collection: Collection, engine: ChromaServer | None) -> Loaded:
    """The installation whose database this is, with an engine or without."""
    flags = {"database": {"path": str(collection.database)}}
    if engine is not None:
        flags["index"] = {"engine": "chroma", "url": engine.url}
    return load_with_origins({}, flags=flags)


def findings(collection: Collection, engine: ChromaServer | None) -> list[tuple[str, str]]:
    """What `mdvec doctor` says of the engine: levels and sentences."""
    found = check_engine(installation(collection, engine))
    return [(finding.level, finding.sentence) for finding in found]


def fix(collection: Collection, engine: ChromaServer | None) -> list[str]:
    """What `mdvec doctor --fix` mended."""
    groups = (CheckGroup("engine", check_engine),)
    examined = examine(installation(collection, engine), fix=True, groups=groups)
    assert not examined.has_trouble, examined.findings
    return list(examined.fixed)


def known_of(collection: Collection) -> StoredCollection:
    """What the database knows of its collection in Chroma."""
    with open_database(collection.database, "read") as connection:
        known = collection_of(tables_of(collection, connection))
    assert known is not None
    return known


def index_of(collection: Collection) -> ChromaIndex:
    """The collection in Chroma."""
    return ChromaIndex(collection.engine, known_of(collection).name, 30.0)


def tables_of(collection: Collection, connection: apsw.Connection) -> Tables:
    """The tables of the tool."""
    return registry.get_tool(connection, collection.name).tables_in(connection)


def check_engines_agree(collection: Collection) -> None:
    """Everything was sent, and the engine has exactly the stored chunks."""
    with open_database(collection.database, "read") as connection:
        names = tables_of(collection, connection)
        assert unsent_count(names) == 0
        assert known_of(collection).build == index_of(collection).build()
        assert known_of(collection).next_build is None
        assert differences(names, index_of(collection)) == ([], [])


def client_of(chroma: ChromaProcess) -> Any:
    """A client of Chroma's own."""
    import chromadb  # it takes half a second, and not every worker needs it

    return chromadb.HttpClient(chroma.address.url)
