"""Reads a note's properties: tags, aliases, date, and other scalars and lists.

They come from the front matter; tags also from the text, in Obsidian's form (#tag), or Org's.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from itertools import chain
from operator import itemgetter
from string import punctuation

from mdvec.text.fields import named_dates
from mdvec.text.folding import folded
from mdvec.text.markdown import block_parser, is_markdown
from mdvec.text.matter import ALIAS_KEYS, TAG_KEYS, FrontMatter
from mdvec.text.org import is_org, org_headlines

MAX_TAGS = 2_000
"""The most tags of a document; a text with more is no note, but a log with numbers like #123."""
MAX_TAG_CHARS = 100
_MAX_VALUE_CHARS = 2_000
_DATE_KEYS = (
    "date", "日付",
    "created", "作成日", "createdat", "createdtime", "作成日時", "datecreated",
    "publishedat", "publishdate", "pubdate", "published",
    "updated", "更新日", "updatedat", "updateddate", "lasteditedtime", "最終更新日時",
    "lastmod", "modified", "datemodified",
)  # fmt: skip
"""The keys that may hold a note's date, compared without case, spaces, "_" and "-".

Keys for the note's day come first, then those for its creation, then those for its last change.

Zenn writes published_at; Qiita created_at and updated_at; Hugo publishDate, pubdate, published,
lastmod and modified (gohugo.io/configuration/front-matter); Astro's blog pubDate and updatedDate;
Pelican modified; Obsidian's Linter "date created" and "date modified"; Notion "Created time",
"Last edited time" and, in Japanese, 作成日時 and 最終更新日時.
"""
_TEXT_KEYS = (
    "description", "metadescription", "summary", "excerpt", "customexcerpt", "abstract", "subtitle",
    "lead", "tagline",
    "keywords", "topics", "categories", "category",
    "説明", "概要", "要約", "抜粋", "要旨", "副題", "キーワード", "カテゴリ", "カテゴリー",
)  # fmt: skip
"""The keys of an author's description of a note, compared like ``_DATE_KEYS``.

Hugo and Docusaurus write description, summary and keywords, Ghost custom_excerpt and
meta_description, Jekyll excerpt, category and categories, Zenn topics, VitePress tagline, Quarto
abstract and subtitle. Others (author, layout, status) are the same in most notes, and would hide
the note whose text has such a word.
"""
_BEFORE_A_TAG = re.compile(r"\s+(?=#)")
_IN_KEYS = re.compile(r"[\s_-]")
_LETTERS = re.compile(r"[^\W\d_].*[^\W\d_]")
_COMMA = re.compile("[,、，]")
_EMOJI = "\u2300-\u23ff\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff"
"""Unicode's blocks of emoji, without those of arrows and shapes that stand between words."""
_IN_TAG = rf"[\w/{_EMOJI}\u200d\u20e3\ufe0e\ufe0f\U000e0020-\U000e007f-]"
"""The characters of a tag; the last ones join emoji or choose their shape."""
_INLINE_TAG = re.compile(
    rf"(?:(?<=\s)|^)#(?!\d+[\u3041-\u3096]|[\u200d\u20e3\ufe0e\ufe0f])({_IN_TAG}*(?:[^\W\d_]|[{_EMOJI}]){_IN_TAG}*)",
    re.MULTILINE,
)
"""A tag in a text; a number before hiragana (#31の件) is the number of an issue, not a tag."""
_TAGS_BEFORE = re.compile(rf"[\s>*+-]*(?:\d+[.)]\s+)?(?:#{_IN_TAG}+\s+)*")
"""What may precede a tag at the beginning of a line: list markers and other tags."""
_TAGS_AFTER = re.compile(rf"(?:\s+#{_IN_TAG}+)*\s*")
_SENTENCE = re.compile(r"[。！？!?]|[.](?:\s|$)")
_CODE_SPAN = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)", re.DOTALL)
_HIDDEN = re.compile(r"<!--.*?-->|%%.*?%%", re.DOTALL)
_DAY = re.compile(r"([0-9]{4})(?:[-/.]|年)([0-9]{1,2})(?:(?:[-/.]|月)([0-9]{1,2}))?(?![0-9])")

PropertyValue = str | tuple[str, ...]
_Entries = Iterable[tuple[str, PropertyValue]]
_TIME = "(?:(?:[01][0-9]|2[0-3])(?:[0-5][0-9]){1,2})?"
"""The time after a day in digits, as in the number of a note (202412051230)."""
_DAY_IN_NAME = re.compile(
    r"(?<![0-9])((?:19|20)[0-9]{2})(?:([-_.])([0-9]{1,2})\2([0-9]{1,2})"
    rf"|([0-9]{{2}})([0-9]{{2}}){_TIME}|-([0-9]{{2}}))(?![0-9])"
)
"""A day in digits, but not a version such as 2024.1."""
_WEEKDAY = re.compile(
    r"^\(?(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?(?![a-z])"
    r"|[月火水木金土日](?:曜日?)?)[\s,、.)]*"
)
_BEFORE_DATE = re.compile(r"^[<\[\"']+|[<\[](?=[0-9]{4}-[0-9]{2}-[0-9]{2})")
"""What Org's dates begin with (<2025-06-01 Sun>, Time-stamp: <2025-06-01 10:00:00>), or a quote."""
_LINK = re.compile(r"\[\[([^\[\]|#]+)")
"""A link to a day's note (date: "[[2024-12-05]]")."""


@dataclass(frozen=True, slots=True)
class Properties:
    """A note's properties as text; tags are distinct and without "#", the front matter's first.

    ``date`` is from the front matter, or else from the file's name. ``values`` are the entries of
    the front matter that are scalars, have a name, or are lists of these; other mappings have the
    value ().
    """

    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    date: date | None = None
    values: Mapping[str, PropertyValue] = field(default_factory=dict)

    @property
    def day(self) -> str | None:
        """The date in ISO format."""
        return None if self.date is None else self.date.isoformat()


def properties_of(content: str, matter: FrontMatter, file_path: str = "") -> Properties:
    """The properties of a document, given its front matter and path; never fails.

    Tags in the text count in Org and in Markdown; a text without a path is Markdown.
    """
    entries = [*_values(matter)]
    written = [tag for value in _of(TAG_KEYS, entries) for tag in _tags_of(value)]
    inline: Iterable[str] = ()
    if is_org(file_path):
        inline = (tag for headline in org_headlines(content) for tag in headline.tags)
    elif not file_path or is_markdown(file_path):
        inline = _inline_tags(content[matter.end :], {folded_tag(tag) for tag in written})
    days = {
        _bare_key(key): day
        for key, value in entries
        if _bare_key(key) in _DATE_KEYS and (day := _day_of(value))
    }
    return Properties(
        tags=_distinct_tags([*written, *inline]),
        aliases=tuple(
            dict.fromkeys(name for value in _of(ALIAS_KEYS, entries) for name in _several(value))
        ),
        date=next((days[key] for key in _DATE_KEYS if key in days), None) or day_in_name(file_path),
        values=_joined(entries),
    )


def described(values: Mapping[str, PropertyValue]) -> tuple[str, ...]:
    """The descriptions in a front matter, which are not in the note's text."""
    descriptions = (value for key, value in values.items() if _bare_key(key) in _TEXT_KEYS)
    texts = (" ".join(value) if isinstance(value, tuple) else value for value in descriptions)
    return tuple(dict.fromkeys(filter(None, texts)))


def _bare_key(key: str) -> str:
    return _IN_KEYS.sub("", key.casefold())


def day_in_name(file_path: str) -> date | None:
    """The first day, or first day of a month, in a file's name (2024-12-05-standup.md).

    A day in another form (令和6年12月5日) needs two letters: r2.1.5 may be a version, and counts as
    a day only in front matter.
    """
    name = folded(file_path.rpartition("/")[2])
    days = [(at, day) for at, end, day in _days_in_words(name) if _LETTERS.search(name, at, end)]
    days += ((match.start(), day) for match in _DAY_IN_NAME.finditer(name) if (day := _day(match)))
    return min(days, key=itemgetter(0))[1] if days else None


def _days_in_words(folded_text: str) -> Iterator[tuple[int, int, date]]:
    """Each day (or first day of a month) in a text, in any form, after its start and end."""
    for named in named_dates(folded_text):
        year, month, day = named.digits[:4], named.digits[4:6], named.digits[6:] or "1"
        yield named.start, named.end, date(int(year), int(month), int(day))


def _day(match: re.Match[str] | None) -> date | None:
    """The day of matched digits; None if it does not exist."""
    if match is None:
        return None
    month, day = [*filter(str.isdigit, filter(None, match.groups()[1:])), "1"][:2]
    try:
        return date(int(match[1]), int(month), int(day))
    except ValueError:
        return None


def folded_tag(tag: str) -> str:
    """A tag in the form used for comparison: without "#", half-width, lower case."""
    return unicodedata.normalize("NFKC", tag).strip().lstrip("#").strip("/ ").casefold()


def _values(matter: FrontMatter) -> Iterator[tuple[str, PropertyValue]]:
    """The entries that are scalars, or have a name, or lists of these, as text.

    Another mapping only yields its key, with the value ().
    """
    for key, value in matter.entries:
        if isinstance(value, list):
            items = map(_item_text, value)
            yield _text(key), tuple(item for item in items if item)
        elif text := _text(value):
            yield _text(key), text
        elif isinstance(value, Mapping) and value:
            yield _text(key), ()


def _of(keys: Sequence[str], entries: _Entries) -> Iterator[PropertyValue]:
    """The values of some keys, in the order of ``keys``."""
    return (value for wanted in keys for key, value in entries if key.casefold() == wanted)


def _joined(entries: _Entries) -> Mapping[str, PropertyValue]:
    """Each key with its value, or with all of its values if it is repeated."""
    by_key: dict[str, dict[PropertyValue, None]] = {}
    for key, value in entries:
        by_key.setdefault(key, {})[value] = None
    return {key: _as_one([*values]) for key, values in by_key.items()}


def _as_one(values: Sequence[PropertyValue]) -> PropertyValue:
    if len(values) == 1:
        return values[0]
    lists = ((value,) if isinstance(value, str) else value for value in values)
    return tuple(dict.fromkeys(chain.from_iterable(lists)))


def _item_text(item: object) -> str:
    """The text of a list item; with a colon ("- 広報費: 増額"), an item is a mapping in YAML."""
    if isinstance(item, Mapping) and len(item) == 1 and "name" not in item:
        ((key, value),) = item.items()
        values = map(_text, value if isinstance(value, list) else [value])
        return ": ".join(filter(None, (_text(key), ", ".join(filter(None, values)))))
    return _text(item)


def _text(value: object) -> str:
    """A scalar, or the name of a mapping, as text on one line; "" if it is empty or neither."""
    if isinstance(value, Mapping):  # Qiita's export writes a tag as {name: 数学, versions: []}
        value = value.get("name")
    if value is None or isinstance(value, list | dict | tuple):
        return ""
    try:
        text = str(value)  # TOML dates become ISO
    except ValueError:  # a number with too many digits
        return ""
    text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    text = " ".join(text[:_MAX_VALUE_CHARS].split())
    return "" if text in ("~", "null") else text


def _several(value: PropertyValue) -> Iterable[str]:
    """The items of a list, or of comma-separated text."""
    parts = value if isinstance(value, tuple) else _COMMA.split(value)
    return filter(None, (part.strip() for part in parts))


def _tags_of(value: PropertyValue) -> list[str]:
    """The tags of a list, or of text: between commas, else between spaces (tags: 仕事 会議)."""
    tags = [*_several(value)]
    is_one = isinstance(value, str) and len(tags) == 1 and not _SENTENCE.search(value)
    return tags[0].split() if is_one else tags


def _distinct_tags(tags: Iterable[str]) -> tuple[str, ...]:
    by_key: dict[str, str] = {}
    for text in tags:
        for tag in _BEFORE_A_TAG.split(text):
            key = folded_tag(tag)
            if not key.strip(punctuation) or len(key) > MAX_TAG_CHARS or _SENTENCE.search(tag):
                continue
            if len(by_key) < MAX_TAGS:
                by_key.setdefault(key, tag.strip().lstrip("#").strip("/ "))
    return tuple(by_key.values())


def _inline_tags(body: str, written: Collection[str]) -> list[str]:
    """The tags in the text of a note, outside code and comments.

    A tag in letters (#error) inside a sentence is text, unless it has a "/", or the note has the
    same tag in its front matter (``written``, folded) or at the beginning or end of a line.
    """
    if not _INLINE_TAG.search(body):
        return []
    texts = (token.content for token in block_parser().parse(body) if token.type == "inline")
    lines = (
        line for text in texts for line in _CODE_SPAN.sub(" ", _HIDDEN.sub(" ", text)).split("\n")
    )
    candidates = [
        (match[1], not match[1].isascii() or _is_at_an_edge(line, match.start(), match.end()))
        for line in lines
        for match in _INLINE_TAG.finditer(line)
        if not _SENTENCE.match(line, match.end())
    ]
    known = {folded_tag(tag) for tag, is_tag in candidates if is_tag}.union(written)
    return [tag for tag, is_tag in candidates if is_tag or "/" in tag or folded_tag(tag) in known]


def _is_at_an_edge(line: str, start: int, end: int) -> bool:
    """Whether a tag begins or ends its line, perhaps together with other tags."""
    before = _TAGS_BEFORE.match(line)
    begins = before is not None and before.end() >= start
    return begins or _TAGS_AFTER.fullmatch(line, end) is not None


def _day_of(value: PropertyValue) -> date | None:
    """The day at the beginning of a value, of a list's first value, or of a link's name.

    It is the day as written, whatever the time zone (2025-07-11T20:00:00Z is the 11th), so that it
    is the same on every computer. A day of the week may precede it.
    """
    first = value if isinstance(value, str) else next(iter(value), "")
    text = folded(first).strip()
    if link := _LINK.match(text):
        text = link[1].rpartition("/")[2].strip()
    text = _WEEKDAY.sub("", _BEFORE_DATE.split(text, maxsplit=1)[-1])
    in_words = next((day for at, _, day in _days_in_words(text) if at == 0), None)
    return in_words or _day(_DAY.match(text)) or _day(_DAY_IN_NAME.match(text))
