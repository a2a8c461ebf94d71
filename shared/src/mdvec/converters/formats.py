"""The formats that can be converted, and the results and refusals of converters."""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from mdvec.text import CODE_ENDINGS, MARKUP_ENDINGS, PAGE_BREAK, has_long_ending, on_one_line

CONVERSATIONS = ("conversations.json", "conversations-000.json", ".jsonl")
MAX_TEXT = 40_000_000
"""The maximum number of characters of a converted file."""
_MAX_NAME = 80
_NOT_IN_NAMES = str.maketrans(dict.fromkeys("/\\<>#|[]", " "))
PAGE_JOINT = f"\n\n{PAGE_BREAK}\n\n"
_TITLE = re.compile(r"^# \S", re.MULTILINE)
_NO_TITLE = re.compile(
    r"microsoft \S+ - .*|<[0-9a-f]*>"
    r"|.*\.(?:do[ct][xm]?|p[op]t[xm]?|xls[xm]?|csv|pdf|od[tps]|rtf|txt|html?|tex|indd|jtd|dvi)"
    r"|(?:microsoft )?(?:powerpoint|word)?\W*(?:presentation|document|slide|untitled|(?:no )?title"
    r"|プレゼンテーション|文書|スライド|無題|名称未設定|タイトルなし|タイトル)\W*\d*"
    r"|無題の(?:プレゼンテーション|ドキュメント)|untitled (?:presentation|document)",
    re.IGNORECASE,
)
"""Titles that programs set automatically: a file's name, or the name of a new document."""


@dataclass(frozen=True, slots=True)
class Format:
    """One format of documents.

    Attributes:
        name: its name for people and ``--formats``.
        endings: the endings of its files, in lower case; 0 stands for any digit.
        module: the module in this folder that converts it; "" if it is stored unchanged.
        package: the PyPI package that the module needs; "" if none.
        is_default: whether a new tool reads it by default; False where files are many or private.
        tells_pages: whether its module reports each page or message that it has read.
    """

    name: str
    endings: tuple[str, ...]
    module: str = ""
    package: str = ""
    is_default: bool = True
    tells_pages: bool = False


FORMATS = (
    Format("pdf", (".pdf",), "pdf", "pypdfium2", tells_pages=True),
    Format("word", (".docx",), "word", "mammoth"),
    Format("slides", (".pptx",), "slides", "python-pptx"),
    Format("html", (".html", ".htm", ".xhtml"), "html", "markdownify"),
    Format("epub", (".epub",), "book", "markdownify"),
    Format("notebooks", (".ipynb",), "notebook", is_default=False),
    Format("markup", MARKUP_ENDINGS, is_default=False),
    Format("code", CODE_ENDINGS, is_default=False),
    Format("mail", (".eml", ".mbox"), "mail", "markdownify", is_default=False, tells_pages=True),
    Format("conversations", CONVERSATIONS, "conversations", is_default=False),
    Format("exports", (".zip", "0000-00-00.json"), "exports", is_default=False),
)
NEW_TOOL_ENDINGS = tuple(
    ending for known in FORMATS if known.is_default for ending in known.endings
)
"""The endings of formats that a new tool reads by default."""
OPTIONAL_ENDINGS = frozenset(
    ending for known in FORMATS if not known.is_default for ending in known.endings
)


def format_of(file_name: str) -> Format | None:
    """The format of a file, by its name; None if it has none."""
    return next((known for known in FORMATS if has_long_ending(file_name, known.endings)), None)


@dataclass(frozen=True, slots=True)
class Part:
    """One of the documents in a file: its name, which is like a path within it, and its text."""

    name: str
    content: str


@dataclass(frozen=True, slots=True)
class Converted:
    """A file as Markdown, with a form feed between pages; for a bundle, the list of its parts.

    ``notes`` are sentences for the import's report about what was left out.
    """

    content: str
    notes: tuple[str, ...] = ()
    parts: tuple[Part, ...] = ()


class NotConverted(Exception):
    """A file that cannot be converted; the message, part of a sentence, says why."""


@contextmanager
def refused_if_odd(why: str) -> Iterator[None]:
    """Refuse a JSON file whose values do not fit its format."""
    try:
        yield
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, OSError) as error:
        raise NotConverted(why) from error


def bundle(name: str, parts: Iterable[Part], notes: tuple[str, ...] = ()) -> Converted:
    """A file of several documents, with a text that links to each; repeated names get numbers."""
    taken: Counter[str] = Counter()
    named: list[Part] = []
    for part in parts:
        steps = [on_one_line(step) for step in part.name.split("/")]
        path = "/".join(step for step in steps if step.strip(" .")) or "untitled"
        taken[path] += 1
        again = f" ({taken[path]})" if taken[path] > 1 else ""
        named.append(Part(f"{path}{again}.md", part.content))
    links = (f"- [{part.name}](<{name.rpartition('/')[2]}/{part.name}>)" for part in named)
    return Converted(
        "\n".join([f"# {name.rpartition('/')[2]}", "", *links, ""]), notes, tuple(named)
    )


def part_name(*words: str) -> str:
    """A file name for a part of a document, made from free text."""
    name = on_one_line(" ".join(filter(None, words)))[:_MAX_NAME]
    return name.translate(_NOT_IN_NAMES).strip(" .") or "untitled"


def with_matter(text: str, values: Mapping[str, str | Sequence[str]]) -> str:
    """The text with the non-empty values as front matter."""
    lines = []
    for key, value in values.items():
        plain = on_one_line(value) if isinstance(value, str) else list(map(on_one_line, value))
        if plain:
            name = key if key.isidentifier() else json.dumps(key, ensure_ascii=False)
            lines.append(f"{name}: {json.dumps(plain, ensure_ascii=False)}")
    return "\n".join(["---", *lines, "---", "", text]) if lines else text


def with_own_title(text: str, title: str) -> str:
    """The text with the title from its file's properties, unless a heading has one."""
    plain = on_one_line(title).strip()
    if _TITLE.search(text) or _NO_TITLE.fullmatch(unicodedata.normalize("NFKC", plain)):
        return text
    return with_matter(text, {"title": plain})


def joined_pages(pages: list[str]) -> str:
    """The text of a document with these pages."""
    return PAGE_JOINT.join(page.replace(PAGE_BREAK, " ").strip() for page in pages) + "\n"
