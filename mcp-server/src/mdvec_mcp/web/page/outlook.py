"""The chart of a forecast: what was spent by month, then what is expected, within its band."""

from __future__ import annotations

from dataclasses import dataclass, replace

from mdvec.charts import Series, TrendChart
from mdvec.household import ForecastAnswer, TrendAnswer

from mdvec_mcp.web.page.bars import MonthChart, chart_of_months


@dataclass(frozen=True, slots=True)
class Whisker:
    """The band of a month's forecast: a line from its lower to its upper end."""

    x: float
    low: float
    high: float
    month: str


@dataclass(frozen=True, slots=True)
class OutlookChart:
    """Bars of months, of which those of the style ``ahead`` are forecast, and their bands."""

    chart: MonthChart
    whiskers: tuple[Whisker, ...]


def outlook_chart(spending: TrendAnswer, forecast: ForecastAnswer) -> OutlookChart:
    """The chart of the spending before the forecast's months, and of these."""
    past = {str(one.month): one.amount for one in spending.categories[0].months}
    ahead = {str(one.month): one for one in forecast.months}
    months = [*past, *ahead]
    open_ = {month for month, one in ahead.items() if one.month.last_day > forecast.as_of}
    bands = {month: (one.low, one.high) for month, one in ahead.items() if month in open_}
    none = (None, None)
    chart = chart_of_months(
        months,
        {"out": [*past.values(), *(one.amount for one in ahead.values())]},
        {
            "low": [bands.get(month, none)[0] for month in months],
            "high": [bands.get(month, none)[1] for month in months],
        },
    )
    lines = dict(chart.lines)
    banded = [month for month in months if bands.get(month, none)[0] is not None]
    bars = tuple(replace(bar, style="ahead") if bar.month in open_ else bar for bar in chart.bars)
    return OutlookChart(
        replace(chart, bars=bars, lines=()),
        tuple(
            _whisker(low, high, month)
            for low, high, month in zip(
                lines["low"].split(), lines["high"].split(), banded, strict=True
            )
        ),
    )


def forecast_picture(forecast: ForecastAnswer) -> TrendChart:
    """The forecast as a chart to download: the expected spending and its band."""
    months = forecast.months
    lines = [Series("支出の見通し", tuple(one.amount for one in months))]
    if any(one.low is not None for one in months):
        lines += [
            Series("8割の幅の下", tuple(one.low for one in months)),
            Series("8割の幅の上", tuple(one.high for one in months)),
        ]
    return TrendChart(
        "line",
        f"支出の見通し（{forecast.as_of} までの明細から）",
        tuple(str(one.month) for one in months),
        tuple(lines),
    )


def _whisker(low: str, high: str, month: str) -> Whisker:
    x, bottom = low.split(",")
    return Whisker(float(x), float(bottom), float(high.split(",")[1]), month)
