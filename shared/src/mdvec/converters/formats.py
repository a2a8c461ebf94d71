"""The formats that can be converted, and what a converter of a file gives or refuses."""

from __future__ import annotations

from dataclasses import dataclass

from mdvec.text import CODE_ENDINGS, MARKUP_ENDINGS, PAGE_BREAK


@dataclass(frozen=True, slots=True)
class Format:
    """One format of documents.

    Attributes:
        name: what people and ``--formats`` call it.
        endings: the endings of its files, in lower case.
        module: the module of this room that converts it; "" if it is stored as it is.
        package: the package that it needs; "" if none.
        is_default: whether a new tool reads it unasked; others are many files, or private.
    """

    name: str
    endings: tuple[str, ...]
    module: str = ""
    package: str = ""
    is_default: bool = True


FORMATS = (
    Format("pdf", (".pdf",), "pdf", "pypdfium2"),
    Format("word", (".docx",), "word", "mammoth"),
    Format("slides", (".pptx",), "slides", "python-pptx"),
    Format("html", (".html", ".htm", ".xhtml"), "html", "markdownify"),
    Format("epub", (".epub",), "book", "markdownify"),
    Format("notebooks", (".ipynb",), "notebook", is_default=False),
    Format("markup", MARKUP_ENDINGS, is_default=False),
    Format("code", CODE_ENDINGS, is_default=False),
    Format("mail", (".eml", ".mbox"), "mail", "markdownify", is_default=False),
    Format("conversations", ("conversations.json", ".jsonl"), "conversations", is_default=False),
    Format("exports", (".zip",), "exports", is_default=False),
)
NEW_TOOL_ENDINGS = tuple(
    ending for known in FORMATS if known.is_default for ending in known.endings
)
"""The endings of formats that a new tool reads unasked."""
OPTIONAL_ENDINGS = frozenset(
    ending for known in FORMATS if not known.is_default for ending in known.endings
)


def format_of(file_name: str) -> Format | None:
    """The format of a file, by its name; None if it has none."""
    name = file_name.lower()
    return next((known for known in FORMATS if name.endswith(known.endings)), None)


MAX_TEXT = 40_000_000
"""How many characters a file may become."""
PAGE_JOINT = f"\n\n{PAGE_BREAK}\n\n"


@dataclass(frozen=True, slots=True)
class Converted:
    """A file as Markdown, with a form feed between pages.

    ``notes`` are sentences for the import's report about what was left out.
    """

    content: str
    notes: tuple[str, ...] = ()


class NotConverted(Exception):
    """A file that cannot be converted; the message, part of a sentence, says why."""


def joined_pages(pages: list[str]) -> str:
    """The text of a document with these pages."""
    return PAGE_JOINT.join(page.replace(PAGE_BREAK, " ").strip() for page in pages) + "\n"
