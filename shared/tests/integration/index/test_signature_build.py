"""The centre of a tool's signatures: made by an import, renewed as the tool grows."""

import apsw
import numpy as np
import pytest
from collection import Collection

from mdvec.database.connection import open_database
from mdvec.index.signature_cache import (
    SignatureCache,
    entries,
    insert_signatures,
    likely_nearest,
    read_build,
    renew_signatures,
)
from mdvec.index.tables import Tables, create_signatures, create_tables

DIMENSION = 64


def build_of(collection):
    with open_database(collection.database, "read") as connection:
        return read_build(Tables(connection, 1, "notes", 1))


def without_centre(collection):
    """Bring the signatures into the state before the first import ends."""
    with apsw.Connection(str(collection.database)) as connection:
        rows = connection.execute(
            "SELECT document_id, embedding FROM vectors_notes ORDER BY id"
        ).fetchall()
        for document in {row[0] for row in rows}:
            blobs = [row[1] for row in rows if row[0] == document]
            vectors = np.frombuffer(b"".join(blobs), np.float32).reshape(len(blobs), -1)
            connection.execute(
                "UPDATE signatures_1_1 SET signatures = ? WHERE document_id = ?",
                (entries(vectors, None), document),
            )
        connection.execute(
            "UPDATE signatures_1_1 SET signatures = randomblob(16) WHERE first_chunk = 0"
        )
    connection.close()


def test_signatures_without_a_centre_are_searched_and_built_around_one_by_the_next_import(
    collection: Collection,
):
    texts = ["水の備蓄", "米の炊き方", "自転車の整備", "確定申告", "防災の準備"]
    for number, text in enumerate(texts):
        collection.write(f"{number}.md", f"# {text}\n\n{text}について。")
    collection.import_("new")
    wanted = collection.search("水の備蓄", mode="vector").results
    assert build_of(collection).centre is not None
    without_centre(collection)
    assert build_of(collection).centre is None
    collection.check()
    assert collection.search("水の備蓄", mode="vector").results == wanted
    collection.write("0.md", "# 別のこと\n\n別のこと。")
    report = collection.import_("update")
    assert (report.updated, report.chunks_embedded) == (1, 1)
    assert build_of(collection).centre is not None
    collection.check()


@pytest.fixture
def tables():
    tables = Tables(apsw.Connection(":memory:"), 1, "notes", 1)
    create_tables(tables)
    create_signatures(tables)
    return tables


def add(tables, vectors, document_id):
    """Store a document's vectors with their signatures, as an import does."""
    (last,) = tables.execute("SELECT coalesce(max(id), 0) FROM vectors_notes").fetchone()
    tables.connection.executemany(
        "INSERT INTO vectors_notes (tool_id, document_id, chunk_index, start_position, "
        "end_position, start_line, end_line, heading, chunk_text, embedding) "
        "VALUES (1, ?, 0, 0, 0, 1, 1, '', '', ?)",
        [(document_id, vector.tobytes()) for vector in vectors],
    )
    insert_signatures(tables, document_id, last + 1, vectors)


def around(direction, count, seed):
    vectors = np.random.default_rng(seed).normal(size=(count, DIMENSION)) / 8
    vectors[:, direction] += 3
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def test_the_centre_moves_when_the_tool_has_doubled_and_its_vectors_are_elsewhere(tables):
    cache = SignatureCache(2**20)
    add(tables, around(0, 200, 1), 1)
    renew_signatures(tables)
    first = read_build(tables)
    assert first.last_chunk == 200
    add(tables, around(1, 199, 2), 2)
    renew_signatures(tables)
    assert read_build(tables).build_id == first.build_id
    before = cache.get(tables, DIMENSION)
    add(tables, around(1, 201, 3), 3)
    renew_signatures(tables)
    second = read_build(tables)
    assert second.last_chunk == 600
    assert second.centre[0] < 0.5 < first.centre[0]
    after = cache.get(tables, DIMENSION)
    assert (len(before.stored), len(after.stored)) == (399, 600)
    assert (after.stored.centre == second.centre).all()


def test_the_centre_stays_when_the_tool_has_doubled_but_its_vectors_are_alike(tables):
    add(tables, around(0, 200, 1), 1)
    renew_signatures(tables)
    first = read_build(tables)
    add(tables, around(0, 200, 2), 2)
    renew_signatures(tables)
    second = read_build(tables)
    assert (second.last_chunk, first.last_chunk) == (400, 200)
    assert (second.centre == first.centre).all()


def test_vectors_that_crowd_together_are_found_while_documents_come_and_after(tables):
    vectors = around(0, 3_000, 5)
    query = vectors[7]
    exact = {int(place) + 1 for place in np.argsort(-(vectors @ query))[:10]}
    for number in range(10):
        add(tables, vectors[number * 300 : number * 300 + 300], number + 1)
        if number == 4:
            renew_signatures(tables)
    found = likely_nearest(tables, query, 1_024, 400)
    assert exact <= set(found)
    renew_signatures(tables)
    assert exact <= set(likely_nearest(tables, query, 1_024, 400))
