"""A look at the sources of tables, for a process that answers once and imports nothing itself."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mdvec import sync
from mdvec.database import open_database
from mdvec.errors import MdvecError
from mdvec.sql.guarded import Concerns
from mdvec.tools import KINDS, Tool, registry

if TYPE_CHECKING:
    from mdvec.files import ScanRules
    from mdvec.sync import Freshness

logger = logging.getLogger("mdvec")


@dataclass(frozen=True, slots=True)
class SourcesNow:
    """Looks at the sources when there is something to say of them.

    Args:
        database: the database file.
        rules: the scan rules of the settings.
    """

    database: Path
    rules: ScanRules

    def look(self, concerns: Concerns, *, runs_sql: bool) -> SourcesNow:  # noqa: ARG002
        """A look that begins when it is asked for its notes: nothing else is going on."""
        return self

    def notes(self, concerns: Concerns | None = None) -> list[str]:
        """What a person reads of the sources that differ from what was imported."""
        with open_database(self.database, "read") as connection:
            tools = registry.list_tools(connection, active_only=True)
        sentences = (self._sentence(tool, concerns) for tool in tools)
        return [sentence for sentence in sentences if sentence]

    def _sentence(self, tool: Tool, concerns: Concerns | None) -> str:
        if not KINDS[tool.kind].has_tables:
            return ""
        try:
            state = sync.look_at(self.database, tool.name, self.rules)
        except MdvecError as error:  # as when it was just deleted; the others are looked at
            logger.info("no look at the source of %s: %s", tool.name, error)
            return ""
        return _difference(state) if concerns is None or concerns(state) else ""


def _difference(state: Freshness) -> str:
    if not state.is_stale or state.trouble or state.is_being_imported:
        return state.sentence()
    how = f"import with: mdvec import -n {state.tool} --mode update"
    return "; ".join(filter(None, (state.difference(), how, state.warning())))
