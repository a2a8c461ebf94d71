"""Formulas of MathML and Word as a line of text: 1/2, x^(n+1), √(a+b)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from xml.etree import ElementTree as ET

from bs4 import Tag

_LEAVES = ("mn", "mi", "mo", "mtext", "ms")
_UNREAD = ("annotation", "annotation-xml", "mphantom", "none", "mprescripts", "mspace")
_MEANT = str.maketrans({"\u2061": "", "\u2062": "×", "\u2063": ",", "\u2064": " "})
"""Invisible signs: of function application, a product, a list and a sum (1½)."""
_ONE_TOKEN = re.compile(r"\d[\d.,]*|[^\W\d_]")
_IN_BRACKETS = re.compile(r"\([^()]*\)")
_WORD_BEFORE = re.compile(r"[A-Za-z]+$")
_WORD_AFTER = re.compile(r"[A-Za-z]+")
_INTEGRAL = "∫"
_GONE = ("del", "moveFrom")
_BRACKETS = (("begChr", "("), ("sepChr", "|"), ("endChr", ")"))
_ROWS = frozenset(
    ("math", "mrow", "mstyle", "semantics", "mpadded", "merror", "menclose", "mtd", "oMath",
     "oMathPara", "e", "num", "den", "sup", "sub", "deg", "lim", "fName", "box", "borderBox", "bar",
     "groupChr", "phant", "ins", "maction")
)  # fmt: skip
_LISTS = {"mtable": "; ", "mtr": ", ", "m": "; ", "mr": ", ", "eqArr": "; "}


def of_mathml(tag: Tag) -> str:
    """A ``math`` element of a page, or a part of it."""
    name = _local(tag.name)
    if name in _UNREAD:
        return ""
    if name in _LEAVES:
        return " ".join(tag.get_text().translate(_MEANT).split())
    inside = tag.find_all(recursive=False)
    is_row = name in _ROWS or name == "msqrt"
    parts = _parts((is_row and _local(inner.name) in _LEAVES, of_mathml(inner)) for inner in inside)
    if name == "math" and not any(parts):
        return str(tag.get("alttext") or tag.get_text(" ", strip=True))
    if name == "mfenced":
        return f"{tag.get('open', '(')}{', '.join(parts)}{tag.get('close', ')')}"
    if name == "mfrac" and str(tag.get("linethickness", "")).rstrip("emptx%") == "0":
        return "; ".join(parts)
    return _element_text(name, parts)


def of_word(element: ET.Element) -> str:
    """An ``m:oMath`` element, or a part of it, without deleted parts."""
    name = _local(element.tag)
    if name == "r":
        return "".join(text.text or "" for text in element if _local(text.tag) == "t")
    inside = [inner for inner in element if not _local(inner.tag).endswith(("Pr", *_GONE))]
    parts = _parts((_local(inner.tag) == "r", of_word(inner)) for inner in inside)
    if name == "d":
        signs = [_property(element, sign, default) for sign, default in _BRACKETS]
        return f"{signs[0]}{signs[1].join(parts)}{signs[2]}"
    if name == "nary":
        return _with_limits(_property(element, "chr", _INTEGRAL), parts)
    if name == "f" and _property(element, "type", "") == "noBar":
        return "; ".join(parts)
    if name == "acc":
        return _row([*parts, _property(element, "chr", "\u0302")])
    return _element_text(name, parts)


def _parts(written: Iterable[tuple[bool, str]]) -> list[str]:
    """The parts of an element, in which adjacent parts of plain digits are joined to one number.

    ``written`` has each part, and whether it is plain text in a row.
    """
    parts: list[str] = []
    was_text = False
    for is_text, part in written:
        if is_text and was_text and parts[-1][-1:].isdigit() and part[:1].isdigit():
            parts[-1] += part
        else:
            parts.append(part)
        was_text = is_text
    return parts


def _local(name: str) -> str:
    return re.split("[}:]", name)[-1]


def _property(element: ET.Element, name: str, default: str) -> str:
    """The value of a property of an element; ``default`` if the element does not have it."""
    groups = (child for child in element if _local(child.tag).endswith("Pr"))
    for known in chain.from_iterable(groups):
        if _local(known.tag) == name:
            return next((value for key, value in known.attrib.items() if _local(key) == "val"), "")
    return default


def _element_text(name: str, parts: Sequence[str]) -> str:
    """An element as text; the parts of an unknown one are separated by spaces."""
    if name == "msqrt":
        return _root(_row(parts))
    count, write = _SHAPES.get(name, (0, None))
    if write is not None and len(parts) == count:
        return write(*parts)
    if name in _ROWS:
        return _row(parts)
    return _LISTS.get(name, " ").join(filter(None, parts))


def _row(parts: Iterable[str]) -> str:
    """Adjacent parts; a fraction as a factor gets brackets, while 2 1/2 is a number."""
    row: list[str] = []
    for part in filter(None, parts):
        last = row[-1] if row else ""
        if _is_fraction(last) and (part[0].isalnum() or part[0] in "(√"):
            last = row[-1] = f"({last})"
        follows = last[-1:].isalpha() or last[-1:] == ")"
        row += [f"({part})"] if _is_fraction(part) and follows else [_space(last, part), part]
    return "".join(row)


def _is_fraction(text: str) -> bool:
    numerator, _, denominator = text.partition("/")
    return _is_closed(numerator) and _is_closed(denominator)


def _is_closed(text: str) -> bool:
    """Whether a text is one token, or is entirely in brackets."""
    return _ONE_TOKEN.fullmatch(text) is not None or _IN_BRACKETS.fullmatch(text) is not None


def _space(before: str, after: str) -> str:
    if before[-1:].isdigit() and after[0].isdigit():
        return " "
    words = (_WORD_BEFORE.search(before), _WORD_AFTER.match(after))
    return " " if all(words) and any(word and len(word[0]) > 1 for word in words) else ""


def _bracketed(text: str) -> str:
    return text if _is_closed(text) else f"({text})"


def _fraction(above: str, below: str) -> str:
    return f"{_bracketed(above)}/{_bracketed(below)}"


def _base(text: str) -> str:
    return text if len(text) <= 1 else _bracketed(text)


def _exponent(text: str) -> str:
    return text if _is_closed(text.lstrip("-−+")) else f"({text})"


def _power(base: str, exponent: str) -> str:
    return f"{_base(base)}^{_exponent(exponent)}" if exponent else base


def _index(base: str, index: str) -> str:
    return f"{_base_of_index(base)}_{_exponent(index)}" if index else base


def _base_of_index(text: str) -> str:
    """The base of an index: a name such as log needs no brackets."""
    return text if text.isalpha() else _base(text)


def _accented(base: str, sign: str) -> str:
    return _power(base, sign) if sign[:1].isalnum() else base + sign


def _with_limits(sign: str, parts: Sequence[str]) -> str:
    lower, upper, summed = (*parts, "", "", "")[:3]
    return f"{_both(sign, lower, upper).strip()} {summed}"


def _root(base: str, degree: str = "") -> str:
    return f"{_bracketed(base)}^(1/{_bracketed(degree)})" if degree else f"√{_bracketed(base)}"


def _both(base: str, lower: str, upper: str) -> str:
    limits = (f"_{_exponent(lower)}" * bool(lower)) + (f"^{_exponent(upper)}" * bool(upper))
    is_operator = len(base) == 1 and not base.isalnum() and base != ")"
    return f"{_base_of_index(base)}{limits}{' ' * is_operator}"


_SHAPES: dict[str, tuple[int, Callable[..., str]]] = {
    "mfrac": (2, _fraction), "f": (2, _fraction),
    "msup": (2, _power), "sSup": (2, _power),
    "msub": (2, _index), "sSub": (2, _index), "munder": (2, _index), "limLow": (2, _index),
    "mover": (2, _accented), "limUpp": (2, _accented),
    "msubsup": (3, _both), "sSubSup": (3, _both), "munderover": (3, _both),
    "mroot": (2, _root), "rad": (2, lambda degree, base: _root(base, degree)),
    "func": (2, lambda name, of: f"{name} {of}"),
    "sPre": (3, lambda lower, upper, base: f"{_both('', lower, upper)} {base}"),
}  # fmt: skip
"""By the name of an element: the number of its parts, and how they are written."""
