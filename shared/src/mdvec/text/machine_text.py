"""Detects text that only machines read: data URIs, base64, minified code, lock files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

Range = tuple[int, int]

_MIN_BLOB = 256
_MIN_MINIFIED = 1_000
_DATA_URI = re.compile(
    r"(?:!\[\]\(|\[[^\[\]\r\n]{1,80}\]:[ \t]*)?<?data:[\w.+-]+/[\w.+-]+(?:;[\w=.-]+)*,"
    r"[^\s\"'<>)]{128,}[>)]{0,2}"
)
_BLOB = re.compile(r"(?<![A-Za-z0-9+/=_-])[A-Za-z0-9+/=_-]{256,}")
_BASE64_LINES = re.compile(
    r"(?<![^\r\n])(?:[A-Za-z0-9+/]{60,76}\r?\n){3,}[A-Za-z0-9+/=]{1,76}(?![^\r\n])"
)
_LOCK_FILES = frozenset(
    {
        "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock",
        "deno.lock", "poetry.lock", "pdm.lock", "uv.lock", "pipfile.lock", "cargo.lock",
        "gemfile.lock", "composer.lock", "flake.lock", "mix.lock", "pubspec.lock", "podfile.lock",
        "packages.lock.json", "go.sum",
    }
)  # fmt: skip
_MINIFIED_NAME = re.compile(r"\.min\.(?:js|mjs|css)$|\.(?:js|mjs|css)\.map$")


def is_machine_file(file_name: str) -> bool:
    """Whether a file is, by its name, a lock file, minified code or a source map."""
    name = file_name.lower()
    return name in _LOCK_FILES or _MINIFIED_NAME.search(name) is not None


def machine_text(content: str, lines: Sequence[int], body: int) -> list[Range]:
    """The ranges of machine text after ``body``, in order and disjoint.

    ``lines`` are the starts of the lines.
    """
    found = [uri.span() for uri in _DATA_URI.finditer(content, body)] if "data:" in content else []
    for start, after in zip(lines, [*lines[1:], len(content)], strict=True):
        if after - start >= _MIN_BLOB and start >= body:
            found += _in_line(content, start, after)
    if _has_equal_lines(lines):
        found += (base64.span() for base64 in _BASE64_LINES.finditer(content, body))
    merged: list[Range] = []
    for start, end in sorted(found):
        if not merged or end > merged[-1][1]:
            merged.append((max(start, merged[-1][1]) if merged else start, end))
    return merged


def _has_equal_lines(lines: Sequence[int]) -> bool:
    """Whether three consecutive lines have equal lengths typical of base64."""
    starts = zip(lines, lines[1:], lines[2:], lines[3:], strict=False)
    return any(60 < b - a < 79 and b - a == c - b == d - c for a, b, c, d in starts)


def without(machine: Sequence[Range], start: int, end: int) -> Iterator[Range]:
    """The parts of ``start`` to ``end`` that are not machine text."""
    for first, last in machine:
        if start < last and first < end:
            if start < first:
                yield start, first
            start = last
    if start < end:
        yield start, end


def _in_line(content: str, start: int, end: int) -> list[Range]:
    if end - start >= _MIN_MINIFIED and _is_minified(content[start:end]):
        return [(start, end)]
    blobs = _BLOB.finditer(content, start, end)
    return [blob.span() for blob in blobs if _is_random(blob[0])]


def _is_random(run: str) -> bool:
    """Whether a long run of letters and digits is encoded data, not words, a path or dashes."""
    digits = sum(map(str.isdigit, run))
    letters = sum(map(str.isalpha, run))
    return digits * 40 >= len(run) and letters * 8 >= len(run) and len(set(run)) >= 12


def _is_minified(line: str) -> bool:
    """Whether a long line is minified code or numbers, not prose, links or a table row."""
    if sum(map(str.isascii, line)) < len(line) * 0.95 or line.count(" ") * 12 > len(line):
        return False
    code = sum(map(line.count, "{};=<>$&\"'"))
    digits = sum(map(line.count, "0123456789"))
    return code * 12 >= len(line) or digits * 3 >= len(line)
