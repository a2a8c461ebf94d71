"""Reads the end of a log file, without the secrets that its process knows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

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
