"""Which chunk size suits ``use``: an averaging encoder blurs what it is given at once."""

from __future__ import annotations

from mdvec.embedding.cards import USE
from processes import Bench, call_in_child
from results import Row

SIZES = (64, 96, 128, 192, 256, 384, 512)
FILES = 80


def measure(bench: Bench) -> list[Row]:
    """One row per size; there is no bar, the default is for people to choose."""
    results = call_in_child(bench, "section_finding", "compare", str(bench.corpus), SIZES, FILES)
    return [
        Row(
            f"chunks of up to {result['size']} tokens, overlap {result['size'] // 8}"
            + (" (the default)" if result["size"] == USE.default_size else ""),
            f"nDCG@10 {result['ndcg']:.3f}, R@1 {result['first']:.3f} of {result['questions']} "
            f"questions; {result['chunks']:,} chunks of {result['characters']} characters",
        )
        for result in results
    ]
