"""Extracts a question's search terms: its content words, without words that only ask."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import groupby, pairwise
from typing import Literal

from mdvec.text.breaks import marks
from mdvec.text.fields import named_dates
from mdvec.text.folding import folded, without_invisible
from mdvec.text.function_words import words_in_context
from mdvec.text.index_terms import MIN_DIGITS, is_letters, joined_words, placed_terms
from mdvec.text.literal_texts import (
    Placed,
    names_with_sign,
    texts_with_signs,
    whole_names,
    without_days,
)
from mdvec.text.morphology import WORD_MARK, Morpheme, Role

_JAPANESE = re.compile("[\u3041-\u30ff\u3400-\u9fff]")
_IDENTIFIER = re.compile(r"[a-z][A-Z]|[A-Za-z]_[A-Za-z]|[A-Za-z]\d")
_DIGIT = re.compile(r"\d")
_LETTERS = re.compile(r"^[A-Za-z_]\w{2,}$", re.ASCII)
"""A word of three letters or more; shorter words are rarely names."""
_PROSE = re.compile(r"[A-Za-z]+")
_IN_LOWER = re.compile(r"(?<!\S)[a-z]+\b", re.ASCII)
_AFTER_SPACE = re.compile(r"(?:^|\s)[^\w\s]*(\w+)")
_AFTER_NAME = re.compile(
    r"(?<![A-Za-z])[A-Z]{2,} ?(\d{3,})(?!\w)|[A-Za-z] (?!(?:19|20)\d\d\b)(\d{4,})(?!\w)", re.ASCII
)
_NUMBERED = re.compile(r"([a-z]{2,})(\d+)")
_HIRAGANA = re.compile("[\u3041-\u3096]+")
_JOINED = re.compile(r"(?:[-._@+]?[A-Za-z0-9]+)*")
_COMPOUND = re.compile("[\u30a1-\u30fa\u30fc\u3005-\u3007\u3400-\u9fff]+")
_QUESTION = re.compile(r"[?？]|か\W*$")
"""A question mark in a sentence, or か at its end."""
_NO_WHOLE = re.compile(r"[\d,]+0,?000|(?:19|20)\d\d\D(?:19|20)?\d\d")
"""Texts with other spellings: amounts (1,000,000: 100万), ranges of years (2018-19)."""


SubjectKind = Literal["name", "noun", "signed", "keyword"]


@dataclass(frozen=True, slots=True)
class Subject:
    """Something that a question is about.

    Attributes:
        kind: a ``name`` is in letters (useState, Redux), a whole number or identifier
            (0120-333-906, KX-9900), or the word of a question of a single word. ``signed`` are
            names that end in a sign (C++), and literal texts (15.3.1). A ``keyword`` is in letters,
            in a question without Japanese, function words and words that ask (terraform state); it
            only matters if no text has it. A ``noun`` is any other subject.
        spelling: as in the question; for a noun, the whole compound that it belongs to.
        joined: the spelling with the letters or digits joined to it (計画999 for 計画, example.com
            for com); "" if there are none.
    """

    kind: SubjectKind
    spelling: str
    joined: str = ""


@dataclass(frozen=True, slots=True)
class QuestionTerms:
    """A question's distinct terms, in order.

    Attributes:
        plain: pairs of characters, and words as spelled.
        words: words in normalised form, with their readings.
        content: the term and the spelling of each content word, in order.
        unknown: the words that the dictionary does not have.
        subjects: by term, what the question is about.
        words_of: for each plain term, the words that it overlaps.
        dates: for each date, number or identifier with hyphens, or signed subject, the terms it
            consists of.
        numbered: for each name that ends in its number (React19), its two parts as terms, except
            those that the question also has separately.
        written: texts with signs in them (file.name), which count in addition to their parts.
        edges: plain terms that extend from a content word into the filler.
        letters: the words between spaces, including fillers, if all are in letters.
        background: terms that occur only in sentences that do not ask, if other sentences do.
        misspelt: words that a search found only by the nearest spelling, or, in katakana, not at
            all.
    """

    plain: tuple[str, ...]
    words: Mapping[str, str] = field(default_factory=dict)
    content: tuple[tuple[str, str], ...] = ()
    unknown: frozenset[str] = frozenset()
    subjects: Mapping[str, Subject] = field(default_factory=dict)
    words_of: Mapping[str, frozenset[str]] = field(default_factory=dict)
    dates: Mapping[str, frozenset[str]] = field(default_factory=dict)
    numbered: Mapping[str, frozenset[str]] = field(default_factory=dict)
    written: tuple[str, ...] = ()
    edges: frozenset[str] = frozenset()
    letters: tuple[str, ...] = ()
    background: frozenset[str] = frozenset()
    misspelt: frozenset[str] = frozenset()

    @property
    def all(self) -> list[str]:
        """Every term once."""
        return list(dict.fromkeys([*self.plain, *self.words, *self.written]))

    @property
    def in_cjk(self) -> dict[str, str]:
        """The spelling of each word in CJK that the dictionary has."""
        known = (word for word in self.content if word[0] not in self.unknown)
        return {term: spelling for term, spelling in known if not is_letters(spelling)}

    @property
    def in_letters(self) -> dict[str, str]:
        """The spelling of each word in letters, for which the term may have katakana."""
        return {term: spelling for term, spelling in self.content if is_letters(spelling)}

    @property
    def asked_alone(self) -> frozenset[str]:
        """The words in CJK of a question that consists of a single word, such as a name."""
        return frozenset(self.spellings("name").keys() & self.in_cjk.keys())

    def spellings(self, *kinds: SubjectKind) -> dict[str, str]:
        """The spellings of the subjects of these kinds, by term, in the order of the kinds."""
        return {
            term: subject.spelling
            for kind in kinds
            for term, subject in self.subjects.items()
            if subject.kind == kind
        }

    def without_words(self) -> QuestionTerms:
        """The same question for an index that has no words, only plain terms."""
        return QuestionTerms(
            self.plain, written=self.written, edges=self.edges, letters=self.letters
        )


@lru_cache(maxsize=64)
def analyse_question(question: str) -> QuestionTerms:
    """A question's terms, without particles, auxiliaries and words that only ask.

    Pairs inside words that only ask (教えて, 使い方, how) are left out, too; pairs that extend into
    such words are ``edges``. If nothing would be left, these words are kept.
    """
    question = without_invisible(question)
    text = folded(question)
    tokens, placed = words_in_context(question), placed_terms(text)
    if not tokens:
        return QuestionTerms(tuple(dict.fromkeys(term for term, _, _ in placed)))
    signed, joined = names_with_sign(text), without_days(text, joined_words(text))
    content, plain, edges = _content(tokens, placed)
    words = {word.term: word.reading for word in content if word.role is not Role.GRAMMAR}
    dates = _dates(text, [*joined, *signed], [*placed, *map(_place_word, tokens)])
    numbered = _names_with_number(words)
    parts = [part for of_name in numbered.values() for part in sorted(of_name)]
    as_typed = question if len(question) == len(text) else text
    background = _background(as_typed, tokens, [*plain, *map(_place_word, content)])
    tokens = _without_manner(as_typed, tokens)
    starts = {word.start for word in tokens}
    foreground = [word for word in content if word.term not in background and word.start in starts]
    subjects = {term: Subject("signed", as_typed[start:end]) for term, start, end in signed}
    of_signed = {part for term in subjects for part in dates[term]}
    written = texts_with_signs(text, [*joined, *signed])
    named = _names_and_nouns(as_typed, foreground, joined, tokens, of_signed)
    whole = _whole_names(as_typed, text, [*joined, *signed], tokens)
    return QuestionTerms(
        tuple(dict.fromkeys([*subjects, *(term for term, _, _ in plain), *parts])),
        {
            **words,
            **{date: "" for date in dates if date not in subjects},
            **{part: part for part in parts},
        },
        tuple((word.term, text[word.start : word.end]) for word in content),
        frozenset(word.term for word in content if not word.is_known),
        subjects | named | whole,
        _words_of(plain, content),
        dates,
        numbered,
        written,
        edges,
        _letters(text, placed),
        background,
    )


def _content(
    tokens: Sequence[Morpheme], placed: Sequence[Placed]
) -> tuple[Sequence[Morpheme], Sequence[Placed], frozenset[str]]:
    """The content words, the plain terms that overlap them, and those that extend beyond them.

    They are all words and terms if none would be left.
    """
    content = [word for word in tokens if word.role is Role.CONTENT]
    content = content or [word for word in tokens if word.role is not Role.GRAMMAR]
    inside = {position for word in content for position in range(word.start, word.end)}
    plain = [term for term in placed if not inside.isdisjoint(range(*term[1:]))]
    if not plain:
        return tokens, placed, frozenset()
    edges = frozenset(term for term, *span in plain if not inside.issuperset(range(*span)))
    return content, plain, edges


def _with_joined(question: str, word: str) -> str:
    """A word of the question with the letters or digits joined to it; "" if there are none."""
    before, found, after = question.partition(word)
    first, last = _JOINED.match(before[::-1]), _JOINED.match(after)
    if found and first and last and (first[0] or last[0]):
        return f"{first[0][::-1]}{word}{last[0]}"
    return ""


def _without_manner(question: str, tokens: Sequence[Morpheme]) -> list[Morpheme]:
    """The words without suffixes in hiragana, which do not change the meaning (お客さん, 社員ごと).

    A suffix in kanji may change it: 田中家 and 中村屋 are other names than 田中 and 中村.
    """
    return [
        word
        for word in tokens
        if not (word.is_suffix and _HIRAGANA.fullmatch(question, word.start, word.end))
    ]


def _place_word(word: Morpheme) -> Placed:
    return word.term, word.start, word.end


def _background(text: str, tokens: Sequence[Morpheme], terms: Sequence[Placed]) -> frozenset[str]:
    """The terms that occur in no sentence that asks; empty if such sentences have no content."""
    ends = [end for kind, end, _ in marks(text, 0, len(text)) if kind != "unbreakable"]
    asking = [
        range(start, end)
        for start, end in pairwise([0, *ends, len(text)])
        if _QUESTION.search(text[start:end])
        or any(word.role is Role.ASKING for word in tokens if start <= word.start < end)
    ]
    asked_for = {term for term, start, _ in terms if any(start in sentence for sentence in asking)}
    has_content = any(word.role is Role.CONTENT and word.term in asked_for for word in tokens)
    return frozenset(term for term, _, _ in terms) - asked_for if has_content else frozenset()


def _whole_names(
    question: str, text: str, known: Sequence[Placed], tokens: Sequence[Morpheme]
) -> dict[str, Subject]:
    """The names with dots or hyphens, by folded spelling.

    They are names where words in letters are, in Japanese or as the whole question. Elsewhere only
    those with dots count, or all among keywords: in English prose hyphens join words.
    """
    is_japanese = bool(_JAPANESE.search(question))
    is_prose = any(word.role not in {Role.CONTENT, Role.GRAMMAR} for word in tokens)
    names = {}
    for name, start, end in whole_names(text, known):
        is_name = is_japanese or name == text.strip()
        if is_name or not is_prose or "." in name:
            names[name] = Subject("name" if is_name else "noun", question[start:end])
    return names


def _dates(
    text: str, joined: Sequence[Placed], placed: Sequence[Placed]
) -> dict[str, frozenset[str]]:
    """The days, months and joined words, each with the terms that it consists of."""
    days = [(WORD_MARK + day.digits, day.start, day.end) for day in named_dates(text)]
    return {
        word: frozenset(term for term, start, end in placed if first <= start and end <= last)
        for word, first, last in (*days, *joined)
    }


def _names_and_nouns(
    question: str,
    foreground: Sequence[Morpheme],
    joined: Sequence[Placed],
    tokens: Sequence[Morpheme],
    of_signed: Collection[str],
) -> dict[str, Subject]:
    """The names, without parts of signed names, and the other nouns that a question is about.

    A question of a single word is about that word. Joined words and a person's two names are names
    as a whole, without their parts.
    """
    compounds = _compounds(question, tokens)
    within = {position for _, start, end in joined for position in range(start, end)}
    alone = [word for word in foreground if word.start not in within]
    names, nouns = _named(question, alone, joined), _nouns(question, alone, tokens, compounds)
    if alone and not joined and alone[0].role is Role.CONTENT:
        whole = question[alone[0].start : _whole_end(alone[-1], tokens)]
        if len({word.term for word in alone}) == 1:
            names |= {word.term: question[word.start : word.end] for word in alone}
        elif whole in _with_suffix(question, alone, tokens):
            names[whole] = whole
        elif _COMPOUND.fullmatch(whole):
            nouns[whole] = whole
    subjects = {
        term: Subject("name", name, _with_joined(question, name))
        for term, name in names.items()
        if term not in of_signed
    }
    for term, noun in sorted(nouns.items(), key=lambda named: question.find(named[1])):
        if term not in names and len(noun) > 1 and not is_letters(noun):
            spelling = compounds.get(term, noun)
            subjects[term] = Subject("noun", spelling, _with_joined(question, spelling))
    return _keywords(question, alone, tokens) | subjects


def _keywords(
    question: str, alone: Sequence[Morpheme], tokens: Sequence[Morpheme]
) -> dict[str, Subject]:
    """The words in letters of a question of such words, all of them with content, and numbers."""
    spelled = {
        word.term: question[word.start : word.end] if word.role is Role.CONTENT else ""
        for word in tokens
        if word.role is not Role.GRAMMAR
    }
    in_letters = {term: word for term, word in spelled.items() if not _DIGIT.search(word)}
    if _JAPANESE.search(question) or not all(map(_LETTERS.match, in_letters.values())):
        return {}
    terms_alone = (word.term for word in alone if word.term in in_letters)
    return {term: Subject("keyword", in_letters[term]) for term in terms_alone}


def _named(question: str, alone: Sequence[Morpheme], joined: Sequence[Placed]) -> dict[str, str]:
    """The names among the words, the persons' two names, and the joined words, as spelled."""
    spelled = {word.term: question[word.start : word.end] for word in alone}
    names = _names(question, {term: words for term, words in spelled.items() if is_letters(words)})
    for first, last in pairwise(alone):
        if first.is_of_person and last.is_of_person and first.end == last.start:
            person = question[first.start : last.end]
            names[person] = person
    for word, start, end in joined:
        if not _NO_WHOLE.fullmatch(question, start, end):
            names[word] = question[start:end]
    return names


def _nouns(
    question: str,
    alone: Sequence[Morpheme],
    tokens: Sequence[Morpheme],
    compounds: Mapping[str, str],
) -> dict[str, str]:
    """By term, the question's spelling of nouns among the words, and of compounds of nouns."""
    spelled = {word.term: question[word.start : word.end] for word in alone}
    nouns = {word.term: spelled[word.term] for word in alone if word.is_noun}
    nouns |= _with_suffix(question, alone, tokens)
    for whole, parts in groupby(compounds, compounds.__getitem__):
        if len(of_whole := set(parts)) > 1 and of_whole <= nouns.keys():
            nouns[whole] = whole
    return nouns


def _with_suffix(
    question: str, words: Sequence[Morpheme], tokens: Sequence[Morpheme]
) -> dict[str, str]:
    """The nouns with a suffix (冷蔵庫), as spelled; the index has only the parts of such words."""
    spelled = {}
    ends = {word.end for word in tokens if word.role is not Role.GRAMMAR}
    for noun, suffix in pairwise(words):
        is_rest = not noun.is_noun and noun.start in ends  # of a verb in two words (申し込み書)
        if suffix.is_suffix and noun.end == suffix.start and not (noun.is_suffix or is_rest):
            whole = question[noun.start : _whole_end(suffix, tokens)]
            spelled[whole] = whole
    return spelled


def _whole_end(last: Morpheme, tokens: Sequence[Morpheme]) -> int:
    """The end of a word that ends in a suffix, including further suffixes (者 in 引越業者)."""
    end = last.end
    if last.is_suffix:
        for word in tokens:
            if word.is_suffix and word.start == end:
                end = word.end
    return end


def _compounds(question: str, tokens: Sequence[Morpheme]) -> dict[str, str]:
    """For each content word, by term, its compound of kanji and katakana, as spelled."""
    compounds: dict[str, str] = {}
    runs: list[list[Morpheme]] = []
    for word in tokens:
        if not _COMPOUND.fullmatch(question, word.start, word.end):
            continue
        if runs and runs[-1][-1].end == word.start:
            runs[-1].append(word)
        else:
            runs.append([word])
    for run in runs:
        if content := [word for word in run if word.role is Role.CONTENT]:
            spelled = question[content[0].start : _whole_end(content[-1], run)]
            compounds |= {word.term: spelled for word in content}
    return compounds


def _names(question: str, spelled: Mapping[str, str]) -> dict[str, str]:
    """The words in letters that are names: identifiers, and in Japanese all words in letters.

    In a text without Japanese, capitalised words are names, unless it is a title: most words are
    capitalised, and all content words but identifiers. A number after a name (RFC 2119, order
    48213) is a name as well, unless it is a year.
    """
    numbers = {number for match in _AFTER_NAME.finditer(question) for number in match.groups()}
    # The first word of a sentence and I have capitals anyway.
    words = [word for word in _PROSE.findall(question)[1:] if word != "I"]
    has_titles = sum(word[0].isupper() for word in words) > len(words) / 2
    has_titles = has_titles and {*_IN_LOWER.findall(question)}.isdisjoint(spelled.values())
    is_name = _IDENTIFIER if not _JAPANESE.search(question) else _LETTERS
    return {
        term: spelling
        for term, spelling in spelled.items()
        if is_name.search(spelling)
        or (spelling.isdecimal() and len(spelling) >= MIN_DIGITS)
        or spelling in numbers
        or (not has_titles and spelling[0].isupper() and not question.startswith(spelling))
    }


def _names_with_number(words: Mapping[str, str]) -> dict[str, frozenset[str]]:
    """Names that end in a number, each with those of its two parts that are not words as well."""
    matches = {word: _NUMBERED.fullmatch(word) for word in words}
    return {
        word: frozenset(match.groups()) - words.keys()
        for word, match in matches.items()
        if match is not None
    }


def _words_of(plain: Sequence[Placed], content: Sequence[Morpheme]) -> dict[str, frozenset[str]]:
    """For each plain term, the words that it overlaps."""
    word_at = {position: word.term for word in content for position in range(word.start, word.end)}
    overlapped: dict[str, frozenset[str]] = {}
    for term, start, end in plain:
        touched = (word_at[position] for position in range(start, end) if position in word_at)
        overlapped[term] = overlapped.get(term, frozenset()).union(touched)
    return overlapped


def _letters(text: str, placed: Sequence[Placed]) -> tuple[str, ...]:
    """The words after spaces if all are in letters, else (): of read-only-mode only the first."""
    if not all(is_letters(term) for term, _, _ in placed):
        return ()
    return tuple(dict.fromkeys(_AFTER_SPACE.findall(text)))
