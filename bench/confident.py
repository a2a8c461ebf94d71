"""Scores that mean something: who is told that nothing answers, and how often a score is right."""

from __future__ import annotations

from collections.abc import Sequence

from asked_collections import Collection, collections, unanswerable
from finding import evenly
from legs import Legs, legs_of
from mdvec.embedding import catalog
from processes import Bench
from results import Row

QUESTIONS = 200
MIN_FLAGGED, MAX_FLAGGED = 0.80, 0.05


def measure(bench: Bench) -> list[Row]:
    """A row for each collection, and one for the scores of all of them."""
    embedder = catalog.load("use")
    of_all = collections(bench, embedder)
    rows = []
    scores: list[tuple[float, bool]] = []
    for collection in of_all:
        with legs_of(collection.database, embedder) as legs:
            asked = evenly(collection.asked, QUESTIONS)
            for words, answer in asked:
                scores += _judged(legs, collection, words, answer)
            answered = _flagged(legs, [words for words, _ in asked])
            others = _flagged(legs, list(unanswerable(collection, of_all)))
        rows.append(
            Row(
                f"said to have no answer: {collection.name}",
                f"{others:.0%} of the others' questions, {answered:.1%} of its own",
                f"≥ {MIN_FLAGGED:.0%}; ≤ {MAX_FLAGGED:.0%}",
                others >= MIN_FLAGGED and answered <= MAX_FLAGGED,
            )
        )
    return [*rows, _calibration(scores)]


def _flagged(legs: Legs, asked: Sequence[str]) -> float:
    """The share of questions whose answer is not confident."""
    return sum(not legs.pool(words).ranked("hybrid").is_confident for words in asked) / len(asked)


def _judged(
    legs: Legs, collection: Collection, words: str, answer: object
) -> list[tuple[float, bool]]:
    """The scores of the first five, and whether each is right."""
    found = legs.pool(words).ranked("hybrid").chunks[:5]
    return [(one.likelihood, answer in collection.keys(one.chunk)) for one in found]


def _calibration(scores: Sequence[tuple[float, bool]]) -> Row:
    """Of the hits with a score in each fifth, the share that is right."""
    shares = []
    for fifth in range(5):
        low, high = fifth / 5, (fifth + 1) / 5 + (fifth == 4)
        right = [is_right for score, is_right in scores if low <= score < high]
        if right:
            shares.append(f"{low:.1f} to {min(high, 1.0):.1f}: {sum(right) / len(right):.2f}")
    return Row(f"right among {len(scores):,} hits of these questions, by score", "; ".join(shares))
