"""Charts of the household's answers: chosen, drawn and published for the client."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Literal, TypeVar

from mcp_types import ContentBlock
from mdvec.charts import (
    CATEGORY_KINDS,
    OTHERS_COLOR,
    TREND_KINDS,
    CategoryKind,
    ImageFormat,
    Plot,
    Series,
    category_plot,
    month_plot,
    noted,
)
from mdvec.dates import ENGLISH_MONTHS, MonthRange
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
    empty_note,
    filling_note,
    format_percentage,
    in_english,
    name_of,
    safe_line,
    span_in_words,
)
from mdvec.text import shown_name

from mdvec_mcp.arguments import answer_language
from mdvec_mcp.calls import ToolReply, in_thread, trouble_in_japanese
from mdvec_mcp.charts import ChartServer
from mdvec_mcp.household.context import ChartEntry, json_of, reply

K = TypeVar("K", bound=str)
GraphType = Literal["bar", "line", "pie", "area"]
DrawableAnswer = HouseholdAnswer | TrendAnswer | BudgetAnswer | ComparisonAnswer | NetWorthAnswer


class UnfittingGraph(MdvecError):
    """The type of graph cannot show the answer."""

    def __init__(self, given: str, tool: str, fitting: tuple[str, ...]) -> None:
        super().__init__(
            f"graph_type「{given}」は {tool} では使えません。使えるのは {'、'.join(fitting)} です"
        )


async def drawn_reply(
    charts: ChartServer,
    answer: DrawableAnswer,
    newer: Sequence[str],
    make: Callable[[], Plot] | None,
    size: str | None = None,
    image_format: ImageFormat | None = None,
) -> ToolReply:
    """The answer with the chart that ``make`` returns, if given, and its address.

    If the chart cannot be drawn, the text starts with the reason.

    Raises:
        ToolError: another type of graph was requested, or the size is out of bounds.
    """
    if make is None:
        return reply(answer, newer)
    is_english = answer_language.get() == "en"
    chart, blocks = await in_thread(
        lambda: _draw(charts, make(), size, image_format, is_english=is_english),
        trouble_in_japanese,
    )
    text = "\n".join([answer.text, *newer])
    parts = (text, chart.message) if chart.type == "image" else (chart.message, text)
    return ToolReply("\n".join(parts), partial(json_of, answer, newer, chart), tuple(blocks))


def _draw(
    charts: ChartServer,
    chart: Plot,
    size: str | None,
    image_format: ImageFormat | None,
    *,
    is_english: bool,
) -> tuple[ChartEntry, list[ContentBlock]]:
    """Draw and serve a chart; if that fails, the answer is text only and says why."""
    alt_text = f"家計簿グラフ - {shown_name(chart.title)}"
    drawn = charts.draw(
        chart, size=size, image_format=image_format, words=in_picture if is_english else None
    )
    if drawn.trouble:
        message = f"グラフを描けなかったため、文章でお答えします（{drawn.trouble}）"
        return ChartEntry("text", None, alt_text, safe_line(message)), []
    message = f"グラフを作成しました（{alt_text}）。" + (
        f"ブラウザーで開けます: {drawn.url}" if drawn.url else ""
    )
    return ChartEntry("image", drawn.url, alt_text, safe_line(message)), drawn.blocks


_YEN = re.compile(r"(-?)([\d,.]+)([万億兆]?)円")
_UNITS = {"": (1, ""), "万": (10, "K"), "億": (100, "M"), "兆": (1, "T")}


def in_picture(text: str) -> str:
    """Translate a title or note in a chart: amounts, months, and the group of all others."""
    text = _YEN.sub(_yen_in_english, in_english(re.sub("^その他: ", "others: ", text)))
    text = re.sub(r"(\d+)月", lambda month: ENGLISH_MONTHS[int(month[1]) - 1][:3].title(), text)
    text = re.sub(r"(\d+)年", r"\1", text)
    text = re.sub(r"^その他（(\d+)項目）$", r"others (\1)", text)
    text = text.replace("（毎月）", " (monthly)").replace("（毎年）", " (yearly)")
    return re.sub(r"^ほか(\d+)系列$", r"\1 more", text)


def _yen_in_english(amount: re.Match[str]) -> str:
    sign, digits, unit = amount.groups()
    if not unit:
        return f"{sign}¥{digits}"
    times, letter = _UNITS[unit]
    return f"{sign}¥{float(digits.replace(',', '')) * times:,.10g}{letter}"


def month_chart(
    answer: HouseholdAnswer, requested: GraphType | None, ledger: Hierarchy | None = None
) -> Plot:
    """The chart of a month: its categories, or for 収支 and 貯蓄率 bars of 収入, 支出 and 収支.

    Colours follow from the categories of the ``ledger``.
    """
    note = "。".join(
        [filling_note(month) for month in answer.running]
        + ([empty_note(answer.empty)] if answer.empty else [])
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
        return category_plot(kind, f"{span}の{answer.category}{suffix}", items, note)
    shares = answer.spending_by_category or answer.income_by_category
    items = tuple((str(share.category), share.amount) for share in shares)
    direction = "支出" if answer.spending_by_category else "収入"
    title = f"{span}の{direction}"
    if isinstance(answer.category, Category) and str(answer.category) != direction:
        title = f"{answer.category} {title}"
    if requested is None and sum(amount for _, amount in items) <= 0:
        kind = "bar"  # a pie cannot show shares of a total of zero or less
    among = names_among([share.category for share in shares], ledger or {})
    return category_plot(kind, title, items, note, among=among)


def names_among(shown: Sequence[Subject], ledger: Hierarchy) -> tuple[str, ...]:
    """The names to assign colours to: all categories of the ledger on the levels of those shown."""
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


def budget_chart(answer: BudgetAnswer, ledger: Hierarchy | None = None) -> Plot:
    """The chart of budgets: the spending above each budget; notes if their rows are not complete.

    Yearly and monthly budgets are not shown together: one axis cannot fit both.
    """
    statuses = [each for each in answer.statuses if each.budget.per == "month"] or answer.statuses
    subjects = [status.budget.subject for status in statuses]
    notes = ["途中です（期間の明細がまだ揃っていません）"] * any(
        status.expected is not None for status in statuses
    ) + ["年の予算は文章にあります"] * (len(statuses) < len(answer.statuses))
    span = _without_zeros(answer.months.in_words)
    return category_plot(
        "bar",
        f"{span}の予算と実績",
        tuple((name_of(status.budget), status.spent) for status in statuses),
        "。".join(notes),
        targets=tuple(status.amount for status in statuses),
        among=names_among(subjects, ledger or {}),
        keys=tuple(map(str, subjects)),
    )


def comparison_chart(answer: ComparisonAnswer) -> Plot:
    """The chart of a comparison: both periods' amounts for each category or shop."""
    moved, rest = answer.movements, answer.total_movements - len(answer.movements)
    later, earlier = (_without_zeros(span_in_words(days)) for days in (answer.after, answer.before))
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
        names, notes=noted(note), unit="yen",
    )  # fmt: skip


def net_worth_chart(answer: NetWorthAnswer) -> Plot:
    """The chart of net worth: a line, with a gap where a month is missing."""
    months = [figure.month for figure in answer.months]
    series = Series("純資産", tuple(figure.total for figure in answer.months))
    title = f"純資産の推移（{_without_zeros(MonthRange(months[0], months[-1]).in_words)}）"
    return month_plot("line", title, months, (series,))


def trend_chart(
    answer: TrendAnswer, requested: GraphType | None, ledger: Hierarchy | None = None
) -> Plot:
    """The chart of a trend: a series for each category, or the savings rate in per cent.

    Colours follow from the categories of the ``ledger``.
    """
    kind = _checked_kind(requested, TREND_KINDS, "get_category_trend")
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
    return month_plot(
        kind, title, tuple(answer.months), series, percent=answer.savings is not None,
        running=answer.running, empty=answer.empty,
        among=names_among([trend.category for trend in answer.series], ledger or {}),
    )  # fmt: skip


def _checked_kind(requested: GraphType | None, fitting: tuple[K, ...], tool: str) -> K:
    """The requested kind of chart, by default the first that fits."""
    for kind in fitting:
        if requested in (None, kind):
            return kind
    raise UnfittingGraph(str(requested), tool, fitting)


def _without_zeros(period: str) -> str:
    """A period as in titles: 2025年6月 for 2025年06月."""
    return re.sub("(?<=[年月])0", "", period)
