"""k-NN alone: our two passes, sqlite-vec's own table, numpy, and the memory bandwidth."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import apsw
import numpy as np
from corpus import markdown_files
from finding import TOOL, evenly, timed
from mdvec.database.connection import open_database
from mdvec.embedding import catalog
from mdvec.index.signatures import signature_bytes
from mdvec.index.tables import Tables
from mdvec.search.candidates import nearest_chunks
from mdvec.tools import registry
from processes import Bench
from results import Row, median
from section_finding import heading_questions, read_document
from text_windows import embedded_windows, store_windows

K = 10
QUERIES = 100
SIZES = ((50_000, 512), (20_000, 2_048))
CROWDED, CROWDED_DIMENSION, CROWDED_QUERIES = 300_000, 384, 40
TOPICS = 2_000
FEW = 256
"""About so many vectors are compared exactly."""
RATIO_BAR, RECALL_BAR = 0.1, 0.99
_SAME = 1e-6
"""Windows with the same text are equally near; each of them counts as found."""

Find = Callable[[np.ndarray], list[int]]


@dataclass(frozen=True, slots=True)
class Measured:
    """One size: milliseconds of each method, and the recall of the true ten."""

    milliseconds: dict[str, list[float]]
    recall: dict[str, float]


def measure(bench: Bench) -> list[Row]:
    """Both sizes with the same headings as queries, then vectors that crowd together."""
    texts, vectors = embedded_windows(bench.corpus)
    queries = heading_queries(bench.corpus, QUERIES)
    rows = []
    for count, dimension in SIZES:
        chosen = evenly(range(len(texts)), count)
        part, asked = _projected(vectors[chosen], queries, dimension)
        names = [texts[number] for number in chosen]
        rows += _stored_rows(bench, f"{count:,} × {dimension:,}", names, part, asked)
    crowd = crowded(CROWDED + CROWDED_QUERIES, CROWDED_DIMENSION)
    part, asked = crowd[:CROWDED], crowd[CROWDED:]
    cosine = float(np.linalg.norm(part.mean(axis=0)) ** 2)
    what = f"{CROWDED:,} × {CROWDED_DIMENSION} (mean cosine {cosine:.2f})"
    return rows + _stored_rows(bench, what, [str(n) for n in range(CROWDED)], part, asked)


def crowded(count: int, dimension: int) -> np.ndarray:
    """Made vectors around topics that all lie around one direction, as those of some models do."""
    random = np.random.default_rng(2)
    scale = (np.arange(1, dimension + 1) ** -0.6).astype(np.float32)
    scale /= np.linalg.norm(scale)
    topics = random.standard_normal((TOPICS, dimension), dtype=np.float32)
    own = random.standard_normal((count, dimension), dtype=np.float32)
    vectors = (0.8 * topics[random.integers(TOPICS, size=count)] + 0.6 * own) * scale
    turned = vectors @ np.linalg.qr(random.standard_normal((dimension, dimension)))[0]
    return _normalised((turned + 3 / dimension**0.5).astype(np.float32))


def _stored_rows(
    bench: Bench, what: str, texts: list[str], vectors: np.ndarray, queries: np.ndarray
) -> list[Row]:
    database = bench.folder / f"ours-{what}.sqlite"
    dimension = vectors.shape[1]
    store_windows(database, texts, vectors, ("use", f"bench:{dimension}", dimension))
    return knn_rows(what, database, vectors, queries, bench.times(2))


def knn_rows(
    what: str, database: Path, vectors: np.ndarray, queries: np.ndarray, rounds: int
) -> list[Row]:
    """How fast the nearest are found in a database that has these vectors, and how well."""
    measured, bandwidth = _measured(database, vectors, queries, rounds), _bandwidth()
    count, dimension = vectors.shape
    ours, vec0, matrix = (median(of_way) for of_way in measured.milliseconds.values())
    ratio, recall = ours / vec0, measured.recall["ours"]
    signature = signature_bytes(dimension) + 8
    floor = (count * signature + FEW * dimension * 4) / bandwidth * 1000
    exact = count * dimension * 4 / bandwidth * 1000
    return [
        Row(
            f"k-NN, {what}: ours",
            f"{ratio:.2f} ×: {ours:.2f} ms against {vec0:.2f} ms; recall@{K} {recall:.3f}",
            f"≤ {RATIO_BAR} × `vec0` (sqlite-vec, float32), ≤ numpy; recall@{K} ≥ {RECALL_BAR}",
            ratio <= RATIO_BAR and ours <= matrix and recall >= RECALL_BAR,
        ),
        Row(f"k-NN, {what}: `vec0`", f"{vec0:.2f} ms; recall@{K} {measured.recall['vec0']:.3f}"),
        Row(f"k-NN, {what}: numpy, the matrix in memory", f"{matrix:.2f} ms"),
        Row(
            f"k-NN, {what}: the floor, bytes read over {bandwidth / 1e9:.1f} GB/s",
            f"{floor:.2f} ms for what ours reads; {exact:.2f} ms for every vector",
        ),
    ]


def heading_queries(corpus: Path, count: int) -> np.ndarray:
    """The vectors of that many headings."""
    documents = [read_document(path) for path in markdown_files(corpus)]
    questions = heading_questions(documents)
    embedder = catalog.load("use")
    return np.stack([embedder.embed_query(question.words) for question in evenly(questions, count)])


def _projected(
    vectors: np.ndarray, queries: np.ndarray, dimension: int
) -> tuple[np.ndarray, np.ndarray]:
    """The vectors in that many dimensions, by a fixed Gaussian matrix where they have fewer."""
    if vectors.shape[1] == dimension:
        return vectors, queries
    shape = (vectors.shape[1], dimension)
    matrix = np.random.default_rng(1).standard_normal(shape, dtype=np.float32)
    return _normalised(vectors @ matrix), _normalised(queries @ matrix)


def _normalised(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def _measured(database: Path, vectors: np.ndarray, queries: np.ndarray, rounds: int) -> Measured:
    """Every way asked in turns, once over to warm up."""
    with ExitStack() as held:
        connection = held.enter_context(open_database(database, "read"))
        ways = {
            "ours": _ours(connection),
            "vec0": _vec0(database.with_suffix(".vec0"), vectors),
            "numpy": lambda query: _best(vectors @ query),
        }
        milliseconds: dict[str, list[float]] = {name: [] for name in ways}
        found: dict[str, list[list[int]]] = {name: [] for name in ways}
        for turn in range(rounds + 1):
            for query in queries:
                for name, find in ways.items():
                    began = time.perf_counter()
                    answer = find(query)
                    if turn:
                        milliseconds[name].append((time.perf_counter() - began) * 1000)
                    if turn == 1:
                        found[name].append(answer)
    recall = {name: _recall(vectors, queries, found[name]) for name in ("ours", "vec0")}
    return Measured(milliseconds, recall)


def _ours(connection: apsw.Connection) -> Find:
    tool = registry.get_tool(connection, TOOL)
    names = Tables(connection, tool.id, tool.name, tool.generation)
    # Chunks are numbered from 1, in the order in which they were stored.
    return lambda query: [number - 1 for number in nearest_chunks(names, query, K)]


def _vec0(database: Path, vectors: np.ndarray) -> Find:
    import sqlite_vec

    connection = apsw.Connection(str(database))
    connection.enable_load_extension(True)  # noqa: FBT003
    connection.load_extension(sqlite_vec.loadable_path())
    connection.execute(
        f"CREATE VIRTUAL TABLE t USING vec0(v float[{vectors.shape[1]}] distance_metric=cosine)"
    )
    with connection:
        connection.executemany(
            "INSERT INTO t (rowid, v) VALUES (?, ?)",
            ((number, vector.tobytes()) for number, vector in enumerate(vectors)),
        )

    def find(query: np.ndarray) -> list[int]:
        rows = connection.execute(
            "SELECT rowid FROM t WHERE v MATCH ? AND k = ? ORDER BY distance", (query.tobytes(), K)
        )
        return [int(number) for (number,) in rows]

    return find


def _best(scores: np.ndarray) -> list[int]:
    places = np.argpartition(-scores, K)[:K]
    return places[np.argsort(-scores[places])].tolist()


def _recall(vectors: np.ndarray, queries: np.ndarray, found: list[list[int]]) -> float:
    """The share of results that are as near as the true tenth."""
    right = 0
    for query, places in zip(queries, found, strict=True):
        scores = vectors @ query
        tenth = np.partition(scores, -K)[-K]
        right += int((scores[places] >= tenth - _SAME).sum())
    return right / (K * len(queries))


def _bandwidth() -> float:
    """Bytes a second that one core reads: the best of several sums over 400 MB."""
    numbers = np.ones(100_000_000, dtype=np.float32)
    _, milliseconds = timed(lambda _: numbers.sum(), range(5))
    return numbers.nbytes / min(milliseconds) * 1000
