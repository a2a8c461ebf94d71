"""Which differences an automatic import has tried to import, and when it may try again."""

from __future__ import annotations

import time
from dataclasses import dataclass

_FIRST_PAUSE = 30.0
_MAX_PAUSE = 600.0


@dataclass(frozen=True, slots=True)
class _Attempt:
    mark: int
    pause: float
    at: float


class Attempts:
    """The last attempts of each tool's imports.

    A difference that an import leaves, because it failed or was killed, is tried again after 30 s,
    then after twice as long each time, at most 10 minutes. Another difference is tried at once.
    """

    def __init__(self) -> None:
        self._last: dict[str, _Attempt] = {}

    def begin(self, tool: str, mark: int, now: float | None = None) -> bool:
        """Whether the difference with this mark is due; if so, that counts as an attempt.

        Args:
            tool: the tool's name.
            mark: that of its ``Freshness``.
            now: seconds of a monotonic clock; None reads it.
        """
        now = time.monotonic() if now is None else now
        last = self._last.get(tool)
        if last is None or last.mark != mark:
            self._last[tool] = _Attempt(mark, _FIRST_PAUSE, now)
        elif now - last.at < last.pause:
            return False
        else:
            self._last[tool] = _Attempt(mark, min(2 * last.pause, _MAX_PAUSE), now)
        return True
