"""The use cases of SQL over the user's tables; answers have a limited size and notes on sources."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from mdvec import sync
from mdvec.analysis import ExportFolder
from mdvec.database import DatabaseError, open_database
from mdvec.datasets import HOUSEHOLD_TABLE, table_name
from mdvec.errors import MdvecError
from mdvec.settings import AnalyticsSettings
from mdvec.sizes import MEGABYTE
from mdvec.sql.core.guard import AnswerGuard, JsonAnswer, with_warnings
from mdvec.sql.core.profile import ProfileEffort
from mdvec.sql.core.refusals import UnknownTable
from mdvec.sql.core.statement import fold
from mdvec.sql.data import CurrentData
from mdvec.sql.exporting import Exporter
from mdvec.sql.process.messages import QueryLimits
from mdvec.sql.process.query_process import QueryProcess
from mdvec.sql.process.turns import one_call
from mdvec.sql.questions import Questions
from mdvec.sql.summaries import Summaries
from mdvec.sql.table_description import TableDescriptions
from mdvec.tools import KINDS, Tool, registry

if TYPE_CHECKING:
    from mdvec.files import ScanRules
    from mdvec.sync import Freshness

logger = logging.getLogger("mdvec")

MAX_ERROR_BYTES = 900
Concerns = Callable[["Freshness"], bool]
"""Returns whether an answer may come from a source."""
Part = Callable[["Freshness"], "Freshness | None"]
"""Returns what of a source's state concerns an answer; None if the answer is not from it."""
Notes = Callable[[Part | None], list[str]]
"""Returns the notes on what ``Part`` gives of each source; for None, on all sources."""
_MAX_ANSWER_BYTES = 1_000_000


class NotAnswered(MdvecError):
    """A request failed; the message has the error, and other possible reasons for it."""

    def __init__(self, *sentences: str) -> None:
        super().__init__("; ".join(sentences))
        self._sentences = sentences

    @property
    def sentences(self) -> tuple[str, ...]:
        """The error, and each of the other reasons."""
        return self._sentences


class SourceWatch(Protocol):
    """Checks the sources of tables, for notes on those that are newer than their import."""

    def __call__(self, concerns: Concerns, *, runs_sql: bool) -> Notes:
        """Begin a check; if SQL will run, it may wait for imports of the concerned sources."""


@dataclass(frozen=True, slots=True)
class RequestedData:
    """The data that a call concerns; all data if it has neither SQL nor a tool.

    Attributes:
        sql: a table's name or a query; None for a call without one.
        tool: the name of the tool that is called, if it is a dataset's.
    """

    sql: str | None = None
    tool: str | None = None

    def concerns(self, state: Freshness, materialized: Iterable[str]) -> bool:
        """Whether the answer may come from this source.

        A query that names one of the ``materialized`` tables concerns every source.
        """
        if self.sql is None:
            return self.tool in (None, state.tool)
        names = "|".join(map(re.escape, map(fold, (_table_of(state), *materialized))))
        # A name may continue with '__' if the source has several tables.
        is_named = re.search(rf"(?<!\w)(?:{names})(?!(?!__)\w)", fold(self.sql)) is not None
        return is_named or state.tool == self.tool

    def part_read(self, state: Freshness, names: Collection[str]) -> Freshness | None:
        """What of a source concerns the answer; ``names`` are the tables that were read."""
        own = _table_of(state)
        is_read = state.tool == self.tool or any(
            name == own or name.startswith(f"{own}__") for name in names
        )
        return state.for_tables(names) if is_read else None


def _table_of(state: Freshness) -> str:
    """The name of a source's table, or the prefix of the names of its tables."""
    return HOUSEHOLD_TABLE if KINDS[state.kind].has_ledger else table_name(state.tool)


class Analytics:
    """The objects for all use cases, which share one query process.

    Args:
        queries: runs their queries.
        exports: the folder of exported files.
        settings: the section ``[analytics]``.
        sources: checks the sources of queried tables; None for no checks.
        database: has the saved questions and the origins of tables; None for neither.
    """

    def __init__(
        self,
        queries: QueryProcess,
        exports: ExportFolder,
        settings: AnalyticsSettings,
        sources: SourceWatch | None = None,
        database: Path | None = None,
    ) -> None:
        self.sources = sources
        self.exports = exports
        self.queries = queries
        self.guard = AnswerGuard(settings.max_output_bytes, settings.max_output_rows)
        effort = ProfileEffort.within(settings.max_seconds, settings.max_memory_mb)
        self.exporter = Exporter(
            queries, exports, self.guard, settings.max_rows, settings.table_ttl_seconds
        )
        self.summaries = Summaries(queries, effort, self.guard)
        small = AnswerGuard(settings.max_query_bytes, settings.max_query_rows)
        self.questions = Questions(queries, self.exporter, small, database or Path())
        self.tables = TableDescriptions(queries, exports, small, database)


def for_people(settings: AnalyticsSettings) -> AnalyticsSettings:
    """The settings with the largest possible answers, for people instead of models."""
    return settings.model_copy(update={"max_output_bytes": _MAX_ANSWER_BYTES})


def analytics_over(
    database: Path,
    folder: Path,
    settings: AnalyticsSettings,
    sources: SourceWatch | None,
    month_starts_on: int,
) -> Analytics:
    """The use cases over a database's tables; ``folder`` holds exports and materialized tables.

    ``month_starts_on`` is the day on which a household's months start. Close its ``queries`` at
    the end.
    """
    export = settings.max_export_mb * MEGABYTE
    total = settings.max_total_bytes
    exports = ExportFolder(folder, settings.export_ttl_seconds, total, database)
    limits = QueryLimits(settings.max_seconds, settings.max_memory_mb, export, settings.zone)
    data = CurrentData(database, month_starts_on)
    queries = QueryProcess(folder, limits, data, exports, settings.max_tables)
    return Analytics(queries, exports, settings, sources, database)


def answered_within_guard(
    analytics: Analytics,
    work: Callable[[], JsonAnswer],
    request: RequestedData,
    guard: AnswerGuard | None = None,
) -> JsonAnswer:
    """The answer of ``work``, with the warnings that fit into ``guard``, by default the settings'.

    Warnings about sources are only about those that were read, or about all if a table is unknown.

    Raises:
        MdvecError: the error of ``work``, or a NotAnswered with its message and warnings.
    """
    fit_warnings = (guard or analytics.guard).fit_warnings
    if analytics.sources is None:
        with one_call():
            return fit_warnings(work())
    names = tuple(table.name for table in analytics.queries.materialized())
    concerns = partial(request.concerns, materialized=names)

    def whole(state: Freshness) -> Freshness | None:
        return state if concerns(state) else None

    notes_on = analytics.sources(concerns, runs_sql=request.sql is not None)
    try:
        with one_call() as call:
            answer = work()
    except DatabaseError:
        raise
    except MdvecError as error:  # the table may be gone, or in a newer file
        if error.is_wrong_usage:
            raise
        warnings = analytics.queries.take_warnings()
        notes = notes_on(None if isinstance(error, UnknownTable) else whole)
        for more in ([*warnings, *notes], warnings):
            failure = NotAnswered(str(error), *more)
            if more and len(str(failure).encode()) <= MAX_ERROR_BYTES:
                raise failure from error
        raise
    read = partial(request.part_read, names=call.reads) if call.reads else whole
    return fit_warnings(with_warnings(answer, [*answer.get("warnings", ()), *notes_on(read)]))


@dataclass(frozen=True, slots=True)
class SourcesNow:
    """A ``SourceWatch`` that checks sources only when their notes are requested.

    Args:
        database: the database file.
        rules: the scan rules of the settings.
    """

    database: Path
    rules: ScanRules

    def __call__(self, concerns: Concerns, *, runs_sql: bool) -> Notes:  # noqa: ARG002
        """A check that only begins when its notes are requested."""
        return self._notes

    def _notes(self, part: Part | None) -> list[str]:
        """The notes for people on sources that differ from their import."""
        with open_database(self.database, "read") as connection:
            tools = registry.list_tools(connection, active_only=True)
        sentences = (self._sentence(tool, part) for tool in tools)
        return [sentence for sentence in sentences if sentence]

    def _sentence(self, tool: Tool, part: Part | None) -> str:
        if not KINDS[tool.kind].has_tables:
            return ""
        try:
            state = sync.check_source(self.database, tool.name, self.rules)
        except MdvecError as error:  # it may just have been deleted; check the others
            logger.info("no look at the source of %s: %s", tool.name, error)
            return ""
        remedy = f"import with: mdvec import -n {state.tool} --mode update"
        concerned = state if part is None else part(state)
        return concerned.sentence(remedy) if concerned else ""
