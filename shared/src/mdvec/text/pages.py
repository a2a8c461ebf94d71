"""The pages of a document that was converted to Markdown: a form feed stands between two of them.

A page that has no text is there too, so that the pages count as those of the original do.
"""

from __future__ import annotations

import re
from bisect import bisect_right

PAGE_BREAK = "\f"
_UNITS = {".pdf": "page", ".pptx": "slide", ".epub": "chapter", ".ipynb": "cell"}
_BUNDLES = ("conversations.json", "conversations-000.json", ".mbox", ".zip")
_DAY_OF_MESSAGES = "0000-00-00.json"
_DIGIT = re.compile(r"\d")
_FOR_OWN_COMMANDS = (
    ".doc", ".rtf", ".odt", ".ppt", ".odp", ".pages", ".key", ".djvu", ".png", ".jpg", ".jpeg",
    ".tif", ".tiff", ".webp", ".heic", ".mp3", ".m4a", ".wav", ".mp4",
)  # fmt: skip
CONVERTED_ENDINGS = (
    *_UNITS, *_BUNDLES, ".docx", ".html", ".htm", ".xhtml", ".eml", ".jsonl", *_FOR_OWN_COMMANDS
)  # fmt: skip
"""The endings of files that are stored as the Markdown that a converter, or a command of the
user's, makes of them."""


def is_converted(file_name: str) -> bool:
    """Whether a file is stored as Markdown that was made of it, by its name."""
    return file_name.lower().endswith(CONVERTED_ENDINGS) or has_long_ending(
        file_name, (*_BUNDLES, _DAY_OF_MESSAGES)
    )


def is_bundle(file_name: str) -> bool:
    """Whether a file is stored as several documents, by its name."""
    return has_long_ending(file_name, _BUNDLES)


def has_long_ending(file_name: str, endings: tuple[str, ...]) -> bool:
    """Whether a name ends like this; a 0 stands for any digit, as in ``0000-00-00.json``."""
    return _DIGIT.sub("0", file_name.lower()).endswith(endings)


def bundle_of(path: str) -> str | None:
    """The path of the file that a document is one of many in, such as an export; None if of none.

    A document's path begins with that of its bundle, as if it were a folder; a folder may also
    have such a name.
    """
    at = path.find("/")
    while at >= 0:
        if is_bundle(path[:at]):
            return path[:at]
        at = path.find("/", at + 1)
    return None


def page_unit(file_name: str) -> str:
    """What a page of the file is called, such as "slide"; "" if it has no pages."""
    name = file_name.lower()
    return next((unit for ending, unit in _UNITS.items() if name.endswith(ending)), "")


def page_label(file_name: str, first: int, last: int) -> str:
    """How a hit cites pages: "page 12" or "slides 3-4"; "" if the file has no pages."""
    unit = page_unit(file_name)
    if not unit:
        return ""
    return f"{unit} {first}" if first == last else f"{unit}s {first}-{last}"


def page_starts(content: str) -> list[int]:
    """Where each page begins."""
    starts, at = [0], content.find(PAGE_BREAK)
    while at >= 0:
        starts.append(at + 1)
        at = content.find(PAGE_BREAK, at + 1)
    return starts


def pages_between(content: str, start: int, end: int) -> tuple[int, int]:
    """The first and the last page of ``content[start:end]``, from 1."""
    starts = page_starts(content)
    return bisect_right(starts, start), bisect_right(starts, max(end - 1, start))


def with_page_lines(content: str, file_name: str, first: int = 1) -> str:
    """The text with a line such as "[page 13]" for each break; ``first`` is the page before it."""
    unit = page_unit(file_name)
    if not unit or PAGE_BREAK not in content:
        return content
    before, *pages = content.split(PAGE_BREAK)
    return before + "".join(f"[{unit} {number}]{p}" for number, p in enumerate(pages, first + 1))
