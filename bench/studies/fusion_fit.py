"""Which constants of the fusion no collection pays for: the least of the worst relative losses.

The candidates of every question are found once; a setting of the constants then only scores them
again. Each collection is split in halves by turns. A setting's loss on a half is what its nDCG@10
lacks of the best that any setting tried reached there, as a share; a setting is as good as its
worst loss on the even halves. The odd halves are reported and never chosen by.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType

from asked_collections import Collection, collections, headings_of
from finding import evenly, first_among, quality
from legs import legs_of
from mdvec.embedding import catalog
from mdvec.embedding.embedder import Embedder
from mdvec.search.core import fusion, lexical
from mdvec.search.core.fusion import fuse
from mdvec.search.core.lexical import Candidate, CorpusStatistics
from mdvec.text.questions import QuestionTerms
from processes import Bench
from results import Row

QUESTIONS = 400
"""Of each half of each collection."""
TRIED: dict[str, tuple[float, ...]] = {
    "BASE_TRUST": (0.7, 1.0, 1.5, 2.0),
    "TELLING": (0.4, 0.65, 1.0),
    "CLEAR_LEAD": (0.1, 0.2, 0.4),
    "LEAD_SHARE": (0.0, 0.3, 0.6),
    "NAMED_SHARE": (0.0, 0.3, 0.6),
    "FOREIGN_TRUST": (0.4, 0.8, 1.6),
    "DEVIATIONS": (4.0, 6.0, 8.0),
    "COVERAGE_WEIGHT": (2.0, 3.0, 5.0),
    "NAME_WEIGHT": (0.5, 1.0, 1.5),
    "SENTENCE_WEIGHT": (0.0, 1.0, 2.0),
    "DOCUMENT_WEIGHT": (0.25, 0.5, 0.75),
    "CROSSING_WEIGHT": (0.0, 0.3, 0.6),
    "LETTERS_WEIGHT": (3.0, 4.0, 5.0),
    "NORMAL_FORM_WEIGHT": (1.0, 2.0, 3.0),
    "B": (0.5, 0.75),
}
"""The constants of the fusion and the lexical score, and what else each might be."""
ROUNDS = 2

Setting = dict[str, float]
Tried = dict[tuple[float, ...], dict[str, float]]


@dataclass(frozen=True, slots=True)
class Case:
    """A question with its candidates, the keys that each stands for, and the right key."""

    query: QuestionTerms
    statistics: CorpusStatistics
    candidates: Sequence[Candidate]
    keys: list[tuple[object, ...]]
    answer: object


Halves = dict[str, list[Case]]


def measure(bench: Bench) -> list[Row]:
    """The chosen constants, and each half of each collection with them."""
    halves = cases(bench)
    tried: Tried = {}
    chosen = in_code()
    now = dict(chosen)
    for _ in range(ROUNDS):
        for name, values in TRIED.items():
            for value in {*values, chosen[name]}:
                setting = {**chosen, name: value}
                tried.setdefault(tuple(setting.values()), reached(setting, halves))
            least = min(tried, key=lambda key: worst_loss(key, tried))
            chosen = dict(zip(TRIED, least, strict=True))
    best = {half: max(of[half] for of in tried.values()) for half in halves}
    rows = [
        Row(f"constant {name}", f"{now[name]:g} in the code; {value:g} has the least loss")
        for name, value in chosen.items()
    ]
    for half in halves:
        present, fitted = (tried[tuple(setting.values())][half] for setting in (now, chosen))
        rows.append(
            Row(half, f"nDCG@10 {present:.3f}; fitted {fitted:.3f}; at best {best[half]:.3f}")
        )
    return rows


def worst_loss(setting: tuple[float, ...], tried: Tried) -> float:
    """The largest share that the setting loses on an even half."""
    losses = []
    for half, ndcg in tried[setting].items():
        if half.endswith("even"):
            best = max(of[half] for of in tried.values())
            losses.append((best - ndcg) / best)
    return max(losses)


def reached(setting: Setting, halves: Halves) -> dict[str, float]:
    """The nDCG@10 of every half with these constants."""
    with constants(setting):
        return {half: quality([rank(case) for case in of]).ndcg for half, of in halves.items()}


@contextmanager
def constants(setting: Setting) -> Iterator[None]:
    """The module's constants, for as long as the block runs."""
    before = in_code()
    _set(setting)
    try:
        yield
    finally:
        _set(before)


def in_code() -> Setting:
    """The constants as they stand in the code."""
    return {name: getattr(_module(name), name) for name in TRIED}


def _set(setting: Setting) -> None:
    for name, value in setting.items():
        setattr(_module(name), name, value)


def _module(name: str) -> ModuleType:
    return fusion if hasattr(fusion, name) else lexical


def rank(case: Case) -> int | None:
    """The place of the right key."""
    scored = fuse(case.query, case.statistics, case.candidates, "hybrid")
    order = sorted(range(len(scored)), key=lambda place: -scored[place].score)
    return first_among((case.keys[place] for place in order), case.answer)


def cases(bench: Bench) -> Halves:
    """Every question's candidates, by collection and half."""
    embedder = catalog.load("use")
    halves: Halves = {}
    for collection in (*headings_of(bench, embedder), *collections(bench, embedder)):
        for half, first in (("even", 0), ("odd", 1)):
            asked = evenly(collection.asked[first::2], QUESTIONS)
            halves[f"{collection.name}, {half}"] = list(asked_of(collection, asked, embedder))
    return halves


def asked_of(
    collection: Collection, asked: Sequence[tuple[str, object]], embedder: Embedder
) -> Iterator[Case]:
    """What a collection has for each question."""
    with legs_of(collection.database, embedder) as legs:
        for words, answer in asked:
            pool = legs.pool(words)
            keys = [tuple(collection.keys(chunk)) for _, chunk in pool.owners]
            yield Case(pool.query, pool.statistics, pool.candidates, keys, answer)
