"""The two formats of log lines: text for people, JSON for programs."""

from __future__ import annotations

import json
import logging
import traceback
from datetime import UTC, datetime

from mdvec.log.activity import as_line


class _OneLine(logging.Formatter):
    """Formats a record as one line, with the user's query if ``queries`` is true.

    For an event, it writes the facts instead of the message.
    """

    def __init__(self, *, queries: bool) -> None:
        super().__init__()
        self._queries = queries

    def _query(self, record: logging.LogRecord) -> dict[str, str]:
        query = getattr(record, "query", None)
        return {"query": query} if self._queries and query is not None else {}


class TextLines(_OneLine):
    """``2026-11-21T21:30:00.123+09:00 INFO 4711 search tools=notes k=5 hits=5 ms=12.3``."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as text."""
        event = getattr(record, "event", None)
        facts = {**getattr(record, "facts", {}), **self._query(record)}
        message = record.getMessage() if event is None else as_line(event, facts)
        if place := _failure(record):
            message = f"{message}: {place}"
        return _printable(f"{_time(record)} {record.levelname} {record.process} {message}")


class JsonLines(_OneLine):
    """One JSON object per line, with the facts as fields."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as JSON."""
        event = getattr(record, "event", None)
        fields: dict[str, object] = {
            "time": _time(record),
            "level": record.levelname,
            "pid": record.process,
            **({"message": record.getMessage()} if event is None else {"event": event}),
            **getattr(record, "facts", {}),
            **self._query(record),
        }
        if place := _failure(record):
            fields["failure"] = place
        return json.dumps(fields, ensure_ascii=False)


def _time(record: logging.LogRecord) -> str:
    moment = datetime.fromtimestamp(record.created, UTC).astimezone()
    return moment.isoformat(timespec="milliseconds")


def _failure(record: logging.LogRecord) -> str:
    """An exception's class and location, without its message, which may quote the user's data."""
    error = record.exc_info[1] if record.exc_info else None
    if error is None:
        return ""
    frames = traceback.extract_tb(error.__traceback__)
    places = " < ".join(f"{frame.filename}:{frame.lineno}" for frame in reversed(frames))
    return f"{type(error).__name__} at {places}"


def _printable(line: str) -> str:
    """The line with line breaks and control characters escaped."""
    if line.isprintable():
        return line
    return "".join(
        sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in line
    )
