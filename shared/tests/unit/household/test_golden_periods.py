"""Periods as people say them, on many asking days: the reviewed table, and rules for all of it."""

import csv
import re
from datetime import date, timedelta
from pathlib import Path

from hypothesis import example, given
from hypothesis import strategies as st
from table_of_cases import each

from mdvec.dates.months import Days, Month, MonthRange
from mdvec.dates.phrases import parse_days
from mdvec.household.core.periods import InvalidPeriod, resolve_period

TABLE = Path(__file__).parents[2] / "golden" / "household" / "periods.tsv"
TODAY = date(2025, 9, 10)


def ledger(today, starts_on):
    """The months with data: from January 2021 (or today) to the current one."""
    now = Month.of(today, starts_on)
    return MonthRange(min(Month(2021, 1, starts_on), now), now)


def asked(said, today=TODAY, starts_on=1):
    return resolve_period(today, ledger(today, starts_on), period=said)


def rows():
    with TABLE.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))[1:]


def test_every_phrase_of_the_table_means_exactly_its_days():
    table = rows()
    wrong = []
    for said, day, starts_on, first, last in table:
        try:
            period = asked(said, date.fromisoformat(day), int(starts_on))
        except InvalidPeriod:
            found = ("-", "-")
        else:
            found = (str(period.days.first), str(period.days.last))
            is_plain = re.fullmatch(r"\d{4}(-\d\d)*(\.\.[-\d]+)?", said, re.ASCII)
            told = "" if is_plain else period.in_words
            assert (told in period.understood, bool(period.understood)) == (True, bool(told)), said
        if found != (first, last):
            wrong.append((said, day, starts_on, "should be", first, last, "is", *found))
    assert wrong == []
    assert len(table) >= 250


DOCS = Path(__file__).parents[4] / "docs"


@each(("name", "least"), [("household.md", 40), ("household.ja.md", 60)])
def test_every_phrase_of_the_docs_table_is_understood(name, least):
    text = (DOCS / name).read_text(encoding="utf-8")
    phrases = re.findall(
        "「(.+?)」", text[text.index("<!-- periods -->") : text.index("<!-- /periods -->")]
    )
    assert len(phrases) >= least
    for phrase in phrases:
        assert asked(phrase).days, phrase


@each(
    ("said", "otherwise"),
    [
        ("2025年上半期", "（年度の上半期なら「2025年度上半期」）"),
        ("昨年の下期", "（年度の下期なら「2024年度下期」）"),
    ],
)
def test_a_phrase_of_two_meanings_says_which_was_taken_and_how_to_say_the_other(said, otherwise):
    assert asked(said).understood.endswith(f"と解釈しました{otherwise}")
    assert asked(otherwise.split("「")[1].split("」")[0])


STARTS = st.integers(1, 31)
DAYS = st.dates(date(1950, 1, 1), date(2199, 11, 30))


@given(STARTS, DAYS)
@example(31, date(2024, 2, 29))
@example(30, date(2025, 2, 28))
def test_months_tile_the_calendar_on_whatever_day_they_start(starts_on, day):
    month = Month.of(day, starts_on)
    assert month.first_day <= day <= month.last_day
    assert month.plus(1).first_day == month.last_day + timedelta(days=1)
    assert month.plus(-1).last_day == month.first_day - timedelta(days=1)
    assert (month.last_day.year, month.last_day.month) == (month.year, month.month)
    start = month.first_day if starts_on > 1 else month.last_day + timedelta(days=1)
    short = (start + timedelta(days=1)).day == 1  # the last day of its calendar month
    assert start.day == starts_on or (short and start.day < starts_on)
    assert MonthRange.around(month.days, starts_on) == MonthRange(month, month)


@given(STARTS, DAYS, st.sampled_from(["今月", "先月", "2025年", "今年度", "冬", "Q3 2025"]))
def test_the_words_of_an_answer_are_read_back_as_the_same_days(starts_on, today, said):
    period = asked(said, today, starts_on)
    assert period.in_words == period.months.in_words
    assert asked(period.in_words, today, starts_on).days == period.days


FORMS_OF_A_DAY = (
    "{y}年{m}月{d}日", "{y}/{m:02}/{d:02}", "{y}-{m:02}-{d:02}", "{y}.{m}.{d}", "{y}{m:02}{d:02}",
    "令和{r}年{m}月{d}日", "R{r}年{m}月{d}日",
)  # fmt: skip
WIDE = str.maketrans("0123456789/.-", "０１２３４５６７８９／．－")


@given(
    st.dates(date(2019, 5, 1), date(2030, 12, 31)), st.dates(date(2020, 1, 1), date(2030, 12, 31)),
    st.sampled_from(FORMS_OF_A_DAY), st.booleans(), STARTS,
)  # fmt: skip
def test_every_spelling_of_a_day_is_that_day_whenever_months_start(
    day, today, form, wide, starts_on
):
    said = form.format(y=day.year, m=day.month, d=day.day, r=day.year - 2018)
    said = said.translate(WIDE) if wide else said
    assert asked(said, today, starts_on).days == Days(day, day) == parse_days(said, today)
    week = Days(day, day + timedelta(days=6))
    assert asked(f"{day}〜{week.last}", today, starts_on).days == week
