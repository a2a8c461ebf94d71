"""The constants of `search/core/confidence.py`, fitted over the first hits of several collections.

Logistic regression by Newton's method. Each collection weighs the same; of its weight a fifth are
questions that only the others answer. A hit is right where its section or file is the one asked
for.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from asked_collections import Collection, collections, unanswerable
from finding import evenly
from legs import legs_of
from mdvec.embedding import catalog
from mdvec.embedding.embedder import Embedder
from processes import Bench
from results import Row

QUESTIONS = 300
UNANSWERABLE_SHARE = 0.2
HITS = 5
FEATURES = ("coverage", "likeness", "ln(chunks)", "behind the best")
MODELS = {"both": (0, 1, 2, 3), "words": (0, 2, 3), "vectors": (1, 2, 3)}
_ROUNDS, _RIDGE = 60, 0.01

Sample = tuple[list[float], bool]


def measure(bench: Bench) -> list[Row]:
    """The fitted constants, with both legs and with each alone."""
    embedder = catalog.load("use")
    of_all = collections(bench, embedder)
    features, right, weights = [], [], []
    for collection in of_all:
        own = evenly(collection.asked, QUESTIONS)
        others = [(words, None) for words in unanswerable(collection, of_all)]
        for asked, share in ((own, 1 - UNANSWERABLE_SHARE), (others, UNANSWERABLE_SHARE)):
            found = list(_samples(collection, asked, embedder))
            features += [sample for sample, _ in found]
            right += [is_right for _, is_right in found]
            weights += [share / len(found)] * len(found)
    rows = []
    for name, columns in MODELS.items():
        fitted = _fitted(
            np.array(features)[:, columns], np.array(right, float), 300 * np.array(weights)
        )
        shown = zip(("constant", *(FEATURES[column] for column in columns)), fitted, strict=True)
        rows.append(Row(f"likelihood, {name}", ", ".join(f"{what} {of:.2f}" for what, of in shown)))
    return rows


def _samples(
    collection: Collection, asked: list[tuple[str, object]], embedder: Embedder
) -> Iterator[Sample]:
    with legs_of(collection.database, embedder) as legs:
        for words, answer in asked:
            ranking = legs.pool(words).ranked("hybrid")
            found = ranking.evidence
            for one in ranking.chunks[:HITS]:
                behind = ranking.chunks[0].scored.score - one.scored.score
                features = [found.coverage, found.likeness or 0.0, math.log(found.chunks), behind]
                yield features, answer in collection.keys(one.chunk)


def _fitted(features: np.ndarray, right: np.ndarray, weights: np.ndarray) -> np.ndarray:
    with_constant = np.c_[np.ones(len(features)), features]
    found = np.zeros(with_constant.shape[1])
    ridge = _RIDGE * np.eye(len(found))
    for _ in range(_ROUNDS):
        likely = 1 / (1 + np.exp(-with_constant @ found))
        slope = with_constant.T @ (weights * (likely - right)) + ridge @ found
        bend = (with_constant.T * (weights * likely * (1 - likely))) @ with_constant + ridge
        found -= np.linalg.solve(bend, slope)
    return found
