"""The charts of a household, amounts by category and series over months; sizes of pictures."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

from mdvec.charts.colors import colors_of
from mdvec.charts.plot import Plot, PlotNote, Series
from mdvec.errors import MdvecError

CategoryKind = Literal["pie", "bar"]
TrendKind = Literal["line", "area", "bar"]
ImageFormat = Literal["png", "jpeg", "svg"]
Size = tuple[int, int]
Items = tuple[tuple[str, int], ...]

CATEGORY_KINDS: tuple[CategoryKind, ...] = ("pie", "bar")
TREND_KINDS: tuple[TrendKind, ...] = ("line", "area", "bar")
MEDIA_TYPES: dict[ImageFormat, str] = {
    "png": "image/png",
    "jpeg": "image/jpeg",
    "svg": "image/svg+xml",
}
MIN_SIZE: Size = (200, 150)
MAX_SIZE: Size = (1920, 1080)
_DEFAULT_SIZE: Size = (800, 600)
_MONTH = re.compile(r"(\d{4})-(0[1-9]|1[0-2])")


class ChartError(MdvecError):
    """A chart that cannot be drawn; the message says why, in Japanese."""


@dataclass(frozen=True, slots=True)
class CategoryChart:
    """Amounts in yen by category, in any order, as a pie or as bars.

    With ``targets``, one for each item, bars keep their order, and each lies on its target.
    ``among`` are the names of all categories, which colors follow from; ``keys`` are those of the
    items where these have other names.
    """

    kind: CategoryKind
    title: str
    items: Items
    note: str = ""
    targets: tuple[int, ...] = ()
    among: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()


def month_plot(
    kind: TrendKind, title: str, months: Sequence[str], series: Sequence[Series], note: str = "", *,
    percent: bool = False, running: Sequence[str] = (), empty: Sequence[str] = (),
    among: Sequence[str] = (),
) -> Plot:  # fmt: skip
    """Series over ascending months (``2025-06``), as lines, areas or bars.

    Values are yen, or with ``percent`` tenths of a per cent. ``running`` are the months that are
    not complete yet, ``empty`` those without data; both are marked. A month that is not listed is
    a gap.

    Raises:
        ChartError: the months are not ascending, or have other values than these.
    """
    x = tuple(map(month_number, months))
    if not x or any(later <= sooner for sooner, later in pairwise(x)):
        raise ChartError("グラフの月がないか、古い順に並んでいません。")
    if any(len(line.values) != len(x) for line in series):
        raise ChartError("グラフの月と値の数が一致しません。")
    shown = tuple(range(x[0], x[-1] + 1))
    colors = colors_of([line.name for line in series], among)
    marks = ""
    if empty:
        marks = "薄い月は途中、" if running else ""
        marks += "灰色の月は明細なし（0円ではありません）"
    elif running:
        marks = "薄い月は途中（明細がまだ揃っていません）"
    return Plot(
        kind, title, "months", shown,
        tuple(
            replace(
                line, values=tuple(map(dict(zip(x, line.values, strict=True)).get, shown)),
                color=line.color or color,
            )
            for line, color in zip(series, colors, strict=True)
        ),
        notes=tuple(PlotNote(text, "") for text in (marks, note) if text),
        unit="percent" if percent else "yen",
        running=tuple(map(month_number, running)), empty=tuple(map(month_number, empty)),
    )  # fmt: skip


Chart = CategoryChart | Plot


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture, and the characters for which its font has no glyph (drawn as 〓)."""

    data: bytes
    media_type: str
    missing_characters: tuple[str, ...] = ()


def parse_size(text: str, max_size: Size = MAX_SIZE) -> Size:
    """Read ``800x600`` as width and height in pixels.

    Raises:
        ChartError: it is not a size, or one under 200x150 or over ``max_size``.
    """
    plain = unicodedata.normalize("NFKC", text).replace("×", "x").casefold().strip()
    read = re.fullmatch(r"([0-9]{1,5}) ?x ?([0-9]{1,5})", plain)
    if read is None:
        raise ChartError(
            f"画像サイズ「{text:.50}」を読み取れません。「800x600」のように幅x高さ（ピクセル）で"
            "指定してください。"
        )
    size = int(read[1]), int(read[2])
    check_size(size, max_size)
    return size


def chosen_size(requested: str | None, max_size: str) -> Size:
    """The requested size, or the default one, which is never over ``max_size``.

    Raises:
        ChartError: see ``parse_size``.
    """
    most = parse_size(max_size)
    if requested:
        return parse_size(requested, most)
    return min(_DEFAULT_SIZE[0], most[0]), min(_DEFAULT_SIZE[1], most[1])


def check_size(size: Size, max_size: Size = MAX_SIZE) -> None:
    """Raise ChartError for a size under 200x150 or over ``max_size``."""
    if not all(
        low <= side <= high for low, side, high in zip(MIN_SIZE, size, max_size, strict=True)
    ):
        raise ChartError(
            f"画像サイズ {size[0]}x{size[1]} は使えません。{MIN_SIZE[0]}x{MIN_SIZE[1]} から "
            f"{max_size[0]}x{max_size[1]} までで指定してください。"
        )


def month_number(month: str) -> int:
    """The number of the month since year 0, so that consecutive months differ by one.

    Raises:
        ChartError: the month is not written as ``2025-06``.
    """
    read = _MONTH.fullmatch(month)
    if read is None:
        raise ChartError(
            f"グラフの月「{month:.50}」を読み取れません。「2025-06」の形にしてください。"
        )
    return int(read[1]) * 12 + int(read[2]) - 1
