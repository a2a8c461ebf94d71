"""The Japanese font: which one, what it lacks, and how wide its letters are."""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from importlib.util import find_spec
from itertools import accumulate
from pathlib import Path

from matplotlib.font_manager import FontProperties
from matplotlib.ft2font import FT2Font, LoadFlags

from mdvec_mcp.charts.chart import ChartError
from mdvec_mcp.charts.styles import PIXELS_PER_INCH

_PACKAGE = "matplotlib_fontja"
_FILE = "fonts/ipaexg.ttf"
_NEEDED = "あア円食費月"
_STAND_INS = "〓□?"
_EM = 64


class FontUnusable(ChartError):
    """There is no font that can write Japanese where one was looked for."""


_ROUNDING = 0.01  # of a pixel: a text fits into a width that was measured for it


class Typeface:
    """A font file with Japanese letters.

    Not safe for several threads at once: FreeType's faces hold state.
    """

    def __init__(self, path: Path) -> None:
        try:
            self._face = FT2Font(str(path))
        except (OSError, RuntimeError) as error:
            raise FontUnusable(
                f"フォント {path} を読み込めません。[charts] font_path を確認してください。"
            ) from error
        if not all(self._has(letter) for letter in _NEEDED):
            raise FontUnusable(
                f"フォント {path} には日本語の文字がありません。"
                "日本語フォントを [charts] font_path に指定してください。"
            )
        self.path = path
        self._face.set_size(_EM, 72)
        self._advances: dict[str, float] = {}
        self._stand_in = next(letter for letter in _STAND_INS if self._has(letter))

    def properties(self, pixels: float) -> FontProperties:
        """What matplotlib wants to know to write letters of this height."""
        return FontProperties(fname=str(self.path), size=pixels * 72 / PIXELS_PER_INCH)

    def legible(self, text: str) -> tuple[str, list[str]]:
        """The text on one line with 〓 for what the font lacks, and the characters it lacks."""
        shown, missing = [], []
        for letter in unicodedata.normalize("NFC", text):
            category = unicodedata.category(letter)
            if category in ("Cc", "Zl", "Zp", "Zs"):
                shown.append(" ")
            elif category == "Cf" or "\ufe00" <= letter <= "\ufe0f":
                continue  # joiners and variation selectors: nothing to see of their own
            elif self._has(letter):
                shown.append(letter)
            else:
                shown.append(self._stand_in)
                missing.append(letter)
        return " ".join("".join(shown).split()), missing

    def width(self, text: str, pixels: float) -> float:
        """How wide the text is at this height, in pixels."""
        return sum(map(self._advance, text)) * pixels

    def fit(self, text: str, pixels: float, width: float) -> str:
        """The text, or as much of its beginning as fits with an ellipsis."""
        if self.width(text, pixels) <= width + _ROUNDING:
            return text
        room = width - self.width("…", pixels)
        for end, letter in enumerate(text):
            room -= self._advance(letter) * pixels
            if room < 0:
                return text[:end].rstrip() + "…"
        return text

    def wrap(self, text: str, pixels: float, width: float, most: int) -> list[str]:
        """The text in lines that fit; what is too much for ``most`` lines ends in an ellipsis."""
        lines: list[str] = []
        while text:
            if len(lines) + 1 == most:
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


@lru_cache(maxsize=4)
def typeface(font_path: str | None) -> Typeface:
    """The font that is set, or the one that the package matplotlib-fontja holds.

    Raises:
        FontUnusable: the file is not there, is no font, or has no Japanese letters.
    """
    if font_path is not None:
        return Typeface(Path(font_path))
    # Importing the package would load pyplot and change matplotlib's settings for everyone.
    spec = find_spec(_PACKAGE)
    for folder in (spec.submodule_search_locations if spec else None) or ():
        if (path := Path(folder) / _FILE).is_file():
            return Typeface(path)
    raise FontUnusable(
        "日本語フォントが見つかりません。matplotlib-fontja をインストールするか、"
        "[charts] font_path に日本語フォントのファイルを指定してください。"
    )
