"""Both vector engines side by side: the file's signatures, and Chroma from its own wheel.

`python bench/engines.py 10000 100000` prints the table of docs/scaling.md for these sizes.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import psutil

sys.path.append(str(Path(__file__).parents[1] / "tests"))

from chroma_process import ChromaProcess
from mdvec.database.connection import open_database
from mdvec.index.chroma import SEARCH_SECONDS, WRITE_SECONDS, ChromaServer, client
from mdvec.index.chroma_collections import collection_of, send_vectors
from mdvec.index.nearest import nearest_among
from mdvec.index.signature_cache import SIGNATURES, renew_signatures
from mdvec.index.table_changes import rebuild_vector_index
from mdvec.index.tables import Tables, create_tables
from mdvec.search.candidates import nearest_chunks
from mdvec.text.one_line import identifier
from mdvec.tools import registry
from processes import Bench
from results import Row, median, spread
from threadpoolctl import threadpool_limits

DIMENSION, TOPICS, CHUNKS_EACH = 512, 2_000, 20
QUERIES, LIMIT, K = 60, 40, 10
SIZE = 10_000
PUT_BAR, SEARCH_BAR = 0.8, 1.3
_MB = 1e6


@dataclass(frozen=True, slots=True)
class Measured:
    """One engine at one size: seconds, megabytes on the disk and in memory, milliseconds."""

    build: float
    disk: float
    memory: float
    first: float
    search: list[float]
    recall: float


def measure(bench: Bench) -> list[Row]:
    """What our layer costs above Chroma's own client, at one size."""
    with _filled(SIZE) as (tables, vectors, folder), _server(folder) as chroma:
        bare, ours = _puts(tables, vectors, chroma.address, bench.times(2))
        query, through, rest = _searches(tables, _queries(vectors), chroma.address)
    ratio = median(bare) / median(ours)
    allowed = SEARCH_BAR * median(query) + median(rest)
    what = f"{SIZE:,} × {DIMENSION}"
    return [
        Row(
            f"Chroma, {what}: sending the stored vectors",
            f"{ratio:.2f} ×: {SIZE / median(ours):,.0f} vectors a second against "
            f"{SIZE / median(bare):,.0f}",
            f"≥ {PUT_BAR} × the bare client",
            ratio >= PUT_BAR,
        ),
        Row(
            f"Chroma, {what}: a search through it",
            f"{spread(through, 'ms')}; Chroma's own query {spread(query, 'ms')} "
            f"(and {median(rest):.2f} ms to compare what it finds exactly)",
            f"≤ {SEARCH_BAR} × Chroma's own query plus ours",
            median(through) <= allowed,
        ),
    ]


def _puts(
    tables: Tables, vectors: np.ndarray, server: ChromaServer, times: int
) -> tuple[list[float], list[float]]:
    """Seconds of the bare client and of `send_vectors`, in turns, each into an empty collection."""
    bare, ours = [], []
    for number in range(times):
        made = client(server, WRITE_SECONDS).create_collection(
            f"bare-{number}",
            embedding_function=None,
            configuration={"hnsw": server.hnsw.model_dump()},
        )
        began = time.perf_counter()
        for first in range(0, len(vectors), 1_000):
            part = vectors[first : first + 1_000]
            made.upsert([str(first + n) for n in range(len(part))], embeddings=part)
        bare.append(time.perf_counter() - began)
        ours.append(_sent(tables, server))
    return bare, ours


def _sent(tables: Tables, server: ChromaServer) -> float:
    """Seconds to send every stored vector into a new collection."""
    with tables.connection:
        rebuild_vector_index(tables, outside=True)
    began = time.perf_counter()
    send_vectors(tables, server)
    return time.perf_counter() - began


def _searches(
    tables: Tables, queries: np.ndarray, server: ChromaServer
) -> tuple[list[float], list[float], list[float]]:
    """Milliseconds of Chroma's query, of ours through it, and of what we add, in turns."""
    known = collection_of(tables)
    assert known is not None
    made = client(server, SEARCH_SECONDS).get_collection(known.name, embedding_function=None)
    times: tuple[list[float], list[float], list[float]] = ([], [], [])
    for query in (*queries[:5], *queries):
        found, spent = _timed(
            lambda asked: made.query([asked], n_results=LIMIT, include=["distances"]), query
        )
        times[0].append(spent)
        times[1].append(_timed(lambda asked: _through(tables, server, asked), query)[1])
        ids = [int(number) for number in found["ids"][0]]
        times[2].append(
            _timed(lambda asked, i=ids: nearest_among(tables, asked, LIMIT, i), query)[1]
        )
    return times[0][5:], times[1][5:], times[2][5:]


def _through(tables: Tables, server: ChromaServer | None, query: np.ndarray) -> list[int]:
    return nearest_chunks(tables, query, LIMIT, engine=server)


def _timed(work: Callable, value: object) -> tuple:
    began = time.perf_counter()
    result = work(value)
    return result, (time.perf_counter() - began) * 1000


def _queries(vectors: np.ndarray) -> np.ndarray:
    """Vectors near some of the stored ones."""
    random = np.random.default_rng(9)
    chosen = vectors[random.integers(len(vectors), size=QUERIES)]
    noise = random.standard_normal(chosen.shape, dtype=np.float32) * np.float32(DIMENSION**-0.5)
    near = chosen + np.float32(0.5) * noise
    return near / np.linalg.norm(near, axis=1, keepdims=True)


def made_vectors(count: int) -> np.ndarray:
    """Unit vectors around topics of uneven size."""
    random = np.random.default_rng(3)
    topics = random.standard_normal((TOPICS, DIMENSION), dtype=np.float32)
    of_topic = (TOPICS * random.random(count) ** 2).astype(int)
    vectors = np.empty((count, DIMENSION), dtype=np.float32)
    for first in range(0, count, 50_000):
        part = of_topic[first : first + 50_000]
        noise = random.standard_normal((len(part), DIMENSION), dtype=np.float32)
        vectors[first : first + len(part)] = topics[part] + noise
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


@contextmanager
def _filled(count: int) -> Iterator[tuple[Tables, np.ndarray, Path]]:
    """A database with that many vectors, in documents of 20 chunks, without any words."""
    vectors = made_vectors(count)
    folder = Path(tempfile.mkdtemp(prefix="mdvec-engines-"))
    try:
        with open_database(folder / "vectors.sqlite", "create") as connection:
            tool = registry.add_tool(connection, "bench", "made vectors", folder, "markdown")
            tables = replace(tool.tables_in(connection), generation=1, staged=True)
            with connection:
                create_tables(tables)
                _store(tables, vectors)
            yield tables, vectors, folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _store(tables: Tables, vectors: np.ndarray) -> None:
    documents = range(1, len(vectors) // CHUNKS_EACH + 2)
    tables.connection.executemany(
        f"INSERT INTO {identifier(tables.documents)} (id, tool_id, file_path, content_hash, size, "
        "mtime_ns, title, content) VALUES (?, ?, ?, '', 0, 0, '', '')",
        ((number, tables.tool_id, f"{number}.md") for number in documents),
    )
    tables.connection.executemany(
        f"INSERT INTO {identifier(tables.vectors)} (tool_id, document_id, chunk_index, "
        "start_position, end_position, start_line, end_line, heading, chunk_text, embedding) "
        "VALUES (?, ?, 0, 0, 0, 0, 0, '', '', ?)",
        (
            (tables.tool_id, place // CHUNKS_EACH + 1, vector.tobytes())
            for place, vector in enumerate(vectors)
        ),
    )


@contextmanager
def _server(folder: Path) -> Iterator[ChromaProcess]:
    server = ChromaProcess(folder / "chroma")
    try:
        server.start()
        yield server
    finally:
        server.kill()


def _side_by_side(count: int) -> dict[str, Measured]:
    """Both engines over the same vectors; memory is that of each engine's own process."""
    with _filled(count) as (tables, vectors, folder):
        queries = _queries(vectors)
        true = [_true(vectors, query) for query in queries]
        began = time.perf_counter()
        with tables.connection:
            rebuild_vector_index(tables, outside=False)
            renew_signatures(tables)
        build = time.perf_counter() - began
        _, first = _timed(lambda asked: _through(tables, None, asked), queries[0])
        (of_signatures,) = tables.execute(
            f"SELECT sum(length(signatures)) FROM {identifier(tables.signatures)}"
        ).fetchone() or (0,)
        held = SIGNATURES.get(tables, DIMENSION).stored.nbytes
        found, times = _asked(tables, None, queries)
        signatures = Measured(
            build, int(of_signatures) / _MB, held / _MB, first, times, _recall(found, true)
        )
        with _server(folder) as chroma:
            seconds = _sent(tables, chroma.address)
            _, first = _timed(lambda asked: _through(tables, chroma.address, asked), queries[0])
            found, times = _asked(tables, chroma.address, queries)
            disk = sum(
                file.stat().st_size for file in (folder / "chroma").rglob("*") if file.is_file()
            )
            memory = _resident(chroma.pid)
        return {
            "signatures": signatures,
            "chroma": Measured(seconds, disk / _MB, memory, first, times, _recall(found, true)),
        }


def _asked(
    tables: Tables, server: ChromaServer | None, queries: np.ndarray
) -> tuple[list[list[int]], list[float]]:
    results = [_timed(lambda asked: _through(tables, server, asked), q) for q in queries]
    again = [_timed(lambda asked: _through(tables, server, asked), q) for q in queries]
    return [found[:K] for found, _ in results], [spent for _, spent in again]


def _true(vectors: np.ndarray, query: np.ndarray) -> set[int]:
    return {int(place) + 1 for place in np.argpartition(-(vectors @ query), K)[:K]}


def _recall(found: list[list[int]], true: list[set[int]]) -> float:
    return sum(len(true[n].intersection(ids)) for n, ids in enumerate(found)) / (K * len(true))


def _resident(pid: int) -> float:
    return float(psutil.Process(pid).memory_info().rss / _MB)


def main() -> None:
    """Print the results of each size that is named; one thread computes, as in the server."""
    threadpool_limits(1)
    for size in map(int, sys.argv[1:]):
        for name, found in _side_by_side(size).items():
            print(
                f"{size:,} {name}: built in {found.build:.1f} s; {found.disk:.0f} MB on disk; "
                f"{found.memory:.0f} MB in memory; first {found.first:.1f} ms; "
                f"{spread(found.search, 'ms')}; recall@{K} {found.recall:.3f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
