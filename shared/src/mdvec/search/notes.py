"""Notes for an answer: on words that no text has, tools that were left out, and few hits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mdvec.search.candidates import ToolCandidates
from mdvec.search.core.fusion import Evidence, SearchMode
from mdvec.search.hits import Hit
from mdvec.search.ranking import Pool
from mdvec.text import shown_name, some_of

_MAX_NAMED = 3


def unsure(evidence: Evidence) -> str:
    """The sentence before hits that may not answer.

    Words that texts in another language lack prove nothing, unless they are names, and likenesses
    across languages are lower.
    """
    if evidence.is_foreign and not evidence.absent:
        return (
            "the question is in another language than most texts here, so whether they answer it "
            "is open; the nearest passages follow"
        )
    return "nothing here seems to answer this; the nearest passages follow"


def why_fewer(count: int, k: int, searched: int) -> list[str]:
    """A note if there are fewer hits than requested although there are more passages."""
    if count >= min(k, searched):
        return []
    which = "no other passage" if count else "no passage"
    return [f"{which} stands out for this question"]


def beyond_hits(hits: Sequence[Hit], omitted: int, passages: int, documents: int) -> list[str]:
    """Notes on hits that did not fit, and on how many passages and documents pass the filters."""
    notes = ["more was found than fits; use a smaller k, or ask more precisely"] if omitted else []
    if passages > sum(1 + len(hit.also_in) for hit in hits):
        notes.append(
            f"passages that pass the filters: {passages:,}, of documents: {documents:,}; without a "
            "query, documents are listed"
        )
    return notes


def not_mentioned(pool: Pool) -> list[str]:
    """Notes on words of the question that no text contains, and on what was searched instead."""
    in_front_matter = pool.only_in_front_matter
    absent = pool.absent("name", "signed", "noun", "keyword")
    notes = []
    if unfound := [word for word in absent if word not in in_front_matter]:
        notes.append(f"nothing here mentions {_word_list(unfound)}")
    notes += [
        f"words like {_word_list([word])} were searched for instead: {', '.join(others)}"
        for word, others in pool.substitutes.items()
    ]
    if inside := pool.only_inside:
        notes.append(f"{_word_list(inside)}: only inside longer words")
    for word, paths in in_front_matter.items():
        names = some_of([shown_name(path) for path in paths], _MAX_NAMED)
        notes.append(f"{_word_list([word])}: only in the front matter of {names}")
    return notes


def _word_list(words: Sequence[str]) -> str:
    return ", ".join(f'"{word}"' for word in words)


def without_vectors(of_tools: Iterable[ToolCandidates], mode: SearchMode) -> list[str]:
    """A note for each tool whose vectors are on a server that could not be used for some query."""
    how = "left out" if mode == "vector" else "searched by words alone"
    troubles = {found.tool.name: found.trouble for found in of_tools if found.trouble}
    return [f"{name} was {how}: {trouble}" for name, trouble in troubles.items()]
