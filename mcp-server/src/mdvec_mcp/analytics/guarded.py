"""Answers within their limits: the data they ask for, and notes on sources that are newer."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mdvec.database import DatabaseError
from mdvec.datasets import HOUSEHOLD_TABLE, table_name
from mdvec.errors import MdvecError
from mdvec.tools import KINDS

from mdvec_mcp.analytics.core.guard import AnswerGuard, JsonAnswer, with_warnings
from mdvec_mcp.analytics.core.statement import fold
from mdvec_mcp.analytics.service import Analytics
from mdvec_mcp.freshness import FreshnessWatch, Look, Wording, freshness_in_english

if TYPE_CHECKING:
    from mdvec.sync import Freshness


@dataclass(frozen=True, slots=True)
class RequestedData:
    """What a call asks for; without SQL and tool, everything.

    Attributes:
        sql: a table's name or a query; None for a call that runs none.
        tool: the dataset whose own tool is called.
    """

    sql: str | None = None
    tool: str | None = None

    def concerns(self, state: Freshness, materialized: Iterable[str]) -> bool:
        """Whether the answer may come from this source.

        A query over one of the ``materialized`` tables may come from any.
        """
        if self.sql is None:
            return self.tool in (None, state.tool)
        own = HOUSEHOLD_TABLE if KINDS[state.kind].has_ledger else table_name(state.tool)
        names = (own, *materialized)
        return state.tool == self.tool or any(_has_table(self.sql, name) for name in names)


def _has_table(sql: str, name: str) -> bool:
    """Whether SQL holds the name of a table, or one that continues it with '__'."""
    return re.search(rf"(?<!\w){re.escape(fold(name))}(?!(?!__)\w)", fold(sql)) is not None


MAX_ERROR_BYTES = 900
_SECONDS = 2
"""A figure from a file that has changed is wrong; so these sources are looked at more often."""


class NotAnswered(MdvecError):
    """Work failed; the message has its error and other possible reasons."""


def guarded(
    analytics: Analytics,
    work: Callable[[], JsonAnswer],
    request: RequestedData,
    guard: AnswerGuard | None = None,
    of_source: Wording = freshness_in_english,
) -> JsonAnswer:
    """The answer of ``work``, its warnings within ``guard``, by default that of the settings.

    The warnings about sources, worded by ``of_source``, name only those that are asked for; with
    an error they name all.

    Raises:
        MdvecError: the work raised it, or a NotAnswered with its message.
    """
    fit_warnings = (guard or analytics.guard).fit_warnings
    if analytics.freshness is None:
        return fit_warnings(work())
    look = SourceLook.begin(analytics.freshness, request, analytics.queries.expiries(), of_source)
    try:
        answer = work()
    except DatabaseError:
        raise
    except MdvecError as error:  # perhaps the table asked for is gone, or in a newer file
        warnings, notes = analytics.queries.take_warnings(), look.all_notes()
        for more in ([*warnings, *notes], warnings):
            message = "; ".join([str(error), *more])
            if more and len(message.encode()) <= MAX_ERROR_BYTES:
                raise NotAnswered(message) from error
        raise
    return fit_warnings(with_warnings(answer, [*answer.get("warnings", ()), *look.notes()]))


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
        request: RequestedData,
        materialized: Iterable[str],
        wording: Wording,
    ) -> SourceLook:
        """Begin a look; if what is asked is imported by itself, wait a moment for that."""
        begun = cls(request, frozenset(materialized), wording, _look(watch))
        if request.sql is None or not watch.wait_for_imports(begun.look, begun.is_asked):
            return begun
        return cls(request, begun.materialized, wording, _look(watch))

    def is_asked(self, state: Freshness) -> bool:
        """Whether the answer may come from this source."""
        return self.asked.concerns(state, self.materialized)

    def notes(self) -> list[str]:
        """What to say of the sources that are asked for."""
        return self.look.notes(
            lambda state, is_importing: (
                self.wording(state, is_importing) if self.is_asked(state) else ""
            )
        )

    def all_notes(self) -> list[str]:
        """What to say of all sources, for a call that failed: any may have what it needs."""
        return self.look.notes(self.wording)


def _look(watch: FreshnessWatch) -> Look:
    return watch.look("tables", lambda tool: KINDS[tool.kind].has_tables, _SECONDS)
