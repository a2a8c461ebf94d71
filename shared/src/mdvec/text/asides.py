"""Finds the sentences of a question that ask nothing: background, attempts, courtesies."""

from __future__ import annotations

import re

_SENTENCE_ENDS = re.compile(
    r"[。！？!?\n]+|\.(?=\s)|(?:です|ます|ません|のだ|ん?だ)(?:が|けど|けれど)[、,]"
)
_ASKS = re.compile(
    r"[?？]|教え|おしえ|教示|説明して|知りた|について|に関し|に関する|とは|見せて"
    r"|ください|下さい|どこ|どうすれば|どうやって|なぜ|(?:です|ます|でしょう|ません)か(?:$|[。、])"
    r"|\b(?:how|what|where|when|why|which|explain|tell me|show me)\b"
)


def asides(folded_question: str) -> list[tuple[int, int]]:
    """The ranges of the sentences that ask nothing, in order; none if no sentence asks.

    A clause that ends in ですが or けど counts as a sentence.
    """
    sentences: list[tuple[int, int]] = []
    start = 0
    for found in _SENTENCE_ENDS.finditer(folded_question):
        sentences.append((start, found.end()))
        start = found.end()
    sentences.append((start, len(folded_question)))
    asking = [one for one in sentences if _ASKS.search(folded_question[slice(*one)])]
    return [one for one in sentences if one not in asking] if asking else []
