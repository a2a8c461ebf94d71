"""What an answer says of the sources of its tables; a query waits for their automatic import."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mdvec.tools.kinds import KINDS

from mdvec_mcp.analytics.requested_data import RequestedData
from mdvec_mcp.freshness import FreshnessWatch, Look, Wording

if TYPE_CHECKING:
    from mdvec.sync.freshness import Freshness

_SECONDS = 2
"""A figure from a file that has changed is wrong; so these sources are looked at more often."""


@dataclass(frozen=True, slots=True)
class SourceLook:
    """A look at the sources of all tables, for one call.

    Args:
        asked: what the call asks for.
        materialized: the materialized tables when it began.
        wording: words what is found of a source.
    """

    asked: RequestedData
    materialized: frozenset[str]
    wording: Wording
    look: Look

    @classmethod
    def begin(
        cls,
        watch: FreshnessWatch,
        asked: RequestedData,
        materialized: Iterable[str],
        wording: Wording,
    ) -> SourceLook:
        """Begin a look; if what is asked is imported by itself, wait a moment for that."""
        begun = cls(asked, frozenset(materialized), wording, _look(watch))
        if asked.sql is None or not watch.wait_for_imports(begun.look, begun.is_asked):
            return begun
        return cls(asked, begun.materialized, wording, _look(watch))

    def is_asked(self, found: Freshness) -> bool:
        """Whether the answer may come from this source."""
        return self.asked.concerns(found, self.materialized)

    def notes(self) -> list[str]:
        """What to say of the sources that are asked for."""
        return self.look.notes(
            lambda found, is_importing: (
                self.wording(found, is_importing) if self.is_asked(found) else ""
            )
        )

    def all_notes(self) -> list[str]:
        """What to say of all sources, for a call that failed: any may have what it needs."""
        return self.look.notes(self.wording)


def _look(watch: FreshnessWatch) -> Look:
    return watch.look("tables", lambda tool: KINDS[tool.kind].has_tables, _SECONDS)
