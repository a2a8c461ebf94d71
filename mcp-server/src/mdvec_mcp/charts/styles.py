"""Colours and sizes of the charts."""

from __future__ import annotations

from dataclasses import dataclass

from mdvec_mcp.charts.chart import Size

CATEGORY_COLORS = (
    "#FF6B6B", "#4ECDC4", "#45B7D1", "#96CEB4",
    "#FFEAA7", "#DDA0DD", "#98D8C8", "#F7DC6F",
)  # fmt: skip
OTHERS_COLOR = "#B8BCC2"
BACKGROUND = "#FFFFFF"
INK = "#333333"
FAINT_INK = "#666666"
LOSS_INK = "#B3261E"
GRID = "#E3E5E8"
AXIS = "#9AA0A6"

TITLE_POINTS, LABEL_POINTS, FONT_POINTS = 16, 14, 12
PIXELS_PER_INCH = 96
_DESIGNED_FOR = (800, 600)


@dataclass(frozen=True, slots=True)
class Style:
    """Measures in pixels for a picture of one size."""

    title: float
    label: float
    font: float
    small: float
    gap: float
    line: float

    @classmethod
    def of(cls, size: Size) -> Style:
        """The designed sizes at 800x600, in other pictures changed by less than their sides.

        So small ones stay legible and large ones are not all letters.
        """
        ratio = min(size[0] / _DESIGNED_FOR[0], size[1] / _DESIGNED_FOR[1])
        scale = max(float(ratio**0.7), 0.62)
        pixels = scale * PIXELS_PER_INCH / 72
        return cls(
            title=TITLE_POINTS * pixels * (1 if ratio > 0.5 else 0.85),
            label=LABEL_POINTS * pixels,
            font=FONT_POINTS * pixels,
            small=max(10 * pixels, 9.0),
            gap=max(12 * scale, 5.0) if ratio > 0.5 else 5.0,
            line=max(3.0 * scale, 2.0),
        )


def color(index: int) -> str:
    """The palette, over and over."""
    return CATEGORY_COLORS[index % len(CATEGORY_COLORS)]


def darker(value: str, share: float = 0.72) -> str:
    """The same hue, dark enough to stand out of a white page."""
    parts = (round(int(value[at : at + 2], 16) * share) for at in (1, 3, 5))
    return "#" + "".join(f"{part:02X}" for part in parts)
