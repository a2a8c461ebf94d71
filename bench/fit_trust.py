"""Fits how far searches trust a model's vectors, on several collections at once.

    .venv/bin/python bench/fit_trust.py use ~/docs-ja ~/articles

Each folder of Markdown is asked for its own headings, which are removed from the texts first; the
React documentation in users' words and JSQuAD join where they are (bench/corpus.py). Candidates are
found once, then scored with each trust. A trust's loss on a collection is what its nDCG@10 lacks,
as a share, of the best that any trust reaches there; chosen is the least of the worst losses on
every second question. The other questions, and what words and vectors alone reach, are printed
beside it. Nothing is stored: the number belongs into the model's card (mdvec/embedding/cards.py).
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from asked_collections import Collection, jsquad_collection, users_collection
from calibrate import TRUSTS, headings_asked, trusting
from corpus import markdown_files
from finding import evenly, first_among, quality
from mdvec.embedding import catalog
from mdvec.embedding.cards import default_constants
from mdvec.embedding.embedder import Embedder
from mdvec.search.core.fusion import SearchMode, fuse
from processes import Bench
from results import Skipped
from section_finding import read_document
from studies.fusion_fit import Case, asked_of

QUESTIONS = 400


@dataclass(frozen=True, slots=True)
class Losses:
    """The nDCG@10 of one half of each collection, by trust."""

    ndcg: dict[float, dict[str, float]]

    def worst(self, trust: float) -> float:
        """The largest share that a trust loses on a collection."""
        return max(
            1 - reached / max(of[name] for of in self.ndcg.values())
            for name, reached in self.ndcg[trust].items()
        )


def main() -> int:
    """Fit one model's trust, and print what each trust reaches."""
    arguments = _arguments()
    embedder = catalog.load(arguments.model)
    present = default_constants(arguments.model).vector_trust
    with tempfile.TemporaryDirectory(prefix="mdvec-bench-") as folder:
        bench = Bench(Path(folder), Path(folder), None, None, None)
        cases = dict(_collections(bench, embedder, arguments))
    even, odd = (_losses(cases, first, present) for first in (0, 1))
    chosen = min(even.ndcg, key=even.worst)
    print(f"{embedder.name}: trust {chosen:g} loses least where most ({even.worst(chosen):.1%}); "
          f"the card has {present:g} ({even.worst(present):.1%})")  # fmt: skip
    for name, of in cases.items():
        others = of[1::2]
        words, vectors = (_alone(others, mode) for mode in ("lexical", "vector"))
        print(
            f"  {name}, {len(others)} held out: words {words:.3f}, vectors {vectors:.3f}, "
            f"trust {present:g} {odd.ndcg[present][name]:.3f}, "
            f"{chosen:g} {odd.ndcg[chosen][name]:.3f}, "
            f"at best {max(reached[name] for reached in odd.ndcg.values()):.3f}"
        )
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", help="as in --model of an import")
    parser.add_argument("folders", nargs="*", type=Path, help="folders of Markdown")
    parser.add_argument("--questions", type=int, default=QUESTIONS, help="of each collection")
    parser.add_argument(
        "--documents", type=int, default=100_000, help="of each folder; fewer for a slow model"
    )
    parser.add_argument(
        "--own", action="store_true", help="the folders alone, without React and JSQuAD"
    )
    return parser.parse_args()


def _collections(
    bench: Bench, embedder: Embedder, arguments: argparse.Namespace
) -> Iterator[tuple[str, list[Case]]]:
    for folder in arguments.folders:
        files = evenly(markdown_files(folder), arguments.documents)
        documents = [read_document(file) for file in files]
        yield f"{folder.name}, headings", headings_asked(documents, embedder, arguments.questions)
        print(f"{folder.name}: {len(files)} files", flush=True)
    asked: list[Callable[[], Collection]] = [] if arguments.own else [
        lambda: users_collection(bench, embedder)[0], lambda: jsquad_collection(bench, embedder),
    ]  # fmt: skip
    for collection_asked in asked:
        try:
            collection = collection_asked()
        except Skipped as why:
            print(f"skipped: {why}")
            continue
        questions = evenly(collection.asked, arguments.questions)
        yield collection.name, list(asked_of(collection, questions, embedder))


def _losses(cases: dict[str, list[Case]], first: int, present: float) -> Losses:
    return Losses(
        {
            trust: {
                name: quality([_place(trusting(case, trust)) for case in of[first::2]]).ndcg
                for name, of in cases.items()
            }
            for trust in sorted({present, *TRUSTS})
        }
    )


def _alone(cases: Sequence[Case], mode: SearchMode) -> float:
    return quality([_place(case, mode) for case in cases]).ndcg


def _place(case: Case, mode: SearchMode = "hybrid") -> int | None:
    scored = fuse(case.query, case.statistics, case.candidates, mode)
    order = sorted(range(len(scored)), key=lambda number: -scored[number].score)
    return first_among((case.keys[number] for number in order), case.answer)


if __name__ == "__main__":
    sys.exit(main())
