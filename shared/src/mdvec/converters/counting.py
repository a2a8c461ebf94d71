"""Writes the numbers of list items in Word's formats, by Word's names: 1, a, iv, 三, ア, ①."""

from __future__ import annotations

from collections.abc import Callable
from unicodedata import normalize

_ROMAN = (
    (1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L"),
    (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I"),
)  # fmt: skip
_MAX_LETTERED = 780
_MAX_ROMAN = 3_999
_MAX_KANJI = 9_999
_KANJI = "〇一二三四五六七八九"
_AIUEO = "ｱｲｳｴｵｶｷｸｹｺｻｼｽｾｿﾀﾁﾂﾃﾄﾅﾆﾇﾈﾉﾊﾋﾌﾍﾎﾏﾐﾑﾒﾓﾔﾕﾖﾗﾘﾙﾚﾛﾜｦﾝ"
_IROHA = "ｲﾛﾊﾆﾎﾍﾄﾁﾘﾇﾙｦﾜｶﾖﾀﾚｿﾂﾈﾅﾗﾑｳヰﾉｵｸﾔﾏｹﾌｺｴﾃｱｻｷﾕﾒﾐｼヱﾋﾓｾｽﾝ"
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_WIDE_DIGITS = str.maketrans("0123456789", "０１２３４５６７８９")
_KANJI_DIGITS = str.maketrans("0123456789", _KANJI)


def counted_as(number: int, name: str) -> str | None:
    """A number (1 or more) in a format; None if the format is unknown or lacks this number."""
    return _WAYS[name](number) if name in _WAYS else None


def _each_sign(signs: str) -> Callable[[int], str | None]:
    """A format with one sign for each number; None after the last sign."""
    return lambda number: signs[number - 1] if 0 < number <= len(signs) else None


def _circled(signs: str) -> Callable[[int], str | None]:
    """A format with one sign for each number, and digits after the last sign."""
    return lambda number: _each_sign(signs)(number) or str(number)


def _lettered(number: int) -> str | None:
    """After z comes aa, then bb."""
    if not 0 < number <= _MAX_LETTERED:
        return None
    return _LETTERS[(number - 1) % len(_LETTERS)] * ((number - 1) // len(_LETTERS) + 1)


def _roman(number: int) -> str | None:
    if not 0 < number <= _MAX_ROMAN:
        return None
    written = ""
    for value, sign in _ROMAN:
        written += sign * (number // value)
        number %= value
    return written


def _ordinal(number: int) -> str:
    is_teen = number // 10 % 10 == 1
    ending = "th" if is_teen else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def _with_units(number: int) -> str | None:
    """Kanji with 十, 百 and 千: 二十三."""
    if not 0 < number <= _MAX_KANJI:
        return None
    written = ""
    for power, unit in ((1000, "千"), (100, "百"), (10, "十")):
        count, number = divmod(number, power)
        if count:
            written += (_KANJI[count] if count > 1 else "") + unit
    return written + (_KANJI[number] if number else "")


_WAYS: dict[str, Callable[[int], str | None]] = {
    "decimal": str, "decimalHalfWidth": str, "decimalZero": lambda number: f"{number:02}",
    "decimalFullWidth": lambda number: str(number).translate(_WIDE_DIGITS),
    "decimalFullWidth2": lambda number: str(number).translate(_WIDE_DIGITS),
    "numberInDash": lambda number: f"- {number} -", "ordinal": _ordinal, "none": lambda _: "",
    "lowerLetter": _lettered,
    "upperLetter": lambda number: (_lettered(number) or "").upper() or None,
    "upperRoman": _roman, "lowerRoman": lambda number: (_roman(number) or "").lower() or None,
    "japaneseCounting": _with_units,
    "ideographDigital": lambda number: str(number).translate(_KANJI_DIGITS),
    "aiueo": _each_sign(_AIUEO), "aiueoFullWidth": _each_sign(normalize("NFKC", _AIUEO)),
    "iroha": _each_sign(_IROHA), "irohaFullWidth": _each_sign(normalize("NFKC", _IROHA)),
    "ideographTraditional": _each_sign("甲乙丙丁戊己庚辛壬癸"),
    "ideographZodiac": _each_sign("子丑寅卯辰巳午未申酉戌亥"),
    "decimalEnclosedCircle": _circled("①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬⑭⑮⑯⑰⑱⑲⑳"),
    "decimalEnclosedParen": _circled("⑴⑵⑶⑷⑸⑹⑺⑻⑼⑽⑾⑿⒀⒁⒂⒃⒄⒅⒆⒇"),
    "decimalEnclosedFullstop": _circled("⒈⒉⒊⒋⒌⒍⒎⒏⒐⒑⒒⒓⒔⒕⒖⒗⒘⒙⒚⒛"),
    "ideographEnclosedCircle": _circled("㊀㊁㊂㊃㊄㊅㊆㊇㊈㊉"),
}  # fmt: skip
