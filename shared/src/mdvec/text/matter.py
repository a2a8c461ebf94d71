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
_ENTRY = re.compile(r"(\w[^:：]*):(?:[ \t](.*))?")
_SLIP = re.compile(r"([^\W\d][\w.-]*)(?:：|:(?![:/\\]))(.*)")
"""An entry with a full-width colon, or without a space after it, which YAML does not take."""
_SENTENCE = re.compile("[。！？].")
"""The end of a sentence, which no key contains."""
_TAG_MARK = re.compile(r"(?<![^\s,\[\-\"'])#(?=[^\s#,\]])")
"""The # of a tag in a value, which YAML would read as a comment."""
TAG_KEYS = ("tags", "tag", "タグ")
ALIAS_KEYS = ("aliases", "alias")
MAX_FRONT_MATTER = 65_536


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The entries of a document's front matter, which ends at ``end``.

    YAML values stay text, as written. ``is_broken`` says that the block is not valid YAML and
    its entries were parsed one by one; ``is_text`` that it may as well be text between two rules,
    so that it is searched, too.
    """

    end: int
    values: Mapping[str, Any]
    is_broken: bool = False
    is_text: bool = False

    @property
    def body(self) -> int:
        """Where the text to be searched begins."""
        return 0 if self.is_text else self.end


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
    read = _entries(lines)
    try:
        matter = _load_yaml(block)
    except ValueError:
        # People write "title: A: B", or a value's second line, which is not valid YAML.
        return read.as_matter(end)
    if matter is None:
        # YAML reads a "# heading" between two rules as a comment.
        return None if block.strip() else FrontMatter(end, {})
    if not isinstance(matter, Mapping) or any(_SENTENCE.search(str(key)) for key in matter):
        return None
    if read.repeats:  # YAML would keep the last value only
        return read.as_matter(end)
    return FrontMatter(end, _with_marked_tags(dict(matter), read))


def _load_yaml(text: str) -> Any:  # noqa: ANN401 - whatever YAML can hold
    """Parse YAML; ValueError if it is not valid."""
    import yaml

    try:
        # The base loader keeps every value as text: a title of 1.10 or 2024-01-01 is not converted.
        return yaml.load(text, Loader=yaml.BaseLoader)  # noqa: S506
    except (yaml.YAMLError, OverflowError, RecursionError) as error:
        raise ValueError("not valid YAML") from error


@dataclass(frozen=True, slots=True)
class _Entries:
    """The lines of each entry.

    ``are_most`` says that other lines do not outnumber YAML's entries; ``are_all`` that each line
    belongs to one of these.
    """

    lines: list[tuple[str, list[str]]]
    are_most: bool
    are_all: bool

    @property
    def repeats(self) -> bool:
        """Whether a key comes again."""
        return len({key for key, _ in self.lines}) < len(self.lines)

    def as_matter(self, end: int) -> FrontMatter | None:
        """The entries; None if most lines are none, as in text between two rules."""
        if not self.are_most:
            return None
        is_text = self.repeats or not self.are_all
        return FrontMatter(end, self.values(), is_broken=True, is_text=is_text)

    def values(self) -> dict[str, Any]:
        """Each key with its value, or with all that it has; what is not valid YAML stays text."""
        values: dict[str, Any] = {}
        for key, lines in self.lines:
            value = _entry_value(key, lines)
            if key in values and value != values[key]:
                value = [*_listed(values[key]), *_listed(value)]
            values[key] = value
        return values


def _listed(value: Any) -> list[Any]:  # noqa: ANN401 - whatever YAML can hold
    return value if isinstance(value, list) else [value]


def _entries(lines: list[str]) -> _Entries:
    """Tell entries from other lines; an entry goes on in indented lines, or in a list below it."""
    entries: list[tuple[str, list[str]]] = []
    slips = comments = others = 0
    value: list[str] = []
    for line in lines:
        entry = _ENTRY.fullmatch(line) or _SLIP.fullmatch(line)
        if entry and not _SENTENCE.search(entry[1]):
            value = [(entry[2] or "").strip()]
            entries.append((entry[1].rstrip(), value))
            slips += entry.re is _SLIP
        elif value and (line[:1] in " \t]}" or (line[0] == "-" and not value[0])):
            value.append(line)
        elif line.startswith("#"):
            comments += 1
        elif line.strip():
            value = []
            others += 1
    are_most = len(entries) - slips >= max(others, 1)
    return _Entries(entries, are_most, are_all=slips + comments + others == 0)


def _entry_value(key: str, lines: list[str]) -> Any:  # noqa: ANN401 - whatever YAML can hold
    text = "\n".join(lines)
    if key.casefold() in TAG_KEYS:
        if text.startswith("#"):
            return text
        text = _TAG_MARK.sub("", text)
    with suppress(ValueError):
        value = _load_yaml(f"v: {text}")
        return value["v"] if isinstance(value, Mapping) and len(value) == 1 else text.strip()
    if key.casefold() in (*TAG_KEYS, *ALIAS_KEYS):
        with suppress(ValueError):  # the list may only lack its end
            items = _load_yaml(f"{text}]")
            if isinstance(items, list) and all(isinstance(item, str) for item in items):
                return items
    return text.strip().strip("\"'")


def _with_marked_tags(values: dict[str, Any], read: _Entries) -> dict[str, Any]:
    """The values, with the tags written as #tag, which YAML dropped as comments."""
    for key, value in values.items():
        lost = value == "" or (isinstance(value, list) and "" in value)
        if str(key).casefold() in TAG_KEYS and lost:
            values[key] = read.values().get(key, value)
    return values


def _from_toml(block: str) -> Mapping[str, Any] | None:
    try:
        return tomllib.loads(LINE_BREAK.sub("\n", block))
    except (ValueError, RecursionError):  # also numbers too long for Python
        return None
