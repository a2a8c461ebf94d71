"""The reasons why no transactions are imported from a file."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class FileKind(Enum):
    """Why a file was passed over; the value is the beginning of the text about it."""

    EMPTY = "it is empty"
    NO_ROWS = "it has a header, but no rows"
    UNMAPPED = "it is not a CSV of transactions"
    UNDECIDED = "something in it is undecided"
    ASSET_HISTORY = "it is an asset history, not transactions"
    NET_WORTH = "net worth of"
    OTHER = ""


@dataclass(frozen=True, slots=True)
class PassedOver:
    """Why a file was passed over; ``more`` is the rest of the text about it."""

    kind: FileKind
    more: str = ""

    @classmethod
    def stored(cls, text: str) -> PassedOver:
        """The reason from its ``text``, which the database stores."""
        known = (kind for kind in FileKind if kind is not FileKind.OTHER)
        kind = next((each for each in known if text.startswith(each.value)), FileKind.OTHER)
        return cls(kind, text.removeprefix(kind.value))

    @property
    def text(self) -> str:
        """The note on the file."""
        return f"{self.kind.value}{self.more}"

    @property
    def may_have_rows(self) -> bool:
        """Whether the file may have transactions: no mapping fits it, or it is undecided."""
        return self.kind in (FileKind.UNMAPPED, FileKind.UNDECIDED)
