"""Search filters as a user states them: a path, tags, days, and texts to find or to exclude."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Literal

from pathspec import GitIgnoreSpec
from pathspec.patterns.gitignore import GitIgnorePatternError

from mdvec.dates import Days, parse_days
from mdvec.errors import MdvecError
from mdvec.text import MAX_TAG_CHARS, composed, folded, folded_tag, is_blank

MAX_QUERY_CHARS = 4_000
MAX_K = 50
MAX_QUERIES = 5
"""The maximum number of queries after the first."""
MAX_PATH_CHARS = 500
MAX_TAGS_ASKED = 20
MAX_DAY_CHARS = 60
MAX_TEXTS = 10
MAX_TEXT_CHARS = 200
Sort = Literal["relevance", "newest"]
Returning = Literal["chunk", "section", "document"]

_WILD = re.compile(r"[*?\[\\!]")


class InvalidFilter(MdvecError):
    """A filter cannot be parsed; the message shows valid forms."""

    is_wrong_usage = True


@dataclass(frozen=True, slots=True)
class PathPattern:
    """A path pattern as in .gitignore: a folder, a file, or a glob such as ``*.md``.

    ``written`` is the user's input; ``regexes`` take its brackets both as a set of characters and
    literally (``[2025] 会議.md``). Every matching path begins with ``prefix``. ``includes`` is
    False for a pattern after "!", which matches all paths that do not fit it.
    """

    written: str
    regexes: tuple[re.Pattern[str], ...]
    includes: bool
    prefix: str

    def matches(self, path: str) -> bool:
        """Whether a document's path matches."""
        path = composed(path)
        return any(regex.match(path) for regex in self.regexes) == self.includes

    @property
    def with_its_sign(self) -> PathPattern | None:
        """The pattern with its "!" as part of a name (``!inbox/``); None if it has no "!"."""
        return None if self.includes else _pattern(f"\\{self.written.strip().removeprefix('./')}")


@dataclass(frozen=True, slots=True)
class Filters:
    """Conditions on the documents to search; None and () let every document pass.

    A document must have all ``tags``, where ``a`` also matches subtags such as ``a/b``; it must
    link to ``links_to``; and for each entry in ``where``, its front matter must have one of the
    values. A passage must have the ``exact`` texts as written, and none of ``exclude``.
    """

    path: PathPattern | None = None
    tags: tuple[str, ...] = ()
    since: date | None = None
    until: date | None = None
    exact: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    links_to: str | None = None
    where: tuple[tuple[str, tuple[str, ...]], ...] = ()
    open_tasks: bool = False

    @property
    def of_documents(self) -> Filters:
        """The filters that apply to whole documents."""
        return replace(self, exact=(), exclude=(), open_tasks=False)

    @property
    def is_of_passages(self) -> bool:
        """Whether some filters apply to single passages."""
        return self != self.of_documents

    @property
    def is_empty(self) -> bool:
        """Whether every document passes."""
        return self == NO_FILTERS

    def also(
        self, path: str | None, tags: Sequence[str], exact: Sequence[str], exclude: Sequence[str]
    ) -> Filters:
        """These filters with more that a user gives; ``path`` is ignored if there already is one.

        Raises:
            InvalidFilter: one of them cannot be parsed.
        """
        return replace(
            self,
            path=self.path or (None if path is None else _pattern(path)),
            tags=_tags([*self.tags, *tags]),
            exact=_texts("exact", [*self.exact, *exact]),
            exclude=_texts("exclude", [*self.exclude, *exclude]),
        )

    def each(self) -> Iterator[tuple[Filters, str]]:
        """Each filter by itself, and in words; ``since`` and ``until`` count as one."""
        if self.path:
            yield Filters(path=self.path), f"path {self.path.written}"
        for tag in self.tags:
            yield Filters(tags=(tag,)), f"tag {tag}"
        if self.since or self.until:
            ends = (("since", self.since), ("until", self.until))
            days = ", ".join(f"{end} {day}" for end, day in ends if day)
            yield Filters(since=self.since, until=self.until), days
        for words in self.exact:
            yield Filters(exact=(words,)), f'exact "{words}"'
        for words in self.exclude:
            yield Filters(exclude=(words,)), f'exclude "{words}"'
        if self.links_to:
            yield Filters(links_to=self.links_to), f"links_to {self.links_to}"
        for key, values in self.where:
            yield Filters(where=((key, values),)), f"where {key} = {' or '.join(values) or 'any'}"
        if self.open_tasks:
            yield Filters(open_tasks=True), "open tasks"

    @property
    def in_words(self) -> str:
        """The filters in words, for messages."""
        return ", ".join(words for _, words in self.each())

    @property
    def days_in_words(self) -> str:
        """The range of days in words; at least one end must be given."""
        if self.since and self.until:
            return f"{self.since} to {self.until}"
        return f"{self.since} or later" if self.since else f"{self.until} or earlier"


NO_FILTERS = Filters()


def filters_of(
    today: date,
    *,
    path: str | None = None,
    tags: Sequence[str] | None = None,
    since: str | None = None,
    until: str | None = None,
    exact: Sequence[str] | None = None,
    exclude: Sequence[str] | None = None,
    links_to: str | None = None,
    where: Mapping[str, object] | None = None,
    open_tasks: bool = False,
) -> Filters:
    """Parse the filters that a user gives; days are relative to ``today``.

    Raises:
        InvalidFilter: one of them cannot be parsed.
    """
    first, last = _days("since", since, today), _days("until", until, today)
    if first and last and last.last < first.first:
        raise InvalidFilter(
            f"since {first.first} is after until {last.last}; name the earlier day as since"
        )
    return Filters(
        path=None if path is None else _pattern(path),
        tags=_tags(tags or ()),
        since=None if first is None else first.first,
        until=None if last is None else last.last,
        exact=_texts("exact", exact or ()),
        exclude=_texts("exclude", exclude or ()),
        links_to=None if links_to is None else _document_name(links_to),
        where=tuple((key, _values(key, value)) for key, value in (where or {}).items()),
        open_tasks=open_tasks,
    )


def _days(name: str, text: str | None, today: date) -> Days | None:
    if text is None:
        return None
    days = parse_days(text, today)
    if days is None:
        raise InvalidFilter(
            f"{name} {_quote(text)} is not understood as a day; give it as 2025-06-01, 2025-06, "
            "2025年6月, 先週, 昨日, last week or 3 days ago"
        )
    return days


def _document_name(name: str) -> str:
    if not name.strip():
        raise InvalidFilter(
            "links_to is blank; give the path of a note, its name or an alias, as links have it"
        )
    return name


def _values(key: str, value: object) -> tuple[str, ...]:
    """The values that an entry may have; empty for any value."""
    if value is None:
        return ()
    several = value if isinstance(value, list | tuple) else [value]
    if not all(isinstance(item, str | int | float) for item in several):
        raise InvalidFilter(
            f"where {_quote(key)} takes a value, a list of values, or null for any value"
        )
    values = [str(item).lower() if isinstance(item, bool) else str(item) for item in several]
    if not all(map(str.strip, values)):
        raise InvalidFilter(
            f"where {_quote(key)} has an empty value, and empty entries are not stored; give a "
            "value, or null (--where KEY) for notes that have any"
        )
    return tuple(values)


def where_entries(typed: Sequence[str]) -> dict[str, list[str] | None]:
    """Parse typed entries of front matter (key=value); a key without "=" may have any value."""
    entries: dict[str, list[str] | None] = {}
    for entry in filter(None, map(str.strip, typed)):
        key, sign, value = entry.partition("=")
        known = entries.get(key.strip()) or ()
        entries[key.strip()] = [*known, value.strip()] if sign else None
    return entries


def _texts(name: str, listed: Sequence[str]) -> tuple[str, ...]:
    if len(listed) > MAX_TEXTS:
        raise InvalidFilter(f"{len(listed)} texts in {name} are too many; give at most {MAX_TEXTS}")
    texts = tuple(dict.fromkeys(" ".join(text.split()) for text in listed))
    for text in texts:
        if is_blank(folded(text)) or len(text) > MAX_TEXT_CHARS:
            raise InvalidFilter(
                f"{name} {_quote(text)} is not a text to look for; give words as they are written"
            )
    return texts


def _tags(listed: Sequence[str]) -> tuple[str, ...]:
    if len(listed) > MAX_TAGS_ASKED:
        raise InvalidFilter(f"{len(listed)} tags are too many; give at most {MAX_TAGS_ASKED}")
    tags = [folded_tag(written) for written in listed]
    for tag, written in zip(tags, listed, strict=True):
        if not tag or len(tag) > MAX_TAG_CHARS:
            raise InvalidFilter(
                f"{_quote(written)} is not a tag; write it as in the notes, e.g. 会議"
            )
    return tuple(dict.fromkeys(tags))


def _pattern(written: str) -> PathPattern:
    pattern_text = composed(written).removeprefix("./").strip()
    refused = InvalidFilter(
        f"path {_quote(written)} is not a path pattern; write it as in .gitignore, "
        "e.g. notes/2025/ or *.md, relative to the collection's folder"
    )
    if len(written) > MAX_PATH_CHARS:
        raise refused
    pattern = (
        f"\\{pattern_text}" if pattern_text.startswith("#") else pattern_text
    )  # else gitignore would read a comment
    as_written = re.sub(r"(?<!\\)[\[\]]", r"\\\g<0>", pattern)
    try:
        patterns = GitIgnoreSpec.from_lines([pattern, as_written]).patterns
    except (GitIgnorePatternError, re.error) as error:
        raise refused from error
    regexes = tuple(each.regex for each in patterns if each.regex is not None)
    if len(patterns) != 2 or patterns[0].include is None or len(regexes) != 2:
        raise refused
    return PathPattern(written, regexes, patterns[0].include, _prefix(pattern_text))


def _prefix(pattern: str) -> str:
    """The folders that every path matching an anchored pattern begins with; "" if unknown."""
    literal = _WILD.split(pattern, maxsplit=1)[0]
    is_bound = "/" in pattern.rstrip("/")
    folders = literal.lstrip("/").rpartition("/")[0]
    return f"{folders}/" if is_bound and folders and folders.isascii() else ""


def _quote(text: str) -> str:
    flat = " ".join(text.split())[:MAX_DAY_CHARS]
    return repr(flat)
