"""Translates the household's answers into English, by ``[household] language`` or on request.

``english.toml`` has each of their sentences as a template in both languages: the values of its
placeholders are translated in turn, and names from the data stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from typing import Any

from mdvec.household.core.mapping import sentence_pairs
from mdvec.household.overview import data_of, english_names

_MAX_CHARS = 4_000
"""A longer line cannot be a sentence of ``english.toml``; it is not translated."""
_PLACE = re.compile(r"(「)?\{([a-z]+\d*)\}(?(1)」)")
"""A placeholder in a template; 「{name}」 also matches a name in double quotation marks."""
_NESTED = "（(?:[^（）]|（[^（）]*）)*）|「[^」]*」"
_ANY = rf"(?:[^、。（「]|{_NESTED})+?"
_SOME = rf"(?:[^。（「]|{_NESTED})+?"
_KINDS = {
    "n": r"-?[\d,.]*\d", "yen": r"[+-]?[\d,]+円|N/A", "pct": r"[+-]?[\d,.]+ ?%|N/A",
    "day": r"\d{4}-\d\d-\d\d", "any": _ANY, "x": _ANY, "cat": _ANY, "own": _ANY, "names": _SOME,
    "cats": _SOME, "span": r"[\d/〜（）年月日-]+", "list": _SOME, "parts": _SOME, "text": r".+?",
    "values": "(?:(?!; ).)+?",
}  # fmt: skip
"""What each kind of placeholder matches; the head of ``english.toml`` describes them."""
_FIXED = {"day": 10, "yen": 2, "pct": 2, "n": 1}
"""How many characters of fixed text a placeholder counts as, to rank the sentences that fit."""
_DIGITS = "0123456789"
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')
_FIRST_MASK, _MASKED = 0xF0000, "[\U000f0000-\U000ffffd]"
"""Placeholders for a line's quoted names: private-use characters that no Japanese encoding has
(those of the first plane are the 外字 of cp932)."""
_SPAN = re.compile(r"[\d/〜（）-]*\d{4}年[\d年月日/〜（）-]*")
_DATE = re.compile(r"(\d{4})年(?:(\d{1,2})月(?:(\d{1,2})日)?)?")
_START = re.compile(r"( *(?:- )?)(.*)", re.DOTALL)
_LISTED = re.compile(r"(.+?)(: (?:[+-]?[\d,.]+ ?[円%件]|N/A)[^。]*)")
"""A line of a list: a name, and its figures after a colon."""
_COUNTED = re.compile(r": [\d,]+件")
_WORDED = frozenset({"notes", "age", "understood", "message", "reasons", "alt_text", "error"})
"""The fields of JSON answers that hold sentences."""


@dataclass(frozen=True)
class _Sentence:
    """A sentence template in both languages, with placeholders."""

    japanese: str
    english: str

    @cached_property
    def texts(self) -> list[str]:
        """The fixed texts between the placeholders."""
        return _PLACE.split(self.japanese)[::3]

    @cached_property
    def weight(self) -> int:
        """How specific the sentence is: the length of its fixed text, with brackets and figures."""
        parts = _PLACE.split(self.japanese)
        figures = sum(_FIXED.get(name.rstrip(_DIGITS), 0) for name in parts[2::3])
        return (
            sum(map(len, self.texts)) + figures + 2 * (len(parts[1::3]) - parts[1::3].count(None))
        )

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """A pattern of the sentence with any values of its placeholders."""
        parts = _PLACE.split(self.japanese)
        written = [re.escape(parts[0])]
        for bracket, name, text in zip(parts[1::3], parts[2::3], parts[3::3], strict=True):
            kind = _KINDS[name.rstrip(_DIGITS)]
            quoted = rf"(?:「(?P<{name}>[^」]*)」|(?P<{name}_>{_MASKED}))"
            written += [quoted if bracket else f"(?P<{name}>{kind})", re.escape(text)]
        return re.compile("".join(written))

    def translated(self, text: str) -> str | None:
        """The text in English if the whole text fits this sentence; else None."""
        if not all(part in text for part in self.texts):
            return None
        match = self.pattern.fullmatch(text)
        if match is None:
            return None
        english, values = self.english, match.groupdict()
        for name, value in values.items():
            if value == "1":
                english = re.sub(rf"(\{{{name}\}} (?:more )?\w+)s\b", r"\1", english)
            if name.endswith("_") and value is not None:  # a quoted name
                placeholder = f"{{{name[:-1]}}}"
                english = english.replace(f'"{placeholder}"', placeholder)
                english = english.replace(placeholder, value)
        filled = {name: _placeholder_value(name, value or "") for name, value in values.items()}
        return english.format(**filled)


def in_english(text: str) -> str:
    """An answer or a refusal in English; lines that no sentence fits stay as they are."""
    english, heading = [], ""
    for line in text.split("\n"):
        english.append(_line(line, heading))
        if not _START.fullmatch(line)[1]:  # type: ignore[index]  # fits any text
            heading = line
    return "\n".join(english)


def data_in_english(data: Any) -> Any:  # noqa: ANN401 - JSON
    """An answer as JSON in English; its figures, names and categories stay as they are."""
    if isinstance(data, Mapping):
        return {
            key: _in_words(value) if key in _WORDED else data_in_english(value)
            for key, value in data.items()
        }
    return [data_in_english(value) for value in data] if isinstance(data, list) else data


def _in_words(value: Any) -> Any:  # noqa: ANN401 - JSON
    if isinstance(value, list):
        return [in_english(each) if isinstance(each, str) else each for each in value]
    return in_english(value) if isinstance(value, str) else value


def _line(line: str, heading: str) -> str:
    """A line in English; under a ``heading`` that ends with ":", items have names from the data."""
    if len(line) > _MAX_CHARS:
        return line
    names: list[str] = []

    def mask(match: re.Match[str]) -> str:
        names.append(match[0])
        return chr(_FIRST_MASK + len(names) - 1)

    start, text = _START.fullmatch(_QUOTED.sub(mask, line)).groups()  # type: ignore[union-attr]  # fits any text
    if start.endswith("- ") and (listed := _LISTED.fullmatch(text)):
        text = mask(listed) + listed[2]
        names[-1] = _head(listed[1], listed[2], is_own=heading.endswith(":"))
    english = start + _translate(text.removesuffix("。"))
    english += "." if text.endswith("。") and not english.endswith(":") else ""
    for at, name in reversed([*enumerate(names)]):
        english = english.replace(chr(_FIRST_MASK + at), name)
    return english


def _translate(text: str) -> str:
    """Translates the known sentences of a text whose quoted names have been masked."""
    bare = text.strip()
    if not bare or bare.isascii():
        return text
    before, after = text[: text.index(bare)], text[text.index(bare) + len(bare) :]
    if bare.startswith("※ "):
        return f"{before}Note: {_translate(bare[2:])}{after}"
    return before + (_known_translation(bare) or _in_sentences(bare)) + after


def _known_translation(text: str) -> str | None:
    if iso := _in_iso(text):
        return iso
    return _words().get(text) or _first_fitting("sentences", text)


def _first_fitting(table: str, text: str) -> str | None:
    translations = (sentence.translated(text) for sentence in _sentences(table))
    return next((english for english in translations if english is not None), None)


def _in_iso(text: str) -> str | None:
    """A period as ISO dates; None for any other text."""
    if not _SPAN.fullmatch(text):
        return None
    iso = _DATE.sub(lambda day: "-".join(part.zfill(2) for part in day.groups() if part), text)
    return iso.replace("〜", " to ").replace("（", " (").replace("）", ")")


def _in_sentences(text: str) -> str:
    """Translates a text by its longest known runs of sentences, or else as a list."""
    sentences = _split(text, "。")
    done: list[str] = []
    while sentences:
        for count in range(len(sentences), 0, -1):
            english = _known_translation("。".join(sentences[:count]).strip())
            if english is not None or count == 1:
                break
        done.append(_in_list(sentences[0]) if english is None else english)
        sentences = sentences[count:]
    return ". ".join(done)


def _in_list(text: str) -> str:
    parts = _split(text, "、")
    if text.startswith("※ ") or len(parts) > 1:
        return ", ".join(map(_translate, parts))
    return text


def _split(text: str, mark: str) -> list[str]:
    """The parts of a text between marks that are outside of brackets, without empty parts."""
    parts = re.findall(rf"(?:{_NESTED}|[^{mark}])+", text)
    return parts or [text]


def _placeholder_value(name: str, value: str) -> str:
    """The value of a placeholder in English."""
    match name.rstrip(_DIGITS):
        case "yen" if value.endswith("円"):
            sign, digits = re.fullmatch(r"([+-]?)(.*)円", value).groups()  # type: ignore[union-attr]  # as its kind
            return f"{sign}¥{digits}"
        case "cat":
            return _table("totals").get(value) or _category(value)
        case "own":
            return _category(value)
        case "cats":
            return ", ".join(map(_category, _split(value, "、")))
        case "parts" | "list" as kind:
            return ", ".join(map(_translate, _split(value, "・" if kind == "parts" else "、")))
        case "values":
            return ", ".join(_split(value, "、"))
        case "names":
            return "none" if value == "なし" else ", ".join(_split(value, "、"))
        case "text" | "x" | "span":
            return _translate(value)
    return value


def _head(name: str, figures: str, *, is_own: bool) -> str:
    """The name of a list's line in English; ``is_own``: it is a name from the data, no phrase."""
    ours = {} if is_own else _table("groups" if _COUNTED.match(figures) else "totals")
    return _first_fitting("heads", name) or ours.get(name) or _category(name)


def _category(name: str) -> str:
    """A category with its English name."""
    if name in _table("nameless"):
        return _table("nameless")[name]
    english = _category_names().get(name.rpartition(" > ")[2])
    return f"{name} ({english})" if english else _in_iso(name) or name


@cache
def _category_names() -> dict[str, str]:
    names = dict(_table("groups"))
    for english, japanese in english_names().items():
        for name in japanese:
            names.setdefault(name, english)
    return names


@lru_cache(maxsize=4)
def _table(name: str) -> dict[str, str]:
    """A table of words in ``english.toml``."""
    table: dict[str, str] = data_of("english.toml")[name]
    return table


@cache
def _words() -> dict[str, str]:
    return _table("totals") | _table("groups") | _table("nameless") | _table("words")


@lru_cache(maxsize=2)
def _sentences(table: str) -> list[_Sentence]:
    """The sentences of a table of ``english.toml``, the most specific first."""
    pairs = data_of("english.toml")[table]
    if table == "sentences":
        pairs |= sentence_pairs()
    sentences = [_Sentence(japanese, english) for japanese, english in pairs.items()]
    return sorted(sentences, key=lambda sentence: -sentence.weight)
