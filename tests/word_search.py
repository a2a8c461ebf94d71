"""A plain BM25 over what clients list of tools, as those search that hide tools until asked."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

from mcp_types import Tool

_K1, _B = 1.2, 0.75
_JAPANESE = re.compile(r"[ぁ-んァ-ヶー一-龠々]+")


def terms(text: str) -> list[str]:
    """Latin words and numbers in lower case, and the pairs of Japanese characters."""
    words = re.findall(r"[a-z0-9]+", text.lower().replace("_", " "))
    pairs = [
        run[place : place + 2]
        for run in _JAPANESE.findall(text)
        for place in range(max(len(run) - 1, 1))
    ]
    return [*words, *pairs]


def ranked(tools: Sequence[Tool], request: str) -> list[str]:
    """The tools' names, those first whose name, description and parameters fit best."""
    documents = [
        Counter(
            terms(" ".join([tool.name, tool.description or "", *tool.input_schema["properties"]]))
        )
        for tool in tools
    ]
    mean = sum(map(Counter.total, documents)) / len(documents)

    def score(document: Counter[str]) -> float:
        found = 0.0
        for term in set(terms(request)) & document.keys():
            holding = sum(term in other for other in documents)
            idf = math.log(1 + (len(documents) - holding + 0.5) / (holding + 0.5))
            norm = _K1 * (1 - _B + _B * document.total() / mean)
            found += idf * document[term] * (_K1 + 1) / (document[term] + norm)
        return found

    scores = {tool.name: score(document) for tool, document in zip(tools, documents, strict=True)}
    return sorted(scores, key=lambda name: -scores[name])
