"""Parses JSON with comments and trailing commas, and changes it without touching the rest."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_STRING = r'"(?:[^"\\]|\\.)*"'
_COMMENT = re.compile(rf"({_STRING})|//[^\n]*|/\*.*?\*/", re.DOTALL)
_TRAILING_COMMA = re.compile(rf"({_STRING})|,(?=\s*[}}\]])", re.DOTALL)
_SPACE = re.compile(r"\s*")
_DECODER = json.JSONDecoder()
_INDENT = "  "


@dataclass(frozen=True, slots=True)
class _Member:
    """A member of an object, and the positions of its name and its value."""

    name: str
    start: int
    value_start: int
    end: int


def parse(text: str) -> object:
    """The value of a JSON text; an empty object if it has nothing but comments.

    Raises:
        ValueError: the text is not JSON, even without its comments.
    """
    plain = _strict_json(text)
    return json.loads(plain) if plain.strip() else {}


def put_member(text: str, path: tuple[str, ...], value: object) -> str:
    """The text with ``value`` at ``path``, a sequence of member names; any of them may be new."""
    plain = _strict_json(text)
    if not plain.strip():
        comments = f"{text.rstrip()}\n" if text.strip() else ""
        return f"{comments}{_dump(_nest(path, value), '')}\n"
    brace, (name, *inner) = _nearest_object(plain, path)
    old = None if inner else _member(plain, brace, name)
    if old is None:
        return _insert(text, plain, brace, name, _nest(inner, value))
    return text[: old.value_start] + _dump(value, _indent(text, old.start)) + text[old.end :]


def _nearest_object(plain: str, path: tuple[str, ...]) -> tuple[int, tuple[str, ...]]:
    """Where the innermost existing object on ``path`` opens, and the names from there on."""
    brace = _after_space(plain, 0)
    while len(path) > 1 and (member := _member(plain, brace, path[0])) is not None:
        brace, path = member.value_start, path[1:]
    return brace, path


def _nest(path: Sequence[str], value: object) -> object:
    """The value inside objects with one member each."""
    for name in reversed(path):
        value = {name: value}
    return value


def drop_member(text: str, path: tuple[str, ...]) -> str:
    """The text without the member at ``path``, which must be there."""
    plain = _strict_json(text)
    brace, names = _nearest_object(plain, path)
    members = list(_members(plain, brace))
    for before, current in zip([None, *members], members, strict=False):
        if (current.name,) == names:
            return _cut(text, before, current)
    raise KeyError(names[0])


def _cut(text: str, before: _Member | None, member: _Member) -> str:
    """The text without a member, its comma, and the line that would become empty."""
    commas = _without_comments(text)
    start, end = member.start, member.end
    comma = _after_space(commas, end)
    if commas[comma] == ",":
        end = comma + 1
    elif before is not None:  # the last member: the comma before it goes too
        comma = commas.index(",", before.end)
        text = text[:comma] + text[comma + 1 :]
        start, end = start - 1, end - 1
    line = text.rfind("\n", 0, start) + 1
    if not text[line:start].strip() and text[end : end + 1] == "\n":
        start, end = line, end + 1
    return text[:start] + text[end:]


def _insert(text: str, plain: str, brace: int, name: str, value: object) -> str:
    """The text with a new first member in the object that opens at ``brace``.

    Inserting first avoids the comments and extra commas after the last member.
    """
    outer = _indent(text, brace)
    indent = outer + _INDENT
    is_empty = next(_members(plain, brace), None) is None
    member = f"\n{indent}{json.dumps(name, ensure_ascii=False)}: {_dump(value, indent)}"
    rest = text[brace + 1 :]
    if not is_empty:
        member += ","
    if not rest.startswith(("\n", "\r")):
        member += f"\n{outer if is_empty else indent}"
        rest = rest.lstrip(" ")
    return text[: brace + 1] + member + rest


def _dump(value: object, indent: str) -> str:
    dumped = json.dumps(value, ensure_ascii=False, indent=len(_INDENT))
    return dumped.replace("\n", f"\n{indent}")


def _indent(text: str, position: int) -> str:
    """The white space at the start of the line that contains a position."""
    line = text[text.rfind("\n", 0, position) + 1 : position]
    return line[: len(line) - len(line.lstrip())]


def _member(plain: str, brace: int, name: str) -> _Member | None:
    """The member of that name; the last of duplicates, as in every parser."""
    matches = [member for member in _members(plain, brace) if member.name == name]
    return matches[-1] if matches else None


def _members(plain: str, brace: int) -> Iterator[_Member]:
    """The members of the object that opens at ``brace``."""
    position = _after_space(plain, brace + 1)
    while plain[position] != "}":
        start = position
        name, position = _DECODER.raw_decode(plain, start)
        value_start = _after_space(plain, _after_space(plain, position) + 1)
        _, end = _DECODER.raw_decode(plain, value_start)
        yield _Member(str(name), start, value_start, end)
        position = _after_space(plain, end)
        if plain[position] == ",":
            position = _after_space(plain, position + 1)


def _after_space(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    return position if match is None else match.end()


def _strict_json(text: str) -> str:
    """Strict JSON of the same length: comments and trailing commas become spaces."""
    return _TRAILING_COMMA.sub(lambda match: match[1] or " ", _without_comments(text))


def _without_comments(text: str) -> str:
    return _COMMENT.sub(lambda match: match[1] or re.sub(r"[^\n]", " ", match[0]), text)
