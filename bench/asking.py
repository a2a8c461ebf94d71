"""Questions as people ask them: does a sentence around a term or a heading still find it?

A term fails when none of the first three hits even names it. A heading is right where its own
section comes; every sentence is compared with the heading asked bare.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from asked_collections import KeysOf, by_owner, by_position
from asked_terms import asked_terms, names
from corpus import markdown_files
from finding import MODES, evenly, first_among, once, quality
from frames import Frame, frames_about
from headings import headless_index
from legs import Legs, legs_of
from mdvec.embedding import catalog
from mdvec.embedding.embedder import Embedder
from mdvec.search.core.fusion import SearchMode
from processes import Bench
from results import Row
from section_finding import Question, heading_questions, read_document

HEADINGS = 104
K = 3
MAX_FAILED = 0.03
MIN_KEPT = {False: 0.95, True: 0.85}
"""The share of the bare heading's nDCG that a sentence keeps; True: with typos."""
_LEG_MARGIN = 0.0005  # what three decimals cannot show


@dataclass(frozen=True, slots=True)
class Asked:
    """A frame with its nDCG in each mode, and that of the bare heading."""

    frame: Frame
    ndcg: dict[SearchMode, float]
    bare: float

    @property
    def kept(self) -> float:
        """What is left of the bare heading's nDCG."""
        return self.ndcg["hybrid"] / self.bare

    @property
    def keeps_enough(self) -> bool:
        """Whether enough is kept of the bare heading's nDCG."""
        return self.kept >= MIN_KEPT[self.frame.typos]

    @property
    def is_met(self) -> bool:
        """Whether enough is kept, and neither leg alone is better."""
        return self.keeps_enough and self.above_legs >= -_LEG_MARGIN

    @property
    def above_legs(self) -> float:
        """How far both together are above the better of the two."""
        return self.ndcg["hybrid"] - max(self.ndcg["vector"], self.ndcg["lexical"])


def measure(bench: Bench) -> list[Row]:
    """Rows for terms, for headings of the documentation, and for text without its headings."""
    embedder = catalog.load("use")
    whole = once(bench, "react", bench.corpus, embedder)
    files = markdown_files(bench.corpus)
    documents = [read_document(path) for path in files]
    questions = [question for question in heading_questions(documents) if question.anchor]
    questions = evenly(questions, HEADINGS)
    headless = headless_index(bench, documents, embedder)
    paths = [path.relative_to(bench.corpus).as_posix() for path in files]
    rows = _term_rows(whole, asked_terms(bench.corpus), embedder)
    rows += heading_rows(
        "headings of react-ja", whole, by_position(documents, paths), questions, embedder, ("ja",)
    )
    return rows + heading_rows(
        "headings of react-ja, none of them indexed",
        headless.database, by_owner(headless.owners), questions, embedder, ("ja", "en"),
    )  # fmt: skip


def _term_rows(database: Path, terms: Sequence[str], embedder: Embedder) -> list[Row]:
    bare = Frame("{}", "bare")
    with legs_of(database, embedder) as legs:
        failed = {
            frame: [term for term in terms if not _is_named(legs, frame.around(term), term)]
            for frame in (bare, *frames_about("terms"))
        }
    rows = []
    for kind in dict.fromkeys(frame.kind for frame in failed):
        of_kind = {frame: missed for frame, missed in failed.items() if frame.kind == kind}
        worst = max(of_kind, key=lambda frame: len(of_kind[frame]))
        missed = dict.fromkeys(term for frame in of_kind for term in of_kind[frame])
        met = sum(len(terms_of) <= MAX_FAILED * len(terms) for terms_of in of_kind.values())
        rows.append(
            Row(
                f"terms of react-ja, {_described(kind, list(of_kind))}",
                f"{met} of {len(of_kind)} frames meet the bar; "
                f"worst frame: {len(of_kind[worst])} of {len(terms)} fail"
                + (f" ({worst.text}); in any frame: {', '.join(missed)}" if missed else ""),
                f"≤ {MAX_FAILED:.0%} in every frame",
                len(of_kind[worst]) <= MAX_FAILED * len(terms),
            )
        )
    return rows


def _is_named(legs: Legs, words: str, term: str) -> bool:
    found = legs.ranked(words)["hybrid"][:K]
    return names((f"{one.chunk.heading}\n{one.chunk.content}" for one in found), term)


def heading_rows(
    what: str,
    database: Path,
    keys: KeysOf,
    questions: Sequence[Question],
    embedder: Embedder,
    languages: Sequence[str],
) -> list[Row]:
    """A row for the bare headings of each language, and one for each kind of sentence."""
    rows = []
    with legs_of(database, embedder) as legs:
        for language in languages:
            asked = [
                (question.words if language == "ja" else question.anchor, question.answer)
                for question in questions
            ]
            frames = [one for one in frames_about("headings") if one.language == language]
            bare = _ndcg(legs, keys, asked, Frame("{}", "bare", language=language))
            rows.append(_bare_row(f"{what}, {language}, bare", bare))
            measured = [
                Asked(frame, _ndcg(legs, keys, asked, frame), bare["hybrid"]) for frame in frames
            ]
            for kind in dict.fromkeys(frame.kind for frame in frames):
                of_kind = [one for one in measured if one.frame.kind == kind]
                rows.append(_kind_row(f"{what}, {language}", kind, of_kind))
    return rows


def _ndcg(
    legs: Legs, keys: KeysOf, asked: Sequence[tuple[str, object]], frame: Frame
) -> dict[SearchMode, float]:
    ranks: dict[SearchMode, list[int | None]] = {mode: [] for mode in MODES}
    for words, answer in asked:
        for mode, found in legs.ranked(frame.around(words)).items():
            ranks[mode].append(first_among((keys(one.chunk) for one in found), answer))
    return {mode: quality(of_mode).ndcg for mode, of_mode in ranks.items()}


def _bare_row(what: str, ndcg: dict[SearchMode, float]) -> Row:
    legs = max(ndcg["vector"], ndcg["lexical"])
    return Row(
        what,
        f"nDCG@10 {ndcg['hybrid']:.3f}; words {ndcg['lexical']:.3f}, vectors {ndcg['vector']:.3f}",
        "not below either leg",
        ndcg["hybrid"] >= legs - _LEG_MARGIN,
    )


def _kind_row(what: str, kind: str, asked: Sequence[Asked]) -> Row:
    worst = min(asked, key=lambda one: one.kept)
    least = min(asked, key=lambda one: one.above_legs)
    kept = sum(one.keeps_enough for one in asked)
    held_out = [one.kept for one in asked if one.frame.held_out]
    return Row(
        f"{what}, {_described(kind, [one.frame for one in asked])}",
        f"{kept} of {len(asked)} frames keep enough; "
        f"worst frame: {worst.kept:.3f} of the bare nDCG ({worst.frame.text})"
        + (f", of those held out: {min(held_out):.3f}" if held_out else "")
        + f"; least above a leg alone: {least.above_legs:+.3f}",
        f"≥ {MIN_KEPT[worst.frame.typos]}; not below either leg",
        all(one.is_met for one in asked),
    )


def _described(kind: str, frames: Sequence[Frame]) -> str:
    held_out = sum(frame.held_out for frame in frames)
    count = f"{len(frames)} frame{'s' * (len(frames) > 1)}"
    return f"{kind} ({count}, {held_out} held out)" if held_out else f"{kind} ({count})"
