"""Ranks the candidates of all tools in one pool."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from mdvec.index import StoredChunk
from mdvec.search.candidates import ToolCandidates
from mdvec.search.core.fusion import FIRST, Evidence, Scored, SearchMode, evidence, fuse
from mdvec.search.core.lexical import Candidate, CorpusStatistics
from mdvec.text import (
    WORD_MARK,
    QuestionTerms,
    SubjectKind,
    folded,
    is_katakana,
    is_letters,
    is_list_of_links,
    shown_name,
)
from mdvec.text import terms as plain_terms
from mdvec.tools import Tool

MIN_SCORE = 0.005
"""Passages below this score are unrelated to the question and are left out."""

_LINKS_LOOKED_FOR = 20
"""How many of the best candidates are checked for being lists of links."""
_JUST_BEHIND = 1e-6


@dataclass(frozen=True, slots=True)
class RankedChunk:
    """A candidate with its score, and its rank by each retriever's score, from 1.

    ``likelihood`` estimates the probability that it answers. ``found_by`` are the queries that
    found it, if there are several; ``also_in`` are other chunks with the same text.
    """

    tool: Tool
    chunk: StoredChunk
    scored: Scored
    likelihood: float
    vector_rank: int
    lexical_rank: int
    found_by: tuple[str, ...] = ()
    also_in: tuple[RankedChunk, ...] = ()

    @property
    def document(self) -> tuple[int, int]:
        """The ids of the tool and the document."""
        return self.tool.id, self.chunk.document_id

    def place(self, last: RankedChunk | None = None) -> str:
        """The file and the lines, up to the end of another chunk (``last``) of the document."""
        end = self if last is None else last
        return f"{shown_name(self.chunk.file_path)}:{self.chunk.start_line}-{end.chunk.end_line}"


@dataclass(frozen=True, slots=True)
class Ranking:
    """The candidates, best first, and the evidence that one of them answers."""

    chunks: list[RankedChunk]
    evidence: Evidence

    @property
    def is_confident(self) -> bool:
        """Whether the first candidate is likely enough to answer."""
        return bool(self.chunks) and self.evidence.is_confident


@dataclass(frozen=True, slots=True)
class Pool:
    """The candidates of all tools; ``owners`` has the tool and chunk of each."""

    query: QuestionTerms
    statistics: CorpusStatistics
    candidates: Sequence[Candidate]
    owners: Sequence[tuple[ToolCandidates, StoredChunk]]

    unwritten: frozenset[str] = frozenset()
    in_front_matter: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def absent(self, *kinds: SubjectKind) -> tuple[str, ...]:
        """The subjects of these kinds that no text and no file's name has, as spelled."""
        spelled = _spellings_of(self.query.spellings(*kinds), self.unwritten)
        in_names = self._in_file_names() if spelled else frozenset()
        return tuple(word for word in spelled if folded(word) not in in_names)

    @property
    def substitutes(self) -> dict[str, list[str]]:
        """The words that were searched instead of absent names and nouns, as spelled."""
        spelled = self.query.spellings("name", "noun", "keyword")
        others: dict[str, list[str]] = {}
        for of_tool, _ in self.owners:
            for term in self.unwritten & of_tool.words_found.substituted.keys():
                words = [word.lstrip(WORD_MARK) for word in of_tool.words_found.substituted[term]]
                others[spelled[term]] = list(
                    dict.fromkeys([*others.get(spelled[term], []), *words])
                )
        return others

    @property
    def only_inside(self) -> tuple[str, ...]:
        """Names that the candidates have only inside longer words, as spelled in the question."""
        within = {term for of_tool, _ in self.owners for term in of_tool.words_found.within}
        with_term = {
            term: [candidate for candidate in self.candidates if self._may_have(term, candidate)]
            for term in within | self.query.asked_alone
        }
        return _spellings_of(
            self.query.spellings("name"),
            {
                term
                for term, candidates in with_term.items()
                if candidates and all(term in candidate.inside() for candidate in candidates)
            },
        )

    def _may_have(self, term: str, candidate: Candidate) -> bool:
        """Whether a passage has a term, or all of its pairs of characters."""
        pieces = [piece for piece, words in self.query.words_of.items() if words == {term}]
        return term in candidate.terms or (
            bool(pieces) and all(piece in candidate.terms for piece in pieces)
        )

    @property
    def only_in_front_matter(self) -> dict[str, Sequence[str]]:
        """By spelling, the documents that have a subject only in their front matter, as paths."""
        return {
            subject.joined or subject.spelling: self.in_front_matter[term]
            for term, subject in self.query.subjects.items()
            if term in self.in_front_matter
        }

    def _in_file_names(self) -> frozenset[str]:
        """The terms of the names in the question with which the path of a candidate ends.

        The index has paths without their endings (txt of photo.txt).
        """
        subjects = self.query.subjects.values()
        spelled = {subject.joined or subject.spelling for subject in subjects}
        names = {folded(name) for name in spelled if "." in name}
        paths = {folded(chunk.file_path) for _, chunk in self.owners} if names else ()
        there = (name for name in names if any(_ends_with(path, name) for path in paths))
        return frozenset(term for name in there for term in plain_terms(name))

    def _behind_text(self, scored: Sequence[Scored]) -> list[Scored]:
        """The scores, where lists of links get less than texts that have all words they match."""
        first = sorted(range(len(scored)), key=lambda at: -scored[at].score)[:_LINKS_LOOKED_FOR]
        lists = {at for at in first if is_list_of_links(self.owners[at][1].content)}
        behind = list(scored)
        for at in lists:
            matched = self.candidates[at].terms.keys()
            terms = {term for term in matched if term[0] == WORD_MARK or is_letters(term)}
            saying = [
                scored[other].score
                for other, candidate in enumerate(self.candidates)
                if other not in lists and terms and candidate.terms.keys() >= terms
            ]
            if saying and max(saying) <= scored[at].score:
                behind[at] = replace(scored[at], score=max(max(saying) - _JUST_BEHIND, 0.0))
        return behind

    def ranked(self, mode: SearchMode, least: float = MIN_SCORE) -> Ranking:
        """The candidates with at least this score, best first."""
        scored = self._behind_text(fuse(self.query, self.statistics, self.candidates, mode))
        order = sorted(range(len(scored)), key=lambda position: -scored[position].score)
        first_evidence = evidence(
            self.query,
            self.statistics,
            [(self.candidates[position], scored[position]) for position in order[:FIRST]],
            self.absent("name", "signed"),
        )
        if not self.query.all:  # only signs, so there is nothing to search for
            first_evidence = replace(first_evidence, coverage=0.0, likeness=None, named=0.0)
        elif mode == "vector" or not self.statistics.frequencies:
            first_evidence = replace(first_evidence, coverage=None)
        best = scored[order[0]].score if order else 0.0
        vector_ranks = _ranks(
            [-chunk.cosine if chunk.cosine is not None else 2 for _, chunk in self.owners]
        )
        lexical_ranks = _ranks([-fused.lexical for fused in scored])
        ranked = [
            RankedChunk(
                of.tool,
                chunk,
                fused,
                first_evidence.likelihood(best - fused.score),
                vector_rank,
                lexical_rank,
            )
            for (of, chunk), fused, vector_rank, lexical_rank in zip(
                self.owners, scored, vector_ranks, lexical_ranks, strict=True
            )
            if fused.score >= least
        ]
        return Ranking(sorted(ranked, key=lambda hit: -hit.scored.score), first_evidence)


def _ends_with(path: str, name: str) -> bool:
    """Whether a path ends with a name, which may be part of a Japanese one (夏の見積.txt)."""
    before = path.removesuffix(name)[-1:]
    continues_word = before.isalnum() and is_letters(before) and is_letters(name)
    return path.endswith(name) and not continues_word


def _spellings_of(words: Mapping[str, str], among: Collection[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(spelling for term, spelling in words.items() if term in among))


def pooled(tool_candidates: Sequence[ToolCandidates], query: QuestionTerms) -> Pool:
    """The pool of the candidates of all tools, with common idf statistics."""
    frequencies: Counter[str] = Counter()
    for of_tool in tool_candidates:
        frequencies.update(of_tool.statistics.frequencies)
    if all(not of_tool.query.words for of_tool in tool_candidates):
        query = query.without_words()
    query = replace(query, misspelt=_misspelt(tool_candidates, query))
    words_found = [of_tool.words_found for of_tool in tool_candidates]
    unwritten = _common([each.unwritten for each in words_found])
    if not any(each.as_letters for each in words_found):
        unwritten -= query.spellings("keyword").keys()  # the texts are in another language
    in_no_passage = _common([each.unwritten.union(each.in_front_matter) for each in words_found])
    return Pool(
        query,
        CorpusStatistics(
            sum(of_tool.statistics.chunks for of_tool in tool_candidates), frequencies
        ),
        [candidate for of_tool in tool_candidates for candidate in of_tool.candidates()],
        [(of_tool, chunk) for of_tool in tool_candidates for chunk in of_tool.chunks],
        unwritten,
        {
            term: paths
            for term in in_no_passage
            if (
                paths := [
                    path for each in words_found for path in each.in_front_matter.get(term, ())
                ]
            )
        },
    )


def _common(sets: Sequence[frozenset[str]]) -> frozenset[str]:
    return frozenset.intersection(*sets) if sets else frozenset()


def ranked_together(rankings: Mapping[str, Ranking], k: int) -> Ranking:
    """Merges the rankings of several queries; a chunk has its highest likelihood.

    Its ``found_by`` are the queries that have it among their first ``k`` chunks, or else the query
    that ranks it best.
    """
    if len(rankings) == 1:
        return next(iter(rankings.values()))
    best: dict[tuple[int, int], RankedChunk] = {}
    found_by: dict[tuple[int, int], list[str]] = {}
    for query, ranking in rankings.items():
        for rank, hit in enumerate(ranking.chunks):
            key = (hit.tool.id, hit.chunk.id)
            if rank < k:
                found_by.setdefault(key, []).append(query)
            if key not in best or _strength(best[key]) < _strength(hit):
                best[key] = replace(hit, found_by=(query,))
    chunks = [
        replace(hit, found_by=tuple(found_by.get(key, hit.found_by))) for key, hit in best.items()
    ]
    likeliest = max(rankings.values(), key=lambda ranking: ranking.evidence.likelihood(0.0))
    return Ranking(sorted(chunks, key=_strength, reverse=True), likeliest.evidence)


def _strength(hit: RankedChunk) -> tuple[float, float]:
    return hit.likelihood, hit.scored.score


def _misspelt(tool_candidates: Sequence[ToolCandidates], query: QuestionTerms) -> frozenset[str]:
    """The unknown words that no tool has, or only in a similar spelling.

    A word in letters without a similar spelling does not count: it may be of another language.
    """
    searched_by = {
        word: {
            term
            for of_tool in tool_candidates
            for term in of_tool.words_found.variants.get(word, ())
        }
        for word in query.unknown & query.words.keys()
    }
    return frozenset(
        word
        for word, terms in searched_by.items()
        if word not in terms and (terms or is_katakana(word.removeprefix(WORD_MARK)))
        # An English word that was found in katakana is there.
        if not (is_letters(word) and any(term[0] == WORD_MARK for term in terms))
    )


def _ranks(keys: Sequence[float]) -> list[int]:
    order = sorted(range(len(keys)), key=keys.__getitem__)
    ranks = [0] * len(keys)
    for rank, position in enumerate(order, 1):
        ranks[position] = rank
    return ranks
