"""Charts by category or month, their sizes, and その他 for small entries."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from mdvec.charts.colors import OTHERS_COLOR, colors_of
from mdvec.charts.plot import Plot, PlotNote, Series
from mdvec.dates import Month
from mdvec.errors import MdvecError

CategoryKind = Literal["pie", "bar"]
TrendKind = Literal["line", "area", "bar"]
ImageFormat = Literal["png", "jpeg", "svg"]
Size = tuple[int, int]

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
MAX_OTHERS_PERCENT = 15
"""その他 may have at most this share of the positive amounts, as long as more entries fit."""


class ChartError(MdvecError):
    """A chart that cannot be drawn; the message says why, in Japanese."""


@dataclass(frozen=True, slots=True)
class CategoryChart:
    """Amounts in yen by category, in any order, as a pie or as bars.

    With ``targets``, one for each item, bars keep their order and are drawn over their targets.
    ``among`` are the names of all categories, which determine the colors. ``keys`` are the
    categories of the items, if these have other names.
    """

    kind: CategoryKind
    title: str
    items: tuple[tuple[str, int], ...]
    note: str = ""
    targets: tuple[int, ...] = ()
    among: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()


def month_plot(
    kind: TrendKind, title: str, months: Sequence[Month], series: Sequence[Series], *,
    percent: bool = False, running: Sequence[Month] = (), empty: Sequence[Month] = (),
    among: Sequence[str] = (),
) -> Plot:  # fmt: skip
    """Series with a value for each of ascending months, as lines, areas or bars.

    Values are in yen, or with ``percent`` in tenths of a percent. ``running`` months are not
    complete yet, ``empty`` ones have no data; both are marked. A month that is not listed is a gap.

    Raises:
        ChartError: there are no months.
    """
    x = tuple(map(_number, months))
    if not x:
        raise ChartError("グラフの月がないか、古い順に並んでいません。")
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
        notes=(PlotNote(marks, ""),) if marks else (),
        unit="percent" if percent else "yen",
        running=tuple(map(_number, running)), empty=tuple(map(_number, empty)),
    )  # fmt: skip


def _number(month: Month) -> int:
    """The month as a number counted from year 0, so that consecutive months differ by 1."""
    return month.year * 12 + month.month - 1


Chart = CategoryChart | Plot


@dataclass(frozen=True, slots=True)
class Picture:
    """The bytes of a picture."""

    data: bytes
    media_type: str


def parse_size(text: str, max_size: Size = MAX_SIZE) -> Size:
    """Read ``800x600`` as width and height in pixels.

    Raises:
        ChartError: it is not a size, or a size under 200x150 or over ``max_size``.
    """
    plain = unicodedata.normalize("NFKC", text).replace("×", "x").casefold().strip()
    read = re.fullmatch(r"([0-9]{1,5}) ?x ?([0-9]{1,5})", plain)
    if read is None:
        raise ChartError(
            f"画像サイズ「{text:.50}」を読み取れません。「800x600」のように幅x高さ（ピクセル）で"
            "指定してください。"
        )
    size = int(read[1]), int(read[2])
    if not all(
        low <= side <= high for low, side, high in zip(MIN_SIZE, size, max_size, strict=True)
    ):
        raise ChartError(
            f"画像サイズ {size[0]}x{size[1]} は使えません。{MIN_SIZE[0]}x{MIN_SIZE[1]} から "
            f"{max_size[0]}x{max_size[1]} までで指定してください。"
        )
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


@dataclass(frozen=True, slots=True)
class Entry:
    """A slice or bar; ``members`` are its categories, if there are several.

    ``key`` is the category's original name, ``name`` has only characters that can be drawn.
    """

    name: str
    value: int
    key: str = ""
    color: str = ""
    members: tuple[str, ...] = ()


def entries_of(chart: CategoryChart) -> list[Entry]:
    """An entry for each item, without a color."""
    keys = chart.keys or tuple(name for name, _ in chart.items)
    return [Entry(*item, key) for item, key in zip(chart.items, keys, strict=True)]


def colored(entries: Sequence[Entry], among: Iterable[str] = ()) -> list[Entry]:
    """The entries in the colors of their categories; ``among`` are all categories."""
    colors = iter(colors_of([entry.key for entry in entries if not entry.members], among))
    return [
        replace(entry, color=OTHERS_COLOR if entry.members else next(colors)) for entry in entries
    ]


def merge_small(
    entries: Sequence[Entry], max_entries: int, min_value: int = 0, room: int = 0
) -> list[Entry]:
    """The largest amounts, at most ``max_entries``, in descending order, and その他 for the rest.

    Amounts below ``min_value`` belong to the rest. While the rest is more than MAX_OTHERS_PERCENT,
    its largest amount becomes an entry, up to ``room`` entries. A single amount is not renamed.
    """
    ranked = sorted(entries, key=lambda entry: -entry.value)
    count = min(sum(not min_value or entry.value >= min_value for entry in ranked), max_entries)
    whole = sum(max(entry.value, 0) for entry in ranked)
    while count < room and _total(ranked[count:]) * 100 > whole * MAX_OTHERS_PERCENT:
        count += 1
    rest = ranked[count:]
    if len(rest) > 1:
        members = tuple(entry.name for entry in rest)
        rest = [Entry(f"その他（{len(rest)}項目）", _total(rest), members=members)]
    return ranked[:count] + rest


def _total(entries: Sequence[Entry]) -> int:
    return sum(entry.value for entry in entries)


def members_note(entries: Sequence[Entry]) -> str:
    """A note that lists the members of the last entry, if it has any."""
    members = entries[-1].members if entries else ()
    return f"{entries[-1].name.split('（')[0]}: {'、'.join(members)}" if members else ""
