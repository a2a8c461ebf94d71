"""What every vector index does alike, whatever it is: the signatures in the file, and Chroma."""

import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pytest
from chroma_process import ChromaProcess
from hypothesis import given, settings
from hypothesis import strategies as st

from mdvec.database.connection import open_database
from mdvec.index.chroma import ChromaIndex, ChromaServer, CollectionMissing, Hnsw, client
from mdvec.index.conditions import ChunkRanges
from mdvec.index.signature_cache import entry_type, nearest_by_signatures
from mdvec.index.table_changes import drop_vectors, put_vectors
from mdvec.index.tables import (
    Tables,
    create_signatures,
    create_tables,
    drop_derived,
    has_signatures,
)
from mdvec.text.one_line import identifier
from mdvec.tools import registry

DIMENSION, DOCUMENTS, CHUNKS = 32, 20, 10
IDS = [list(range(CHUNKS * n + 1, CHUNKS * (n + 1) + 1)) for n in range(DOCUMENTS)]
VECTORS = np.random.default_rng(5).normal(size=(DOCUMENTS * CHUNKS, DIMENSION)).astype(np.float32)
VECTORS /= np.linalg.norm(VECTORS, axis=1, keepdims=True)


@dataclass(frozen=True)
class StoredSignatures:
    """The index in the file, in the other engine's words."""

    tables: Tables

    def prepare(self) -> None:
        if not has_signatures(self.tables):
            create_signatures(self.tables)

    def put(self, ids: list[int], vectors: np.ndarray) -> None:
        put_vectors(self.tables, IDS.index(ids) + 1, ids[0], vectors)

    def drop(self, ids: list[int]) -> None:
        drop_vectors(self.tables, ids)

    def nearest(self, query: np.ndarray, limit: int, within: ChunkRanges | None = None):
        return nearest_by_signatures(self.tables, query, limit, within)

    def retire(self) -> None:
        drop_derived(self.tables, ["signatures"])

    def ids(self) -> list[int]:
        rows = self.tables.execute(
            "SELECT first_chunk, length(signatures) "
            f"FROM {self.tables.signatures} WHERE first_chunk > 0 ORDER BY first_chunk"
        )
        size = entry_type(DIMENSION, centred=False).itemsize
        return [first + n for first, length in rows for n in range(length // size)]

    def count(self) -> int:
        return len(self.ids())


NearestIndex = ChromaIndex | StoredSignatures


def vectors_of(ids) -> np.ndarray:
    return VECTORS[np.array(ids) - 1]


def nearest_of(query: np.ndarray, ids, limit: int) -> list[int]:
    """The ids of the true answer, nearest first."""
    if not ids:
        return []
    known = np.array(sorted(ids))
    matrix = vectors_of(known)
    cosines = matrix @ query / np.linalg.norm(matrix, axis=1) / np.linalg.norm(query)
    return known[np.argsort(-cosines)[:limit]].tolist()


@dataclass(frozen=True)
class Engine:
    """One implementation; ``new`` makes another index of it."""

    name: str
    new: Callable[[], NearestIndex]


@pytest.fixture(scope="module", params=["signatures", "cosine", "l2", "ip"])
def engine(request, tmp_path_factory) -> Iterator[Engine]:
    if request.param != "signatures":
        address = request.getfixturevalue("chroma").address
        server = ChromaServer(url=address.url, hnsw=Hnsw(space=request.param, ef_search=400))
        new = lambda: ChromaIndex(server, f"mdvec-{secrets.token_hex(8)}", 30.0)  # noqa: E731
        yield Engine(request.param, new)
        return
    path = tmp_path_factory.mktemp("file") / "vectors.sqlite"
    with open_database(path, "create") as connection:
        tool = registry.add_tool(connection, "notes", "a test's notes", path.parent, "markdown")
        generations = iter(range(1, 10_000))

        def made() -> NearestIndex:
            names = Tables(connection, tool.id, tool.name, next(generations), staged=True)
            create_tables(names)
            for number, ids in enumerate(IDS, 1):
                connection.execute(
                    f"INSERT INTO {identifier(names.documents)} (id, tool_id, file_path, "
                    "content_hash, size, mtime_ns, title, content) "
                    "VALUES (?, ?, ?, '', 0, 0, '', '')",
                    (number, tool.id, f"{number}.md"),
                )
                connection.executemany(
                    f"INSERT INTO {identifier(names.vectors)} (id, tool_id, document_id, "
                    "chunk_index, start_position, end_position, start_line, end_line, heading, "
                    "chunk_text, embedding) VALUES (?, ?, ?, 0, 0, 0, 0, 0, '', '', ?)",
                    [(n, tool.id, number, VECTORS[n - 1].tobytes()) for n in ids],
                )
            return StoredSignatures(names)

        yield Engine("signatures", made)


@pytest.fixture
def index(engine) -> NearestIndex:
    """An index with half of the documents."""
    made = engine.new()
    made.prepare()
    for ids in IDS[::2]:
        made.put(ids, vectors_of(ids))
    return made


HALF = [number for ids in IDS[::2] for number in ids]


def test_it_finds_what_it_holds_and_nothing_that_was_dropped(index):
    query = VECTORS[17] + np.float32(0.01)
    query /= np.linalg.norm(query)
    found = index.nearest(query, 10)
    expected = nearest_of(query, HALF, 10)
    assert found == expected

    wanted = ChunkRanges(np.array([IDS[4][0], IDS[8][0]]), np.array([CHUNKS, CHUNKS]))
    assert index.nearest(VECTORS[0], 5, wanted) == nearest_of(VECTORS[0], IDS[4] + IDS[8], 5)
    nothing = ChunkRanges(np.array([], dtype=np.int64), np.array([], dtype=np.int64))
    assert index.nearest(VECTORS[0], 5, nothing) == []

    index.put(IDS[0], vectors_of(IDS[0]))
    index.prepare()
    assert index.count() == len(HALF)
    assert list(index.ids()) == HALF

    index.drop(IDS[2])
    index.drop(IDS[2])
    index.drop([9_999_999])
    assert index.count() == len(HALF) - CHUNKS
    near = {*index.nearest(vectors_of(IDS[2])[0], 50)}
    assert near.isdisjoint(IDS[2])
    assert len(near) == 50


def test_an_empty_one_finds_nothing_and_a_retired_one_can_begin_again(engine):
    index = engine.new()
    index.prepare()
    assert (index.count(), list(index.ids())) == (0, [])
    assert index.nearest(VECTORS[0], 5) == []
    index.put(IDS[0], vectors_of(IDS[0]))
    index.retire()
    index.retire()
    index.prepare()
    assert index.count() == 0


@settings(max_examples=4)
@given(
    steps=st.lists(st.tuples(st.booleans(), st.integers(0, DOCUMENTS - 1)), max_size=8),
    asked=st.integers(0, len(VECTORS) - 1),
)
def test_after_any_changes_it_holds_and_finds_exactly_what_is_left(engine, steps, asked):
    index = engine.new()
    index.prepare()
    left: set[int] = set()
    for is_put, document in steps:
        ids = IDS[document]
        if is_put:
            index.put(ids, vectors_of(ids))
            left |= set(ids)
        else:
            index.drop(ids)
            left -= set(ids)
    assert list(index.ids()) == sorted(left)
    assert index.nearest(VECTORS[asked], 5) == nearest_of(VECTORS[asked], left, 5)
    index.retire()


def test_a_collection_that_is_not_there_is_named_as_such(chroma):
    index = ChromaIndex(chroma.address, "mdvec-nothing", 30.0)
    with pytest.raises(CollectionMissing, match="mdvec doctor --fix"):
        index.count()
    with pytest.raises(CollectionMissing):
        index.nearest(VECTORS[0], 3)


def test_a_wider_search_takes_effect_on_the_collection_that_is_there(tmp_path):
    # On a server of its own: one that still sorts what others sent may refuse a change as locked.
    with ChromaProcess(tmp_path).running() as chroma:
        narrow = ChromaIndex(chroma.address, "mdvec-width", 30.0)
        narrow.prepare()
        narrow.prepare()
        assert hnsw_of(chroma, "mdvec-width")["ef_search"] == 100
        server = ChromaServer(url=chroma.address.url, hnsw=Hnsw(ef_search=333))
        ChromaIndex(server, "mdvec-width", 30.0).prepare()
        assert hnsw_of(chroma, "mdvec-width")["ef_search"] == 333


def hnsw_of(chroma: ChromaProcess, name: str) -> dict[str, object]:
    found = client(chroma.address, 30.0).get_collection(name, embedding_function=None)
    return found.configuration_json["hnsw"]
