"""A household's answer as a picture: which chart, what is in it, and how it reaches the client."""

from __future__ import annotations

import base64
import logging
from dataclasses import dataclass
from typing import Literal

from mcp_types import ContentBlock, ImageContent, TextContent
from mdvec.chart_settings import ChartSettings
from mdvec.errors import MdvecError
from mdvec.household_month import HouseholdAnswer
from mdvec.household_trend import TrendAnswer

from mdvec_mcp.core.charts.chart import (
    CATEGORY_KINDS,
    TREND_KINDS,
    CategoryChart,
    Chart,
    Series,
    TrendChart,
    parse_size,
)
from mdvec_mcp.interfaces.http.chart_server import ChartServer
from mdvec_mcp.interfaces.mcp.household_models import ChartModel

logger = logging.getLogger("mdvec")

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
        kind = picture.graph_type or "pie"
        if kind not in CATEGORY_KINDS:
            raise UnfittingGraph(kind, "get_monthly_household", CATEGORY_KINDS)
        shares = answer.spending_by_category or answer.income_by_category
        items = tuple((str(share.category), share.amount) for share in shares)
        what = "支出" if answer.spending_by_category else "収入"
        title = f"{_span(str(answer.months.first), str(answer.months.last))}の{what}"
        if answer.category is not None:
            title = f"{answer.category} {title}"
        return self._published(CategoryChart(kind, title, items), title, picture)

    def trend(self, answer: TrendAnswer, picture: Picture) -> Published:
        """The categories month by month, as lines or areas.

        Raises:
            UnfittingGraph: another kind was asked for.
            ChartError: the size is out of bounds.
        """
        kind = picture.graph_type or "line"
        if kind not in TREND_KINDS:
            raise UnfittingGraph(kind, "get_category_trend", TREND_KINDS)
        months = tuple(str(figure.month) for figure in answer.categories[0].months)
        series = tuple(
            Series(str(one.category), tuple(figure.amount for figure in one.months))
            for one in answer.categories
        )
        names = "・".join(one.name for one in series)
        title = f"{names}の推移（{_span(str(answer.months.first), str(answer.months.last))}）"
        return self._published(TrendChart(kind, title, months, series), title, picture)

    def _published(self, chart: Chart, title: str, picture: Picture) -> Published:
        """Draw and serve; where that fails the text stays, with the reason."""
        from mdvec_mcp.core.charts.figure import draw  # matplotlib: a second, at the first chart

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


def _text_only(alt_text: str, reason: str) -> ChartModel:
    message = f"グラフを描けなかったため、文章でお答えします（{reason}）"
    return ChartModel(type="text", url=None, alt_text=alt_text, message=message)


def _span(first: str, last: str) -> str:
    def spoken(month: str) -> str:
        return f"{month[:4]}年{int(month[5:])}月"

    return spoken(first) if first == last else f"{spoken(first)}〜{spoken(last)}"
