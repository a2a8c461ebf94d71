"""JSQuAD: questions over Japanese Wikipedia, one file a passage, hits counted by file."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from corpus import find_corpus
from finding import HITS, MODES, Quality, evenly, first_place, hits_of, once, quality, timed
from mdvec.embedding import catalog
from mdvec.embedding.embedder import Embedder
from mdvec.search.core.fusion import SearchMode
from processes import Bench
from results import Row, Skipped, median

NDCG_BAR, FIRST_BAR = 0.963, 0.915
# Its questions repeat their passage's words: what the vectors keep for others costs a little here.
BELOW_A_LEG = 0.006
E5_NDCG_BAR = 0.968
E5_QUESTIONS = 1000


@dataclass(frozen=True, slots=True)
class Asked:
    """A question and the file that answers it."""

    words: str
    file: str


@dataclass(frozen=True, slots=True)
class Passages:
    """The passages as files of a folder, and the questions that are reported."""

    folder: Path
    asked: tuple[Asked, ...]


def measure(bench: Bench) -> list[Row]:
    """``use`` in the three modes."""
    passages = passages_of(bench)
    embedder = catalog.load("use")
    database = once(bench, "jsquad", passages.folder, embedder)
    measured = {mode: _asked(database, passages.asked, mode, embedder) for mode in MODES}
    hybrid, *legs = (of_mode for of_mode, _ in measured.values())
    met = {
        "hybrid": hybrid.ndcg >= NDCG_BAR
        and hybrid.first >= FIRST_BAR
        and all(hybrid.reaches(leg, BELOW_A_LEG) for leg in legs)
    }
    bar = (
        f"nDCG@10 ≥ {NDCG_BAR:.3f}, R@1 ≥ {FIRST_BAR:.3f} "
        f"(and at most {BELOW_A_LEG} below either leg alone)"
    )
    return [
        Row(
            f"JSQuAD (`use`, {mode})",
            f"{of_mode} ({milliseconds:.1f} ms each)",
            bar if mode in met else "",
            met.get(mode),
        )
        for mode, (of_mode, milliseconds) in measured.items()
    ]


def measure_e5(bench: Bench) -> list[Row]:
    """``e5-small`` in the three modes, over fewer of the questions: it is slow."""
    card = catalog.card_named("e5-small")
    if lack := catalog.missing(card):
        raise Skipped(f"e5-small is {lack}; get it with: {card.how_to_get}")
    passages = passages_of(bench)
    embedder = catalog.load("e5-small")
    database = once(bench, "jsquad", passages.folder, embedder)
    asked = evenly(passages.asked, E5_QUESTIONS)
    query = functools.cache(embedder.embed_query)
    embedder.embed_query = query  # type: ignore[method-assign]  # one question, three modes
    measured = {mode: _asked(database, asked, mode, embedder)[0] for mode in MODES}
    return [
        Row(
            f"JSQuAD, `e5-small`, {mode}",
            str(of_mode),
            f"nDCG@10 ≥ {E5_NDCG_BAR:.3f}" if mode == "hybrid" else "",
            of_mode.ndcg >= E5_NDCG_BAR if mode == "hybrid" else None,
        )
        for mode, of_mode in measured.items()
    ]


def passages_of(bench: Bench, every: int = 2) -> Passages:
    """Every context as a file; of the questions those with an odd line index, or all of them."""
    data = find_corpus(bench.asked_jsquad, "jsquad")
    folder = bench.folder / "passages"
    folder.mkdir(exist_ok=True)
    names = {}
    for context in _lines(data / "contexts.jsonl"):
        name = names[context["id"]] = f"{context['id']:05}.md"
        (folder / name).write_text(f"# {context['title']}\n\n{context['text']}\n", encoding="utf-8")
    questions = _lines(data / "questions.jsonl")[every - 1 :: every]
    return Passages(
        folder, tuple(Asked(line["question"], names[line["context_id"]]) for line in questions)
    )


def _lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _asked(
    database: Path, asked: Sequence[Asked], mode: SearchMode, embedder: Embedder
) -> tuple[Quality, float]:
    return scored(
        lambda words: [hit.file_path for hit in hits_of(database, words, HITS, mode, embedder)],
        asked,
    )


def scored(ask: Callable[[str], list[str]], asked: Sequence[Asked]) -> tuple[Quality, float]:
    """The quality, and the median of the milliseconds of a question."""
    found, milliseconds = timed(ask, [question.words for question in asked])
    ranks = [
        first_place(files, question.file) for files, question in zip(found, asked, strict=True)
    ]
    return quality(ranks), median(milliseconds)
