"""Answers the same queries for people at a terminal, with more rows and with whole files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mdvec.analysis import ExportFormat
from mdvec.charts import chosen_size
from mdvec.settings import AnalyticsSettings, ChartSettings
from mdvec.sizes import MEGABYTE

from mdvec_mcp.analytics.core.guard import JsonAnswer, with_warnings
from mdvec_mcp.analytics.core.statement import SELECT_ALL
from mdvec_mcp.analytics.guarded import RequestedData, guarded
from mdvec_mcp.analytics.questions import Prepared, telling_of
from mdvec_mcp.analytics.service import Analytics
from mdvec_mcp.freshness import freshness_in_english

if TYPE_CHECKING:
    from mdvec.sync import Freshness

_MAX_ROW_BYTES = 16 * MEGABYTE
_MAX_ANSWER_BYTES = 1_000_000
Request = Mapping[str, Any]
Body = Path | bytes
"""What belongs to an answer: a file, which the caller removes, or a picture."""


def for_terminal(settings: AnalyticsSettings) -> AnalyticsSettings:
    """The settings with answers as large as they can be: no model reads them."""
    return settings.model_copy(update={"max_output_bytes": _MAX_ANSWER_BYTES})


@dataclass(frozen=True, slots=True)
class TerminalAnswers:
    """Answers one request after another; ``analytics`` has the settings of ``for_terminal``."""

    analytics: Analytics
    charts: ChartSettings

    def answer(self, request: Request) -> tuple[JsonAnswer, Body | None]:
        """The answer, and the body that belongs to it.

        Raises:
            MdvecError: there is no answer.
        """
        kinds: dict[str, Callable[[Request], JsonAnswer]] = {
            "rows": self._rows,
            "profile": self._profile,
            "histogram": self._histogram,
            "export": self._export,
            "save": self._save,
            "questions": lambda _: {"questions": self.analytics.questions.listed()},
        }
        bodies: list[Body] = []
        with_body = {"file": self._file, "plot": self._plot}
        work = (
            partial(with_body[request["do"]], request, bodies)
            if request["do"] in with_body
            else partial(kinds[request["do"]], request)
        )
        read = request.get("query") or ""
        if "question" in request:
            read = self.analytics.questions.sql_of(request["question"], request["parameters"])
        answer = guarded(self.analytics, work, RequestedData(read), of_source=_of_source)
        return answer, bodies[0] if bodies else None

    def _rows(self, request: Request) -> JsonAnswer:
        """The first ``max_rows`` rows, and the exact number of all."""
        prepared, queries = self._asked(request), self.analytics.queries
        if prepared.made is not None:
            columns, rows = prepared.made
            answer = {"columns": columns, "rows": rows, "total_rows": len(rows)}
            return with_warnings(answer, [*queries.take_warnings(), *prepared.notes])
        with telling_of(prepared):
            fetched = queries.rows(
                prepared.source,
                prepared.sql,
                max_rows=request["max_rows"],
                max_bytes=_MAX_ROW_BYTES,
                parameters=prepared.bound,
            )
        total: object = len(fetched.rows)
        if fetched.more:
            counting = f"SELECT count(*) FROM ({prepared.sql})"
            counted = queries.rows(prepared.source, counting, max_rows=1, parameters=prepared.bound)
            total = counted.rows[0][0]
        answer = {
            "columns": [column.name for column in fetched.columns],
            "types": [column.type for column in fetched.columns],
            "rows": fetched.rows,
            "total_rows": total,
        }
        return with_warnings(answer, [*queries.take_warnings(), *prepared.notes])

    def _asked(self, request: Request) -> Prepared:
        """The query of a request, or its question with the values given."""
        if "question" in request:
            return self.analytics.questions.prepared(request["question"], request["parameters"])
        return Prepared(request["query"], SELECT_ALL, None)

    def _save(self, request: Request) -> JsonAnswer:
        return self.analytics.questions.save(
            request["name"], request["query"], request["description"], request["mode"]
        )

    def _profile(self, request: Request) -> JsonAnswer:
        return self.analytics.summaries.profile(
            request["query"],
            _range(request),
            request["date_column"],
            request["columns"],
            exact=request["exact"],
        )

    def _histogram(self, request: Request) -> JsonAnswer:
        return self.analytics.summaries.histogram(
            request["query"],
            request["column"],
            request["bins"],
            _range(request),
            request["date_column"],
        )

    def _export(self, request: Request) -> JsonAnswer:
        return self.analytics.exporter.export(
            request["query"], request["format"], request["max_rows"]
        )

    def _plot(self, request: Request, bodies: list[Body]) -> JsonAnswer:
        """The picture of a query, by default in the settings' size."""
        from mdvec.charts import draw  # matplotlib

        size = chosen_size(request["size"], self.charts.max_size)
        chart = self.analytics.plots.plot(request["query"], request["kind"], request["title"])
        picture = draw(chart, size, request["format"], font_path=self.charts.font_path)
        bodies.append(picture.data)
        answer: JsonAnswer = {"kind": chart.kind, "points": chart.points}
        if chart.notes:
            answer["note"] = "; ".join(note.english for note in chart.notes)
        return with_warnings(answer, self.analytics.queries.take_warnings())

    def _file(self, request: Request, bodies: list[Body]) -> JsonAnswer:
        """All rows in a file that is no export: nobody else has its name."""
        max_rows = request["max_rows"] or self.analytics.exporter.max_rows
        fmt: ExportFormat = request["format"]
        prepared = self._asked(request)
        if prepared.made is not None:  # few rows, which need no file
            return self._rows(request)
        with telling_of(prepared):
            file = self.analytics.queries.export(
                prepared.source, prepared.sql, fmt=fmt, max_rows=max_rows, parameters=prepared.bound
            )
        bodies.append(file.path)
        answer: JsonAnswer = {
            "rows": file.rows,
            "columns": [column.name for column in file.columns],
        }
        return with_warnings(answer, [*self.analytics.queries.take_warnings(), *prepared.notes])


def _of_source(state: Freshness, is_importing: bool) -> str:  # noqa: FBT001 - a Wording
    """What a person reads of a source that differs from its index."""
    if not state.is_stale or state.trouble or is_importing or state.is_being_imported:
        return freshness_in_english(state, is_importing)
    how = f"import with: mdvec import -n {state.tool} --mode update"
    return "; ".join(filter(None, (state.difference(), how, state.warning())))


def _range(request: Request) -> tuple[str, str] | None:
    given = request["date_range"]
    return None if given is None else (given[0], given[1])
