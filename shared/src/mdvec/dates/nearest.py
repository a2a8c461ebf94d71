"""The known phrase for a period that is nearest to one that was not understood."""

from __future__ import annotations

import difflib

from mdvec.dates.normal import normalised

KNOWN = (
    "今月", "先月", "先々月", "今年", "去年", "一昨年", "今年度", "昨年度", "2025年度",
    "2025年度上半期", "2025年6月", "令和7年6月", "令和7年", "2025年", "2025年上半期",
    "2025年第3四半期", "今四半期", "前四半期", "昨年の夏", "昨冬", "今年の夏", "昨年同月",
    "昨年6月", "2年前の6月", "1年前", "半年前", "半年前から", "3か月前", "直近3か月", "直近半年",
    "直近1年", "先月までの3か月", "今月を除く直近3か月", "今年に入ってから", "年初来", "全期間",
    "2025年6月〜8月", "6月から8月", "6月から", "2025年6月まで", "今日", "昨日", "一昨日", "今週",
    "先週", "先々週", "今週末", "先週末", "先週の金曜日", "直近7日", "直近2週間", "1月10日",
    "2025年1月10日", "1月10日〜1月20日", "1月10日から1週間", "6月上旬", "先月末", "年末年始",
    "GW", "お盆", "給料日から給料日まで",
)  # fmt: skip
"""Phrases that the grammar knows, each as an example of its kind."""
KNOWN_IN_ENGLISH = (
    "last month", "this month", "last year", "this year", "this year so far", "last week",
    "yesterday", "past 3 months", "last quarter", "Q3 2025", "June 2025", "first half of 2025",
    "last winter", "summer 2025",
)  # fmt: skip
"""The same in English."""
_MIN_LIKENESS = 0.34


def nearest_known(said: str) -> str | None:
    """The known phrase that is spelled most like this one, in its language; None if none is."""
    if said.isascii():
        found = difflib.get_close_matches(
            said.casefold(), KNOWN_IN_ENGLISH, n=1, cutoff=_MIN_LIKENESS
        )
        return found[0] if found else None
    spellings = {normalised(known): known for known in KNOWN}
    found = difflib.get_close_matches(normalised(said), spellings, n=1, cutoff=_MIN_LIKENESS)
    return spellings[found[0]] if found else None
