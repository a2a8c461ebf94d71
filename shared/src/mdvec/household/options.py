"""A user's options for a household's import, separate so that other imports load only this."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from mdvec.household.core.pair import DetectionOptions


@dataclass(frozen=True, slots=True)
class RemovalOptions:
    """The user's decision about rows that are gone from their statements.

    ``accept``: rows whose removal is pending leave the sums; ``keep``: the rows with these ids
    count again.
    """

    accept: bool = False
    keep: tuple[int, ...] = ()

    def __bool__(self) -> bool:
        return self.accept or bool(self.keep)


NO_REMOVAL_OPTIONS = RemovalOptions()


@dataclass(frozen=True, slots=True)
class HouseholdOptions:
    """The options; with ``detection`` the import also looks for duplicates."""

    kind: ClassVar[str] = "household"
    detection: DetectionOptions | None = None
    removals: RemovalOptions = NO_REMOVAL_OPTIONS

    def refusal(self, tool_name: str) -> str | None:
        """Why a tool of another kind cannot be imported with these options; None if it can."""
        if not self.removals:
            return None
        return (
            f"the tool {tool_name!r} is not a household: rows that are gone from their "
            "statements are a household's; leave the option out"
        )
