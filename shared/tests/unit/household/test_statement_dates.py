"""Dates as banks and cards write them."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st
from table_of_cases import each

from mdvec.household.core.cells import BadCell, parse_date

DAYS = st.dates(date(1990, 1, 1), date(2099, 12, 31))
ERAS = (("令和", "R", 2018, date(2019, 5, 1)), ("平成", "H", 1988, date(1989, 1, 8)))
FULL_WIDTH = str.maketrans("0123456789/.", "０１２３４５６７８９／．")


@st.composite
def written_days(draw):
    """A day, and a spelling of it that needs no date format."""
    day = draw(DAYS)
    era, letter, before, _ = next(each for each in ERAS if day >= each[3])
    year = day.year - before
    spelled = draw(
        st.sampled_from(
            [
                f"{day:%Y%m%d}",
                f"{day:%Y/%m/%d}",
                f"{day.year}年{day.month}月{day.day}日",
                f"{era}{'元' if year == 1 else year}年{day.month}月{day.day}日",
                f"{era} {year:02} 年 {day.month:02} 月 {day.day:02} 日",
                f"{letter}{year}.{day.month}.{day.day}",
                f"{letter.lower()}{year:02}/{day.month:02}/{day.day:02}",
            ]
        )
    )
    time = draw(st.sampled_from(["", " 9:05", " 12:34:56"]))
    weekday = draw(st.sampled_from(["", "(火)", "（日）"])) if not time else ""
    text = spelled + time + weekday
    return day, text.translate(FULL_WIDTH) if draw(st.booleans()) else text


@given(written_days())
def test_a_date_in_any_spelling_is_read_back(written):
    day, text = written
    assert parse_date(text) == day


@given(DAYS)
def test_a_short_year_is_what_the_mapping_says(day):
    short = f"{day.year % 100:02}/{day.month}/{day.day}"
    if day.year >= 2000:
        assert parse_date(short, "yy/mm/dd") == day
        assert parse_date(f"{day:%y%m%d}", "yy/mm/dd") == day
    if day.year >= 2019:
        assert parse_date(f"{day.year - 2018}.{day.month}.{day.day}", "令和") == day
    # A year that is not short is what it says, whatever the format.
    assert parse_date(f"{day:%Y/%m/%d}", "令和") == day


@given(st.text("0123456789年月日令和HR/.- :元（）aあ", max_size=20))
def test_a_text_is_a_date_or_refused(text):
    try:
        found = parse_date(text)
    except BadCell:
        return
    assert any(map(str.isdigit, text)), found


@each(
    "text",
    [
        "", "07/07/01", "2025/13/01", "20250230", "R7.7/1", "令和7年", "7月1日", "R7.7.1 0:59x",
        "R0.7.1",
    ],
)  # fmt: skip
def test_half_a_date_is_no_date(text):
    with pytest.raises(BadCell):
        parse_date(text)
