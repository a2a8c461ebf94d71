"""Charts of the household's answers: chosen, drawn and published for the client."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

from mcp_types import ContentBlock
from mdvec.charts import (
    CATEGORY_KINDS,
    OTHERS_COLOR,
    TREND_KINDS,
    CategoryChart,
    CategoryKind,
    Chart,
    ImageFormat,
    Plot,
    PlotNote,
    Series,
    TrendChart,
)
from mdvec.database import Connection
from mdvec.dates import Days, MonthRange
from mdvec.errors import MdvecError
from mdvec.household import (
    BudgetAnswer,
    Category,
    ComparisonAnswer,
    Hierarchy,
    HouseholdAnswer,
    NetWorthAnswer,
    Subject,
    Total,
    TrendAnswer,
    category_hierarchy,
    empty_note,
    filling_note,
    format_percentage,
    name_of,
    safe_line,
)
from mdvec.settings import ChartSettings
from mdvec.text import shown_name

from mdvec_mcp.calls import Data, ToolReply
from mdvec_mcp.charts import ChartServer, publish
from mdvec_mcp.household.answer_data import ChartEntry

K = TypeVar("K", bound=str)
GraphType = Literal["bar", "line", "pie", "area"]


class UnfittingGraph(MdvecError):
    """A type of graph that cannot show the answer."""

    def __init__(self, given: str, tool: str, fitting: tuple[str, ...]) -> None:
        super().__init__(
            f"graph_type「{given}」は {tool} では使えません。使えるのは {'、'.join(fitting)} です"
        )


@dataclass(frozen=True, slots=True)
class ChartRequest:
    """The client's wishes for a chart; None takes the settings' or the tool's default."""

    graph_type: GraphType | None
    image_size: str | None
    image_format: ImageFormat | None


@dataclass(frozen=True, slots=True)
class PublishedChart:
    """A chart's entry in the structured answer, and the content blocks that go with it."""

    model: ChartEntry
    blocks: list[ContentBlock]


@dataclass(frozen=True, slots=True)
class ChartPublisher:
    """Draws the chart of an answer, and serves it at a local address."""

    settings: ChartSettings
    server: ChartServer

    def month(
        self, answer: HouseholdAnswer, ledger: Hierarchy, request: ChartRequest
    ) -> PublishedChart:
        """Publish a month's categories as a pie or as bars.

        Raises:
            UnfittingGraph: another type of graph was requested.
            ChartError: the size is out of bounds.
        """
        return self._publish(month_chart(answer, request.graph_type, ledger), request)

    def trend(
        self, answer: TrendAnswer, ledger: Hierarchy, request: ChartRequest
    ) -> PublishedChart:
        """Publish a trend as lines, areas or bars.

        Raises:
            UnfittingGraph: another type of graph was requested.
            ChartError: the size is out of bounds.
        """
        return self._publish(trend_chart(answer, request.graph_type, ledger), request)

    def budgets(self, answer: BudgetAnswer, ledger: Hierarchy) -> PublishedChart:
        """Publish budgets and what was spent, as bars."""
        return self._publish(budget_chart(answer, ledger), ChartRequest(None, None, None))

    def comparison(self, answer: ComparisonAnswer) -> PublishedChart:
        """Publish what moved between two periods, as pairs of bars."""
        return self._publish(comparison_chart(answer), ChartRequest(None, None, None))

    def net_worth(self, answer: NetWorthAnswer) -> PublishedChart:
        """Publish net worth by month, as a line."""
        return self._publish(net_worth_chart(answer), ChartRequest(None, None, None))

    def _publish(self, chart: Chart, request: ChartRequest) -> PublishedChart:
        """Draw and serve a chart; if that fails, the answer is text only and says why."""
        alt_text = f"家計簿グラフ - {shown_name(chart.title)}"
        drawn = publish(
            chart, self.settings, self.server,
            size=request.image_size, image_format=request.image_format,
        )  # fmt: skip
        if drawn.trouble:
            return _text_only(alt_text, drawn.trouble)
        url = drawn.url
        message = f"グラフを作成しました（{alt_text}）。" + (
            f"ブラウザーで開けます: {url}" if url else ""
        )
        entry = ChartEntry(type="image", url=url, alt_text=alt_text, message=safe_line(message))
        return PublishedChart(entry, drawn.blocks)


def names_for(output_format: str, connection: Connection, tool_id: int) -> Hierarchy:
    """The ledger's categories, which decide a picture's colours; none for a text answer."""
    return category_hierarchy(connection, tool_id) if output_format == "image" else {}


def month_chart(
    answer: HouseholdAnswer, requested: GraphType | None, ledger: Hierarchy | None = None
) -> CategoryChart:
    """The chart of a month: its categories, or for 収支 and 貯蓄率 bars of 収入, 支出 and 収支.

    Colours follow from the categories of the ``ledger``.
    """
    note = "。".join(
        [filling_note(month) for month in answer.marks.running]
        + ([empty_note(answer.marks.empty)] if answer.marks.empty else [])
    )
    is_balance = answer.category in (Total.BALANCE, Total.SAVINGS_RATE)
    fitting: tuple[CategoryKind, ...] = ("bar",) if is_balance else CATEGORY_KINDS
    kind = _checked_kind(requested, fitting, "get_monthly_household")
    span = _without_zeros(answer.period_in_words)
    if is_balance:
        amounts = (("収入", answer.income), ("支出", answer.spending), ("収支", answer.balance))
        rate = format_percentage(answer.savings_rate, signed=False)
        suffix = f" {rate}" if answer.category is Total.SAVINGS_RATE else ""
        items = tuple((name, amount or 0) for name, amount in amounts)
        return CategoryChart(kind, f"{span}の{answer.category}{suffix}", items, note)
    shares = answer.spending_by_category or answer.income_by_category
    items = tuple((str(share.category), share.amount) for share in shares)
    direction = "支出" if answer.spending_by_category else "収入"
    title = f"{span}の{direction}"
    if isinstance(answer.category, Category) and str(answer.category) != direction:
        title = f"{answer.category} {title}"
    if requested is None and sum(amount for _, amount in items) <= 0:
        kind = "bar"  # a pie cannot show shares of a total of zero or less
    among = names_among([share.category for share in shares], ledger or {})
    return CategoryChart(kind, title, items, note, among=among)


def names_among(shown: Sequence[Subject], ledger: Hierarchy) -> tuple[str, ...]:
    """The names that colours are given to: all in the ledger on the level of those shown."""
    majors = {
        subject.major
        for subject in shown
        if isinstance(subject, Category) and subject.minor is not None
    }
    minors = [str(Category(major, minor)) for major in majors for minor in ledger.get(major, ())]
    has_wholes = not majors or any(
        not isinstance(subject, Category) or subject.minor is None for subject in shown
    )
    return (*minors, *(ledger if has_wholes else ()))


def budget_chart(answer: BudgetAnswer, ledger: Hierarchy | None = None) -> CategoryChart:
    """The chart of budgets: what was spent, above each budget; says if the months are not over.

    Those of a year are not beside those of the months: one axis cannot show both.
    """
    statuses = [one for one in answer.statuses if one.budget.per == "month"] or answer.statuses
    subjects = [status.budget.subject for status in statuses]
    notes = ["途中です（期間はまだ終わっていません）"] * any(
        status.expected is not None for status in statuses
    ) + ["年の予算は文章にあります"] * (len(statuses) < len(answer.statuses))
    span = _without_zeros(answer.months.in_words)
    return CategoryChart(
        "bar",
        f"{span}の予算と実績",
        tuple((name_of(status.budget), status.spent) for status in statuses),
        "。".join(notes),
        targets=tuple(status.amount for status in statuses),
        among=names_among(subjects, ledger or {}),
        keys=tuple(map(str, subjects)),
    )


def comparison_chart(answer: ComparisonAnswer) -> Plot:
    """The chart of a comparison: for each category or shop that it names, both periods' amounts."""
    moved, rest = answer.movements, answer.total_movements - len(answer.movements)
    later, earlier = _span(answer.after), _span(answer.before)
    has_both = len({movement.is_income for movement in moved}) > 1
    names = tuple(
        movement.name + "（収入）" * (has_both and movement.is_income) for movement in moved
    )
    amounts = (
        Series(later, tuple(movement.after for movement in moved)),
        Series(earlier, tuple(movement.before for movement in moved), OTHERS_COLOR),
    )
    note = f"差の大きい{len(moved)}件です（ほか{rest}件）" if rest else ""
    return Plot(
        "bar", f"{later}と{earlier}の比較", "names", tuple(map(float, range(len(moved)))), amounts,
        names, notes=(PlotNote(note, ""),) if note else (), unit="yen",
    )  # fmt: skip


def _span(days: Days) -> str:
    """The days of a period as titles have them: whole months by their names."""
    months = MonthRange.around(days, 1)
    return _without_zeros(months.in_words if months.days == days else days.in_words)


def net_worth_chart(answer: NetWorthAnswer) -> TrendChart:
    """The chart of net worth: a line, with a gap where a month is missing."""
    totals = {figure.month: figure.total for figure in answer.months}
    months = MonthRange(answer.months[0].month, answer.months[-1].month)
    series = Series("純資産", tuple(totals.get(month) for month in months))
    title = f"純資産の推移（{_without_zeros(months.in_words)}）"
    return TrendChart("line", title, tuple(str(month) for month in months), (series,))


def trend_chart(
    answer: TrendAnswer, requested: GraphType | None, ledger: Hierarchy | None = None
) -> TrendChart:
    """The chart of a trend: a series for each category, or the savings rate in per cent.

    Colours follow from the categories of the ``ledger``.
    """
    kind = _checked_kind(requested, TREND_KINDS, "get_category_trend")
    months = tuple(map(str, answer.months))
    series = tuple(
        Series(str(trend.category), tuple(figure.amount for figure in trend.months))
        for trend in answer.series
    )
    if answer.savings is not None:
        rates = (month.rate for month in answer.savings.months)
        tenths = tuple(None if rate is None else int(rate * 10) for rate in rates)
        series = (Series(str(Total.SAVINGS_RATE), tenths),)
    names = "・".join(line.name for line in series)
    title = f"{names}の推移（{_without_zeros(answer.months.in_words)}）"
    return TrendChart(
        kind, title, months, series, percent=answer.savings is not None,
        running=tuple(map(str, answer.marks.running)), empty=tuple(map(str, answer.marks.empty)),
        among=names_among([trend.category for trend in answer.series], ledger or {}),
    )  # fmt: skip


def _checked_kind(requested: GraphType | None, fitting: tuple[K, ...], tool: str) -> K:
    """The requested kind of chart, by default the first that fits."""
    for kind in fitting:
        if requested in (None, kind):
            return kind
    raise UnfittingGraph(str(requested), tool, fitting)


def _text_only(alt_text: str, reason: str) -> PublishedChart:
    message = safe_line(f"グラフを描けなかったため、文章でお答えします（{reason}）")
    return PublishedChart(ChartEntry(type="text", url=None, alt_text=alt_text, message=message), [])


def _without_zeros(period: str) -> str:
    """A period as titles have it: 2025年6月 for 2025年06月."""
    return re.sub("(?<=[年月])0", "", period)


def with_chart(text: str, chart: PublishedChart, data: Data) -> ToolReply:
    """The answer with its chart, and its address; without a chart, the text begins with why."""
    parts = (
        (text, chart.model.message) if chart.model.type == "image" else (chart.model.message, text)
    )
    return ToolReply("\n".join(parts), data, tuple(chart.blocks))
