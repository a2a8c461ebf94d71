"""A household's answer as a picture: which chart, what is in it, and how it reaches the client."""

from __future__ import annotations

import base64
import logging
from dataclasses import dataclass
from typing import Literal, TypeVar

from mcp_types import ContentBlock, ImageContent, TextContent
from mdvec.errors import MdvecError
from mdvec.household.core.categories import Category
from mdvec.household.core.subjects import Total
from mdvec.household.core.wording import format_percentage
from mdvec.household.month import HouseholdAnswer
from mdvec.household.trend import TrendAnswer
from mdvec.settings import ChartSettings

from mdvec_mcp.charts.chart import (
    CATEGORY_KINDS,
    TREND_KINDS,
    CategoryChart,
    CategoryKind,
    Chart,
    Series,
    TrendChart,
    parse_size,
)
from mdvec_mcp.charts.server import ChartServer
from mdvec_mcp.household.schema import ChartModel

logger = logging.getLogger("mdvec")

Kind = TypeVar("Kind", bound=str)
GraphType = Literal["bar", "line", "pie", "area"]
ImageFormat = Literal["png", "svg"]


_USUAL = (800, 600)
Published = tuple[ChartModel, list[ContentBlock]]
"""What the answer says of a picture, and what goes with the answer."""


class UnfittingGraph(MdvecError):
    """A kind of graph that does not fit what it should show."""

    def __init__(self, asked: str, tool: str, fitting: tuple[str, ...]) -> None:
        super().__init__(
            f"graph_type「{asked}」は {tool} では使えません。使えるのは {'、'.join(fitting)} です"
        )


@dataclass(frozen=True, slots=True)
class Picture:
    """What the client asked of a picture; None takes the setting or the tool's own kind."""

    graph_type: GraphType | None
    image_size: str | None
    image_format: ImageFormat | None


@dataclass(frozen=True, slots=True)
class Charting:
    """What pictures are made and served with."""

    settings: ChartSettings
    server: ChartServer

    def month(self, answer: HouseholdAnswer, picture: Picture) -> Published:
        """The spending by category as a pie or as bars.

        Raises:
            UnfittingGraph: another kind was asked for.
            ChartError: the size is out of bounds.
        """
        chart = month_chart(answer, picture.graph_type)
        return self._published(chart, chart.title, picture)

    def trend(self, answer: TrendAnswer, picture: Picture) -> Published:
        """The categories month by month, as lines or areas.

        Raises:
            UnfittingGraph: another kind was asked for.
            ChartError: the size is out of bounds.
        """
        chart = trend_chart(answer, picture.graph_type)
        return self._published(chart, chart.title, picture)

    def _published(self, chart: Chart, title: str, picture: Picture) -> Published:
        """Draw and serve; where that fails the text stays, with the reason."""
        from mdvec_mcp.charts.figure import draw  # matplotlib: a second, at the first chart

        largest = parse_size(self.settings.max_size)
        usual = (min(_USUAL[0], largest[0]), min(_USUAL[1], largest[1]))
        size = parse_size(picture.image_size, largest) if picture.image_size else usual
        alt_text = f"家計簿グラフ - {title}"
        image_format = picture.image_format or self.settings.default_format
        try:
            drawn = draw(chart, size, image_format, font_path=self.settings.font_path)
        except MdvecError as error:
            return _text_only(alt_text, str(error)), []
        except Exception as error:  # noqa: BLE001 - the answer stands without its picture
            # What the error says may hold shops and amounts: only its type is logged.
            logger.error("a chart could not be drawn (%s)", type(error).__name__)  # noqa: TRY400
            return _text_only(alt_text, type(error).__name__), []
        blocks: list[ContentBlock] = []
        if image_format == "png":
            data = base64.b64encode(drawn.data).decode("ascii")
            blocks.append(ImageContent(type="image", data=data, mime_type=drawn.media_type))
        try:
            url = self.server.publish(drawn)
        except MdvecError as error:
            if not blocks:
                return _text_only(alt_text, str(error)), []
            url = None
        message = "グラフを作成しました。" + (f"ブラウザーで開けます: {url}" if url else "")
        blocks.append(TextContent(type="text", text=message))
        return ChartModel(type="image", url=url, alt_text=alt_text, message=message), blocks


def month_chart(answer: HouseholdAnswer, asked: GraphType | None) -> CategoryChart:
    """What an answer says, as a pie or as bars: of 収支 and 貯蓄率 what they are made of."""
    made_of = answer.category in (Total.BALANCE, Total.SAVINGS_RATE)
    fitting: tuple[CategoryKind, ...] = ("bar",) if made_of else CATEGORY_KINDS
    kind = _fitting(asked, fitting, "get_monthly_household")
    span = _span(str(answer.months.first), str(answer.months.last))
    if made_of:
        amounts = (("収入", answer.income), ("支出", answer.spending), ("収支", answer.balance))
        rate = format_percentage(answer.savings_rate, signed=False)
        more = f" {rate}" if answer.category is Total.SAVINGS_RATE else ""
        items = tuple((name, amount or 0) for name, amount in amounts)
        return CategoryChart(kind, f"{span}の{answer.category}{more}", items)
    shares = answer.spending_by_category or answer.income_by_category
    items = tuple((str(share.category), share.amount) for share in shares)
    what = "支出" if answer.spending_by_category else "収入"
    title = f"{span}の{what}"
    if isinstance(answer.category, Category) and str(answer.category) != what:
        title = f"{answer.category} {title}"
    if asked is None and sum(amount for _, amount in items) <= 0:
        kind = "bar"  # a whole that is not above zero has no parts
    return CategoryChart(kind, title, items)


def trend_chart(answer: TrendAnswer, asked: GraphType | None) -> TrendChart:
    """What an answer says month by month, as lines or areas: the savings rate in per cent."""
    kind = _fitting(asked, TREND_KINDS, "get_category_trend")
    months = tuple(str(figure.month) for figure in answer.categories[0].months)
    series = tuple(
        Series(str(one.category), tuple(figure.amount for figure in one.months))
        for one in answer.categories
    )
    if answer.savings is not None:
        rates = (one.rate for one in answer.savings.months)
        tenths = tuple(None if rate is None else int(rate * 10) for rate in rates)
        series = (Series(str(Total.SAVINGS_RATE), tenths),)
    names = "・".join(one.name for one in series)
    title = f"{names}の推移（{_span(str(answer.months.first), str(answer.months.last))}）"
    return TrendChart(kind, title, months, series, percent=answer.savings is not None)


def _fitting(asked: GraphType | None, kinds: tuple[Kind, ...], tool: str) -> Kind:
    """The kind that was asked for, or the first; refused where it does not fit."""
    for kind in kinds:
        if asked in (None, kind):
            return kind
    raise UnfittingGraph(str(asked), tool, kinds)


def _text_only(alt_text: str, reason: str) -> ChartModel:
    message = f"グラフを描けなかったため、文章でお答えします（{reason}）"
    return ChartModel(type="text", url=None, alt_text=alt_text, message=message)


def _span(first: str, last: str) -> str:
    def spoken(month: str) -> str:
        return f"{month[:4]}年{int(month[5:])}月"

    return spoken(first) if first == last else f"{spoken(first)}〜{spoken(last)}"
