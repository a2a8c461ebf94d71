"""What the user noted on a row."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RowNote:
    """A note ("" for none) and tags."""

    note: str
    tags: tuple[str, ...]

    @property
    def in_words(self) -> str:
        """The note and tags after a row's line."""
        note = f" 「{self.note}」" if self.note else ""
        return note + "".join(f" #{tag}" for tag in self.tags)

    @property
    def words(self) -> list[str]:
        """The note and the tags, each as a text."""
        return [one for one in (self.note, *self.tags) if one]
