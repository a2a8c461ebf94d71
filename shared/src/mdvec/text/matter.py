"""Parses a document's front matter: YAML between `---` or TOML between `+++`, at the very start.

Valid YAML is front matter if it maps keys that are no sentences; its comments are not read.
Any other block is read line by line. An entry begins as in YAML, or with a slip (`：`, or no space
after `:`), and continues in indented lines, closing brackets and, if its key has no value beside
it, list items. The block is not front matter if other lines outnumber the entries without a slip. A
line that is neither of these nor a comment continues a title or alias right above it. With such a
line, a slip or a comment in a block read line by line, with a repeated key in any block (all its
values count), or with blank lines at both ends, the block is text as well. In tags and aliases, a
list needs neither a closing bracket nor spaces after its hyphens, and #tag is no comment. At the
start of a line it is a comment, unless all lines below the key are like it.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from unicodedata import category

LINE_BREAK = re.compile(r"\r\n|\r|\n")
_YAML_MATTER = re.compile(
    r"---[ \t]*(?:\r\n|\r|\n)(.*?)(?<![^\r\n])(?:---|\.\.\.)[ \t]*(?:\r\n|\r|\n|\Z)", re.DOTALL
)
_TOML_MATTER = re.compile(
    r"\+\+\+[ \t]*(?:\r\n|\r|\n)(.*?)(?<![^\r\n])\+\+\+[ \t]*(?:\r\n|\r|\n|\Z)", re.DOTALL
)
_ENTRY = re.compile(r"""(\w[^:：]*|"[^"]+"[ \t]*|'[^']+'[ \t]*):(?:[ \t](.*))?""")
_SLIP = re.compile(r"([^\W\d][\w.-]*)(?:：|:(?![:/\\]))(.*)")
_COLON = re.compile(r":(?:\s|\Z)")
_SENTENCE = re.compile("[。！？].")
"""The end of a sentence, which no key contains."""
_TAG_MARK = re.compile(r"(?<![^\s,\[\-\"'])#(?=[^\s#,\]])")
_TAG_LINE = re.compile(r"(?:[\s,、，]*#[^\s#:：,、，-][^\s#:：,、，]*)+[\s,、，]*")
_COMMENT = re.compile(r"^[ \t]*#(?:(?=[\s#-]|\Z)|.*:(?=\s|\Z)).*", re.MULTILINE)
"""A comment among tags; it may be an entry or item that the author has disabled."""
_MARK = re.compile(r"(?:\A|\s)#")
"""A heading or tag in text, which YAML would read as a comment."""
_HYPHEN = re.compile(r"(\n[ \t]*-)(?=[^\s-])")
_ITEM = re.compile(r"(\n[ \t]*)-[ \t]+")
TAG_KEYS = ("tags", "tag", "タグ")
ALIAS_KEYS = ("aliases", "alias")
MAX_FRONT_MATTER = 65_536


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The entries of a document's front matter, which ends at ``end``.

    YAML values stay text, as written. ``is_broken``: a YAML parser would refuse the block, or read
    only one value of a repeated key. ``is_text``: the block may also be text between two rules, and
    so is searched as well.
    """

    end: int
    entries: Sequence[tuple[str, Any]]
    is_broken: bool = False
    is_text: bool = False

    @property
    def body(self) -> int:
        """Where the text to be searched begins."""
        return 0 if self.is_text else self.end


NO_FRONT_MATTER = FrontMatter(0, ())


def front_matter(content: str) -> FrontMatter:
    """Parse the front matter of a document; ``NO_FRONT_MATTER`` if it has none."""
    head = content[:MAX_FRONT_MATTER]
    if (match := _YAML_MATTER.match(head)) and (read := _from_yaml(match[1], match.end())):
        return read
    if (match := _TOML_MATTER.match(head)) and (values := _from_toml(match[1])) is not None:
        return FrontMatter(match.end(), tuple(values.items()))
    return NO_FRONT_MATTER


def _from_yaml(block: str, end: int) -> FrontMatter | None:
    """Parse a block between ``---``; None if it is not front matter.

    Blank lines at both ends are those of text between two rules (without the last, it would be a
    heading), or of Obsidian's plugins (Excalidraw, Kanban). Such a block is text; it is front
    matter, too, if it is valid YAML without anything that YAML would leave out.
    """
    lines = LINE_BREAK.split(block)
    if not block.strip():
        return FrontMatter(end, ())
    is_apart = not any(map(str.strip, (lines[0], *lines[-2:])))
    if is_apart and _MARK.search(block):
        return None
    try:
        entries = _load_yaml("\n".join(lines))
    except ValueError:
        return None if is_apart else _from_lines(lines, end)
    if entries is None or any(_SENTENCE.search(key) for key, _ in entries):
        return None
    repeats = _repeats(entries)
    return FrontMatter(end, entries, is_broken=repeats, is_text=repeats or is_apart)


def _load_yaml(text: str) -> list[tuple[str, Any]] | None:
    """The entries of YAML, None if it maps nothing; ValueError if it is not valid."""
    import yaml

    # The base loader keeps every value as text: a title of 1.10 or 2024-01-01 is not converted.
    try:
        loader = yaml.BaseLoader(text)  # refuses control characters
        node = loader.get_single_node()
        if not isinstance(node, yaml.MappingNode):
            return None
        keys = [key for key, _ in node.value]
        values = [loader.construct_object(value, deep=True) for _, value in node.value]
    except (yaml.YAMLError, OverflowError, RecursionError) as error:
        raise ValueError("not valid YAML") from error
    if not all(isinstance(key, yaml.ScalarNode) for key in keys):
        raise ValueError("a key that is no text")
    ends = [*(key.start_mark.index for key in keys[1:]), len(text)]
    return [
        (key.value, _mended(key.value, text[key.end_mark.index : end].partition(":")[2], value))
        for key, value, end in zip(keys, values, ends, strict=True)
    ]


def _repeats(entries: Sequence[tuple[str, Any]]) -> bool:
    """Whether a key is repeated."""
    return len({key for key, _ in entries}) < len(entries)


def _from_lines(lines: list[str], end: int) -> FrontMatter | None:
    """Parse a block that is not valid YAML; None if most of its lines are not entries."""
    written: list[tuple[str, list[str]]] = []
    slips = comments = others = 0
    value: list[str] = []
    for line in lines:
        entry = _ENTRY.fullmatch(line) or _SLIP.fullmatch(line)
        if entry and not _SENTENCE.search(entry[1]):
            value = [(entry[2] or "").strip()]
            key = entry[1].rstrip()
            written.append((key[1:-1] if key[0] in "\"'" else key, value))
            slips += entry.re is _SLIP
        elif value and _goes_on(line, *written[-1]):
            value.append(line)
        elif line.startswith(("#", "<!--")):
            comments += 1
        elif line.strip():
            others += 1
            names = value and written[-1][0].casefold() in ("title", *ALIAS_KEYS)
            goes_on = line[0] != "-" and not (category(line[0]) == "So" and _COLON.search(line))
            if names and goes_on and (value[-1].strip() or not value[1:]):
                value.append(f" {line}")
            else:
                value = []
    if len(written) - slips < max(others, 1):
        return None
    entries = [(key, _entry_value(key, "\n".join(value))) for key, value in written]
    is_text = slips + comments + others > 0 or _repeats(entries)
    return FrontMatter(end, entries, is_broken=True, is_text=is_text)


def _goes_on(line: str, key: str, above: Sequence[str]) -> bool:
    """Whether a line belongs to the entry above it."""
    if line[:1] in " \t]}":
        return True
    if line[0] == "-":
        return above[0][:1] in ("", "#")
    return key.casefold() in TAG_KEYS and all(map(_has_only_tags, (line, above[0], above[-1])))


@lru_cache(maxsize=4)  # an entry's first line is checked again for each line below it
def _has_only_tags(line: str) -> bool:
    """Whether a line is blank or has only tags such as #tag."""
    return not line.strip() or _TAG_LINE.fullmatch(line) is not None


def _entry_value(key: str, text: str) -> Any:  # noqa: ANN401 - whatever YAML can hold
    """The value of an entry by itself; what is not valid YAML stays text."""
    value = _mended(key, text, _alone(text))
    return _unquoted(text.strip()) if value is None else value


def _unquoted(text: str) -> str:
    """A value without the quotes around it; the closing quote may be missing.

    Quotes do not enclose the whole value ("部" の章) if the next such quote ends a word, as it does
    not in 'It's a test' and in "The "Best" Guide".
    """
    sign, rest = text[:1], text[1:]
    if sign not in ("'", '"'):
        return text
    before, separator, after = rest.partition(sign)
    if not separator:
        return rest
    around = before[-1:] + after[:1]
    is_apostrophe = around.isascii() and around.isalnum()
    opens_again = before[-1:].isspace()
    if after.endswith(sign) and (is_apostrophe or opens_again):
        return rest.removesuffix(sign)
    return text


def _alone(text: str) -> Any:  # noqa: ANN401 - whatever YAML can hold
    """The value as YAML reads it; None if it is not valid YAML."""
    with suppress(ValueError):
        if (entries := _load_yaml(f"v: {text}")) and len(entries) == 1:
            return entries[0][1]
    return None


def _mended(key: str, text: str, value: Any) -> Any:  # noqa: ANN401 - whatever YAML can hold
    """A value as YAML reads it, None if it is invalid; slips in tags and aliases are corrected."""
    kind = key.casefold()
    is_lost = not value or (value[0] == "-" if isinstance(value, str) else "" in value)
    if kind not in (*TAG_KEYS, *ALIAS_KEYS) or not is_lost:
        return value
    text = _HYPHEN.sub(r"\1 ", text)
    if kind in TAG_KEYS:
        text = _TAG_MARK.sub("", _without_comments(text))
    if (read := _alone(text)) is not None:
        return read
    items = _alone(f"{text}]")  # perhaps only the closing bracket is missing
    is_list = isinstance(items, list) and all(isinstance(item, str) for item in items)
    if is_list or kind not in TAG_KEYS or value is None:
        return items if is_list else value
    return _ITEM.sub(r"\1", text).strip()


def _without_comments(text: str) -> str:
    """Tags without comments.

    A line that begins with "#" is a comment, unless it and all lines kept so far have only tags.
    """
    lines: list[str] = []
    is_bare = True
    for line in _COMMENT.sub("", f" {text}").split("\n"):
        has_only_tags = _has_only_tags(line)
        if line[:1] != "#" or (is_bare and has_only_tags):
            lines.append(line)
            is_bare = is_bare and has_only_tags
    return "\n".join(lines)


def _from_toml(block: str) -> Mapping[str, Any] | None:
    try:
        return tomllib.loads(LINE_BREAK.sub("\n", block))
    except (ValueError, RecursionError):  # also numbers too long for Python
        return None
