"""Finds a tool's candidates for a question, with the vector and the lexical retriever."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from typing import TYPE_CHECKING

import apsw

from mdvec import index
from mdvec.embedding import ModelConstants, default_constants
from mdvec.search.core.fusion import SearchMode, is_foreign_prose
from mdvec.search.core.lexical import Candidate, CorpusStatistics, NameMatch
from mdvec.search.word_lookup import MIN_CANDIDATES, LexicalSearch, WordsFound, lexical_search
from mdvec.text import (
    WORD_MARK,
    FieldCounts,
    Properties,
    QuestionTerms,
    TermCounter,
    chunk_fields,
    field_terms,
    folded,
    is_katakana,
    is_only_amid,
    is_word_of,
    searched_names,
    without_head,
)
from mdvec.timing import Stopwatch
from mdvec.tools import Tool

if TYPE_CHECKING:
    from mdvec.embedding import Vectors

_folded = lru_cache(maxsize=512)(folded)
"""Cached, as a passage's terms are counted as a whole and by sentence."""


@lru_cache(maxsize=4_096)
def _name_terms(name: str, *, has_words: bool) -> frozenset[str]:
    """The content terms of a title, alias or heading; cached, as many passages share one."""
    of_name = field_terms(name)
    terms = frozenset(of_name.words if has_words else of_name.plain)
    return (terms - of_name.fillers) or terms


class FieldReader:
    """Counts a question's terms in the fields of passages; ``properties`` are by document id.

    Plain terms are counted here; counts of words are stored.
    """

    def __init__(
        self,
        query: QuestionTerms,
        words_found: WordsFound,
        properties: Mapping[int, Properties],
    ) -> None:
        variants = words_found.variants
        self._properties = properties
        self._substituted = words_found.substituted.keys()
        self._within = {word: query.in_letters[word] for word in words_found.within}
        self._in_sentences = [term for term in query.all if term[0] != WORD_MARK]
        self._numbered = query.numbered
        self._spoken = frozenset(
            word
            for word, terms in variants.items()
            if word[0] != WORD_MARK and any(term[0] == WORD_MARK for term in terms)
            if not is_foreign_prose(query.letters)  # a text may have its words only in katakana
        )
        self._counter = TermCounter(query.plain)
        self._asked = {
            **{term: term for term in query.plain},
            **{term: word for word, terms in variants.items() for term in terms},
        }
        self._has_words = bool(query.words)
        self._spelled = query.spelled
        self._asked_alone = query.names.keys() & query.spelled.keys()
        self._pieces = {
            term: words
            for term, words in query.words_of.items()
            if words and words <= query.spelled.keys()
        }
        self._shared: dict[int, str] = {}
        # Many passages share a title, a path or a heading.
        self._counts_of = cache(self._counts_with_parts)
        self._counts_above = cache(self._counted_above)
        self._match_of = cache(self._name_match)

    def counts(
        self, chunk: index.StoredChunk, words: Mapping[str, FieldCounts]
    ) -> tuple[dict[str, FieldCounts], frozenset[str]]:
        """How often each term occurs in each field of a passage, given the counts of ``words``.

        Also the words in letters that the passage has only in katakana.
        """
        fields = chunk_fields(
            chunk.title,
            self._names_of(chunk),
            chunk.heading,
            chunk.content,
        )
        text = self._counter.counts(_folded(fields.text))
        counts = {term: (0, 0, 0, count) for term, count in text.items()}
        for term, above in self._counts_above(fields.title, fields.names, fields.heading).items():
            counts[term] = (*above, text.get(term, 0))
        spoken = self._spoken.intersection(words) - counts.keys()
        counts.update(words)
        for name in (
            self._numbered.keys() & counts.keys()
        ):  # a passage that has it also has its parts
            counts |= dict.fromkeys(self._numbered[name] - counts.keys(), counts[name])
        return counts, spoken

    def sentences(
        self, chunk: index.StoredChunk, counts: Mapping[str, FieldCounts]
    ) -> tuple[frozenset[str], ...]:
        """The counted terms, as spelled, of each sentence of a passage."""
        among = [term for term in self._in_sentences if term in counts and counts[term][-1]]
        if len(among) < 2:  # a single term is in some sentence
            return (frozenset(among),) if among else ()
        return tuple(self._counter.by_sentence(_folded(chunk.content), among))

    def inside(self, chunk: index.StoredChunk, counts: Mapping[str, FieldCounts]) -> frozenset[str]:
        """The counted terms that a passage has only inside other words, or as similar words."""
        unlike = frozenset(self._substituted & counts.keys())
        text = f"{chunk.title}\n{chunk.file_path}\n{chunk.heading}\n{chunk.content}"
        unlike |= {
            word
            for word, spelling in self._within.items()
            if word in counts and not has_part(text, spelling)
        }
        return unlike | self._inside_words(chunk, counts)

    def _inside_words(
        self, chunk: index.StoredChunk, counts: Mapping[str, FieldCounts]
    ) -> frozenset[str]:
        """Words that a passage has only as parts of others, and the counted terms in them."""
        pieces = self._pieces.keys() & counts.keys()
        lacking = {word for term in pieces for word in self._pieces[term] if word not in counts}
        if not (lacking or self._asked_alone):
            return frozenset()
        text = "\n".join((folded(chunk.title), folded(chunk.heading), _folded(chunk.content)))
        written = {word for word in lacking if self._spelled[word] in text}
        inside = {word for word in written if not is_word_of(self._spelled[word], text)}
        inside |= {
            word
            for word in self._asked_alone - inside
            if is_only_amid(self._spelled[word], text, sum(counts.get(word, ())))
        }
        # A part of an absent word is evidence (管理 of 管理者), except in katakana.
        absent = inside | {word for word in lacking - written if is_katakana(self._spelled[word])}
        return frozenset(term for term in pieces if self._pieces[term] <= absent) | inside

    def names(self, chunk: index.StoredChunk) -> tuple[NameMatch, ...]:
        """The question's terms in each of a passage's names: title, aliases, innermost heading."""
        innermost = without_head(chunk.heading).rpartition(" > ")[2]
        names = {chunk.title, innermost, *self._properties_of(chunk).aliases}
        return tuple(self._match_of(name) for name in names if name)

    def _names_of(self, chunk: index.StoredChunk) -> str:
        """The names that a passage shares with its document's others; cached."""
        if chunk.document_id not in self._shared:
            others = index.other_names(self._properties_of(chunk))
            names = searched_names(chunk.title, chunk.file_path, others)
            self._shared[chunk.document_id] = names
        return self._shared[chunk.document_id]

    def _properties_of(self, chunk: index.StoredChunk) -> Properties:
        return self._properties.get(chunk.document_id, index.NOT_DERIVED)

    def _counted_above(
        self, title: str, names: str, heading: str
    ) -> dict[str, tuple[int, int, int]]:
        """The counts in the fields above a text."""
        first, second, third = map(self._counts_of, (title, names, heading))
        return {
            term: (first.get(term, 0), second.get(term, 0), third.get(term, 0))
            for term in {**first, **second, **third}
        }

    def _counts_with_parts(self, short: str) -> dict[str, int]:
        return self._counter.counts(folded(short))

    def _name_match(self, name: str) -> NameMatch:
        terms = _name_terms(name, has_words=self._has_words)
        shared = terms.intersection(self._asked)
        share = len(shared) / len(terms) if terms else 0.0
        return NameMatch(frozenset(self._asked[term] for term in shared), share)


_BETWEEN_PARTS = re.compile(r"[_.:/-]+")


def has_part(text: str, spelling: str) -> bool:
    """Whether a text has a word in letters or digits by itself, or as a part of an identifier.

    Parts are separated by a change of case, "_", a sign, or between letters and digits: IdleConns
    is a part of maxIdleConnsPerHost and MAX_IDLE_CONNS, while corn is not a part of corner.
    """
    return any(
        _begins(text, match.start()) and _ends(text, match.end())
        for match in _pattern(spelling).finditer(text)
    )


@lru_cache(maxsize=256)
def _pattern(spelling: str) -> re.Pattern[str]:
    """The letters of a spelling, with or without signs between them."""
    letters = _BETWEEN_PARTS.sub("", spelling)
    return re.compile("[_.:/-]{0,2}".join(map(re.escape, letters)), re.IGNORECASE)


def _is_word(sign: str) -> bool:
    return sign.isascii() and sign.isalnum()


def _begins(text: str, start: int) -> bool:
    if start == 0 or not _is_word(text[start - 1]):
        return True
    before, first = text[start - 1], text[start]
    if before.isdigit() != first.isdigit():
        return True
    after = text[start + 1 : start + 2]
    # The last capital of a run begins the next word: XMLHttp.
    return first.isupper() and (before.islower() or (before.isupper() and after.islower()))


def _ends(text: str, end: int) -> bool:
    return end == len(text) or not _is_word(text[end]) or _begins(text, end)


MAX_ALL_CANDIDATES = 160
"""If filters leave at most this many chunks, all of them are candidates."""
MAX_COMPARED_EXACTLY = 2_048
"""If filters leave at most this many chunks, all their vectors are compared exactly."""


class _Once:
    """Evaluates a function once, when it is first needed; few of a hundred candidates need it."""

    __slots__ = ("_look", "_seen")

    def __init__(self, look: Callable[[], frozenset[str]]) -> None:
        self._look = look
        self._seen: frozenset[str] | None = None

    def __call__(self) -> frozenset[str]:
        if self._seen is None:
            self._seen = self._look()
        return self._seen


@dataclass(frozen=True, slots=True)
class ToolCandidates:
    """A tool's candidates for a question, in the order of their ids, with the data for scoring.

    The ``query`` has no words if the tool's word index is outdated. ``words`` counts each word in
    each field, by chunk id; ``properties`` are by document id. ``searched`` is the number of chunks
    that passed the filters. ``trouble`` says why the vector retriever could not be used, if so.
    """

    tool: Tool
    query: QuestionTerms
    words_found: WordsFound
    chunks: tuple[index.StoredChunk, ...]
    words: Mapping[int, Mapping[str, FieldCounts]]
    statistics: CorpusStatistics
    properties: Mapping[int, Properties]
    searched: int
    constants: ModelConstants
    trouble: str | None = None

    def candidates(self) -> list[Candidate]:
        """The chunks as input for the fusion."""
        read = FieldReader(self.query, self.words_found, self.properties)
        return [
            self._candidate(read, chunk, *read.counts(chunk, self.words.get(chunk.id, {})))
            for chunk in self.chunks
        ]

    def _candidate(
        self,
        read: FieldReader,
        chunk: index.StoredChunk,
        counts: dict[str, FieldCounts],
        spoken: frozenset[str],
    ) -> Candidate:
        return Candidate(
            counts,
            len(chunk.title) + len(chunk.heading) + len(chunk.content),
            chunk.cosine,
            str(self.tool.fingerprint),
            self.constants.vector_trust,
            read.names(chunk),
            (self.tool.id, chunk.document_id),
            self.constants.likeness(chunk.cosine),
            read.sentences(chunk, counts),
            _Once(partial(read.inside, chunk, counts)),
            spoken,
        )


def find_candidates(
    connection: apsw.Connection,
    tool: Tool,
    query: QuestionTerms,
    vector: Vectors | None,
    k: int,
    mode: SearchMode,
    stopwatch: Stopwatch,
    within: index.ChunkRanges | None = None,
    engine: index.ChromaServer | None = None,
) -> ToolCandidates:
    """Run both retrievers over one tool, for ``k`` hits, in the transaction that read the tool.

    The lexical retriever is skipped in mode ``vector``, the other one without ``vector`` (the
    question's embedding). Only the chunks ``within`` are searched, or all for None; ``engine`` is
    the server that indexes the vectors of tools whose index is not in the file.
    """
    tables = tool.tables
    limit = max(MIN_CANDIDATES, k)
    few = within is not None and within.size <= MAX_ALL_CANDIDATES
    ids: set[int] = set(within.ids().tolist()) if within is not None and few else set()
    lexical = LexicalSearch(query)
    trouble = None
    if vector is not None and not few:
        with stopwatch.stage("vector_search"):
            try:
                ids.update(
                    nearest_chunks(connection, tables, vector, limit, within=within, engine=engine)
                )
            except index.EngineUnavailable as error:
                trouble = str(error)
    if mode != "vector":
        with stopwatch.stage("lexical_search"):
            lexical = lexical_search(connection, tables, query, 0 if few else limit, within)
            ids.update(lexical.chunk_ids)
    with stopwatch.stage("read_candidates"):
        chunks = index.stored_chunks(connection, tables, sorted(ids), vector)
        if mode == "vector" and vector is not None:  # some chunks may not have vectors yet
            chunks = [chunk for chunk in chunks if chunk.cosine is not None]
        words: dict[int, dict[str, FieldCounts]] = {}
        if lexical.words_found.variants:
            words = index.word_counts(connection, tables, ids, lexical.words_found.variants)
        for term, with_term in lexical.words_found.literal.items():
            for chunk_id in with_term:
                words.setdefault(chunk_id, {}).setdefault(term, (0, 0, 0, 1))
        total = index.chunk_count(connection, tables)
    if not total:
        lexical = LexicalSearch(query)
    return ToolCandidates(
        tool, lexical.query, lexical.words_found, tuple(chunks), words,
        CorpusStatistics(total, lexical.frequencies),
        index.stored_properties(connection, tables, {chunk.document_id for chunk in chunks}),
        total if within is None else within.size,
        index.calibrated_constants(connection, str(tool.fingerprint))
        or default_constants(tool.model),
        trouble,
    )  # fmt: skip


def nearest_chunks(
    connection: apsw.Connection,
    tables: index.Tables,
    vector: Vectors,
    limit: int,
    *,
    within: index.ChunkRanges | None = None,
    engine: index.ChromaServer | None = None,
) -> list[int]:
    """The ids of the chunks nearest to a vector, preselected by the tool's vector index.

    With ``within``, only those chunks are compared; if they are few, all of them exactly.

    Raises:
        EngineUnavailable: the index is on another server, which cannot be used now.
    """
    if within is not None and within.size <= MAX_COMPARED_EXACTLY:
        nearest = index.nearest_among(connection, tables, vector, limit, within.ids().tolist())
    elif known := index.collection_of(connection, tables):
        nearest = index.nearest_in_collection(
            connection, tables, known, engine, vector, limit, within
        )
    else:
        nearest = index.nearest_by_signatures(connection, tables, vector, limit, within)
    return [near.id for near in nearest]
