"""The output guard: what an answer may cost its reader, and how it is cut to that."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

Answer = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Guard:
    """The most that an answer has: bytes of JSON, and rows of a table."""

    max_bytes: int
    max_rows: int

    def fits(self, answer: Answer) -> bool:
        """Whether the answer is small enough."""
        return size(answer) <= self.max_bytes

    def trimmed(
        self,
        answer: Answer,
        keys: Sequence[str],
        told: Callable[[int], str],
        missing: int = 0,
    ) -> Answer:
        """The answer with as many entries under ``keys`` as fit.

        Entries go from the end, of the last key first. ``told`` gets how many went, with the
        ``missing`` that never were in the answer, and returns the warning that says what was left
        out and how to get it.
        """
        if not missing and self.fits(answer):
            return answer
        wholes = [len(answer[key]) for key in keys]
        low, high = 0, sum(wholes)
        while low < high:
            middle = (low + high + 1) // 2
            if self.fits(_with_first(answer, keys, middle, told, missing)):
                low = middle
            else:
                high = middle - 1
        return _with_first(answer, keys, low, told, missing)


def size(answer: Answer) -> int:
    """The bytes of an answer."""
    return len(as_json(answer).encode())


def as_json(answer: Answer) -> str:
    """An answer as compact JSON, Japanese as it is."""
    return json.dumps(answer, ensure_ascii=False, separators=(",", ":"), default=str)


def _with_first(
    answer: Answer, keys: Sequence[str], kept: int, told: Callable[[int], str], missing: int
) -> Answer:
    """The answer with the first ``kept`` entries of all keys together."""
    cut, left = dict(answer), kept
    for key in keys:
        entries = answer[key]
        number = min(left, len(entries))
        cut[key] = (
            dict(list(entries.items())[:number])
            if isinstance(entries, dict)
            else (entries[:number])
        )
        left -= number
    gone = sum(len(answer[key]) for key in keys) - kept + missing
    if gone:
        cut["warnings"] = [*answer.get("warnings", []), told(gone)]
    return cut
