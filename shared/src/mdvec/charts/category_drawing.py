"""Draws amounts by name: as horizontal bars below each other, or as a ring with a legend.

The ring's slices show the amounts above zero. Its legend lists every amount, including those below
zero, with its share of the total, as the text of the answer does.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import cos, radians, sin

from matplotlib.patches import Rectangle

from mdvec.charts import units
from mdvec.charts.canvas import LABEL_GAP_EM, MAX_NAMES_SHARE, Box, Canvas
from mdvec.charts.colors import OTHERS_COLOR, PALETTE, colors_of
from mdvec.charts.plot import ChartError, Plot, Series
from mdvec.charts.style import AXIS, INK, LOSS_INK, PAPER, TOLERANCE, ink_on, points

MAX_OTHERS_PERCENT = 15
"""その他 may have at most this share of the positive amounts, as long as more entries fit."""
_MIN_ROW, _MAX_ROW_EM = 11.0, 4.5  # pixels; multiples of the letters' size
_LETTERS_SHARE, _BARS_SHARE, _TARGET_SHARE = 0.86, 0.72, 0.44  # of a row's height
_MAX_VALUES_SHARE = 0.36  # of the width
_GAP_EM, _AXIS_EM, _TICK_ROOM_EM = 0.6, 1.9, 5.5
_MAX_SLICES, _MIN_SLICES = 8, 2  # more slices only if その他 would be large
_MIN_SLICE_ONE_IN = 50  # a slice under one fiftieth can hardly be seen
_MAX_ENTRIES_SHARE = 0.62  # the legend's share of a tall picture's height, below the circle
_ROW_EM, _SWATCH_EM, _NAME_GAP_EM, _COLUMN_GAP_EM = 1.6, 0.8, 0.5, 0.9
_WIDTH_EM = _SWATCH_EM + _NAME_GAP_EM + 2 * _COLUMN_GAP_EM  # all but the texts
_MIN_NAME_EM, _MAX_LEGEND_SHARE = 4, 0.6
_RING = 0.56  # the ring's width as a fraction of the radius
_LETTER_HEIGHT_EM = 1.2
Line = tuple[str, str, str]
"""A line of a legend: name, amount and share."""


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


def entries_of(plot: Plot) -> list[Entry]:
    """An entry for each category, without a color."""
    values = (int(value or 0) for value in plot.series[0].values)
    return [Entry(*each) for each in zip(plot.names, values, plot.keys or (), strict=True)]


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
    return ranked[:count] + _as_one(f"その他（{len(rest)}項目）", rest)


def _as_one(name: str, entries: Sequence[Entry]) -> list[Entry]:
    """The entries, or one of this name for several."""
    members = tuple(entry.name for entry in entries)
    return [Entry(name, _total(entries), members=members)] if len(members) > 1 else [*entries]


def _total(entries: Iterable[Entry]) -> int:
    return sum(entry.value for entry in entries)


def members_note(entries: Sequence[Entry]) -> str:
    """A note that lists the members of the last entry, if it has any."""
    members = entries[-1].members if entries else ()
    return f"{entries[-1].name.split('（')[0]}: {'、'.join(members)}" if members else ""


def draw_categories(canvas: Canvas, plot: Plot) -> None:
    """Draw a bar for each category: the largest on top, or in the given order, over their targets.

    Raises:
        ChartError: all amounts are zero.
    """
    if not any((*plot.targets, *plot.series[0].values)):
        raise ChartError("棒グラフにできる金額がありません（すべて0円です）。")
    most = max(int((canvas.size[1] - 6 * canvas.measures.font) / _MIN_ROW) - 1, 2)
    entries = entries_of(plot)
    left_out = max(len(entries) - most, 0) if plot.targets else 0
    entries = colored(entries[:most] if plot.targets else merge_small(entries, most), plot.among)
    more = f"ほか{left_out}件は文章にあります" if left_out else ""
    frame = canvas.frame(plot.title, [members_note(entries), more, plot.note])
    if plot.targets:
        frame = canvas.legend(frame, [Series("予算", (), OTHERS_COLOR)], lines=False)
    bars = Series("", tuple(entry.value for entry in entries))
    shown = replace(
        plot, names=tuple(entry.name for entry in entries), series=(bars,),
        targets=plot.targets[:most],
    )  # fmt: skip
    draw_bars(canvas, shown, frame, [entry.color for entry in entries])


def has_room(canvas: Canvas, plot: Plot, frame: Box) -> bool:
    """Whether there is room to draw the bars of a plot below each other."""
    rows = (frame.height - 2 * canvas.measures.font) / _MIN_ROW
    return len(plot.names) * len(plot.series) <= rows


def draw_bars(canvas: Canvas, plot: Plot, frame: Box, colors: Sequence[str] = ()) -> None:
    """Draw bars (to the left of zero for values below it), with values beside a single series.

    ``colors`` has a colour for each bar of a single series.
    """
    measures, rows = canvas.measures, len(plot.names)
    room = frame.height - _AXIS_EM * measures.small
    row = min(room / rows, _MAX_ROW_EM * measures.font * (1 + len(plot.series)) / 2)
    letters = min(measures.font, row * _LETTERS_SHARE)
    values = [value for one in plot.series for value in one.values if value is not None]
    low, high = min(0, *values, *plot.targets), max(0, *values, *plot.targets)
    texts = _value_texts(canvas, plot, high - low, letters, frame.width)
    top = frame.top + (room - row * rows) / 2
    names_width = min(canvas.widest(plot.names, letters), frame.width * MAX_NAMES_SHARE)
    box = Box(
        frame.left + names_width + LABEL_GAP_EM * measures.font,
        top,
        frame.right - canvas.widest(texts, letters) - (_GAP_EM * 2 if texts else 1) * letters,
        top + row * rows,
    )
    axes = canvas.axes(box, "x")
    axes.set_xlim(low, high if high > low else 1)
    axes.set_ylim(rows - 0.5, -0.5)
    shown = canvas.letters.fit_all(plot.names, letters, names_width)
    axes.set_yticks(range(rows), shown, **canvas.font(letters, INK))
    most = max(min(int(box.width / (_TICK_ROOM_EM * measures.small)), 6), 1)
    scale = units.value_labels(low, high, most, plot.unit)
    ticks = {value: text for value, text in scale.items() if low <= value <= high}
    axes.set_xticks(list(ticks), list(ticks.values()), **canvas.font(measures.small))
    if plot.targets:
        axes.barh(range(rows), plot.targets, _BARS_SHARE, color=OTHERS_COLOR)
    height = (_TARGET_SHARE if plot.targets else _BARS_SHARE) / len(plot.series)
    for number, one in enumerate(plot.series):
        middle = height * (number + 0.5 - len(plot.series) / 2)
        axes.barh(
            [position + middle for position in range(rows)],
            [float(value or 0) for value in one.values],
            height * (0.92 if len(plot.series) > 1 else 1),
            color=colors or one.color,
        )  # fmt: skip
    axes.axvline(0, color=AXIS, linewidth=points(1.2))
    targets = plot.targets or (0,) * rows
    for at, text in enumerate(texts):
        value = plot.series[0].values[at] or 0
        is_bad = value > targets[at] if plot.targets else value < 0
        axes.annotate(
            text, (max(0, value, targets[at]), at), (points(_GAP_EM * letters), 0),
            textcoords="offset points", verticalalignment="center_baseline", annotation_clip=False,
            **canvas.font(letters, LOSS_INK if is_bad else INK),
        )  # fmt: skip


def _value_texts(
    canvas: Canvas, plot: Plot, span: float, letters: float, width: float
) -> list[str]:
    """The texts beside the bars: amounts in full if all fit, else shortened; [] for several series.

    Numbers without a unit are not shortened; those that do not fit are "".
    """
    if len(plot.series) > 1:
        return []
    values, room = plot.series[0].values, width * _MAX_VALUES_SHARE
    if not plot.unit:
        step = span / 200 or 1.0
        known = iter(units.labels([value for value in values if value is not None], step))
        texts = ["" if value is None else next(known) for value in values]
        return [text if canvas.widest([text], letters) <= room else "" for text in texts]
    for written in (units.amount, units.short):
        texts = [written(int(value or 0)) for value in values]
        if plot.targets:
            of = map(written, plot.targets)
            texts = [f"{text} / {target}" for text, target in zip(texts, of, strict=True)]
        if canvas.widest(texts, letters) <= room:
            break
    return texts


def draw_pie(canvas: Canvas, plot: Plot) -> None:
    """Draw the amounts above zero as slices, and list all amounts in the legend.

    Raises:
        ChartError: no amount is above zero, or the total is not.
    """
    entries = entries_of(plot)
    items = [entry for entry in entries if entry.value > 0]
    if not items:
        raise ChartError("円グラフにできる支出がありません（0円より大きい項目がありません）。")
    negative = [entry for entry in entries if entry.value < 0]
    refunds = _as_one(f"マイナスの{len(negative)}項目", negative)
    drawn, total = _total(items), _total(entries)
    if total <= 0:
        raise ChartError("円グラフにできる支出がありません（合計が0円以下です）。")
    lines = int(_legend_height(canvas) / (canvas.measures.font * _ROW_EM))
    room = min(lines - len(refunds) - 2, len(PALETTE))  # lines for その他 and 合計
    most = max(min(_MAX_SLICES, room), _MIN_SLICES)
    slices = colored(merge_small(items, most, -(-drawn // _MIN_SLICE_ONE_IN), room), plot.among)
    undrawn = ""
    if without := len(entries) - len(items):
        included = "（合計と割合には含みます）" if refunds else ""
        undrawn = (
            f"0円以下の{without}項目には扇形がありません{included}。扇形は{len(items)}項目です"
        )
    notes = [members_note(slices), members_note(refunds), undrawn, plot.note]
    frame = canvas.frame(plot.title, notes)
    table = [
        (entry.name, units.amount(entry.value), units.share(entry.value, total))
        for entry in (*slices, *refunds)
    ]
    table.append(("合計", units.amount(total), ""))
    widths = [canvas.widest(column, canvas.measures.font) for column in zip(*table, strict=True)]
    circle, legend = _places(canvas, frame, sum(widths), len(table))
    _draw_slices(canvas, circle, slices, labelled=drawn == total)
    _draw_legend(canvas, legend, table, widths, total, [entry.color for entry in slices])


def _legend_height(canvas: Canvas) -> float:
    """The height for a legend beside the circle: all but the title and two lines of notes."""
    (width, height), measures = canvas.size, canvas.measures
    if width <= height:
        return height * _MAX_ENTRIES_SHARE
    return height - 2 * measures.title - 4 * measures.gap - 2.8 * measures.small


def _places(canvas: Canvas, frame: Box, texts: float, rows: int) -> tuple[Box, Box]:
    """The boxes of circle and legend: side by side on a wide page, stacked on a tall one.

    The circle fills its box in one direction; in the other it stands in the middle.
    """
    font, gap = canvas.measures.font, 2 * canvas.measures.gap
    width, height = texts + _WIDTH_EM * font, rows * _ROW_EM * font
    if frame.width < frame.height:
        side = min(frame.width, frame.height - height - gap)
        top = frame.top + (frame.height - side - height - gap) / 2
        left = frame.left + max(frame.width - width, 0) / 2
        circle = Box(frame.left, top, frame.right, top + side)
        return circle, Box(left, circle.bottom + gap, frame.right, circle.bottom + gap + height)
    side = min(frame.height, frame.width - min(width, frame.width * _MAX_LEGEND_SHARE) - gap)
    spare = max(frame.width - side - gap - width, 0) / 3
    circle = replace(frame, left=frame.left + spare, right=frame.left + spare + side)
    return circle, replace(frame, left=circle.right + spare + gap)


def _draw_slices(canvas: Canvas, box: Box, entries: Sequence[Entry], *, labelled: bool) -> None:
    """Draw the slices; ``labelled`` ones have their percentages where there is room."""
    drawn, font = _total(entries), canvas.measures.font
    radius = min(box.width, box.height) / 2
    middle = (box.left + box.right) / 2, (box.top + box.bottom) / 2
    axes = canvas.axes(Box(middle[0] - radius, middle[1] - radius,
                          middle[0] + radius, middle[1] + radius))  # fmt: skip
    wedges = axes.pie(
        [float(entry.value) for entry in entries], colors=[entry.color for entry in entries],
        startangle=90, counterclock=False,
        wedgeprops={"width": _RING, "edgecolor": PAPER if len(entries) > 1 else "none",
                    "linewidth": 1.2},
    )[0]  # fmt: skip
    axes.set_xlim(-1, 1)
    axes.set_ylim(-1, 1)
    distance = 1 - _RING / 2
    for entry, wedge in zip(entries, wedges if labelled else (), strict=False):
        turn = radians((wedge.theta1 + wedge.theta2) / 2)
        text, x, y = units.share(entry.value, drawn), cos(turn), sin(turn)
        width, height = canvas.letters.width(text, font), font * _LETTER_HEIGHT_EM
        along, across = abs(y) * width + abs(x) * height, abs(x) * width + abs(y) * height
        # The percentage is written into its slice if it fits along the rim and across.
        rim = radians(wedge.theta2 - wedge.theta1) * distance * radius
        if along <= rim and across <= radius * _RING * 0.94:
            axes.text(x * distance, y * distance, text, horizontalalignment="center",
                      verticalalignment="center_baseline",
                      **canvas.font(font, ink_on(entry.color)))  # fmt: skip


def _draw_legend(
    canvas: Canvas, box: Box, table: Sequence[Line], widths: Sequence[float], total: int,
    colors: Sequence[str],
) -> None:  # fmt: skip
    """Write a line for each entry: swatch, name, amount if there is room for it, percentage."""
    font, (width, height) = canvas.measures.font, canvas.size
    row, swatch, gap = font * _ROW_EM, font * _SWATCH_EM, font * _COLUMN_GAP_EM
    left = box.left + swatch + font * _NAME_GAP_EM
    names, amounts, shares = widths
    right = min(box.right, left + names + amounts + shares + 2 * gap)
    has_amounts = (
        right - left - shares - amounts - 2 * gap > min(names, _MIN_NAME_EM * font) - TOLERANCE
    )
    names_end = right - shares - gap - (amounts + gap if has_amounts else 0)
    top = box.top + max(box.height - len(table) * row, 0) / 2
    for number, (name, amount, share) in enumerate(table):
        middle = top + (number + 0.5) * row
        if number < len(colors):
            corner = box.left / width, 1 - (middle + swatch / 2) / height
            canvas.figure.add_artist(Rectangle(
                corner, swatch / width, swatch / height, color=colors[number], linewidth=0
            ))  # fmt: skip
        canvas.write(left, middle, name, font, width=names_end - left)
        if has_amounts:
            canvas.write(right - shares - gap, middle, amount, font, align="right")
        elif not share:  # the total
            share = amount
            if canvas.widest([f"{name} {amount}"], font) > right - left:
                share = units.short(total)
        if share:
            canvas.write(right, middle, share, font, align="right")
