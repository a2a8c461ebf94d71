"""Days, weeks and months as people say them, as spans of days."""

from datetime import date, timedelta

from hypothesis import example, given
from hypothesis import strategies as st
from table_of_cases import each

from mdvec.dates.months import Days
from mdvec.dates.phrases import parse_days

TODAY = date(2025, 11, 19)
"""A Wednesday."""


def span(said):
    found = parse_days(said, TODAY)
    return None if found is None else f"{found.first}/{found.last}"


@each(
    ("said", "days"),
    [
        ("2025-06-01", "2025-06-01/2025-06-01"),
        ("2025-06-01T10:00:00+09:00", "2025-06-01/2025-06-01"),
        ("2025/6/1 10:30", "2025-06-01/2025-06-01"),
        ("20250601", "2025-06-01/2025-06-01"),
        ("２０２５年６月　１日", "2025-06-01/2025-06-01"),
        ("令和7年6月1日", "2025-06-01/2025-06-01"),
        ("12月31日", "2024-12-31/2024-12-31"),
        ("2月29日", "2024-02-29/2024-02-29"),
        ("2025年6月", "2025-06-01/2025-06-30"),
        ("2025-06", "2025-06-01/2025-06-30"),
        ("2025", "2025-01-01/2025-12-31"),
        ("2024年度", "2024-04-01/2025-03-31"),
        ("今年", "2025-01-01/2025-12-31"),
        ("一昨年", "2023-01-01/2023-12-31"),
        ("昨年の夏", "2024-06-01/2024-08-31"),
        ("先月以降", "2025-10-01/2025-10-31"),
        ("直近3か月", "2025-09-01/2025-11-30"),
        ("今週", "2025-11-17/2025-11-23"),
        ("先週", "2025-11-10/2025-11-16"),
        ("先々週", "2025-11-03/2025-11-09"),
        ("2週間前", "2025-11-03/2025-11-09"),
        ("昨日", "2025-11-18/2025-11-18"),
        ("一昨日", "2025-11-17/2025-11-17"),
        ("十日前", "2025-11-09/2025-11-09"),
        ("直近7日間", "2025-11-13/2025-11-19"),
        ("last week", "2025-11-10/2025-11-16"),
        ("3 days ago", "2025-11-16/2025-11-16"),
        ("Past 2 weeks", "2025-11-06/2025-11-19"),
        ("2025年6月31日", None),
        ("2025-13", None),
        ("いつか", None),
        ("", None),
    ],
)
def test_a_phrase_is_a_span_of_days(said, days):
    assert span(said) == days


@given(st.dates(date(1900, 1, 1), date(2199, 12, 31)))
def test_every_day_is_read_back_from_each_of_its_forms(day):
    forms = [
        day.isoformat(),
        day.strftime("%Y%m%d") if day.year >= 1900 else day.isoformat(),
        f"{day.year}/{day.month}/{day.day}",
        f"{day.year}年{day.month}月{day.day}日",
    ]
    assert {parse_days(form, TODAY) for form in forms} == {Days(day, day)}


@given(st.integers(0, 9999))
def test_n_days_ago_is_parsed_as_that_day(count):
    day = TODAY - timedelta(days=count)
    assert (
        parse_days(f"{count}日前", TODAY)
        == parse_days(f"{count} days ago", TODAY)
        == Days(day, day)
    )


@example("9999年前")
@example("令和99年99月99日")
@given(st.text() | st.text("0123456789年月日週前先令和-/.直近か半〜 "))
def test_any_text_is_days_or_none(said):
    found = parse_days(said, TODAY)
    assert found is None or found.first <= found.last
