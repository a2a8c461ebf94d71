"""The colours of categories and series by their names.

A category has the same colour at any rank, in pictures and on the page. The first ten colours are
at least 0.11 apart in OKLab, the others 0.06, also for people with protanopia or deuteranopia. All
have a contrast of about 3 : 1 with white paper and the dark page.
"""

from __future__ import annotations

import unicodedata
import zlib
from collections.abc import Callable, Iterable, Sequence

PALETTE = (
    "#F06C84", "#786000", "#4860CC", "#C09000", "#249CFC",
    "#A83C60", "#8478C0", "#B46C48", "#18A8A8", "#006C90",
    "#C06078", "#A83C90", "#B484D8", "#54840C", "#6078E4",
    "#60A854", "#A86C9C", "#009054", "#7860B4", "#306C60",
)  # fmt: skip
OTHERS_COLOR = "#BCC1C8"
FIRST = 10
"""How many colours differ clearly; each further colour is similar to one of these."""

# Money Forward's categories, whose colours never depend on other names, and the totals.
_OWN = {
    "食費": 0, "日用品": 1, "住宅": 2, "水道・光熱費": 3, "収入": 4, "支出": 5, "趣味・娯楽": 6,
    "衣服・美容": 7, "通信費": 8, "交通費": 9, "その他": 10, "特別な支出": 11, "交際費": 12,
    "教養・教育": 13, "自動車": 14, "健康・医療": 15, "税・社会保障": 16, "未分類": 17,
    "現金・カード": 18, "保険": 19,
}  # fmt: skip
# Zaim's names for the same categories, and totals, which a chart shows without categories.
_SHARED = {
    "日用雑貨": 1, "住まい": 2, "水道・光熱": 3, "エンタメ": 6, "美容・衣服": 7, "通信": 8,
    "交通": 9, "大型出費": 11, "教育・教養": 13, "クルマ": 14, "医療・保険": 15, "税金": 16,
    "収支": 2, "貯蓄率": 2, "純資産": 2,
}  # fmt: skip


def colors_of(names: Sequence[str], among: Iterable[str] = ()) -> tuple[str, ...]:
    """The colours of the names in one chart; equal names have equal colours.

    Known categories have fixed colours; other names get a colour from a hash of the name. With all
    existing names in ``among``, a name has the same colour in every chart, and up to twenty names
    have different colours. With more names, a chart changes colours that would occur twice.
    """
    everywhere = _places({*names, *among}, _preferred_place)
    here = _places(set(names), everywhere.__getitem__)
    return tuple(PALETTE[here[name]] for name in names)


def _places(names: Iterable[str], preferred: Callable[[str], int]) -> dict[str, int]:
    """The palette index of each name: the preferred one, or the next free one."""
    places: dict[str, int] = {}
    taken: set[int] = set()
    for name in sorted(names, key=lambda label: (label not in _OWN, label not in _SHARED, label)):
        position = preferred(name)
        while position in taken and len(taken) < len(PALETTE):
            position = (position + 1) % len(PALETTE)
        taken.add(position)
        places[name] = position
    return places


def _preferred_place(name: str) -> int:
    known = _OWN.get(name, _SHARED.get(name))
    if known is not None:
        return known
    letters = unicodedata.normalize("NFKC", name).casefold().encode(errors="surrogatepass")
    return zlib.crc32(letters) % len(PALETTE)
