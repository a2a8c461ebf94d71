"""The constants of `search/core/fusion.py`, fitted over the first hits of several collections.

Likeness, named and ln(chunks) count beside the coverage as meets the bars of `confident` with most
room, on every second question of each collection and what only the others answer. Then a logistic
regression, by Newton's method, over the first five hits of these questions gives the constants; it
is repeated for the evidence as the code weighs it now, with the same bound. Hits after the first
are a feature of their own: however close behind it, fewer of them are right. The other half is
reported. Each collection weighs the same; of its weight a fifth are questions that only the others
answer. A hit is right where its section or file is the one asked for.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from asked_collections import Collection, collections, unanswerable
from confident import MAX_FLAGGED, MIN_FLAGGED
from finding import evenly
from legs import Legs, legs_of
from mdvec.embedding import catalog
from mdvec.search.core.fusion import BOTH
from processes import Bench
from results import Row

QUESTIONS = 300
"""Of each half of each collection."""
UNANSWERABLE_SHARE = 0.2
HITS = 5
LIKENESS = (0.03, 0.05, 0.07, 0.09, 0.12, 0.16)
NAMED = (0.0, 0.3, 0.5, 0.8, 1.2)
CHUNKS = (0.04, 0.06, 0.08, 0.10, 0.12, 0.15)
_ROUNDS, _RIDGE = 60, 0.01


@dataclass(frozen=True, slots=True)
class Found:
    """A question's evidence; how far behind the best each hit is, and whether it is right."""

    coverage: float
    likeness: float
    named: float
    chunks: float
    hits: tuple[tuple[float, bool], ...]

    def combined(self, weights: Weights) -> float:
        """The evidence in units of coverage."""
        likeness, named, chunks = weights
        return self.coverage + likeness * self.likeness + named * self.named - chunks * self.chunks


Weights = tuple[float, float, float]
"""How likeness, named and ln(chunks) count beside the coverage."""
Half = list[tuple[list[Found], list[Found]]]
"""Of each collection, what its own questions found, and what the others' did."""


def measure(bench: Bench) -> list[Row]:
    """The fitted constants, and what they flag on each half."""
    embedder = catalog.load("use")
    of_all = collections(bench, embedder)
    even: Half = []
    odd: Half = []
    for collection in of_all:
        others = [(words, None) for words in unanswerable(collection, of_all)]
        with legs_of(collection.database, embedder) as legs:
            for first, half in enumerate((even, odd)):
                own = evenly(collection.asked[first::2], QUESTIONS)
                asked = own, others[first::2]
                half.append(tuple(list(_found(legs, collection, each)) for each in asked))
    weights = max(
        itertools.product(LIKENESS, NAMED, CHUNKS), key=lambda each: _best_bound(even, each)[0]
    )
    _, bound = _best_bound(even, weights)
    rows = [
        _constants_row("likelihood", even, weights, bound),
        _constants_row("likelihood, as the code weighs the evidence", even, *_in_code()),
    ]
    for name, half in (("even", even), ("odd", odd)):
        flagged = [_flagged(own, others, weights, bound) for own, others in half]
        shown = "; ".join(
            f"{of.name} {others:.0%} of the others', {own:.1%} of its own"
            for of, (own, others) in zip(of_all, flagged, strict=True)
        )
        rows.append(Row(f"said to have no answer, {name}", shown))
    return rows


def _in_code() -> tuple[Weights, float]:
    """How the rest of the evidence counts beside the coverage today, and the bound."""
    least = math.log(BOTH.least / (1 - BOTH.least))
    bound = (least - BOTH.constant) / BOTH.coverage
    rest = BOTH.likeness, BOTH.named, BOTH.chunks
    return tuple(each / BOTH.coverage for each in rest), bound


def _constants_row(what: str, half: Half, weights: Weights, bound: float) -> Row:
    constant, coverage, behind, later = _fitted(half, weights)
    likeness, named, chunks = (coverage * weight for weight in weights)
    least = 1 / (1 + math.exp(-(constant + coverage * bound)))
    return Row(
        what,
        f"constant {constant:.2f}, coverage {coverage:.2f}, likeness {likeness:.2f},"
        f" named {named:.2f}, ln(chunks) {chunks:.2f}, behind the best {-behind:.1f},"
        f" later {-later:.2f}; "
        f"an answer from {least:.2f}",
    )


def _found(
    legs: Legs, collection: Collection, asked: Sequence[tuple[str, object]]
) -> Iterator[Found]:
    for words, answer in asked:
        ranking = legs.pool(words).ranked("hybrid")
        found = ranking.evidence
        best = ranking.chunks[0].scored.score if ranking.chunks else 0.0
        hits = tuple(
            (best - one.scored.score, answer in collection.keys(one.chunk))
            for one in ranking.chunks[:HITS]
        )
        chunks = math.log(max(found.chunks, 1))
        yield Found(found.coverage or 0.0, found.likeness or 0.0, found.named, chunks, hits)


def _best_bound(half: Half, weights: Weights) -> tuple[float, float]:
    """The bound with the most room to the bars, as a share of each bar, and that room."""
    return max((_room(half, weights, bound), bound) for bound in np.arange(-1.6, 1.0, 0.02))


def _room(half: Half, weights: Weights, bound: float) -> float:
    rooms = []
    for own, others in half:
        flagged, right = _flagged(own, others, weights, bound)
        rooms += [
            (MAX_FLAGGED - flagged) / MAX_FLAGGED,
            (right - MIN_FLAGGED) / (1 - MIN_FLAGGED),
        ]
    return min(rooms)


def _flagged(
    own: Sequence[Found], others: Sequence[Found], weights: Weights, bound: float
) -> tuple[float, float]:
    """The share of its own questions, and of the others', that are said to have no answer."""
    own_share, others_share = (
        sum(one.combined(weights) < bound for one in asked) / len(asked) for asked in (own, others)
    )
    return own_share, others_share


def _fitted(half: Half, weights: Weights) -> np.ndarray:
    features, right, counts = [], [], []
    for collection in half:
        shares = 1 - UNANSWERABLE_SHARE, UNANSWERABLE_SHARE
        for asked, share in zip(collection, shares, strict=True):
            hits = [(one.combined(weights), *hit) for one in asked for hit in one.hits]
            features += [[1.0, combined, behind, behind > 0] for combined, behind, _ in hits]
            right += [is_right for *_, is_right in hits]
            counts += [300 * share / len(hits)] * len(hits)
    return _regression(np.array(features, float), np.array(right, float), np.array(counts))


def _regression(features: np.ndarray, right: np.ndarray, weights: np.ndarray) -> np.ndarray:
    found = np.zeros(features.shape[1])
    ridge = _RIDGE * np.eye(len(found))
    for _ in range(_ROUNDS):
        likely = 1 / (1 + np.exp(-features @ found))
        slope = features.T @ (weights * (likely - right)) + ridge @ found
        bend = (features.T * (weights * likely * (1 - likely))) @ features + ridge
        found -= np.linalg.solve(bend, slope)
    return found
