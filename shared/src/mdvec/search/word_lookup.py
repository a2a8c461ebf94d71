"""Looks up a question's words: as written, in other spellings, and in the texts themselves."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, pairwise

from mdvec import index
from mdvec.search.core.fusion import ENGLISH_WORDS, is_foreign_prose
from mdvec.text import (
    QuestionTerms,
    SubjectKind,
    folded,
    in_other_kana,
    is_letters,
    morphemes,
    written_otherwise,
)
from mdvec.text import terms as plain_terms

MIN_CANDIDATES = 60
"""Candidates per retriever; more if more hits are requested."""
_MIN_PART = 3
"""The minimum length of a part of an identifier; shorter parts occur by chance in many words."""
_MAX_ABSENT = 6
"""How many absent words are looked for inside longer words and among the nearest spellings; a
pasted log has dozens, and each lookup reads the whole vocabulary."""
_MAX_LOOKED_FOR = 3
"""How many words that are not in the index are looked for in the texts themselves."""
_MAX_ENDING, _MIN_STEM = 3, 4


@dataclass(frozen=True, slots=True)
class WordsFound:
    """How the words of a question are found in the index.

    Attributes:
        variants: for each word the terms of the index to search for: itself, or other spellings.
        substituted: the words searched in place of absent words: the nearest spellings, or words of
            the same sound in katakana.
        within: the words in letters that the texts have only inside longer ones.
        unwritten: the names, nouns and keywords that no document has, by term.
        as_letters: the names and keywords of a query of keywords that the index has in letters,
            perhaps with another ending (migrations: migration).
        literal: by term, the chunks that have a name or noun in a place that the index leaves out
            (an address, a tag), or as two words (Wi-Fi), or a text with signs (15.3.1).
        in_front_matter: by term, the paths of the documents that have a name or noun, as typed,
            in their front matter, if no passage has it.
    """

    variants: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    substituted: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    within: frozenset[str] = frozenset()
    unwritten: frozenset[str] = frozenset()
    as_letters: frozenset[str] = frozenset()
    literal: Mapping[str, Sequence[int]] = field(default_factory=dict)
    in_front_matter: Mapping[str, Sequence[str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LexicalSearch:
    """The result of looking up a question's words, and the chunks to score.

    ``query`` has no words if the index is outdated; ``frequencies`` counts the chunks by term.
    """

    query: QuestionTerms
    words_found: WordsFound = WordsFound()
    frequencies: Mapping[str, int] = field(default_factory=dict)
    chunk_ids: Collection[int] = ()


def lexical_search(
    tables: index.Tables, query: QuestionTerms, limit: int, within: index.ChunkRanges | None
) -> LexicalSearch:
    """Look up the question's terms in the index; find at most ``limit`` chunks that have them."""
    if not index.has_usable_words(tables):
        query = query.without_words()
    return _Lookup(tables, query, within).search(limit)


@dataclass(frozen=True, slots=True)
class _Lookup:
    """Looks up the terms of a question in the index and in the texts of a tool.

    ``frequencies`` count the chunks that have each term of the question; ``of_index`` counts other
    spellings as well, but nothing outside the index.
    """

    tables: index.Tables
    query: QuestionTerms
    within: index.ChunkRanges | None

    def search(self, limit: int) -> LexicalSearch:
        """How the question's words are found, and the chunks: at most ``limit`` by the index."""
        query = self.query
        also = ENGLISH_WORDS if is_foreign_prose(query.letters) else ()
        frequencies = self._counts(dict.fromkeys([*query.all, *also]))
        signed = {
            term: self._chunks_with_sign(spelling)
            for term, spelling in query.spellings("signed").items()
        }
        written = {text: index.chunks_written(self.tables, text) for text in query.written}
        # The ids are None where there is too much text to read.
        with_text = {term: ids or () for term, ids in {**signed, **written}.items()}
        frequencies |= {term: len(ids) for term, ids in with_text.items()}
        found = self._words_found(frequencies)
        others = [term for terms in found.variants.values() for term in terms]
        of_index = frequencies | self._counts(term for term in others if term not in frequencies)
        chunk_ids = self._indexed_chunks(found, of_index, limit)
        for word, terms in found.variants.items():
            frequencies[word] = sum(of_index[term] for term in terms)
        for word, in_parts in found.literal.items():
            frequencies[word] += len(in_parts)
        looked_for = self._looked_for(found, frequencies, of_index)
        literal = self._literal(looked_for)
        for term, with_term in literal.items():
            frequencies[term] = frequencies.get(term, 0) + len(with_term)
        not_in_passages = [term for term, with_name in signed.items() if with_name == []]
        documents = looked_for | {
            term: index.documents_with(self.tables, query.subjects[term].spelling)
            for term in not_in_passages
        }
        return LexicalSearch(
            query,
            replace(
                found,
                unwritten=self._unwritten(documents, not_in_passages),
                in_front_matter=self._in_front_matter(documents, frequencies),
                literal={**found.literal, **literal, **with_text},
            ),
            frequencies,
            {
                *chunk_ids,
                *(chunk_id for ids in literal.values() for chunk_id in ids),
                *_first_within([*with_text.values(), *found.literal.values()], self.within),
            },
        )

    def _counts(self, terms: Iterable[str]) -> dict[str, int]:
        """The number of chunks that have each term, by the index."""
        return index.document_frequencies(self.tables, list(terms))

    def _indexed_chunks(
        self, found: WordsFound, of_index: Mapping[str, int], limit: int
    ) -> Collection[int]:
        """At most ``limit`` chunks that have terms of the question, or other spellings of words."""
        spelled = {**{term: (term,) for term in self.query.plain}, **found.variants}
        signed = self.query.spellings("signed")
        searched = {
            term: of_index[term]
            for terms in spelled.values()
            for term in terms
            if term not in signed
        }
        return index.matching_chunks(self.tables, searched, limit, self.within)

    def _chunks_with_sign(self, spelling: str) -> Sequence[int] | None:
        """The chunks that have a name with a sign, or a literal text; None if unknown."""
        chunks_having = (
            index.chunks_naming if _is_name_with_sign(spelling) else index.chunks_written
        )
        return chunks_having(self.tables, spelling)

    def _words_found(self, frequencies: Mapping[str, int]) -> WordsFound:
        """Finds the terms to search for each word, preferring exact ones.

        A word that occurs nowhere is looked for in another spelling of the same reading, then
        inside longer words in letters, and only then among the nearest spellings.
        """
        variants: dict[str, tuple[str, ...]] = {}
        substituted: dict[str, tuple[str, ...]] = {}
        within: set[str] = set()
        in_parts = self._in_parts(frequencies)
        before_numbers = {
            name
            for name, parts in self.query.numbered.items()
            if all(frequencies.get(part) for part in parts)
        }
        absent = 0
        for word, reading in self.query.words.items():
            otherwise = self._written_otherwise(word)
            terms: Sequence[str] = (word, *in_other_kana(word), *otherwise)
            if not (frequencies[word] or word in before_numbers or otherwise or word in in_parts):
                terms = index.other_spellings(self.tables, word, reading)
                if not terms:
                    absent += 1
                    if absent > _MAX_ABSENT:
                        continue
                    longer, nearest = self._longer_or_nearest(word, frequencies)
                    if longer:
                        within.add(word)
                    if nearest:
                        substituted[word] = tuple(nearest)
                    terms = longer or nearest
            if is_letters(word):
                katakana = index.in_katakana(self.tables, word)
                if katakana and not frequencies[word] and word not in in_parts:
                    # Sound alone is not enough: half of all words sound like another (cobol,
                    # ケーブル).
                    substituted[word] = (*substituted.get(word, ()), *katakana)
                terms = (*terms, *katakana)
            variants[word] = tuple(terms)
        return WordsFound(
            variants,
            substituted,
            frozenset(within),
            as_letters=self._as_letters(),
            literal=in_parts,
        )

    def _as_letters(self) -> frozenset[str]:
        """The names and keywords of a query of keywords whose stems the index has in letters."""
        stems = self._stems("name", "keyword") if self.query.spellings("keyword") else {}
        return frozenset(
            term for term, stem in stems.items() if index.has_beginning(self.tables, stem)
        )

    def _stems(self, *kinds: SubjectKind) -> dict[str, str]:
        """The words without what may be an ending (migrations: migrati)."""
        spellings = self.query.spellings(*kinds)
        return {
            term: folded(word)[: max(_MIN_STEM, len(word) - _MAX_ENDING)]
            for term, word in spellings.items()
        }

    def _written_otherwise(self, word: str) -> Sequence[str]:
        """The other ways to write a word, if the index has any of them."""
        otherwise = written_otherwise(word)
        return otherwise if otherwise and any(self._counts(otherwise).values()) else ()

    def _longer_or_nearest(
        self, word: str, frequencies: Mapping[str, int]
    ) -> tuple[Sequence[str], Sequence[str]]:
        """The longer words in letters that an absent word is in, or else its nearest spellings."""
        spelling = self.query.in_letters.get(word, "")
        if len(spelling) >= _MIN_PART and not frequencies.get(spelling):
            longer = index.words_containing(self.tables, spelling)
            if longer:
                return longer, ()
        if word not in self.query.unknown:
            return (), ()
        return (), index.nearest_words(self.tables, word)

    def _in_parts(self, frequencies: Mapping[str, int]) -> dict[str, Sequence[int]]:
        """The chunks that spell a name or an absent word as two words (wifi: Wi-Fi).

        A name with a number may also be separated from it (React 19, v19).
        """
        names = self.query.spellings("name")
        absent = [
            (word, spelling)
            for word, spelling in self.query.in_letters.items()
            if word in names or not frequencies[word]
        ]
        by_word = {
            word: index.chunks_in_parts(self.tables, spelling)
            for word, spelling in absent[:_MAX_ABSENT]
        } | {
            word: index.chunks_with_phrases(self.tables, _phrases_before_number(word))
            for word in [*self.query.numbered][:_MAX_ABSENT]
        }
        return {word: chunk_ids for word, chunk_ids in by_word.items() if chunk_ids}

    def _looked_for(
        self, found: WordsFound, frequencies: Mapping[str, int], of_index: Mapping[str, int]
    ) -> dict[str, list[int] | None]:
        """By term, the documents whose text has a name, noun or keyword that the index lacks."""
        spellings = self.query.spellings("name", "noun")
        # Thousands of terms may be of one long run of kanji.
        known = {one for one in {*spellings.values()} if of_index.get(folded(one))}
        absent = {
            term: spelling
            for term, spelling in spellings.items()
            if spelling not in known
            if term in found.substituted or not self._is_indexed(term, found, frequencies)
            if not self._is_part_of_date(term, frequencies)
        }
        absent |= {
            term: stem
            for term, stem in self._stems("keyword").items()
            if term in found.substituted or not frequencies.get(term)
            if term not in found.as_letters
        }
        documents = {
            spelling: index.documents_with(self.tables, spelling)
            for spelling in [*dict.fromkeys(absent.values())][:_MAX_LOOKED_FOR]
            if not self._is_spelled_otherwise(spelling, found)
        }
        return {term: documents[word] for term, word in absent.items() if word in documents}

    def _is_indexed(self, term: str, found: WordsFound, frequencies: Mapping[str, int]) -> bool:
        """Whether texts have a term, or may have it as the index cannot tell.

        A compound whose pairs of characters are all known needs them side by side (年末調整: 期間末
        and 調整年 are not enough), or its words with の between them; a name with dots or hyphens
        needs its parts side by side.
        """
        if is_letters(term):
            parts = plain_terms(term)
            return bool(frequencies.get(term)) or (len(parts) > 1 and self._has_phrase(parts))
        pairs = ["".join(pair) for pair in pairwise(term)]
        return all(map(frequencies.get, pairs)) and (
            self._has_phrase(pairs) or self._is_spelled_otherwise(term, found, between="の")
        )

    def _has_phrase(self, terms: Sequence[str]) -> bool:
        """Whether a chunk has the terms one after another."""
        phrase = f'"{" ".join(terms)}"'
        return bool(index.chunks_matching(self.tables, phrase, 1))

    def _is_part_of_date(self, term: str, frequencies: Mapping[str, int]) -> bool:
        """Whether a term belongs to a date, number or identifier that the index has."""
        dates = self.query.dates.items()
        return any(term in parts and frequencies.get(date) for date, parts in dates)

    def _is_spelled_otherwise(self, spelling: str, found: WordsFound, between: str = "") -> bool:
        """Whether the texts have a compound with another spelling of its words (サーバー室).

        ``between`` may be between two words.
        """
        words = [word.term for word in morphemes(spelling)]
        if len(words) < 2 or is_letters(spelling):
            return False
        known = {**found.variants, **{word: (word,) for word in found.substituted}}
        alternatives = [known.get(word) or (word,) for word in words]
        return index.has_compound(self.tables, alternatives, between)

    def _literal(self, looked_for: Mapping[str, Sequence[int] | None]) -> dict[str, Sequence[int]]:
        """By term, the chunks of those documents that have a name or noun; pairs find CJK."""
        spellings = self.query.spellings("name", "noun")
        return {
            term: index.chunks_with(self.tables, spellings[term], ids, MIN_CANDIDATES, self.within)
            for term, ids in looked_for.items()
            if term in spellings
            if ids and len(spellings[term]) >= _MIN_PART and is_letters(spellings[term])
        }

    def _unwritten(
        self, documents: Mapping[str, Sequence[int] | None], not_in_passages: Collection[str]
    ) -> frozenset[str]:
        """The subjects that no document has; a name with a sign has to be in a passage."""
        signed = self.query.spellings("signed")
        return frozenset(
            term
            for term, ids in documents.items()
            if ids == [] or (term in not_in_passages and _is_name_with_sign(signed[term]))
        )

    def _in_front_matter(
        self, documents: Mapping[str, Sequence[int] | None], frequencies: Mapping[str, int]
    ) -> dict[str, list[str]]:
        """By term, the paths of documents that have it, as typed, only in their front matter.

        ``documents`` has the ids of the documents with each term. No passage has a signed term of
        these (C++), nor a compound (計画999) of which a term is in no passage. Terms that are parts
        of days are not looked for.
        """
        subjects, signed = self.query.subjects, self.query.spellings("signed")
        of_days = {part for parts in self.query.dates.values() for part in parts} - signed.keys()
        having = {
            term: [] if term in signed else ids
            for term, ids in documents.items()
            if ids and term not in of_days
        }
        having |= {
            term: []
            for term, subject in subjects.items()
            if 0 in map(frequencies.get, plain_terms(folded(subject.joined)))
        }
        paths = {
            term: index.front_matter_with(
                self.tables, subjects[term].joined or subjects[term].spelling, ids
            )
            for term, ids in islice(having.items(), _MAX_LOOKED_FOR)
        }
        return {term: of_term for term, of_term in paths.items() if of_term}


def _is_name_with_sign(spelling: str) -> bool:
    return spelling.endswith(("+", "#"))


def _first_within(
    several: Iterable[Sequence[int] | None], within: index.ChunkRanges | None
) -> Iterator[int]:
    """The first chunks of each list that are among those to search."""
    allowed = None if within is None else set(within.ids().tolist())
    for ids in several:
        passing = (number for number in ids or () if allowed is None or number in allowed)
        yield from islice(passing, MIN_CANDIDATES)


def _phrases_before_number(word: str) -> list[tuple[str, str]]:
    """The name and number of a word, as in "RFC 2119", and the same with "v" before the number."""
    name = word.rstrip("0123456789")
    number = word.removeprefix(name)
    return [(name, number), (name, f"v{number}")]
