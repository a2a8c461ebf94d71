"""Answers as data: the library's dataclasses as JSON, where one was asked for with the chart.

Their texts are left out: they are beside the data.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, make_dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from mdvec.household import (
    AccountsAnswer,
    AnomaliesAnswer,
    BudgetAnswer,
    BudgetSet,
    CombinedAnswer,
    ComparisonAnswer,
    CostsAnswer,
    ExpenseList,
    ForecastAnswer,
    HouseholdAnswer,
    MappingAnswer,
    NetWorthAnswer,
    NotesAnswer,
    RecurringAnswer,
    RuleChange,
    RuleList,
    RuleTrial,
    TrendAnswer,
    aliases,
)
from pydantic import TypeAdapter

from mdvec_mcp.calls import ToolReply

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


@dataclass(frozen=True, slots=True)
class ChartEntry:
    """The chart of an answer: ``type`` is "image", or "text" where it could not be drawn.

    The ``url`` opens on this machine only.
    """

    type: str
    url: str | None
    alt_text: str
    message: str


DRAWN: dict[type[DataclassInstance], Any] = {
    kind: make_dataclass(
        f"Drawn{kind.__name__}", [("chart", ChartEntry | None, field(default=None))],
        bases=(kind,), namespace={"__doc__": kind.__doc__}, frozen=True, slots=True,
    )
    for kind in (HouseholdAnswer, TrendAnswer, BudgetAnswer, ComparisonAnswer, NetWorthAnswer)
}  # fmt: skip
"""The answers that can be drawn, each with its chart, which is null where none was asked for."""
ReportAnswer: Any = (
    DRAWN[ComparisonAnswer] | DRAWN[BudgetAnswer] | CostsAnswer | ExpenseList | RecurringAnswer
    | ForecastAnswer | AnomaliesAnswer | CombinedAnswer | DRAWN[NetWorthAnswer] | RuleList
    | NotesAnswer | MappingAnswer | AccountsAnswer
)  # fmt: skip
"""What ``household_report`` answers with."""
EditAnswer = (
    BudgetSet | RuleTrial | RuleChange | RuleList | NotesAnswer | MappingAnswer
    | aliases.AliasTrial | aliases.AliasList
)  # fmt: skip
"""What ``edit_household`` answers with."""


def reply(answer: Any, newer: str = "") -> ToolReply:  # noqa: ANN401 - an answer of any class
    """The reply with an answer's text or message, and ``newer``, lines about newer files."""
    text = answer.message if hasattr(answer, "message") else answer.text
    return ToolReply(text + newer, partial(json_of, answer, newer))


def json_of(
    answer: DataclassInstance, newer: str = "", chart: ChartEntry | None = None
) -> dict[str, Any]:
    """An answer as JSON with its chart; lines about newer files (``newer``) join its notes."""
    if type(answer) in DRAWN:
        own = {each.name: getattr(answer, each.name) for each in fields(answer)}
        answer = DRAWN[type(answer)](**own, chart=chart)
    data: dict[str, Any] = _adapter(type(answer)).dump_python(answer, mode="json")
    if newer:
        data["notes"] += newer.split("\n")[1:]
    return data


@cache
def _adapter(kind: type) -> TypeAdapter[Any]:
    return TypeAdapter(kind)
