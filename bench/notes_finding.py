"""A small collection of mixed notes: is the one note found that answers?"""

from __future__ import annotations

from asked_collections import notes_collection
from finding import MODES, first_place, quality
from legs import legs_of
from mdvec.embedding import catalog
from processes import Bench
from results import Row


def measure(bench: Bench) -> list[Row]:
    """The three modes over all questions."""
    embedder = catalog.load("use")
    collection = notes_collection(bench, embedder)
    ranks = {mode: [] for mode in MODES}
    with legs_of(collection.database, embedder) as legs:
        for words, file in collection.asked:
            for mode, found in legs.ranked(words).items():
                ranks[mode].append(first_place((one.chunk.file_path for one in found), file))
    measured = {mode: quality(of_mode) for mode, of_mode in ranks.items()}
    better_leg = max(measured["vector"].ndcg, measured["lexical"].ndcg)
    return [
        Row(
            f"invented notes (`use`, {mode})",
            str(of_mode),
            f"nDCG@10 ≥ {better_leg:.3f} (the better leg alone)" if mode == "hybrid" else "",
            of_mode.ndcg >= better_leg if mode == "hybrid" else None,
        )
        for mode, of_mode in measured.items()
    ]
