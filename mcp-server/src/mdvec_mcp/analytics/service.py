"""The analytics family's use cases, built from the settings."""

from __future__ import annotations

from pathlib import Path

from mdvec.analysis import ExportFolder
from mdvec.charts import Plots
from mdvec.settings import AnalyticsSettings

from mdvec_mcp.analytics.core.guard import AnswerGuard
from mdvec_mcp.analytics.core.profile import ProfileEffort
from mdvec_mcp.analytics.data import DataReader
from mdvec_mcp.analytics.exporter import Exporter
from mdvec_mcp.analytics.process.kept_tables import KeptTables
from mdvec_mcp.analytics.process.messages import QueryLimits
from mdvec_mcp.analytics.process.query_process import QueryProcess
from mdvec_mcp.analytics.questions import Questions
from mdvec_mcp.analytics.small_answers import SmallAnswers
from mdvec_mcp.analytics.summaries import Summaries
from mdvec_mcp.analytics.table_description import (
    MaterializedTables,
    TableDescriptions,
    TableListing,
)
from mdvec_mcp.freshness import FreshnessWatch


class Analytics:
    """One object for each job of the analytics tools, over one query process.

    Args:
        queries: runs their queries.
        exports: holds the exported files.
        settings: the section ``[analytics]``.
        freshness: looks at the sources of what is queried; None never looks.
        database: holds the saved questions, and knows where the tables are from; None knows
            nothing.
    """

    def __init__(
        self,
        queries: QueryProcess,
        exports: ExportFolder,
        settings: AnalyticsSettings,
        freshness: FreshnessWatch | None = None,
        database: Path | None = None,
    ) -> None:
        self.freshness = freshness
        self.exports = exports
        self.queries = queries
        self.guard = AnswerGuard(settings.max_output_bytes, settings.max_output_rows)
        effort = ProfileEffort.within(settings.max_seconds, settings.max_memory_mb)
        self.exporter = Exporter(queries, exports, self.guard, settings.max_rows)
        self.summaries = Summaries(queries, effort, self.guard)
        self.materialized = MaterializedTables(
            queries, settings.max_tables, settings.table_ttl_seconds
        )
        small = AnswerGuard(settings.max_query_bytes, settings.max_query_rows)
        self.small_answers = SmallAnswers(queries, self.exporter, small)
        self.questions = Questions(queries, self.small_answers, database or Path())
        self.plots = Plots(queries)
        self.listing = TableListing(queries, exports, small)
        self.descriptions = TableDescriptions(queries, database, small)


def analytics_over(
    database: Path,
    folder: Path,
    settings: AnalyticsSettings,
    freshness: FreshnessWatch | None,
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
    tables = KeptTables(folder, database.resolve(), settings.max_tables)
    queries = QueryProcess(folder, limits, DataReader(database, month_starts_on).read, tables)
    return Analytics(queries, exports, settings, freshness, database)
