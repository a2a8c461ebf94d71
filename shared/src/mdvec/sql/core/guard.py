"""The output guard, which limits the size of an answer and cuts what exceeds the limit."""

from __future__ import annotations

import json
from bisect import bisect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from mdvec.text import visible

JsonAnswer = dict[str, Any]
_MAX_WARNING = 300
_ROOM_FOR_COUNT = 40
"""The bytes left for "and 2 more warnings": what comes later takes no place of what fitted."""
_MAX_PORTABLE = 2**53
"""A float holds every integer up to this one exactly."""


@dataclass(frozen=True, slots=True)
class AnswerGuard:
    """The limits of an answer: bytes of JSON, and rows of a table."""

    max_bytes: int
    max_rows: int

    def fits(self, answer: JsonAnswer) -> bool:
        """Whether the answer is small enough to say how many more warnings there are."""
        return size(answer) <= self.max_bytes - _ROOM_FOR_COUNT

    def first_fitting(self, answers: Iterable[JsonAnswer]) -> JsonAnswer:
        """The first of the answers that is small enough, or else the last."""
        for answer in answers:
            if self.fits(answer):
                break
        return answer

    def fit_warnings(self, answer: JsonAnswer) -> JsonAnswer:
        """The answer with as many of its warnings as fit, the first first."""
        warnings = [
            warning if len(warning) <= _MAX_WARNING else f"{warning[: _MAX_WARNING - 1]}…"
            for warning in answer.get("warnings", ())
        ]
        first = [warnings[:count] for count in range(len(warnings) - 1, -1, -1)]
        cut = ([*some, f"and {len(warnings) - len(some)} more warnings"] for some in first)
        for some in (warnings, *cut):
            fitted = with_warnings(answer, some)
            if size(fitted) <= self.max_bytes:
                break
        return fitted

    def trim(
        self,
        answer: JsonAnswer,
        keys: Sequence[str],
        warning_for: Callable[[int], str],
        missing: int = 0,
    ) -> JsonAnswer:
        """The answer with as many entries under ``keys`` as fit.

        Entries of these lists or dictionaries are removed from the end, those of the last key
        first. ``warning_for`` gets the number of entries left out, including ``missing`` that were
        left out before, and returns the warning.
        """
        if not missing and self.fits(answer):
            return answer

        def first(count: int) -> JsonAnswer:
            cut, gone = _with_first_entries(answer, keys, count)
            warnings = [warning_for(gone + missing)] if gone + missing else []
            return with_warnings(cut, [*answer.get("warnings", ()), *warnings])

        return self._largest(first, 0, sum(len(answer[key]) for key in keys))

    def page(self, answer: JsonAnswer, key: str, start: int, total: int) -> JsonAnswer:
        """The answer with as many entries under ``key`` as fit, at least one.

        Its first entry is number ``start`` of ``total``, counted from 1. Unless it has all entries,
        the answer also has ``total``, and ``next``, the number of the next entry, if there is one.
        """

        def first(count: int) -> JsonAnswer:
            cut, _ = _with_first_entries(answer, (key,), count)
            if start == 1 and count >= total:
                return cut
            more = {"next": start + count} if start + count <= total else {}
            return {**cut, "total": total, **more}

        return self._largest(first, min(1, len(answer[key])), len(answer[key]))

    def _largest(self, first: Callable[[int], JsonAnswer], least: int, most: int) -> JsonAnswer:
        """The largest answer that fits; ``first`` makes it from ``least`` to ``most`` entries."""
        too_many = range(least + 1, most + 1)
        return first(least + bisect(too_many, 0, key=lambda count: not self.fits(first(count))))


def with_warnings(answer: JsonAnswer, warnings: Sequence[str]) -> JsonAnswer:
    """The answer with the warnings, if there are any."""
    return {**answer, "warnings": list(warnings)} if warnings else answer


def size(answer: JsonAnswer) -> int:
    """The number of bytes of an answer as JSON."""
    return len(as_json(answer).encode())


def as_json(answer: JsonAnswer) -> str:
    """An answer as one line of compact JSON, with Japanese unescaped."""
    text = json.dumps(portable(answer), ensure_ascii=False, separators=(",", ":"), default=str)
    return visible(text)


def portable(value: Any) -> Any:  # noqa: ANN401 - data as JSON has them
    """The same data, with integers as text if a client that has only floats would round them."""
    if isinstance(value, dict):
        return {key: portable(element) for key, element in value.items()}
    if isinstance(value, list | tuple):
        return [portable(element) for element in value]
    return str(value) if isinstance(value, int) and abs(value) > _MAX_PORTABLE else value


def _with_first_entries(
    answer: JsonAnswer, keys: Sequence[str], count: int
) -> tuple[JsonAnswer, int]:
    """The answer with the first ``count`` entries of all keys together, and the number removed."""
    cut, left = dict(answer), count
    for key in keys:
        entries = answer[key]
        number = min(left, len(entries))
        is_dict = isinstance(entries, dict)
        cut[key] = dict(list(entries.items())[:number]) if is_dict else entries[:number]
        left -= number
    return cut, sum(len(answer[key]) for key in keys) - count
