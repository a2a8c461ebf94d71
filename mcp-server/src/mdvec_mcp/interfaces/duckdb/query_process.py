"""The process that runs what a model asks, and its replacement when it breaks or data change."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from mdvec_mcp.core.analytics.asking import Column, Data, Exported, Format, Limits, Rows
from mdvec_mcp.core.analytics.placing import WHOLE


class QueryProcess:
    """Answers questions about the user's tables in a warm child; thread-safe, one at a time.

    A ``source`` is what a model wrote: a table's name, or one SELECT. It is checked alone, in the
    child, before it becomes part of anything. ``sql`` is our own statement around it: a SELECT
    with the placeholder ``{source}`` where a table's name could stand (``FROM {source}``), in
    which names and texts are quoted with ``placing.identifier`` and ``placing.literal``.

    Every method that asks may raise:
        QueryRefused (UnknownTable): the source is not allowed; nothing was run.
        QueryFailed: DuckDB could not run it.
        QueryStopped: it took too much time or memory, or broke the child; the next call works.
        QueriesUnavailable: no child could be started, or others keep it busy.

    Args:
        spool_root: the folder in which the child's private folder is made, mode 0700; on the
            file system of the exports. What dead processes left there is removed.
        limits: what one query may take.
        data: what there is to ask about now; called before each question, so it must be quick.
    """

    def __init__(self, spool_root: Path, limits: Limits, data: Callable[[], Data]) -> None:
        raise NotImplementedError

    def warm(self) -> None:
        """Start the child in the background, so that the first question does not wait for it."""

    def tables(self) -> dict[str, tuple[Column, ...]]:
        """Every table by name, the materialized ones included (after the others)."""
        raise NotImplementedError

    def columns(self, source: str) -> tuple[Column, ...]:
        """The columns of a table or of a query, which is not run."""
        raise NotImplementedError

    def rows(
        self, source: str, sql: str = WHOLE, *, max_rows: int, max_bytes: int = 1_000_000
    ) -> Rows:
        """The first rows of our statement over a source, as JSON values.

        Long texts are cut, and say so. There are at most ``max_rows`` rows and ``max_bytes``
        bytes of compact JSON; ``more`` says that there were others.
        """
        raise NotImplementedError

    def export(
        self, source: str, sql: str = WHOLE, *, fmt: Format, max_rows: int
    ) -> Exported:
        """All rows as a finished file, which the caller moves away; no rows make a file with
        its schema.

        Raises:
            TooManyRows: with the count; there is no file.
            ExportTooLarge: over the limit, or the disk is full; there is no file.
        """
        raise NotImplementedError

    def materialize(self, name: str, source: str, *, replace: bool = False) -> int:
        """Keep the rows of a source as a table of that name; return how many.

        Raises:
            BadTableName: the name needs quotes, is a data table's, or is taken (see ``replace``).
        """
        raise NotImplementedError

    def drop(self, name: str) -> None:
        """Let go of a materialized table; one that is gone already is no error."""
        raise NotImplementedError

    def materialized(self) -> dict[str, int]:
        """The materialized tables that are alive, with their rows, oldest first."""
        raise NotImplementedError

    def take_warnings(self) -> list[str]:
        """What happened to tables since this was last asked: rebuilt on new data, or gone."""
        raise NotImplementedError

    def close(self) -> None:
        """End the child and remove its folder; nothing can be asked afterwards."""
        raise NotImplementedError
