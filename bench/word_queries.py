"""Queries of a word or two, in all scripts and widths: is a file that answers among five hits?"""

from __future__ import annotations

import tomllib
from pathlib import Path

from finding import group_rows, hits_of, once
from mdvec.embedding import catalog
from processes import Bench
from results import Row

K = 5
QUERIES = Path(__file__).with_name("word_queries.toml")


def measure(bench: Bench) -> list[Row]:
    """A row for all, and one a group of queries; a query that misses is named."""
    groups: dict[str, dict[str, list[str]]] = tomllib.loads(QUERIES.read_text("utf-8"))["words"]
    embedder = catalog.load("use")
    database = once(bench, "react", bench.corpus, embedder)
    missed = {
        name: [
            query
            for query, files in expected.items()
            if not {hit.file_path for hit in hits_of(database, query, K, "hybrid", embedder)}
            & set(files)
        ]
        for name, expected in groups.items()
    }
    asked = {name: len(expected) for name, expected in groups.items()}
    return group_rows(f"words in react-ja, {K} hits (`use`, hybrid)", asked, missed)
