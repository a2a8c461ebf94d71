"""Questions in users' own words: is the section found that answers, and how far up?"""

from __future__ import annotations

from collections.abc import Sequence

from asked_collections import users_collection
from finding import MODES, first_among, quality
from legs import legs_of
from mdvec.embedding import catalog
from mdvec.search.core.fusion import SearchMode
from processes import Bench
from results import Row

FIRST = 3

Ranks = dict[SearchMode, list[int | None]]


def measure(bench: Bench) -> list[Row]:
    """The three modes over all questions, and both together for each kind of user."""
    embedder = catalog.load("use")
    collection, users = users_collection(bench, embedder)
    ranks: Ranks = {mode: [] for mode in MODES}
    with legs_of(collection.database, embedder) as legs:
        for words, answer in collection.asked:
            for mode, found in legs.ranked(words).items():
                groups = (collection.keys(one.chunk) for one in found)
                ranks[mode].append(first_among(groups, answer))
    better_leg = max(quality(ranks[mode]).ndcg for mode in MODES if mode != "hybrid")
    rows = [
        Row(
            f"react-ja in users' words (`use`, {mode})",
            f"{_described(of_mode)} (those not fitted by: {_described(of_mode[1::2])})",
            f"nDCG@10 ≥ {better_leg:.3f} (the better leg alone)" if mode == "hybrid" else "",
            quality(of_mode).ndcg >= better_leg if mode == "hybrid" else None,
        )
        for mode, of_mode in ranks.items()
    ]
    for user in dict.fromkeys(users):
        of_user = [place for place, by in zip(ranks["hybrid"], users, strict=True) if by == user]
        rows.append(Row(f"react-ja, `use`, hybrid, {user}", _described(of_user)))
    return rows


def _described(ranks: Sequence[int | None]) -> str:
    among = sum(place is not None and place <= FIRST for place in ranks)
    return f"{quality(ranks)}, {among} among the first {FIRST}"
