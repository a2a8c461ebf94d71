"""Logs what mdvec did: one line per event, with facts.

Facts are names, counts and times, never the user's amounts, shops or texts. The user's query is
kept separate from the facts, and is written only if the settings allow it.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping

logger = logging.getLogger("mdvec")

PRIVATE = {"is_private": True}
"""The ``extra`` of a record with what the user wrote: the log file has it only with ``queries``."""
EventFact = str | int | float | bool | tuple[str, ...] | None
MAX_FACT_CHARS = 300


def record(event: str, *, query: str | None = None, **facts: EventFact) -> None:
    """Log an event at the level INFO.

    Args:
        event: its name, one word.
        query: the query that the user or the model wrote, if any.
        facts: the facts of the event; None values are left out.
    """
    if not logger.isEnabledFor(logging.INFO):
        return
    known = {name: _cut(fact) for name, fact in facts.items() if fact is not None}
    extra = {"event": event, "facts": known, "query": query}
    logger.info("%s", as_line(event, known), extra=extra)


def as_line(event: str, facts: Mapping[str, object]) -> str:
    """The event and its facts as ``name=value``; values with spaces or special signs are quoted."""
    return " ".join([event, *(f"{name}={_shown(fact)}" for name, fact in facts.items())])


def milliseconds(seconds: float) -> float:
    """Seconds as the milliseconds that the log shows."""
    return round(seconds * 1000, 1)


def _cut(fact: EventFact) -> EventFact:
    return fact[:MAX_FACT_CHARS] if isinstance(fact, str) else fact


def _shown(fact: object) -> str:
    if isinstance(fact, tuple):
        fact = ",".join(map(str, fact))
    if isinstance(fact, bool):
        return str(fact).lower()
    text = str(fact)
    is_plain = text.isprintable() and not set(' "=') & set(text) and text
    return text if is_plain else json.dumps(text, ensure_ascii=False)
