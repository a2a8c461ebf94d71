"""Opens the log file that the settings name, for the command and the server alike."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from mdvec.log.formats import JsonLines, TextLines
from mdvec.log.shared_file import SharedLogFile, unwritable

Level = Literal["DEBUG", "INFO", "WARNING", "ERROR"]
Format = Literal["text", "json"]


@dataclass(frozen=True, slots=True)
class LogOptions:
    """Where the log is and what it tells; without a file there is none.

    ``queries`` tells whether to write what was asked. A file of ``max_bytes`` is full, and
    ``kept`` full ones stay.
    """

    file: Path | None
    level: Level
    format: Format
    queries: bool
    max_bytes: int
    kept: int


def open_log(options: LogOptions, warn: Callable[[str], None]) -> None:
    """Write mdvec's log to the file of the options from now on, in place of an earlier one.

    A log that cannot be written is a warning, and all else goes on.
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
    logger.addHandler(opened)
    logger.setLevel(min(logger.getEffectiveLevel(), opened.level))
