"""What only the import of a household can be asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mdvec.household.core.pairs import DetectionOptions


@dataclass(frozen=True, slots=True)
class RemovalWish:
    """What the user decides about rows that are gone from their statements.

    ``accept``: the rows that the last import asked about leave the sums; ``keep``: the rows of
    these ids count again.
    """

    accept: bool = False
    keep: tuple[int, ...] = ()

    def __bool__(self) -> bool:
        return self.accept or bool(self.keep)


NO_WISH = RemovalWish()


@dataclass(frozen=True, slots=True)
class HouseholdOptions:
    """The options of an import; with ``detection`` it also looks for duplicates."""

    kind: ClassVar[str] = "household"
    detection: DetectionOptions | None = None
    removals: RemovalWish = NO_WISH

    def refusal(self, tool_name: str) -> str | None:
        """Why a tool of another kind cannot be imported with them; None if they can be ignored."""
        if not self.removals:
            return None
        return (
            f"the tool {tool_name!r} is no household: rows that are gone from their "
            "statements are a household's; leave the option out"
        )
