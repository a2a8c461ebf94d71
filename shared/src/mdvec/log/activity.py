"""Records what mdvec did: an event with facts, one line of the log.

Facts are names, counts and times. Amounts, shops and texts of the user are none; what the user
asked is apart from them, and is written only where the settings say so.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping

logger = logging.getLogger("mdvec")

Fact = str | int | float | bool | tuple[str, ...] | None
MAX_FACT_CHARS = 300


def record(event: str, *, asked: str | None = None, **facts: Fact) -> None:
    """Log an event at the level INFO.

    Args:
        event: its name, one word.
        asked: the query that the user or the model wrote, if any.
        facts: what the line tells; those that are None are left out.
    """
    if not logger.isEnabledFor(logging.INFO):
        return
    told = {name: _cut(fact) for name, fact in facts.items() if fact is not None}
    extra = {"event": event, "facts": told, "asked": asked}
    logger.info("%s", as_line(event, told), extra=extra)


def as_line(event: str, facts: Mapping[str, object]) -> str:
    """The event and its facts as ``name=value``, quoted where a value has spaces."""
    return " ".join([event, *(f"{name}={_shown(fact)}" for name, fact in facts.items())])


def milliseconds(seconds: float) -> float:
    """Seconds as the log tells them."""
    return round(seconds * 1000, 1)


def _cut(fact: Fact) -> Fact:
    return fact[:MAX_FACT_CHARS] if isinstance(fact, str) else fact


def _shown(fact: object) -> str:
    if isinstance(fact, tuple):
        fact = ",".join(map(str, fact))
    if isinstance(fact, bool):
        return str(fact).lower()
    text = str(fact)
    is_plain = text.isprintable() and not set(' "=') & set(text) and text
    return text if is_plain else json.dumps(text, ensure_ascii=False)
