"""Questions as people ask them: does a sentence around a term or a heading still find it?

A term fails when none of the first three hits even names it. A heading is right where its own
section comes; every sentence is compared with the heading asked bare. The sentences are those that
are held out.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from asked_collections import KeysOf, by_owner, by_position
from asked_terms import asked_terms, names
from corpus import markdown_files
from finding import evenly, first_among, once, quality
from frames import Frame, frames
from headings import headless_index
from legs import Legs, legs_of
from mdvec.embedding import catalog
from mdvec.embedding.embedder import Embedder
from processes import Bench
from results import Row
from section_finding import Question, heading_questions, read_document

HEADINGS = 104
K = 3
MAX_FAILED = 0.08
"""The mean share of terms that fail in a sentence."""
MIN_KEPT = 0.92
"""The mean share of the bare heading's nDCG that a sentence keeps."""


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
    rows = [_term_row(whole, asked_terms(bench.corpus), embedder)]
    rows += _heading_rows(
        "headings of react-ja", whole, by_position(documents, paths), questions, embedder, ("ja",)
    )
    return rows + _heading_rows(
        "headings of react-ja, none of them indexed",
        headless.database, by_owner(headless.owners), questions, embedder, ("ja", "en"),
    )  # fmt: skip


def _term_row(database: Path, terms: Sequence[str], embedder: Embedder) -> Row:
    sentences = frames(held_out=True)
    with legs_of(database, embedder) as legs:
        failed = {
            frame.text: sum(not _is_named(legs, frame.around(term), term) for term in terms)
            for frame in sentences
        }
    worst = max(failed, key=failed.__getitem__)
    share = sum(failed.values()) / len(failed) / len(terms)
    return Row(
        f"terms of react-ja in {len(failed)} sentences",
        f"{share:.1%} fail (in the worst sentence {failed[worst]} of {len(terms)}: {worst})",
        f"≤ {MAX_FAILED:.0%}",
        share <= MAX_FAILED,
    )


def _is_named(legs: Legs, words: str, term: str) -> bool:
    found = legs.pool(words).ranked("hybrid").chunks[:K]
    return names((f"{one.chunk.heading}\n{one.chunk.content}" for one in found), term)


def _heading_rows(
    what: str,
    database: Path,
    keys: KeysOf,
    questions: Sequence[Question],
    embedder: Embedder,
    languages: Sequence[str],
) -> list[Row]:
    """A row for the headings of each language: bare, and in sentences."""
    rows = []
    with legs_of(database, embedder) as legs:
        for language in languages:
            asked = [
                (question.words if language == "ja" else question.anchor, question.answer)
                for question in questions
            ]
            bare = _ndcg(legs, keys, asked, Frame("{}"))
            kept = {
                frame.text: _ndcg(legs, keys, asked, frame) / bare
                for frame in frames(held_out=True)
                if frame.language == language
            }
            worst, mean = min(kept, key=kept.__getitem__), sum(kept.values()) / len(kept)
            rows.append(
                Row(
                    f"{what}, {language}, in {len(kept)} sentences",
                    f"{mean:.3f} × the bare heading's nDCG@10, {bare:.3f} "
                    f"(in the worst sentence {kept[worst]:.3f}: {worst})",
                    f"≥ {MIN_KEPT} ×",
                    mean >= MIN_KEPT,
                )
            )
    return rows


def _ndcg(legs: Legs, keys: KeysOf, asked: Sequence[tuple[str, object]], frame: Frame) -> float:
    ranks = []
    for words, answer in asked:
        found = legs.pool(frame.around(words)).ranked("hybrid").chunks
        ranks.append(first_among((keys(one.chunk) for one in found), answer))
    return quality(ranks).ndcg
