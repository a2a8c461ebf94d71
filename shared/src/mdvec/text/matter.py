"""Parses a document's front matter: YAML between `---` or TOML between `+++`, at the very start."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

LINE_BREAK = re.compile(r"\r\n|\r|\n")
_YAML_MATTER = re.compile(
    r"---[ \t]*(?:\r\n|\r|\n)(.*?)(?<![^\r\n])(?:---|\.\.\.)[ \t]*(?:\r\n|\r|\n|\Z)", re.DOTALL
)
_TOML_MATTER = re.compile(
    r"\+\+\+[ \t]*(?:\r\n|\r|\n)(.*?)(?<![^\r\n])\+\+\+[ \t]*(?:\r\n|\r|\n|\Z)", re.DOTALL
)
_MATTER_LINE = re.compile(r"(?:[\w.-]+[ \t]*:(?:[ \t].*)?|[ \t].*|-[ \t].*|#.*|[\]}],?)?")
_ENTRY = re.compile(r"([\w.-]+)[ \t]*:(?:[ \t](.*))?")
_SENTENCE = re.compile("[。！？].")
"""The end of a sentence, which no key contains."""
_TAG_MARK = re.compile(r"(?<![^\s,\[\-\"'])#(?=[^\s#,\]])")
"""The # of a tag in a value, which YAML would read as a comment."""
TAG_KEYS = ("tags", "tag", "タグ")
ALIAS_KEYS = ("aliases", "alias")
MAX_FRONT_MATTER = 65_536
_MIN_KEYS = 3
"""The least keys, for each line that is none, of front matter that is not valid YAML."""


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The entries of a document's front matter; the body begins at ``end``.

    YAML values stay text, as written. ``is_broken`` says that the block is not valid YAML and
    its entries were parsed one by one.
    """

    end: int
    values: Mapping[str, Any]
    is_broken: bool = False


NO_FRONT_MATTER = FrontMatter(0, {})


def front_matter(content: str) -> FrontMatter:
    """Parse the front matter of a document; ``NO_FRONT_MATTER`` if it has none."""
    head = content[:MAX_FRONT_MATTER]
    if (match := _YAML_MATTER.match(head)) and (read := _from_yaml(match[1], match.end())):
        return read
    if (match := _TOML_MATTER.match(head)) and (values := _from_toml(match[1])) is not None:
        return FrontMatter(match.end(), values)
    return NO_FRONT_MATTER


def _from_yaml(block: str, end: int) -> FrontMatter | None:
    """Parse a block between ``---``; None if it is not front matter.

    Blank lines at both ends set text off from two rules; without the last it would be a heading.
    """
    lines = LINE_BREAK.split(block)
    if block.strip() and not any(map(str.strip, (lines[0], *lines[-2:]))):
        return None
    try:
        matter = _load_yaml(block)
    except ValueError:
        # People write "title: A: B", or a value's second line, which is not valid YAML.
        keys = sum(_ENTRY.fullmatch(line) is not None for line in lines)
        others = sum(_MATTER_LINE.fullmatch(line) is None for line in lines)
        if keys < others * _MIN_KEYS:
            return None
        return FrontMatter(end, dict(_entries(lines)), is_broken=True)
    if matter is None:
        # YAML reads a "# heading" between two rules as a comment.
        return None if block.strip() else FrontMatter(end, {})
    if not isinstance(matter, Mapping) or any(_SENTENCE.search(str(key)) for key in matter):
        return None
    return FrontMatter(end, _with_marked_tags(dict(matter), block))


def _load_yaml(text: str) -> Any:  # noqa: ANN401 - whatever YAML can hold
    """Parse YAML; ValueError if it is not valid."""
    import yaml

    try:
        # The base loader keeps every value as text: a title of 1.10 or 2024-01-01 is not converted.
        return yaml.load(text, Loader=yaml.BaseLoader)  # noqa: S506
    except (yaml.YAMLError, OverflowError, RecursionError) as error:
        raise ValueError("not valid YAML") from error


def _entries(lines: list[str]) -> list[tuple[str, Any]]:
    """Each key with its value; a value that is not valid YAML stays plain text."""
    lines_by_key: list[tuple[str, list[str]]] = []
    for line in lines:
        if entry := _ENTRY.fullmatch(line):
            lines_by_key.append((entry[1], [entry[2] or ""]))
        elif lines_by_key:
            lines_by_key[-1][1].append(line)
    return [(key, _entry_value(key, rest)) for key, rest in lines_by_key]


def _entry_value(key: str, lines: list[str]) -> Any:  # noqa: ANN401 - whatever YAML can hold
    text = "\n".join(lines)
    if key.casefold() in TAG_KEYS:
        if text.startswith("#"):
            return text
        text = _TAG_MARK.sub("", text)
    with suppress(ValueError):
        value = _load_yaml(f"{key}: {text}")
        return value.get(key) if isinstance(value, Mapping) else text.strip()
    if key.casefold() in (*TAG_KEYS, *ALIAS_KEYS):
        with suppress(ValueError):  # the list may only lack its end
            items = _load_yaml(f"{text}]")
            if isinstance(items, list) and all(isinstance(item, str) for item in items):
                return items
    return text.strip().strip("\"'")


def _with_marked_tags(values: dict[str, Any], block: str) -> dict[str, Any]:
    """The values, with the tags written as #tag, which YAML dropped as comments."""
    for key, value in values.items():
        lost = value == "" or (isinstance(value, list) and "" in value)
        if str(key).casefold() in TAG_KEYS and lost and "#" in block:
            read = dict(_entries(LINE_BREAK.split(block)))
            values[key] = read.get(key, value)
    return values


def _from_toml(block: str) -> Mapping[str, Any] | None:
    try:
        return tomllib.loads(LINE_BREAK.sub("\n", block))
    except (ValueError, RecursionError):  # also numbers too long for Python
        return None
