"""Whole sentences: does asking politely for a term still find what names it?

Terms are taken from the corpus by rule (``asked_terms``), so that nobody chose the easy ones. A
question fails when none of its first three hits even names the term, in its text or in its path
of headings. The terms at even places were looked at while constants were chosen.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from corpus import markdown_files
from finding import evenly, hits_of, imported
from mdvec.embedding import catalog
from mdvec.search.hits import Hit
from mdvec.text.markdown import outline
from processes import Bench
from results import Row

K = 3
OF_EACH = 28
MOST_FAILED = 3
FRAMES = (
    "{}",
    "{}とは何ですか？",
    "{}について教えてください",
    "{}の使い方を教えてください",
    "{}を使うべきでないときは？",
    "{}はどのような場合に使えばよいのでしょうか？",
    "すみません、{}の使い方について教えていただけますか？",
)
_IDENTIFIER = re.compile(r"[a-z]+(?:[A-Z][a-z]*)+")
_JAPANESE = re.compile(r"[一-龯]{3,}|[ァ-ヶー]{4,}")
_FEWEST_FILES, _MOST_FILES = 2, 22


def measure(bench: Bench) -> list[Row]:
    """One row a frame: the questions that fail, and how many of each half of the terms."""
    terms = asked_terms(bench.corpus)
    embedder = catalog.load("use")
    database = bench.folder / "asking.sqlite"
    imported(database, bench.corpus, embedder)
    rows = []
    for frame in FRAMES:
        failed = [
            term
            for term in terms
            if not names(hits_of(database, frame.format(term), K, "hybrid", embedder), term)
        ]
        rows.append(
            Row(
                f"react-ja, `use`, hybrid, {K} hits: {frame.format('…')}",
                failures(terms, failed),
                f"at most {MOST_FAILED} of {len(terms)} fail",
                len(failed) <= MOST_FAILED,
            )
        )
    return rows


def failures(terms: Sequence[str], failed: Sequence[str]) -> str:
    """How many of the terms failed, of both halves, and which."""
    held_out = sum(term in failed for term in terms[1::2])
    named = f": {', '.join(failed)}" if failed else ""
    return f"{len(failed)} of {len(terms)} fail, {held_out} of the held-out half{named}"


def asked_terms(corpus: Path) -> list[str]:
    """Identifiers and Japanese words, as many of each, evenly out of all that the rules allow.

    Identifiers are titles of documents in camelCase. Japanese words are runs of three kanji or
    four katakana in a heading, that stand in a few files but not in all.
    """
    texts = {path: path.read_text("utf-8") for path in markdown_files(corpus)}
    outlines = [outline(text, path.name) for path, text in texts.items()]
    identifiers = {read.title for read in outlines if _IDENTIFIER.fullmatch(read.title)}
    files = Counter(word for text in texts.values() for word in set(_JAPANESE.findall(text)))
    words = {
        word
        for read in outlines
        for heading in read.headings
        for word in _JAPANESE.findall(heading.words)
        if _FEWEST_FILES <= files[word] <= _MOST_FILES
    }
    return evenly(sorted(identifiers), OF_EACH) + evenly(sorted(words), OF_EACH)


def names(hits: Sequence[Hit], term: str) -> bool:
    """Whether any of the hits holds the term in its text or in its headings."""
    return any(_folded(term) in _folded(f"{hit.heading}\n{hit.content}") for hit in hits)


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()
