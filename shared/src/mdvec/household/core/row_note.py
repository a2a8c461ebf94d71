"""What the user noted on a row."""

from __future__ import annotations

from dataclasses import dataclass

from mdvec.text.one_line import bracketed_name, shown_name


@dataclass(frozen=True, slots=True)
class RowNote:
    """A note ("" for none) and tags."""

    note: str
    tags: tuple[str, ...]

    @property
    def in_words(self) -> str:
        """The note and tags after a row's line."""
        note = f" {bracketed_name(self.note)}" if self.note else ""
        return note + "".join(f" #{shown_name(tag)}" for tag in self.tags)

    @property
    def words(self) -> list[str]:
        """The note and the tags, each as a text."""
        return [one for one in (self.note, *self.tags) if one]
