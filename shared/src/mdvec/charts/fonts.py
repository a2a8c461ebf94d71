"""The Japanese font: finding it, the characters it lacks, and the widths of texts."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from importlib.util import find_spec
from itertools import accumulate
from pathlib import Path

from matplotlib.font_manager import FontProperties
from matplotlib.ft2font import FT2Font, LoadFlags

from mdvec.charts.chart import ChartError
from mdvec.charts.style import PIXELS_PER_INCH, POINTS_PER_INCH

_PACKAGE = "matplotlib_fontja"
_FILE = "fonts/ipaexg.ttf"
_REQUIRED = "あア円食費月"
_REPLACEMENTS = "〓□?"  # for characters that the font lacks; the first that it has is used
_EM = 64
_TOLERANCE = 0.01  # pixels, so that rounding does not cut a text at its own width
_MAX_CACHED_FONTS = 4


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
        self._replacement = next(letter for letter in _REPLACEMENTS if self._has(letter))

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
                shown.append(self._replacement)
                missing.append(letter)
        return " ".join("".join(shown).split()), missing

    def width(self, text: str, pixels: float) -> float:
        """The width of a text at this font size, in pixels."""
        return sum(map(self._advance, text)) * pixels

    def fit(self, text: str, pixels: float, width: float) -> str:
        """The text, cut with an ellipsis if it is wider than ``width``."""
        if self.width(text, pixels) <= width + _TOLERANCE:
            return text
        room = width - self.width("…", pixels)
        for end, letter in enumerate(text):
            room -= self._advance(letter) * pixels
            if room < 0:
                return text[:end].rstrip() + "…"
        return text

    def fit_all(self, texts: Sequence[str], pixels: float, width: float) -> list[str]:
        """The texts, cut as by ``fit``; in their middle if else two would look alike."""
        shown = [self.fit(text, pixels, width) for text in texts]
        if len(set(shown)) == len(set(texts)):
            return shown
        return [self._fit_ends(text, pixels, width) for text in texts]

    def _fit_ends(self, text: str, pixels: float, width: float) -> str:
        if self.width(text, pixels) <= width + _TOLERANCE:
            return text
        room, start = width / 2, len(text)
        while start and (room := room - self._advance(text[start - 1]) * pixels) >= 0:
            start -= 1
        end = text[start:]
        return self.fit(text, pixels, width - self.width(end, pixels)) + end

    def wrap(self, text: str, pixels: float, width: float, max_lines: int) -> list[str]:
        """The text in lines of ``width``; an ellipsis ends it if ``max_lines`` are too few."""
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
    """The configured font, or by default the one in the package matplotlib-fontja.

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
