"""Finds the phrases that a question itself calls its topic: 元栓という言葉, hear about taps."""

from __future__ import annotations

import re
from collections.abc import Sequence

from mdvec.text.asides import Span
from mdvec.text.fillers import Role
from mdvec.text.morphemes import Morpheme

_MOST = 2
"""Each is a reading, and so a search of its own."""
_JOINED = re.compile(r"[ の・]?|(?: (?:a|an|and|for|in|of|the|to|with))+ ")
_NAMED_BEHIND = re.compile(
    r"[」』\"`\s]*(?:(?:という|っていう)(?:言葉|用語|単語|名前|もの|の)"
    r"|の(?:話|くだり|ところ))"
)
_NAMED_BEFORE = re.compile(r"\b(?:about|hear(?:d|ing)? of|called|understand) [\"'`]*$")
_LONGEST = 20
"""Characters of what names a topic before it."""


def named_topics(text: str, content: Sequence[Morpheme]) -> list[Span]:
    """The ranges of the last few such phrases in a folded question, the very last first.

    ``content`` are the question's content words. A phrase is the longest run of those that can be
    a topic, joined by の or by nothing, in English also by prepositions.
    """
    phrases: list[Span] = []
    for word in content:
        if word.role is not Role.CONTENT or not word.can_be_topic:
            continue
        if phrases and _JOINED.fullmatch(text, phrases[-1][1], word.start):
            phrases[-1] = (phrases[-1][0], word.end)
        else:
            phrases.append((word.start, word.end))
    named = [
        (start, end)
        for start, end in phrases
        if _NAMED_BEHIND.match(text, end)
        or _NAMED_BEFORE.search(text, max(start - _LONGEST, 0), start)
    ]
    return named[: -_MOST - 1 : -1]
