"""Answers within their limits: the data they ask for, and notes on sources that are newer."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Protocol

from mdvec.database import DatabaseError
from mdvec.datasets import HOUSEHOLD_TABLE, table_name
from mdvec.errors import MdvecError
from mdvec.sql.core.guard import AnswerGuard, JsonAnswer, with_warnings
from mdvec.sql.core.refusals import UnknownTable
from mdvec.sql.core.statement import fold
from mdvec.sql.process.turns import one_call
from mdvec.tools import KINDS

if TYPE_CHECKING:
    from mdvec.sql.service import Analytics
    from mdvec.sync import Freshness

MAX_ERROR_BYTES = 900
Concerns = Callable[["Freshness"], bool]
"""Whether an answer may come from a source."""


class NotAnswered(MdvecError):
    """Work failed; the message has its error and other possible reasons."""


class SourceLook(Protocol):
    """What a look at the sources saw."""

    def notes(self, concerns: Concerns | None = None) -> list[str]:
        """What to say of the sources concerned, by default of all."""


class SourceWatch(Protocol):
    """Looks at the sources of tables, to say which are newer than what was imported."""

    def look(self, concerns: Concerns, *, runs_sql: bool) -> SourceLook:
        """Begin a look; before SQL runs, it may wait for imports of the sources concerned."""


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
        names = (_table_of(state), *materialized)
        return state.tool == self.tool or any(_has_table(self.sql, name) for name in names)

    def reads(self, state: Freshness, names: Iterable[str]) -> bool:
        """Whether the answer is from this source: its queries read the tables of these names."""
        own = _table_of(state)
        return state.tool == self.tool or any(
            name == own or name.startswith(f"{own}__") for name in names
        )


def _table_of(state: Freshness) -> str:
    """The name with which the names of a source's tables begin."""
    return HOUSEHOLD_TABLE if KINDS[state.kind].has_ledger else table_name(state.tool)


def _has_table(sql: str, name: str) -> bool:
    """Whether SQL holds the name of a table, or one that continues it with '__'."""
    return re.search(rf"(?<!\w){re.escape(fold(name))}(?!(?!__)\w)", fold(sql)) is not None


def answered_within_guard(
    analytics: Analytics,
    work: Callable[[], JsonAnswer],
    request: RequestedData,
    guard: AnswerGuard | None = None,
) -> JsonAnswer:
    """The answer of ``work``, its warnings within ``guard``, by default that of the settings.

    The warnings about sources name only those that were read; if a table is missing, all.

    Raises:
        MdvecError: the work raised it, or a NotAnswered with its message.
    """
    fit_warnings = (guard or analytics.guard).fit_warnings
    if analytics.sources is None:
        with one_call():
            return fit_warnings(work())
    names = tuple(table.name for table in analytics.queries.materialized())
    concerns = partial(request.concerns, materialized=names)
    look = analytics.sources.look(concerns, runs_sql=request.sql is not None)
    try:
        with one_call() as call:
            answer = work()
    except DatabaseError:
        raise
    except MdvecError as error:  # perhaps the table asked for is gone, or in a newer file
        if error.is_wrong_usage:
            raise
        warnings = analytics.queries.take_warnings()
        notes = look.notes(None if isinstance(error, UnknownTable) else concerns)
        for more in ([*warnings, *notes], warnings):
            message = "; ".join([str(error), *more])
            if more and len(message.encode()) <= MAX_ERROR_BYTES:
                raise NotAnswered(message) from error
        raise
    read = partial(request.reads, names=call.reads) if call.reads else concerns
    return fit_warnings(with_warnings(answer, [*answer.get("warnings", ()), *look.notes(read)]))
