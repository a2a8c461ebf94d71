"""Opens the log file of the settings, and reads its end without secrets."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from mdvec.log.formats import JsonLines, TextLines
from mdvec.log.shared_file import SharedLogFile, unwritable

LogLevel = Literal["DEBUG", "INFO", "WARNING", "ERROR"]
LogFormat = Literal["text", "json"]


@dataclass(frozen=True, slots=True)
class LogOptions:
    """Options of the log; without a file, there is no log.

    ``queries`` says whether to write the user's queries. A file is full at ``max_bytes``; the last
    ``kept`` full files are kept.
    """

    file: Path | None
    level: LogLevel
    format: LogFormat
    queries: bool
    max_bytes: int
    kept: int


def open_log(options: LogOptions, warn: Callable[[str], None]) -> None:
    """Write mdvec's log to the file of the options from now on, instead of an earlier one.

    If the file cannot be written, ``warn`` is told and there is no log.
    """
    logger = logging.getLogger("mdvec")
    for handler in [one for one in logger.handlers if isinstance(one, SharedLogFile)]:
        logger.removeHandler(handler)
        handler.close()
    if options.file is None:
        return
    try:
        opened = SharedLogFile(options.file, options.max_bytes, options.kept, warn)
    except OSError as error:
        warn(unwritable(options.file, error))
        return
    lines = JsonLines if options.format == "json" else TextLines
    opened.setFormatter(lines(queries=options.queries))
    opened.setLevel(options.level)
    if not options.queries:
        opened.addFilter(lambda record: not getattr(record, "is_private", False))
    logger.addHandler(opened)
    logger.setLevel(min(logger.getEffectiveLevel(), opened.level))


MAX_LINES = 200
_MAX_BYTES = 100_000
_MAX_LINE_CHARS = 500
_MIN_SECRET_CHARS = 6
_HIDDEN = "[secret]"
_SECRET_NAME = re.compile(r"(?:KEY|TOKEN|SECRET|PASSWORD)S?$", re.IGNORECASE)


def last_lines(file: Path, secrets: Iterable[str] = (), lines: int = MAX_LINES) -> tuple[str, ...]:
    """The last lines of a file, however long it is, each cut if it is too long.

    Raises:
        OSError: the file cannot be read.
    """
    with file.open("rb") as opened:
        size = opened.seek(0, 2)
        opened.seek(max(size - _MAX_BYTES, 0))
        text = opened.read(_MAX_BYTES).decode("utf-8", "replace")
    found = text.splitlines()
    if size > _MAX_BYTES:
        found = found[1:]  # it begins within a line
    return tuple(_shown(line, secrets) for line in found[-lines:])


def secrets_in(environment: Mapping[str, str]) -> list[str]:
    """The values of variables whose names suggest a key, a token or the like."""
    return [value for name, value in environment.items() if _SECRET_NAME.search(name)]


def _shown(line: str, secrets: Iterable[str]) -> str:
    for secret in secrets:
        if len(secret) >= _MIN_SECRET_CHARS:
            line = line.replace(secret, _HIDDEN)
    return line if len(line) <= _MAX_LINE_CHARS else f"{line[:_MAX_LINE_CHARS]}…"
