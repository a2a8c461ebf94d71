"""Looks up a question's words: as written, in other spellings, and in the texts themselves."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, pairwise

import apsw

from mdvec import index
from mdvec.search.core.fusion import ENGLISH_WORDS, is_foreign_prose
from mdvec.text import (
    QuestionTerms,
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
"""The least characters of a part of an identifier: fewer occur in too many words by chance."""
_MAX_ABSENT = 6
"""How many absent words are looked for inside longer ones and among the nearest spellings; a pasted
log has dozens, and each lookup reads the whole vocabulary."""
_MAX_LOOKED_FOR = 3
"""How many words that are not in the index are looked for in the texts themselves."""


@dataclass(frozen=True, slots=True)
class WordsFound:
    """How the words of a question are found in the index.

    Attributes:
        variants: for each word the terms of the index to search for: itself, or other spellings.
        substituted: absent words that are searched by the nearest spellings, or by their sound in
            katakana, with these.
        within: the words in letters that the texts have only inside longer ones.
        unwritten: the names and nouns that no document has, by term.
        literal: by term, the chunks that have a name or noun in a place that the index leaves out
            (an address, a tag), or as two words (Wi-Fi).
        in_front_matter: by term, the paths of the documents that have a name or noun, as typed,
            in their front matter, if no passage has it.
    """

    variants: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    substituted: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    within: frozenset[str] = frozenset()
    unwritten: frozenset[str] = frozenset()
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
    connection: apsw.Connection,
    tables: index.Tables,
    query: QuestionTerms,
    limit: int,
    within: index.ChunkRanges | None,
) -> LexicalSearch:
    """Look up the question's terms in the index; find at most ``limit`` chunks that have them."""
    if not index.has_usable_words(connection, tables):
        query = query.without_words()
    also = ENGLISH_WORDS if is_foreign_prose(query.letters) else ()
    wanted = list(dict.fromkeys([*query.all, *also]))
    frequencies = index.document_frequencies(connection, tables, wanted)
    signed = {
        term: _chunks_with_sign(connection, tables, spelling)
        for term, spelling in query.signed.items()
    }
    frequencies |= {term: len(with_name or ()) for term, with_name in signed.items()}
    words_found = _words_found(connection, tables, query, frequencies)
    spelled_names = {**query.names, **query.nouns}
    variants = words_found.variants
    others = [term for terms in variants.values() for term in terms if term not in frequencies]
    of_index = frequencies | index.document_frequencies(connection, tables, others)
    spelled = {**{term: (term,) for term in query.plain}, **variants}
    searched = {
        term: of_index[term]
        for terms in spelled.values()
        for term in terms
        if term not in query.signed
    }
    chunk_ids = index.matching_chunks(connection, tables, searched, limit, within)
    for word, terms in variants.items():
        frequencies[word] = sum(of_index[term] for term in terms)
    for word, in_parts in words_found.literal.items():
        frequencies[word] += len(in_parts)
    looked_for = _looked_for(connection, tables, query, words_found, frequencies, of_index)
    not_in_passages = {term for term, chunk_ids in signed.items() if chunk_ids == []}
    documents = looked_for | {
        term: index.documents_with(connection, tables, spelling)
        if term in not_in_passages
        else None
        for term, spelling in query.signed.items()
    }
    unwritten = frozenset(
        term
        for term, having in documents.items()
        if having == [] or (term in not_in_passages and _is_name_with_sign(query.signed[term]))
    )
    literal = {
        term: index.chunks_with(
            connection, tables, spelled_names[term], having, MIN_CANDIDATES, within
        )
        for term, having in looked_for.items()
        if having and len(spelled_names[term]) >= _MIN_PART
        if is_letters(spelled_names[term])  # pairs find the rest
    }
    for term, with_term in literal.items():
        frequencies[term] = frequencies.get(term, 0) + len(with_term)
    return LexicalSearch(
        query,
        replace(
            words_found,
            unwritten=unwritten,
            in_front_matter=_in_front_matter(connection, tables, query, documents, frequencies),
            literal={**words_found.literal, **literal},
        ),
        frequencies,
        {
            *chunk_ids,
            *(chunk_id for ids in literal.values() for chunk_id in ids),
            *_first_within([*signed.values(), *words_found.literal.values()], within),
        },
    )


def _chunks_with_sign(
    connection: apsw.Connection, tables: index.Tables, spelling: str
) -> Sequence[int] | None:
    """The chunks that have a name with a sign, or a literal text; None if unknown."""
    chunks_having = index.chunks_naming if _is_name_with_sign(spelling) else index.chunks_written
    return chunks_having(connection, tables, spelling)


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


def _words_found(
    connection: apsw.Connection,
    tables: index.Tables,
    query: QuestionTerms,
    frequencies: Mapping[str, int],
) -> WordsFound:
    """Finds the terms to search for each word, preferring exact ones.

    A word that occurs nowhere is looked for inside longer words in letters, then in another
    spelling of the same reading, and only then among the nearest spellings.
    """
    variants: dict[str, tuple[str, ...]] = {}
    substituted: dict[str, tuple[str, ...]] = {}
    within: set[str] = set()
    in_parts = _in_parts(connection, tables, query, frequencies)
    before_numbers = {
        name
        for name, parts in query.numbered.items()
        if all(frequencies.get(part) for part in parts)
    }
    absent = 0
    for word, reading in query.words.items():
        spelling = query.in_letters.get(word, "")
        otherwise = written_otherwise(word)
        if otherwise and not any(
            index.document_frequencies(connection, tables, otherwise).values()
        ):
            otherwise = ()
        terms: Sequence[str] = (word, *in_other_kana(word), *otherwise)
        if not (frequencies[word] or word in before_numbers or otherwise or word in in_parts):
            terms = index.other_spellings(connection, tables, word, reading)
            absent += not terms
            if not terms and absent > _MAX_ABSENT:
                continue
            if not terms and len(spelling) >= _MIN_PART and not frequencies.get(spelling):
                terms = index.words_containing(connection, tables, spelling)
                within.update([word] if terms else [])
            if not terms and word in query.unknown:
                terms = index.nearest_words(connection, tables, word)
                substituted |= {word: tuple(terms)} if terms else {}
        if is_letters(word):
            katakana = index.in_katakana(connection, tables, word)
            if katakana and not frequencies[word] and word not in in_parts:
                # Sound alone is not enough: half of all words sound like another (cobol, ケーブル).
                substituted[word] = (*substituted.get(word, ()), *katakana)
            terms = (*terms, *katakana)
        variants[word] = tuple(terms)
    return WordsFound(variants, substituted, frozenset(within), literal=in_parts)


def _in_parts(
    connection: apsw.Connection,
    tables: index.Tables,
    query: QuestionTerms,
    frequencies: Mapping[str, int],
) -> dict[str, Sequence[int]]:
    """The chunks that spell a name or an absent word as two words (wifi: Wi-Fi).

    A name with a number may also be separated from it (React 19, v19).
    """
    absent = [
        (word, spelling)
        for word, spelling in query.in_letters.items()
        if word in query.names or not frequencies[word]
    ]
    by_word = {
        word: index.chunks_in_parts(connection, tables, spelling)
        for word, spelling in absent[:_MAX_ABSENT]
    } | {
        word: index.chunks_with_phrases(connection, tables, _phrases_before_number(word))
        for word in [*query.numbered][:_MAX_ABSENT]
    }
    return {word: chunk_ids for word, chunk_ids in by_word.items() if chunk_ids}


def _phrases_before_number(word: str) -> list[tuple[str, str]]:
    """The phrases with a name separated from its number."""
    name = word.rstrip("0123456789")
    number = word.removeprefix(name)
    return [(name, number), (name, f"v{number}")]


def _looked_for(
    connection: apsw.Connection,
    tables: index.Tables,
    query: QuestionTerms,
    words_found: WordsFound,
    frequencies: Mapping[str, int],
    of_index: Mapping[str, int],
) -> dict[str, list[int] | None]:
    """By term, the documents whose text has a name or noun that the index lacks."""
    absent = [
        (term, spelling)
        for term, spelling in {**query.names, **query.nouns}.items()
        if term in words_found.substituted or not _is_indexed(term, frequencies)
        if not of_index.get(folded(spelling))
        if not any(term in parts and frequencies.get(date) for date, parts in query.dates.items())
    ]
    spellings = [*dict.fromkeys(spelling for _, spelling in absent)][:_MAX_LOOKED_FOR]
    otherwise = {
        written
        for written in spellings
        if _is_spelled_otherwise(connection, tables, written, words_found)
    }
    documents = {
        spelling: index.documents_with(connection, tables, spelling)
        for spelling in spellings
        if spelling not in otherwise
    }
    return {term: documents[spelling] for term, spelling in absent if spelling in documents}


def _in_front_matter(
    connection: apsw.Connection,
    tables: index.Tables,
    query: QuestionTerms,
    documents: Mapping[str, Sequence[int] | None],
    frequencies: Mapping[str, int],
) -> dict[str, list[str]]:
    """By term, the paths of the documents that have it, as typed, only in their front matter.

    ``documents`` are those that have a term, by term; no passage has a signed one of them, nor a
    word with letters or digits joined to it (計画999) of which one term is in no passage. The parts
    of days are not looked for.
    """
    spelled = {**query.signed, **query.names, **query.nouns, **query.joined}
    of_days = {part for parts in query.dates.values() for part in parts} - query.signed.keys()
    having = {
        term: [] if term in query.signed else ids
        for term, ids in documents.items()
        if ids and term not in of_days
    }
    having |= {
        term: []
        for term, word in query.joined.items()
        if 0 in map(frequencies.get, plain_terms(folded(word)))
    }
    paths = {
        term: index.front_matter_with(connection, tables, spelled[term], ids)
        for term, ids in islice(having.items(), _MAX_LOOKED_FOR)
    }
    return {term: of_term for term, of_term in paths.items() if of_term}


def _is_spelled_otherwise(
    connection: apsw.Connection, tables: index.Tables, spelling: str, words_found: WordsFound
) -> bool:
    """Whether the texts have a compound with another spelling of its words (サーバー室)."""
    words = [word.term for word in morphemes(spelling)]
    if len(words) < 2 or is_letters(spelling):
        return False
    known = {**words_found.variants, **{word: (word,) for word in words_found.substituted}}
    alternatives = [known.get(word) or (word,) for word in words]
    return index.has_compound(connection, tables, alternatives)


def _is_indexed(term: str, frequencies: Mapping[str, int]) -> bool:
    """Whether texts may have a term: several words need all pairs of their characters."""
    if is_letters(term):
        return bool(frequencies.get(term))
    return all(frequencies.get("".join(pair)) for pair in pairwise(term))
