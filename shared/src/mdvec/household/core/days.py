"""Detects days and weeks in a phrase that should name months, and strips them."""

from __future__ import annotations

import re

_FULL = r"(?<![0-9])([0-9]{4})([-/.])([0-9]{1,2})\2[0-9]{1,2}(?![0-9月]|か月)"
_OF_AN_ERA = r"((?:令和|平成|昭和|[rhs])[0-9]{1,2})([-/.])([0-9]{1,2})\2[0-9]{1,2}(?![0-9月]|か月)"
_UNMARKED = r"(?<![0-9])((?:19|20|21)[0-9]{2})(0[1-9]|1[0-2])[0-3][0-9](?![0-9])"
_WITHOUT_YEAR = r"(?<![0-9a-z/.和成-])(0?[1-9]|1[0-2])[/.][0-9]{1,2}(?![0-9/.月])"
_MARKED = r"([0-9]{1,2}月)[0-9]{1,2}日"
_RELATIVE = (
    r"[今本昨明]日|きのう|きょう|あした|あさって|おととい|[前先今来翌]々?週|週間|曜|[上中下]旬"
    r"|月末|月初|末日|初日"
)
_ANY = re.compile(
    "|".join(rf"(?:{shape})" for shape in (r"[0-9]日", _UNMARKED, _WITHOUT_YEAR, _RELATIVE))
)
_DATES = (re.compile(_FULL), re.compile(_OF_AN_ERA))
_MONTHS_OF = (
    (re.compile(_FULL), r"\1年\3月"),
    (re.compile(_OF_AN_ERA), r"\1年\3月"),
    (re.compile(_UNMARKED), r"\1年\2月"),
    (re.compile(_WITHOUT_YEAR), r"\1月"),
    (re.compile(_MARKED), r"\1"),
    (re.compile(r"(?:から|[~〜-])[0-9]{1,2}日?(?:まで)?$"), ""),
)


def names_a_day(text: str) -> bool:
    """Whether a phrase, normalised by ``plain``, mentions days or weeks."""
    return _ANY.search(text) is not None or any(date.search(text) for date in _DATES)


def months_of(text: str) -> str:
    """The phrase with its days removed as far as possible, leaving the months."""
    for shape, month in _MONTHS_OF:
        text = shape.sub(month, text)
    return text
