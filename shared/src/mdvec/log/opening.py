"""Opens the log file of the settings, for both the CLI and the server."""

from __future__ import annotations

import logging
from collections.abc import Callable
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
