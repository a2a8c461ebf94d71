"""What the server's watch sees of the sources of tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mdvec.tools import KINDS

from mdvec_mcp.freshness import FreshnessWatch, Look, freshness_in_english

if TYPE_CHECKING:
    from mdvec.sync import Freshness

    Concerns = Callable[[Freshness], bool]

_SECONDS = 2
"""A figure from a file that has changed is wrong; so these sources are looked at more often."""


@dataclass(frozen=True, slots=True)
class TableSources:
    """Looks at the sources of all tables, at most every two seconds."""

    watch: FreshnessWatch

    def look(self, concerns: Concerns, *, runs_sql: bool) -> TableLook:
        """Begin a look; if a source concerned is imported by itself, wait a moment for that."""
        look = self._look()
        if runs_sql and self.watch.wait_for_imports(look, concerns):
            look = self._look()
        return TableLook(look)

    def _look(self) -> Look:
        return self.watch.look("tables", lambda tool: KINDS[tool.kind].has_tables, _SECONDS)


@dataclass(frozen=True, slots=True)
class TableLook:
    """One look at the sources of all tables."""

    look: Look

    def notes(self, concerns: Concerns | None = None) -> list[str]:
        """What a model reads of the sources concerned, by default of all."""
        return self.look.notes(
            lambda state, is_importing: (
                freshness_in_english(state, is_importing)
                if concerns is None or concerns(state)
                else ""
            )
        )
