"""What a converter gives, and how it refuses a file."""

from __future__ import annotations

from dataclasses import dataclass

from mdvec.text import PAGE_BREAK

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
