"""Lexical terms: what a text is found by when its words matter, with or without spaces.

Japanese runs words together, so a run of Japanese characters becomes its overlapping pairs
(食費管理: 食費, 費管, 管理): a word of two characters or more is found wherever it stands, and an
unspaced question shares its pairs with the passage that answers it. Other scripts part words
themselves.
"""

from __future__ import annotations

import re
import unicodedata

_CJK = (
    "\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
_RUNS = re.compile(f"([{_CJK}]+)|([^\\W{_CJK}]+)")
_LONGEST_WORD = 64


def terms(text: str) -> list[str]:
    """The terms of ``text`` in order, repeated as often as they stand there.

    Full- and half-width forms, upper and lower case are one (NFKC, case folded). A run of CJK
    characters gives its pairs, or its one character; any other run of letters, digits and
    underscores is a word, cut off after 64 characters.
    """
    found: list[str] = []
    for match in _RUNS.finditer(unicodedata.normalize("NFKC", text).casefold()):
        run, word = match.groups()
        if word is not None:
            found.append(word[:_LONGEST_WORD])
        elif len(run) == 1:
            found.append(run)
        else:
            found.extend(run[place : place + 2] for place in range(len(run) - 1))
    return found
