"""Ranges of months, also over New Year, against an independent rule; days are refused."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdvec.dates.months import Month, MonthRange
from mdvec.household.core.periods import DayInPeriod, InvalidPeriod, resolve_period

NOW = 2025
LEDGER = MonthRange(Month(2020, 1), Month(2025, 12))
FORMS = ("{}月から{}月", "{}月〜{}月", "{}月 から {}月まで", "{}月-{}月", "{}-{}月", "{}月より{}月")


def meant(a, b, asking):
    """The latest range from month a to the next month b that has begun."""
    counted = [
        (start, next(end for end in range(start, start + 12) if end % 12 == b - 1))
        for start in range((NOW - 2) * 12, (NOW + 2) * 12)
        if start % 12 == a - 1 and start <= NOW * 12 + asking - 1
    ]
    start, end = counted[-1]
    return MonthRange(Month(start // 12, start % 12 + 1), Month(end // 12, end % 12 + 1))


@pytest.mark.parametrize("asking", range(1, 13))
def test_every_range_of_months_is_the_latest_that_has_begun_in_the_given_order(asking):
    today = date(NOW, asking, 10)
    for a in range(1, 13):
        for b in range(1, 13):
            wanted = meant(a, b, asking)
            form = FORMS[(a + b + asking) % len(FORMS)]
            phrase = resolve_period(today, LEDGER, period=form.format(a, b))
            ends = resolve_period(today, LEDGER, start_month=f"{a}月", end_month=f"{b:02d}月")
            assert (phrase.months, ends.months) == (wanted, wanted), (a, b)
            assert wanted.in_words in phrase.understood
            assert "入れ替え" not in phrase.understood + ends.understood


@given(st.integers(2020, 2025), *[st.integers(1, 12)] * 3)
def test_one_end_that_has_its_year_gives_the_other_the_nearest_that_keeps_the_order(
    year, a, b, asking
):
    today = date(NOW, asking, 1)
    begun, ended = Month(year, a), Month(year, b)
    onward = MonthRange(begun, next(begun.plus(n) for n in range(12) if begun.plus(n).month == b))
    back = MonthRange(next(ended.plus(-n) for n in range(12) if ended.plus(-n).month == a), ended)
    for start, end, wanted in (
        (begun.in_words, f"{b}月", onward), (str(begun), f"{b}月", onward),
        (f"{a}月", ended.in_words, back),
    ):  # fmt: skip
        ends = resolve_period(today, LEDGER, start_month=start, end_month=end)
        assert ends.months == resolve_period(today, LEDGER, period=f"{start}から{end}").months
        assert ends.months == wanted


# --- days --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "instead"),
    [
        ("2026年7月2日", "2026年07月"), ("2025年6月15日", "2025年06月"),
        ("2025年06月15日分", "2025年06月"), ("2025/06/15", "2025年06月"),
        ("2025-06-15", "2025年06月"), ("2025.6.15", "2025年06月"), ("20250615", "2025年06月"),
        ("2025-06-08", "2025年06月"), ("２０２５年６月１５日", "2025年06月"),
        ("２０２５／０６／１５", "2025年06月"), ("令和7年6月15日", "2025年06月"),
        ("令和七年六月十五日", "2025年06月"), ("R7.6.15", "2025年06月"), ("r7/6/15", "2025年06月"),
        ("7月2日", "2025年07月"), ("７月２日", "2025年07月"), ("七月二日", "2025年07月"),
        ("7/2", "2025年07月"), ("7月の2日", "2025年07月"), ("昨年の6月15日", "2024年06月"),
        ("6月15日から20日", "2025年06月"), ("6月15日〜20日まで", "2025年06月"),
        ("6月15日から7月14日", "2025年06月〜2025年07月"),
        ("2025/06/25〜2025/07/24", "2025年06月〜2025年07月"),
        ("2025-06-25-2025-07-24", "2025年06月〜2025年07月"),
        ("12月25日から1月5日", "2024年12月〜2025年01月"), ("2025年6/15", "2025年06月"),
        ("2025年6月15日以降", "2025年06月〜2025年08月"), ("2025年2月30日", "2025年02月"),
        ("㋅㏮", "2025年06月"), ("今日", None), ("昨日", None), ("先週", None), ("15日", None),
        ("直近10日", None), ("過去三十日間", None), ("6月上旬", None), ("今月の25日", None),
        ("先月末日", None), ("2025年13月1日", None),
    ],
)  # fmt: skip
def test_a_day_is_never_answered_by_its_month_and_the_month_to_ask_for_is_named(said, instead):
    ledger = MonthRange(Month(2023, 4), Month(2025, 8))
    for asked in ({"period": said}, {"start_month": said}, {"end_month": said},
                  {"start_month": said, "end_month": "2025-08"},
                  {"start_month": "2025-01", "end_month": said}):  # fmt: skip
        with pytest.raises(InvalidPeriod) as refused:
            resolve_period(date(2025, 9, 10), ledger, **asked)
    with pytest.raises(DayInPeriod) as refused:
        resolve_period(date(2025, 9, 10), ledger, period=said)
    message = str(refused.value)
    assert "日や週の単位では集計できません" in message
    assert (f"「{instead}」" if instead else "「先月」「直近3か月」") in message
    assert len(message) < 300


FORMS_OF_A_DAY = (
    "{y}年{m}月{d}日", "{y}/{m:02}/{d:02}", "{y}-{m:02}-{d:02}", "{y}.{m}.{d}", "{y}{m:02}{d:02}",
    "令和{r}年{m}月{d}日", "R{r}.{m}.{d}", "{m}月{d}日", "{m}/{d}", "{y}-{m}-{d}",
)  # fmt: skip
WIDE = str.maketrans("0123456789/.-", "０１２３４５６７８９／．－")


@given(
    st.dates(date(2019, 5, 1), date(2030, 12, 31)), st.dates(date(2020, 1, 1), date(2030, 12, 31)),
    st.sampled_from(FORMS_OF_A_DAY), st.booleans(),
)  # fmt: skip
def test_no_spelling_of_a_day_is_a_period(day, today, form, wide):
    said = form.format(y=day.year, m=day.month, d=day.day, r=day.year - 2018)
    with pytest.raises(DayInPeriod):
        resolve_period(today, LEDGER, period=said.translate(WIDE) if wide else said)
    with pytest.raises(DayInPeriod):
        resolve_period(today, LEDGER, period=f"{said}から")
