"""Opens the log file, which processes share, and formats its lines and events."""

from __future__ import annotations

import json
import logging
import os
import re
import traceback
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from mdvec.platform import lock_whole, open_to_append
from mdvec.section import SettingsSection, bounded
from mdvec.sizes import MEGABYTE

logger = logging.getLogger("mdvec")

PRIVATE = {"is_private": True}
"""The ``extra`` of a record that contains user text, which is logged only with ``queries``."""
EventFact = str | int | float | bool | tuple[str, ...] | None
MAX_FACT_CHARS = 300
MAX_LINES = 200
_MAX_BYTES = 100_000
_MAX_LINE_CHARS = 500
_MIN_SECRET_CHARS = 6
_HIDDEN = "[secret]"
_SECRET_NAME = re.compile(r"(?:KEY|TOKEN|SECRET|PASSWORD)S?$", re.IGNORECASE)


def record(event: str, *, query: str | None = None, **facts: EventFact) -> None:
    """Log an event (one word) at level INFO, with the facts that are not None.

    ``query`` is the text of the user or the model, if any.
    """
    if not logger.isEnabledFor(logging.INFO):
        return
    known = {name: _cut(fact) for name, fact in facts.items() if fact is not None}
    extra = {"event": event, "facts": known, "query": query}
    logger.info("%s", as_line(event, known), extra=extra)


def as_line(event: str, facts: Mapping[str, object]) -> str:
    """The event and its facts as ``name=value``; values with special characters are quoted."""
    return " ".join([event, *(f"{name}={_fact_text(fact)}" for name, fact in facts.items())])


def milliseconds(seconds: float) -> float:
    """Seconds converted to milliseconds, rounded as the log shows them."""
    return round(seconds * 1000, 1)


def _cut(fact: EventFact) -> EventFact:
    return fact[:MAX_FACT_CHARS] if isinstance(fact, str) else fact


def _fact_text(fact: object) -> str:
    if isinstance(fact, tuple):
        fact = ",".join(map(str, fact))
    if isinstance(fact, bool):
        return str(fact).lower()
    text = str(fact)
    is_plain = text.isprintable() and not set(' "=') & set(text) and text
    return text if is_plain else json.dumps(text, ensure_ascii=False)


class LogLines(logging.Formatter):
    """Formats a record as a line of text or of JSON, with the user's query if ``queries`` is true.

    In text: ``2026-11-21T21:30:00.123+09:00 INFO 4711 search tools=notes k=5 hits=5 ms=12.3``. JSON
    has the facts as fields. For an event, both have the facts instead of the message.
    """

    def __init__(self, form: Literal["text", "json"], *, queries: bool) -> None:
        super().__init__()
        self._form = form
        self._queries = queries

    def format(self, record: logging.LogRecord) -> str:
        """The record's line."""
        event, query = getattr(record, "event", None), getattr(record, "query", None)
        facts = dict(getattr(record, "facts", {}))
        if self._queries and query is not None:
            facts["query"] = query
        failure = _failure(record)
        if self._form == "text":
            message = record.getMessage() if event is None else as_line(event, facts)
            text = f"{message}: {failure}" if failure else message
            return _printable(f"{_time(record)} {record.levelname} {record.process} {text}")
        fields: dict[str, object] = {
            "time": _time(record), "level": record.levelname, "pid": record.process,
            **({"message": record.getMessage()} if event is None else {"event": event}), **facts,
        }  # fmt: skip
        if failure:
            fields["failure"] = failure
        return json.dumps(fields, ensure_ascii=False)


def _time(record: logging.LogRecord) -> str:
    moment = datetime.fromtimestamp(record.created, UTC).astimezone()
    return moment.isoformat(timespec="milliseconds")


def _failure(record: logging.LogRecord) -> str:
    """An exception's class and location; its message is left out as it may quote user data."""
    error = record.exc_info[1] if record.exc_info else None
    if error is None:
        return ""
    frames = traceback.extract_tb(error.__traceback__)
    places = " < ".join(f"{frame.filename}:{frame.lineno}" for frame in reversed(frames))
    return f"{type(error).__name__} at {places}"


def _printable(line: str) -> str:
    """A line with line breaks and control characters escaped."""
    if line.isprintable():
        return line
    return "".join(
        sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in line
    )


class SharedLogFile(logging.Handler):
    """Appends each record to a file; a full file becomes ``.1``, the previous one ``.2``, ….

    It and its folder are created if missing. ``warn`` is called once if it cannot be written; the
    record is then lost.

    Raises:
        OSError: the file cannot be opened.
    """

    def __init__(
        self, path: Path, max_bytes: int, backups: int, warn: Callable[[str], None]
    ) -> None:
        super().__init__()
        self._path = path
        self._max_bytes = max_bytes
        self._kept = backups
        self._warn: Callable[[str], None] | None = warn
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._descriptor = open_to_append(path)

    def emit(self, record: logging.LogRecord) -> None:
        """Write the record; if that fails, warn instead of raising."""
        try:
            line = f"{self.format(record)}\n".encode(errors="backslashreplace")
            if not self._is_current():
                self._reopen()
            size = os.fstat(self._descriptor).st_size
            if size and size + len(line) > self._max_bytes:
                self._rotate()
            os.write(self._descriptor, line)
        except OSError as error:
            warn, self._warn = self._warn, None  # cleared first, because it may log to this handler
            if warn is not None:
                warn(unwritable(self._path, error))

    def close(self) -> None:
        """Close the file."""
        with suppress(OSError):
            os.close(self._descriptor)
        super().close()

    def _reopen(self) -> None:
        opened = open_to_append(self._path)
        os.close(self._descriptor)  # this also releases its lock
        self._descriptor = opened

    def _is_current(self) -> bool:
        """Whether the open file is still at the path; another process may have renamed it."""
        try:
            return os.path.samestat(self._path.stat(), os.fstat(self._descriptor))
        except FileNotFoundError:
            return False

    def _rotate(self) -> None:
        """Rename the full file and open a new one, unless another process is doing so.

        Lines that other processes write meanwhile go into the renamed file.
        """
        try:
            lock_whole(self._descriptor)
        except OSError:
            return
        if self._is_current():
            for number in range(self._kept, 0, -1):
                older = self._numbered_file(number - 1)
                if older.exists():
                    older.replace(self._numbered_file(number))
        self._reopen()

    def _numbered_file(self, number: int) -> Path:
        return Path(f"{self._path}.{number}") if number else self._path


def unwritable(path: Path, error: OSError) -> str:
    """The warning that the log cannot be written."""
    return (
        f"the log {path} cannot be written ({error.strerror or error}); mdvec continues without "
        "it; set another file in [log] file, or free some disk space"
    )


class LogSettings(SettingsSection):
    """``[log]``: the file that records what mdvec did; none by default.

    ``queries`` says whether to write the user's queries.
    """

    file: str | None = Field(None, min_length=1, description="a file's path")
    level: Annotated[
        Literal["DEBUG", "INFO", "WARNING", "ERROR"],
        BeforeValidator(lambda level: level.upper() if isinstance(level, str) else level),
    ] = "INFO"
    format: Literal["text", "json"] = "text"
    queries: bool = False
    max_mb: int = bounded(10, 1, 10_000, "megabytes per file")
    kept: int = bounded(3, 1, 100, "full files that are kept")


def open_log(settings: LogSettings, warn: Callable[[str], None]) -> None:
    """Write mdvec's log to the file in the settings from now on, instead of an earlier file.

    If the file cannot be written, ``warn`` is called and there is no log.
    """
    for handler in [*logger.handlers]:
        if isinstance(handler, SharedLogFile):
            logger.removeHandler(handler)
            handler.close()
    if settings.file is None:
        return
    file = Path(settings.file)
    try:
        opened = SharedLogFile(file, settings.max_mb * MEGABYTE, settings.kept, warn)
    except OSError as error:
        warn(unwritable(file, error))
        return
    opened.setFormatter(LogLines(settings.format, queries=settings.queries))
    opened.setLevel(settings.level)
    if not settings.queries:
        opened.addFilter(lambda record: not getattr(record, "is_private", False))
    logger.addHandler(opened)
    logger.setLevel(min(logger.getEffectiveLevel(), opened.level))


def last_lines(file: Path, secrets: Iterable[str] = ()) -> tuple[str, ...]:
    """The last lines of a file, however long it is, each cut if it is too long.

    Raises:
        OSError: the file cannot be read.
    """
    with file.open("rb") as opened:
        size = opened.seek(0, 2)
        opened.seek(max(size - _MAX_BYTES, 0))
        text = opened.read(_MAX_BYTES).decode("utf-8", "replace")
    last = text.splitlines()
    if size > _MAX_BYTES:
        last = last[1:]  # the first line is incomplete
    return tuple(_without_secrets(line, secrets) for line in last[-MAX_LINES:])


def secrets_in(environment: Mapping[str, str]) -> list[str]:
    """The values of variables whose names suggest a key, a token or the like."""
    return [value for name, value in environment.items() if _SECRET_NAME.search(name)]


def _without_secrets(line: str, secrets: Iterable[str]) -> str:
    for secret in secrets:
        if len(secret) >= _MIN_SECRET_CHARS:
            line = line.replace(secret, _HIDDEN)
    return line if len(line) <= _MAX_LINE_CHARS else f"{line[:_MAX_LINE_CHARS]}…"
