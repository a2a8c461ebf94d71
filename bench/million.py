"""A million chunks: searching them over STDIO, and the k-NN alone."""

from __future__ import annotations

from knn import heading_queries, knn_rows
from mdvec.embedding import catalog
from processes import Bench
from results import Row
from searching import MILLION, search_rows
from text_windows import perturbed_windows, store_windows

QUERIES = 20


def measure(bench: Bench) -> list[Row]:
    """One database for both."""
    texts, vectors = perturbed_windows(bench.corpus, MILLION.chunks)
    embedder = catalog.load("use")
    database = bench.folder / "million.sqlite"
    model = (embedder.name, embedder.fingerprint, embedder.dimension)
    store_windows(database, texts, vectors, model)
    rows = search_rows(bench, database, len(texts), MILLION)
    queries = heading_queries(bench.corpus, QUERIES)
    what = f"{len(texts):,} × {embedder.dimension}"
    return rows + knn_rows(what, database, vectors, queries, 1)
