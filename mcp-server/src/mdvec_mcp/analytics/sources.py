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
    Notes = Callable[[Concerns | None], list[str]]

_SECONDS = 2
"""A figure from a file that has changed is wrong; so these sources are looked at more often."""


@dataclass(frozen=True, slots=True)
class TableSources:
    """Looks at the sources of all tables, at most every two seconds."""

    watch: FreshnessWatch

    def __call__(self, concerns: Concerns, *, runs_sql: bool) -> Notes:
        """Begin a look; if a source concerned is imported by itself, wait a moment for that."""
        look = self._look()
        if runs_sql and self.watch.wait_for_imports(look, concerns):
            look = self._look()
        return lambda concerned: look.notes(
            lambda state, is_importing: (
                freshness_in_english(state, is_importing)
                if concerned is None or concerned(state)
                else ""
            )
        )

    def _look(self) -> Look:
        return self.watch.look("tables", lambda tool: KINDS[tool.kind].has_tables, _SECONDS)
