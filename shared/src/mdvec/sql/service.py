"""The use cases of SQL over the user's tables, built from the settings."""

from __future__ import annotations

from pathlib import Path

from mdvec.analysis import ExportFolder
from mdvec.settings import AnalyticsSettings
from mdvec.sql.answers import Exporter, SmallAnswers
from mdvec.sql.core.guard import AnswerGuard
from mdvec.sql.core.profile import ProfileEffort
from mdvec.sql.data import CurrentData
from mdvec.sql.guarded import SourceWatch
from mdvec.sql.process.messages import QueryLimits
from mdvec.sql.process.query_process import QueryProcess
from mdvec.sql.questions import Questions
from mdvec.sql.summaries import Summaries
from mdvec.sql.table_description import TableDescriptions

_MAX_ANSWER_BYTES = 1_000_000


class Analytics:
    """One object for each job, over one query process.

    Args:
        queries: runs their queries.
        exports: holds the exported files.
        settings: the section ``[analytics]``.
        sources: looks at the sources of what is queried; None never looks.
        database: holds the saved questions, and knows where the tables are from; None knows
            nothing.
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
        self.small_answers = SmallAnswers(queries, self.exporter, small)
        self.questions = Questions(queries, self.small_answers, database or Path())
        self.tables = TableDescriptions(queries, exports, small, database)


def for_people(settings: AnalyticsSettings) -> AnalyticsSettings:
    """The settings with answers as large as they can be: no model reads them."""
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
    exports = ExportFolder(folder, settings.export_ttl_seconds, settings.max_total_bytes)
    limits = QueryLimits(
        settings.max_seconds, settings.max_memory_mb, settings.max_export_bytes, settings.zone
    )
    data = CurrentData(database, month_starts_on)
    queries = QueryProcess(folder, limits, data, exports, settings.max_tables)
    return Analytics(queries, exports, settings, sources, database)
