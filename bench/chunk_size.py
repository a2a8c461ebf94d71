"""Which chunk size suits ``use``: an averaging encoder blurs what it is given at once."""

from __future__ import annotations

from mdvec.interfaces.embedding.cards import USE
from processes import Bench, call_in_child
from rows import Row

SIZES = (64, 96, 128, 192, 256, 384, 512)
FILES = 80


def measure(bench: Bench) -> list[Row]:
    """One row per size, and whether the default is as good as the best."""
    results = call_in_child(bench, "section_finding", "compare", str(bench.corpus), SIZES, FILES)
    best = max(result["ndcg"] for result in results)
    return [
        Row(
            f"chunks of up to {result['size']} tokens, overlap {result['size'] // 8}"
            + (" (the default)" if result["size"] == USE.default_size else ""),
            f"nDCG@10 {result['ndcg']:.3f}, R@1 {result['first']:.3f}; {result['chunks']:,} chunks "
            f"of {result['characters']} characters",
            "the best of them, give or take 0.02" if result["size"] == USE.default_size else "",
            result["ndcg"] >= best - 0.02 if result["size"] == USE.default_size else None,
        )
        for result in results
    ]
