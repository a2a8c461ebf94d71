"""Patterns for spellings of words in texts: grouped numbers, kanji with spaces between them."""

from __future__ import annotations

import re
from string import ascii_lowercase, ascii_uppercase

from mdvec.text import HYPHENS, folded

_SEPARATOR = f"[,{HYPHENS}]"
FEW_KANJI = re.compile("[々\u3400-\u9fff]{3,6}")
_IN_WORD = "[a-z0-9\u30a1-\u30fa\u30fc\u3005-\u3007\u3400-\u9fff]"
_JOINING = f"[_.@+{HYPHENS}]"
NUMBER = re.compile(rf"\d+(?:{_SEPARATOR}\d+)*")
_VERSION = re.compile(r"v?(\d+(?:\.\d+)+)")
_NUMBER_FIRST = re.compile(rf"(?<![a-z0-9_]){NUMBER.pattern}")
"""A number that does not follow a letter, as it would in an identifier."""
MIN_GROUPED = 4
"""The minimum digits of a number that may be written in groups of thousands."""
_GAP = r"(?:(?!\n[^\S\n]*\n)\s)+"
"""What may be between words: spaces and line ends, but no blank line, which ends a text."""
_MIN_JOINED = 6
"""The minimum digits of a number that may be grouped in any way (phone); fewer may be a range."""
_ASCII_LOWER = str.maketrans(ascii_uppercase, ascii_lowercase)


def digits_of(number: str) -> str:
    """The digits of a number without the signs among them."""
    return "".join(filter(str.isdecimal, number))


def thousands(digits: str) -> list[str]:
    """The digits in groups of three from the end; a single group if they are few."""
    if len(digits) < MIN_GROUPED:
        return [digits]
    ends = range(len(digits) % 3 or 3, len(digits) + 1, 3)
    return [digits[max(end - 3, 0) : end] for end in ends]


def words_pattern(wanted: str, *, inside: bool) -> re.Pattern[str]:
    """A pattern for consecutive folded words; with ``inside``, both ends may be in longer words."""
    words = _GAP.join(map(_word_pattern, wanted.split()))
    edge = "" if inside else "[a-z0-9]"
    before = f"(?<!{edge})" if edge and wanted[:1].isascii() and wanted[:1].isalnum() else ""
    after = f"(?!{edge})" if edge and wanted[-1:].isascii() and wanted[-1:].isalnum() else ""
    return re.compile(f"{before}{words}{after}")


def version_pattern(wanted: str) -> re.Pattern[str] | None:
    """A pattern for a folded number with dots, with or without v, or its first parts; else None.

    9.2 is in 9.2.1 and Rails9.2, but not in 1.9.2 or 9.25.
    """
    version = _VERSION.fullmatch(wanted)
    return version and re.compile(rf"(?<!\d)(?<!\d\.){re.escape(version[1])}(?!\d)")


def whole_word_pattern(wanted: str) -> re.Pattern[str]:
    """A pattern for a folded word, not a part of a longer one; kanji may have spaces between."""
    is_kanji = FEW_KANJI.fullmatch(wanted) is not None
    word = r"[\s・]?".join(wanted) if is_kanji else words_pattern(wanted, inside=True).pattern
    return re.compile(f"(?<!{_IN_WORD})(?<!{_IN_WORD}{_JOINING}){word}(?!{_JOINING}?{_IN_WORD})")


def _word_pattern(word: str) -> str:
    """A pattern for a word, whose numbers may be written in groups."""
    pattern, end = "", 0
    for match in _NUMBER_FIRST.finditer(word):
        pattern += re.escape(word[end : match.start()]) + _any_groups(match[0])
        end = match.end()
    return pattern + re.escape(word[end:])


def _any_groups(number: str) -> str:
    digits = digits_of(number)
    groups = thousands(digits)
    if "," in number and number != ",".join(groups):  # 1,2,3 are several
        return re.escape(number)
    if len(digits) >= _MIN_JOINED:
        return f"(?:{f'[{HYPHENS}]?'.join(digits)}|{','.join(groups)})"
    return ",?".join(groups) if number == digits or "," in number else re.escape(number)


def contains(column: str, spelling: str) -> tuple[str, tuple[str, ...]]:
    """A SQL condition that a column contains a word in any case, and its parameters.

    A word in full width is also looked for as most texts write it, in half width.
    """
    wanted = folded(spelling)
    is_same = wanted == spelling.translate(_ASCII_LOWER)  # LIKE ignores the case of ASCII
    each = [_contains(column, said) for said in ([spelling] if is_same else [spelling, wanted])]
    return f"({' OR '.join(condition for condition, _ in each)})", tuple(value for _, value in each)


def _contains(column: str, spelling: str) -> tuple[str, str]:
    if spelling.upper() == spelling.lower():
        return f"instr({column}, ?)", spelling
    escaped = spelling.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"{column} LIKE ? ESCAPE '\\'", f"%{escaped}%"


def is_path_of(name: str, path: str) -> bool:
    """Whether ``name``, in any case and width, is a path or its last parts."""
    return f"/{folded(path)}".endswith(f"/{folded(name)}")
