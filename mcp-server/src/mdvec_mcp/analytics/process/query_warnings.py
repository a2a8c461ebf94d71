"""The warnings that go with the answers of queries: about the query, and about the tables."""

from __future__ import annotations

from contextvars import ContextVar

from mdvec_mcp.analytics.process.wire import Message

_notes: ContextVar[tuple[str, ...]] = ContextVar("mdvec-query-notes", default=())


class QueryWarnings:
    """Warnings that wait for the next answer: those of a thread's own queries, and of tables."""

    def __init__(self) -> None:
        self._of_tables: list[str] = []

    def warn(self, warning: str) -> None:
        """Add a warning about tables, once."""
        if warning not in self._of_tables:
            self._of_tables.append(warning)

    def noted(self, response: Message) -> Message:
        """The response; what it notes about the query is kept for this thread's next answer."""
        said = _notes.get()
        _notes.set((*said, *(note for note in response.pop("notes", ()) if note not in said)))
        return response

    def take(self) -> list[str]:
        """The warnings since the last call, those about this thread's own queries first."""
        notes = _notes.get()
        _notes.set(())
        warnings, self._of_tables = self._of_tables, []
        return list(dict.fromkeys([*notes, *warnings]))
