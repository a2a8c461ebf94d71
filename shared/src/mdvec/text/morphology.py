"""Splits Japanese text into words in normalised form with Sudachi, loaded on first use.

Pairs of characters match a word only as spelled. Sudachi's dictionary gives every inflection and
most spellings of a word the same normalised form (サーバ and サーバー, 打合せ and 打ち合わせ,
調べた and 調べる, Web and ウェブ).
"""

from __future__ import annotations

import re
import threading
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import cache
from importlib import resources
from importlib.metadata import version
from itertools import zip_longest
from typing import TYPE_CHECKING, Final

from mdvec.text.folding import folded
from mdvec.text.index_terms import MAX_TERM, RUNS

if TYPE_CHECKING:
    from sudachipy import Morpheme as SudachiMorpheme
    from sudachipy import Tokenizer

_NAME, _PERSON = "固有名詞", "人名"
_VERBAL = frozenset({"サ変可能", "サ変形状詞可能"})
_NOUNS = _VERBAL | {"一般"}
_GRAMMAR = frozenset({"助詞", "助動詞", "補助記号", "空白"})
_FILLER_CLASSES = frozenset({"代名詞", "連体詞", "接続詞", "感動詞"})  # 感動詞: ねえ, ありがとう
_FILLER_SUBCLASSES = frozenset({("形状詞", "助動詞語幹")})  # よう, そう
_FILE = resources.files("mdvec.text") / "question_words.toml"
_WORDS = {
    name: frozenset(words.split())
    for name, words in tomllib.loads(_FILE.read_text(encoding="utf-8")).items()
}
FUNCTION_WORDS: Final = frozenset(filter(str.isascii, _WORDS["joining"] | _WORDS["asking"]))
"""The English words that only join or ask, in lower case."""
WORD_MARK: Final = "="
"""Prefix of every normalised form, so that it never equals a pair or a plain word."""
_DICTIONARY: Final = "small"
_MAX_RUN: Final = 8_000
"""Maximum characters given to Sudachi at once; its limit is 49,149 bytes."""
_MAX_KEPT: Final = 50_000
"""The maximum number of words in a cache, which is cleared when it is full."""
_CHARS_A_WORD: Final = 64
"""How many characters of a cached run count as one more word, to account for long keys."""
_LAUGHTER = re.compile("ww|w{4,}")
"""Laughter in a chat (ｗｗ); www with exactly three letters means the web."""
_KANJI = re.compile("[々\u3400-\u9fff\uf900-\ufaff]+")
_NO_LETTER = re.compile(r"[\W_]+")
_loading = threading.Lock()


class Role(Enum):
    """The role of a word in a sentence.

    Grammar (particles, auxiliaries, symbols) is never indexed. Words of asking (教えて, 何, how)
    and fillers (使い方, こと, the) are indexed like any other word, but a search uses them
    only if the question has no content words.
    """

    CONTENT = "content"
    ASKING = "asking"
    FILLER = "filler"
    GRAMMAR = "grammar"


def role_of(normal_form: str, part_of_speech: Sequence[str] = ("", "")) -> Role:
    """The role of a word, given Sudachi's normalised form and part of speech.

    A word in letters is given in lower case, without a part of speech.
    """
    if part_of_speech[0] in _GRAMMAR:
        return Role.GRAMMAR
    if normal_form in _WORDS["asking"]:
        return Role.ASKING
    if (
        normal_form in _WORDS["joining"]
        or normal_form in _WORDS["chat"]
        or part_of_speech[0] in _FILLER_CLASSES
        or tuple(part_of_speech[:2]) in _FILLER_SUBCLASSES
    ):
        return Role.FILLER
    return Role.CONTENT


@dataclass(frozen=True, slots=True)
class Morpheme:
    """A word in the folded text, from ``start`` to ``end``.

    ``term`` is its term in the index: ``WORD_MARK`` and its normalised form, or the word itself
    if it is in letters and the dictionary has no other form. ``reading`` is in katakana.
    ``is_known`` says whether the dictionary has the word; ``is_noun`` says whether it is used as a
    noun, so neither before する or な, nor a numeral, nor in letters. ``is_suffix`` says whether it
    forms one word with the noun before it (庫 in 冷蔵庫), ``is_of_person`` whether it is a person's
    first or last name.
    """

    term: str
    reading: str
    role: Role
    start: int
    end: int
    is_known: bool
    is_noun: bool = False
    is_suffix: bool = False
    is_of_person: bool = False


def morphemes(text: str) -> list[Morpheme]:
    """All words of a text, in order."""
    analyser = _analyser()
    placed = []
    for match in RUNS.finditer(folded(text)):
        first = match.start()
        words = analyser.words_of(*match.groups(""))
        placed += [replace(word, start=first + word.start, end=first + word.end) for word in words]
    return placed


def word_terms(folded_text: str) -> list[Morpheme]:
    """The words of a folded text to index, without grammar; positions are relative to their run."""
    analyser = _analyser()
    return [
        morpheme
        for run, word in RUNS.findall(folded_text)
        for morpheme in analyser.words_of(run, word)
        if morpheme.role is not Role.GRAMMAR
    ]


def are_homophones(term: str, other: str) -> bool:
    """Whether two terms with the same reading are different words (紅葉, 効用; not 渡邊, 渡辺).

    The dictionary gives all spellings of a word the same normalised form, so kanji words with two
    forms are different words. Only names have a form for each spelling; these share a character.
    """
    return _analyser().are_homophones(term.removeprefix(WORD_MARK), other.removeprefix(WORD_MARK))


@cache
def analysis_version() -> str:
    """The versions of Sudachi and its dictionary, on which an index of words depends."""
    return f"sudachi {version('sudachipy')} {_DICTIONARY} {version(f'sudachidict_{_DICTIONARY}')}"


_Form = tuple[str, str, Role, bool, bool, bool, bool]


class _RecentRuns(dict[str, tuple[Morpheme, ...]]):
    """A cache of the words of recent runs, with a limited total size."""

    words = 0

    def keep(self, run: str, words: tuple[Morpheme, ...]) -> tuple[Morpheme, ...]:
        """Remember a run's words, and return them."""
        size = max(len(words), 1) + len(run) // _CHARS_A_WORD
        if self.words + size > _MAX_KEPT:
            self.clear()
            self.words = 0
        self.words += size
        self[run] = words
        return words


class _Analyser:
    """Sudachi's tokenizer, used by one thread at a time, with a cache of recent runs."""

    def __init__(self) -> None:
        from sudachipy import Dictionary, SplitMode

        dictionary = Dictionary(dict=_DICTIONARY)
        self._tokenizer: Tokenizer = dictionary.tokenizer(mode=SplitMode.A)
        self._lock = threading.Lock()
        self._runs = _RecentRuns()
        self._forms: dict[int, _Form] = {}

    def words_of(self, run: str, word: str) -> tuple[Morpheme, ...]:
        """The words of a run of CJK characters, or else of a word in letters."""
        known = self._runs.get(run or word)
        if known is None:
            words = self._analyse_run(run) if run else [self._in_letters(word)]
            known = self._runs.keep(run or word, tuple(words))
        return known

    def _in_letters(self, word: str) -> Morpheme:
        """A word in letters: its Japanese form if there is one (web: ウェブ), else unchanged."""
        plain = word[:MAX_TERM]
        role = Role.FILLER if _LAUGHTER.fullmatch(word) else role_of(word)
        is_content = role is Role.CONTENT  # Sudachi would turn "the" into ザ
        analysed = self._analyse_run(word) if is_content and len(word) <= MAX_TERM else []
        if len(analysed) == 1 and analysed[0].term != WORD_MARK + plain:
            return replace(analysed[0], role=role)
        is_known = not is_content or (len(analysed) == 1 and analysed[0].is_known)
        return Morpheme(plain, plain, role, 0, len(word), is_known)

    def _analyse_run(self, run: str) -> list[Morpheme]:
        words: list[Morpheme] = []
        for first in range(0, len(run), _MAX_RUN):
            with self._lock:
                following = iter(tokens := self._tokenizer.tokenize(run[first : first + _MAX_RUN]))
                next(following, None)
                for token, after in zip_longest(tokens, following):
                    normal, reading, role, is_known, is_noun, *kinds = self._form(token)
                    if normal:
                        start, end = first + token.begin(), first + token.end()
                        term = WORD_MARK + normal
                        is_noun = is_noun and not (after and _is_verb(token, after))
                        words.append(
                            Morpheme(term, reading, role, start, end, is_known, is_noun, *kinds)
                        )
        return words

    def are_homophones(self, word: str, other: str) -> bool:
        """Whether two words in kanji are in the dictionary, and not spellings of one name."""
        if not (_KANJI.fullmatch(word) and _KANJI.fullmatch(other)):
            return False
        with self._lock:
            both = [*self._tokenizer.tokenize(word), *self._tokenizer.tokenize(other)]
            are_known = len(both) == 2 and not any(token.is_oov() for token in both)
            are_names = all(token.part_of_speech()[1] == _NAME for token in both)
        return are_known and not (are_names and set(word) & set(other))

    def _form(self, token: SudachiMorpheme) -> _Form:
        """The normalised form, reading and role, and further properties of a ``Morpheme``."""
        number = token.word_id()
        form = self._forms.get(number)
        if form is None:
            normal = _NO_LETTER.sub("", folded(token.normalized_form()))[:MAX_TERM]
            speech = token.part_of_speech()
            is_noun = speech[0] == "名詞" and (speech[1] == _NAME or speech[2] in _NOUNS)
            role = role_of(normal, speech)
            is_suffix = tuple(speech[:2]) == ("接尾辞", "名詞的")
            form = (
                normal, token.reading_form(), role, not token.is_oov(), is_noun, is_suffix,
                speech[2] == _PERSON,
            )  # fmt: skip
            if not token.is_oov():
                if len(self._forms) >= _MAX_KEPT:
                    self._forms.clear()
                self._forms[number] = form
        return form


def _is_verb(noun: SudachiMorpheme, after: SudachiMorpheme) -> bool:
    """Whether a noun is used as a verb, because する, できる or ください follows it."""
    if noun.part_of_speech()[2] not in _VERBAL:
        return False
    return tuple(after.part_of_speech()[:2]) == ("動詞", "非自立可能")


def _analyser() -> _Analyser:
    with _loading:
        return _load()


@cache
def _load() -> _Analyser:
    return _Analyser()
