"""The style of all charts: inks, the Japanese font, the sizes of letters, other settings."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from itertools import accumulate
from pathlib import Path
from typing import Literal

from matplotlib.font_manager import FontProperties
from matplotlib.ft2font import FT2Font, LoadFlags

from mdvec.charts.colors import FIRST, PALETTE
from mdvec.charts.plot import ChartError, Size

PAPER, INK, FAINT_INK, LOSS_INK = "#FFFFFF", "#2B2F36", "#6A707A", "#B3261E"
GRID, AXIS, EMPTY_BAND = "#E8EAED", "#9AA0A6", "#F1F2F4"
HEAT = ("#EEF3F8", "#8FB4D6", "#3D6FA8", "#173B66")
COLD = ("#7A3B05", "#D08A3C", "#F6E3C8")
"""The colours of values below zero, lowest first; colour-blind people can tell them from HEAT."""

PIXELS_PER_INCH, POINTS_PER_INCH = 96, 72
SETTINGS = {
    "text.parse_math": False, "text.hinting": "none", "svg.hashsalt": "mdvec",
    "lines.solid_capstyle": "round", "lines.solid_joinstyle": "round",
    "axes.axisbelow": True, "grid.color": GRID, "grid.linewidth": 0.8,
}  # fmt: skip
"""Settings over matplotlib's defaults, so that the user's own settings do not change a chart."""

_DESIGNED_FOR = (800, 600)
_SCALE_EXPONENT, _MIN_SCALE = 0.7, 0.62
_TITLE, _FONT, _SMALL, _GAP, _LINE = 20.0, 15.0, 13.0, 14.0, 2.4  # pixels at the designed size
_MIN_SMALL, _MIN_GAP, _MIN_LINE = 9.0, 5.0, 1.6
_LIGHTER = 0.4
_SERIES = (2, 3, 8, 0, 1, 4, 5, 7, 6, 9, *range(FIRST, len(PALETTE)))
_PACKAGE = "matplotlib_fontja"
_FILE = "fonts/ipaexg.ttf"
_REQUIRED = "あア円食費月"
_REPLACEMENTS = "〓□?"  # for characters that the font lacks; the first that it has is used
_EM = 64
TOLERANCE = 0.01  # pixels, so that rounding does not cut a text at its own width
_MAX_CACHED_FONTS = 4


@dataclass(frozen=True, slots=True)
class Measures:
    """Letter heights, gaps and line widths, in pixels, for one size of picture."""

    title: float
    font: float
    small: float
    gap: float
    line: float

    @classmethod
    def of(cls, size: Size) -> Measures:
        """The measures for a size: those for 800x600, scaled less than in proportion.

        So small pictures stay legible, and large ones are not filled with letters.
        """
        ratio = min(size[0] / _DESIGNED_FOR[0], size[1] / _DESIGNED_FOR[1])
        scale = max(float(ratio**_SCALE_EXPONENT), _MIN_SCALE)
        return cls(
            title=_TITLE * scale,
            font=_FONT * scale,
            small=max(_SMALL * scale, _MIN_SMALL),
            gap=max(_GAP * min(scale, ratio * 1.2), _MIN_GAP),
            line=max(_LINE * scale, _MIN_LINE),
        )


def points(pixels: float) -> float:
    """Converts pixels to matplotlib's points."""
    return pixels * POINTS_PER_INCH / PIXELS_PER_INCH


def series_color(number: int) -> str:
    """The colour of a series by its number, if its name has none, as a query's column."""
    return PALETTE[_SERIES[number % len(_SERIES)]]


def dashes(color: str) -> Literal["-"] | tuple[float, tuple[float, float]]:
    """The line style for a colour: dashed if the colour is similar to another."""
    return (0, (4, 1.6)) if color in PALETTE[FIRST:] else "-"


@lru_cache(maxsize=1_024)
def lighter(color: str) -> str:
    """A lighter shade of a colour, for incomplete values."""
    return "#" + "".join(f"{round(255 - (255 - part) * _LIGHTER):02X}" for part in _parts(color))


@lru_cache(maxsize=1_024)
def ink_on(color: str) -> str:
    """The ink that is easier to read on a colour: the dark one or white."""
    red, green, blue = ((part / 255) ** 2.2 for part in _parts(color))
    return INK if 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.28 else PAPER


def _parts(color: str) -> bytes:
    return bytes.fromhex(color[1:])


class FontUnusable(ChartError):
    """The font cannot be read, or has no Japanese letters."""


class Typeface:
    """A font with Japanese letters.

    Not thread-safe: FreeType's faces hold state.
    """

    def __init__(self, path: Path) -> None:
        try:
            self._face = FT2Font(str(path))
        except (OSError, RuntimeError) as error:
            raise FontUnusable(
                f"フォント {path} を読み込めません。[charts] font_path を確認してください。"
            ) from error
        if not all(self._has(letter) for letter in _REQUIRED):
            raise FontUnusable(
                f"フォント {path} には日本語の文字がありません。"
                "日本語フォントを [charts] font_path に指定してください。"
            )
        self.path = path
        self._face.set_size(_EM, POINTS_PER_INCH)
        self._advances: dict[str, float] = {}
        self.replacement = next(letter for letter in _REPLACEMENTS if self._has(letter))

    def properties(self, pixels: float) -> FontProperties:
        """The font at this size, for matplotlib."""
        return FontProperties(fname=str(self.path), size=pixels * POINTS_PER_INCH / PIXELS_PER_INCH)

    def legible(self, text: str) -> tuple[str, list[str]]:
        """The text on one line, with 〓 for each character the font lacks, and those characters."""
        shown, missing = [], []
        for letter in unicodedata.normalize("NFC", text):
            category = unicodedata.category(letter)
            if category in ("Cc", "Zl", "Zp", "Zs"):
                shown.append(" ")
            elif category == "Cf" or "\ufe00" <= letter <= "\ufe0f":
                continue  # joiners and variation selectors are invisible
            elif self._has(letter):
                shown.append(letter)
            else:
                shown.append(self.replacement)
                missing.append(letter)
        return " ".join("".join(shown).split()), missing

    def width(self, text: str, pixels: float) -> float:
        """The width of a text at this font size, in pixels."""
        return sum(map(self._advance, text)) * pixels

    def fit(self, text: str, pixels: float, width: float) -> str:
        """The text, cut with an ellipsis if it is wider than ``width``."""
        if self.width(text, pixels) <= width + TOLERANCE:
            return text
        room = width - self.width("…", pixels)
        for end, letter in enumerate(text):
            room -= self._advance(letter) * pixels
            if room < 0:
                return text[:end].rstrip() + "…"
        return text

    def fit_all(self, texts: Sequence[str], pixels: float, width: float) -> list[str]:
        """The texts, cut as by ``fit``; if two would look the same, all are cut in the middle."""
        shown = [self.fit(text, pixels, width) for text in texts]
        if len(set(shown)) == len(set(texts)):
            return shown
        return [self._fit_ends(text, pixels, width) for text in texts]

    def _fit_ends(self, text: str, pixels: float, width: float) -> str:
        if self.width(text, pixels) <= width + TOLERANCE:
            return text
        room, start = width / 2, len(text)
        while start and (room := room - self._advance(text[start - 1]) * pixels) >= 0:
            start -= 1
        end = text[start:]
        return self.fit(text, pixels, width - self.width(end, pixels)) + end

    def wrap(self, text: str, pixels: float, width: float, max_lines: int) -> list[str]:
        """The text in lines of ``width`` pixels; it ends with an ellipsis after ``max_lines``."""
        lines: list[str] = []
        while text:
            if len(lines) + 1 == max_lines:
                return [*lines, self.fit(text, pixels, width)]
            ends = accumulate(self._advance(letter) * pixels for letter in text)
            count = max(sum(end <= width for end in ends), 1)
            lines.append(text[:count])
            text = text[count:].lstrip()
        return lines

    def _has(self, letter: str) -> bool:
        return self._face.get_char_index(ord(letter)) != 0

    def _advance(self, letter: str) -> float:
        known = self._advances.get(letter)
        if known is None:
            glyph = self._face.load_char(ord(letter), flags=LoadFlags.NO_HINTING)
            known = self._advances[letter] = glyph.linearHoriAdvance / 65536 / _EM
        return known


@lru_cache(maxsize=_MAX_CACHED_FONTS)
def typeface(font_path: str | None) -> Typeface:
    """The configured font, or by default the font in the package matplotlib-fontja.

    Raises:
        FontUnusable: the file is missing, is not a font, or has no Japanese letters.
    """
    if font_path is not None:
        return Typeface(Path(font_path))
    # Importing the package would load pyplot and change matplotlib's global settings.
    spec = find_spec(_PACKAGE)
    for folder in (spec.submodule_search_locations if spec else None) or ():
        if (path := Path(folder) / _FILE).is_file():
            return Typeface(path)
    raise FontUnusable(
        "日本語フォントが見つかりません。matplotlib-fontja をインストールするか、"
        "[charts] font_path に日本語フォントのファイルを指定してください。"
    )
