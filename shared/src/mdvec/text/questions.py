"""Extracts a question's search terms: its content, without filler words."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from mdvec.text.asides import TOPIC_MARKS, Span, asides
from mdvec.text.compounds import is_katakana
from mdvec.text.dates import named_dates
from mdvec.text.fillers import ENGLISH_FILLERS, Role
from mdvec.text.manners import manners
from mdvec.text.morphemes import WORD_MARK, Morpheme, morphemes
from mdvec.text.terms import folded, is_letters, placed_terms, question_terms
from mdvec.text.topics import named_topics

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_JAPANESE = re.compile("[\u3041-\u30ff\u3400-\u9fff]")
_HIRAGANA = re.compile("[\u3041-\u3096]")
"""In every Japanese sentence, but not in an English one with a Japanese name."""
_IDENTIFIER = re.compile(r"[a-z][A-Z]|[A-Za-z]_[A-Za-z]|[A-Za-z]\d")
_LETTERS = re.compile(r"^[A-Za-z_]\w{2,}$", re.ASCII)
"""A word in letters; one or two are hardly a name (笑 w, 打ちまちがい)."""
_PROSE = re.compile(r"[A-Za-z]+")
_FAVOURS = frozenset({"=頂く", "=賜る", "=貰う", "=下さる", "=呉れる", "=欲しい", "=頂戴"})
_JOINING = frozenset({"て", "で", "せ", "させ"})
"""What joins a verb to the next, or to the favour that is asked: 学ばせていただく."""
_NUMBERED = re.compile(r"([a-z]{2,})(\d+)")
_GIST_SHARE = 0.4
"""If at least this share of a question is content, the whole question is embedded."""
_ENGLISH_GIST_SHARE = 0.7
"""The same for a question in English: its frame of few words moves the vector more."""
_Placed = tuple[str, int, int]


@dataclass(frozen=True, slots=True)
class QuestionTerms:
    """A question's distinct terms, in order.

    Attributes:
        plain: pairs of characters, and words as spelled.
        words: words in normalised form, with their readings.
        unknown: the words that the dictionary does not have.
        words_of: for each plain term, the words that it overlaps.
        katakana: the spelling of each word in katakana that the dictionary has.
        dates: for each date, the terms it consists of.
        numbered: for each name that ends in its number (React19), its two parts as terms, but those
            that the question also has by themselves.
        edges: plain terms that extend from a content word into the filler.
        letters: all words, fillers included, if the question consists only of words in letters.
        aside: terms that occur only in sentences that ask nothing, or only as the form in which
            something is to be told.
        misspelt: words that a search found only by the nearest spelling, or, in katakana, not at
            all.
        names: names in letters that it asks about (useState, Redux), as spelled, by term.
        states_topic: whether the sentence that asks says what it is about (印刷について), which
            others then rarely do.
        is_english: whether it has no hiragana, which every Japanese sentence has.
        is_whole: whether no sentence is an aside, though manners still are.
        gist: the text to embed: the question, or only its core if most of it is filler
            (すみません、…について教えてください).
    """

    plain: tuple[str, ...]
    words: Mapping[str, str] = field(default_factory=dict)
    unknown: frozenset[str] = frozenset()
    words_of: Mapping[str, frozenset[str]] = field(default_factory=dict)
    katakana: Mapping[str, str] = field(default_factory=dict)
    dates: Mapping[str, frozenset[str]] = field(default_factory=dict)
    numbered: Mapping[str, frozenset[str]] = field(default_factory=dict)
    edges: frozenset[str] = frozenset()
    letters: tuple[str, ...] = ()
    aside: frozenset[str] = frozenset()
    misspelt: frozenset[str] = frozenset()
    names: Mapping[str, str] = field(default_factory=dict)
    states_topic: bool = False
    is_english: bool = False
    is_whole: bool = False
    gist: str = ""

    @property
    def all(self) -> list[str]:
        """Every term once."""
        return list(dict.fromkeys([*self.plain, *self.words]))

    def without_words(self) -> QuestionTerms:
        """The same question for an index that has no words, only plain terms."""
        return QuestionTerms(self.plain, edges=self.edges, letters=self.letters)


def analyse_question(question: str) -> QuestionTerms:
    """A question's terms in its first reading."""
    return readings(question)[0]


@lru_cache(maxsize=64)
def readings(question: str) -> tuple[QuestionTerms, ...]:
    """What a question may mean, in terms without particles, auxiliaries and request words.

    Pairs inside request words (教えて, 使い方, how) are left out too; pairs that extend into them
    are ``edges``. If nothing would be left, the request words stay; if there are none either, every
    term stays.

    Sentences that ask nothing may be background, or what the question is about (画面が更新されま
    せん。何を見ればいいですか); only the texts can tell. The first reading is of those that ask,
    the last is the whole question; other sentences and phrases that may be meant stand between.
    """
    text = folded(question)
    found = morphemes(question)
    if not found:
        return (QuestionTerms(_plain_alone(question), letters=_letters(placed_terms(text))),)
    kept, told = _content(found), _told(text, found)
    manner = _places(told)
    topics = [word.start for word in kept if word.can_be_topic and word.start not in manner]
    meant = [one for one in asides(text, topics) if not _places(one).issuperset(topics)]
    meant += [[(0, start), (end, len(text))] for start, end in named_topics(text, kept)]
    read = [_reading(question, text, found, kept, background, told) for background in meant]
    # Where all is manner (わかりやすく説明して), that is what is asked.
    whole = _reading(question, text, found, kept, [], told if topics else [])
    distinct: dict[frozenset[str], QuestionTerms] = {}
    for one in read:
        distinct.setdefault(one.aside, one)
    distinct.pop(whole.aside, None)
    return (*distinct.values(), replace(whole, is_whole=True))


def _reading(
    question: str,
    text: str,
    found: Sequence[Morpheme],
    kept: Sequence[Morpheme],
    background: Sequence[Span],
    told: Sequence[Span],
) -> QuestionTerms:
    """The question's terms if it is about the words kept that are neither background nor told."""
    unasked = _places(background)
    outside = unasked | _places(told)
    placed = placed_terms(text)
    central = [word for word in kept if word.start not in outside]
    inside = {place for word in kept for place in range(word.start, word.end)}
    plain = [one for one in placed if not inside.isdisjoint(range(*one[1:]))]
    if not plain:
        kept, plain, inside = found, placed, set(range(len(text)))
    words = {word.term: word.reading for word in kept if word.role is not Role.GRAMMAR}
    dates = {}
    for day in named_dates(text):
        parts = [*placed, *((word.term, word.start, word.end) for word in found)]
        dates[WORD_MARK + day.digits] = frozenset(
            term for term, start, end in parts if day.start <= start and end <= day.end
        )
    numbered = _numbered(words)
    apart = [part for of_name in numbered.values() for part in sorted(of_name)]
    return QuestionTerms(
        tuple(dict.fromkeys([*(term for term, _, _ in plain), *apart])),
        {**words, **dict.fromkeys(dates, ""), **{part: part for part in apart}},
        frozenset(word.term for word in kept if not word.is_known),
        _words_of(plain, kept),
        _katakana(text, kept),
        dates,
        numbered,
        frozenset(term for term, *place in plain if not inside.issuperset(range(*place))),
        _letters(placed),
        _aside(outside, [*plain, *((word.term, word.start, word.end) for word in kept)]),
        names=_names(question, text, central) if len(question) == len(text) else {},
        states_topic=any(one.start() not in unasked for one in TOPIC_MARKS.finditer(text)),
        is_english=_HIRAGANA.search(text) is None,
        gist=_gist(question, text, central, found),
    )


def _told(text: str, found: Sequence[Morpheme]) -> list[Span]:
    """Where phrases and words say only how something is to be told.

    Words do after what it is, and in no compound: in 資料の整理 and 基礎控除 they are what is
    asked about. In letters they also come before it (the basics of React), but not beside it
    (sample data).
    """
    spans = manners(text)
    is_told = False  # whether what is asked about has come
    for place, word in enumerate(found):
        is_told = is_told or word.role is Role.CONTENT
        if word.role is not Role.MANNER:
            continue
        in_letters = is_letters(text[word.start])
        neighbours = [*found[max(place - 1, 0) : place], *found[place + 1 : place + 2]]
        is_compound = word.can_be_topic and any(
            other.role is Role.CONTENT
            and max(other.start - word.end, word.start - other.end) <= in_letters
            for other in neighbours
        )
        if (is_told or in_letters) and not is_compound:
            spans.append((word.start, word.end))
    return spans + _favours(text, found)


def _favours(text: str, found: Sequence[Morpheme]) -> list[Span]:
    """Where verbs say what someone is to do as a favour: かみくだいて話してください."""
    spans = []
    for place, favour in enumerate(found):
        if favour.term in _FAVOURS:
            for word in reversed(found[:place]):
                if word.can_be_topic and text[word.start : word.end] not in _JOINING:
                    break
                spans.append((word.start, word.end))
    return spans


def _gist(question: str, text: str, central: Sequence[Morpheme], found: Sequence[Morpheme]) -> str:
    """The question; if most of it is filler, only the part from the first central word to the last.

    Central words are content words of the sentences that ask. A noun that follows with の belongs
    to them (貢献の方法とは何ですか).
    """
    if not central or len(question) != len(text) or _LONE_SURROGATE.search(question):
        return question
    start, end = min(word.start for word in central), max(word.end for word in central)
    least = _GIST_SHARE if _HIRAGANA.search(text) else _ENGLISH_GIST_SHARE
    if end - start >= least * len(question):
        return question
    nouns = {one.start: one.end for one in found if one.role is Role.REQUEST}
    if text[end : end + 1] == "の" and end + 1 in nouns:
        end = nouns[end + 1]
    return question[start:end]


def _names(question: str, text: str, central: Sequence[Morpheme]) -> dict[str, str]:
    """The words in letters that are no prose: identifiers, and in Japanese whatever is in letters.

    In prose of letters, a capital tells a name, if not every word has one.
    """
    spelled = {
        word.term: question[word.start : word.end]
        for word in central
        if word.term[0] != WORD_MARK and is_letters(word.term)
    }
    words = _PROSE.findall(question)
    has_titles = sum(word[0].isupper() for word in words) > len(words) / 2
    is_name = _IDENTIFIER if not _JAPANESE.search(text) else _LETTERS
    return {
        term: spelling
        for term, spelling in spelled.items()
        if is_name.search(spelling)
        or (not has_titles and spelling[0].isupper() and not question.startswith(spelling))
    }


def _numbered(words: Mapping[str, str]) -> dict[str, frozenset[str]]:
    """The names with their number at the end, each with its parts that are no words themselves."""
    found = {word: _NUMBERED.fullmatch(word) for word in words}
    return {
        word: frozenset(match.groups()) - words.keys()
        for word, match in found.items()
        if match is not None
    }


def _places(spans: Sequence[Span]) -> frozenset[int]:
    return frozenset(place for span in spans for place in range(*span))


def _aside(outside: frozenset[int], found: Sequence[_Placed]) -> frozenset[str]:
    """The terms that occur only at these places."""
    central = {term for term, place, _ in found if place not in outside}
    return frozenset(term for term, _, _ in found) - central


def _words_of(plain: Sequence[_Placed], kept: Sequence[Morpheme]) -> dict[str, frozenset[str]]:
    """For each plain term, the words that it overlaps."""
    word_at = {place: word.term for word in kept for place in range(word.start, word.end)}
    found: dict[str, frozenset[str]] = {}
    for term, start, end in plain:
        touched = (word_at[place] for place in range(start, end) if place in word_at)
        found[term] = found.get(term, frozenset()).union(touched)
    return found


def _katakana(text: str, kept: Sequence[Morpheme]) -> dict[str, str]:
    """The spelling of each known word in katakana."""
    spelled = {word.term: text[word.start : word.end] for word in kept if word.is_known}
    return {term: spelling for term, spelling in spelled.items() if is_katakana(spelling)}


def _content(found: Sequence[Morpheme]) -> list[Morpheme]:
    content = [word for word in found if word.role in (Role.CONTENT, Role.MANNER)]
    return content or [word for word in found if word.role is not Role.GRAMMAR]


def _letters(placed: Sequence[_Placed]) -> tuple[str, ...]:
    terms = [term for term, _, _ in placed]
    return tuple(dict.fromkeys(terms)) if all(map(is_letters, terms)) else ()


def _plain_alone(question: str) -> tuple[str, ...]:
    """The plain terms of a question when there is no dictionary to recognise fillers."""
    plain = question_terms(question)
    return tuple(term for term in plain if term not in ENGLISH_FILLERS) or tuple(plain)
