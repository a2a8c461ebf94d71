"""The base of a comparison is read from its period: pairs whose spans were counted by hand."""

from datetime import date

import pytest
from plan_ledger import Bought, fill
from table_of_cases import each

from mdvec.database.connection import open_database
from mdvec.household import Ledger
from mdvec.household.comparison import compare_periods
from mdvec.household.core.periods import InvalidDates, InvalidPeriod

TODAY = date(2026, 11, 24)
"""A Tuesday."""
LEAP_DAY = "2024-02-29/2024-02-29"
PAIRS = [
    ("2025年6月", "前月", "2025-05-01/2025-05-31", "2025-06-01/2025-06-30"),
    ("2025年6月", None, "2025-05-01/2025-05-31", "2025-06-01/2025-06-30"),
    ("2025年6月", "", "2025-05-01/2025-05-31", "2025-06-01/2025-06-30"),
    ("2025年6月", "previous", "2025-05-01/2025-05-31", "2025-06-01/2025-06-30"),
    ("2025年6月", "previous_year", "2024-06-01/2024-06-30", "2025-06-01/2025-06-30"),
    ("2025年6月", "前年", "2024-06-01/2024-06-30", "2025-06-01/2025-06-30"),
    ("2025年6月", "前年同月", "2024-06-01/2024-06-30", "2025-06-01/2025-06-30"),
    ("2025年6月", "1年前", "2024-06-01/2024-06-30", "2025-06-01/2025-06-30"),
    ("2025年6月", "2年前の同じ月", "2023-06-01/2023-06-30", "2025-06-01/2025-06-30"),
    ("2025年6月", "2024-06..2024-08", "2024-06-01/2024-08-31", "2025-06-01/2025-06-30"),
    ("2025年6月", "2025-05-10..2025-05-20", "2025-05-10/2025-05-20", "2025-06-01/2025-06-30"),
    ("2025年6月", "2024年", "2024-01-01/2024-12-31", "2025-06-01/2025-06-30"),
    ("2025年6月", "前四半期", "2025-01-01/2025-03-31", "2025-06-01/2025-06-30"),
    ("2025年1月", "前月", "2024-12-01/2024-12-31", "2025-01-01/2025-01-31"),
    ("2025年度", "前年度", "2024-04-01/2025-03-31", "2025-04-01/2026-03-31"),
    ("2025年", "前年", "2024-01-01/2024-12-31", "2025-01-01/2025-12-31"),
    ("2025年", "2023年", "2023-01-01/2023-12-31", "2025-01-01/2025-12-31"),
    ("2026年6月", "去年", "2025-06-01/2025-06-30", "2026-06-01/2026-06-30"),
    ("2025年6月〜8月", "前月", "2025-05-01/2025-05-31", "2025-06-01/2025-08-31"),
    ("2025年6月〜8月", "previous", "2025-03-01/2025-05-31", "2025-06-01/2025-08-31"),
    ("2025年6月〜8月", "前年同期", "2024-06-01/2024-08-31", "2025-06-01/2025-08-31"),
    ("2025年第3四半期", "前四半期", "2025-04-01/2025-06-30", "2025-07-01/2025-09-30"),
    ("2025年上半期", "previous", "2024-07-01/2024-12-31", "2025-01-01/2025-06-30"),
    ("2025年の夏", "前年", "2024-06-01/2024-08-31", "2025-06-01/2025-08-31"),
    ("2025年6月1日〜6月10日", "previous", "2025-05-22/2025-05-31", "2025-06-01/2025-06-10"),
    ("2025年6月1日〜6月10日", "前年", "2024-06-01/2024-06-10", "2025-06-01/2025-06-10"),
    ("2024年2月29日", "前年", "2023-02-28/2023-02-28", LEAP_DAY),
    ("6月", "5月", "2026-05-01/2026-05-31", "2026-06-01/2026-06-30"),
    ("先月", "去年の同じ月", "2025-10-01/2025-10-31", "2026-10-01/2026-10-31"),
    ("先月", "前月", "2026-09-01/2026-09-30", "2026-10-01/2026-10-31"),
    ("先月", "先々月", "2026-09-01/2026-09-30", "2026-10-01/2026-10-31"),
    ("先月", "去年", "2025-10-01/2025-10-31", "2026-10-01/2026-10-31"),
    ("今月", "先月", "2026-10-01/2026-10-31", "2026-11-01/2026-11-30"),
    ("今月", "去年", "2025-11-01/2025-11-30", "2026-11-01/2026-11-30"),
    ("今年", "去年", "2025-01-01/2025-11-30", "2026-01-01/2026-11-30"),
    ("今年", "previous", "2025-01-01/2025-11-30", "2026-01-01/2026-11-30"),
    ("今年度", "昨年度", "2025-04-01/2026-03-31", "2026-04-01/2026-11-30"),
    ("今年度", "previous", "2025-04-01/2025-11-30", "2026-04-01/2026-11-30"),
    ("今四半期", "前四半期", "2026-07-01/2026-09-30", "2026-10-01/2026-11-30"),
    ("先週", "前週", "2026-11-09/2026-11-15", "2026-11-16/2026-11-22"),
    ("先週", "先々週", "2026-11-09/2026-11-15", "2026-11-16/2026-11-22"),
    ("先週", None, "2026-11-09/2026-11-15", "2026-11-16/2026-11-22"),
    ("昨日", "前日", "2026-11-22/2026-11-22", "2026-11-23/2026-11-23"),
    ("直近3か月", "previous", "2026-06-01/2026-08-31", "2026-09-01/2026-11-30"),
    ("直近3か月", "前年", "2025-09-01/2025-11-30", "2026-09-01/2026-11-30"),
    (None, None, "2026-10-01/2026-10-31", "2026-11-01/2026-11-30"),
    (None, "前年", "2025-11-01/2025-11-30", "2026-11-01/2026-11-30"),
    ("June 2025", "previous month", "2025-05-01/2025-05-31", "2025-06-01/2025-06-30"),
    ("last month", "same month last year", "2025-10-01/2025-10-31", "2026-10-01/2026-10-31"),
]


@pytest.fixture(scope="module")
def ledger(tmp_path_factory):
    """A row on the first of each month from 2022 to November 2026, each of its own amount."""
    rows = [
        Bought(f"{year}-{month:02}-01", "朝市", -(year * 100 + month))
        for year in range(2022, 2027)
        for month in range(1, 13)
        if (year, month) <= (2026, 11)
    ]
    path = tmp_path_factory.mktemp("ledger") / "ledger.sqlite"
    with open_database(path, "create") as connection:
        yield connection, fill(connection, rows), rows


def spent(rows, span):
    first, last = span.split("/")
    return sum(-row.amount for row in rows if first <= row.day <= last)


def compared(ledger, **asked):
    answer = compare_periods(Ledger(ledger[0], ledger[1], TODAY), **asked)
    before, after = (f"{days.first}/{days.last}" for days in (answer.before, answer.after))
    assert answer.spending == (spent(ledger[2], before), spent(ledger[2], after))
    return answer, before, after


@each(("period", "base", "before", "after"), PAIRS)
def test_the_base_is_the_one_that_the_period_gives_it(ledger, period, base, before, after):
    answer, *spans = compared(ledger, period=period, base=base)
    assert spans == [before, after]
    first = answer.text.splitlines()[0]
    assert first.endswith("の比較です。")
    for span in spans:  # both spans open the answer, in months or days
        assert f"{span[:4]}年{span[5:7]}月" in first
    if base:
        assert (f"「{base}」を " in answer.text) == (not base[:7].replace("-", "").isdecimal())


@each(
    ("base", "before"),
    [
        (None, "2025-06-01/2025-06-10"), ("previous_year", "2024-06-11/2024-06-20"),
        ("前月", "2025-05-01/2025-05-31"), ("2025-01", "2025-01-01/2025-01-31"),
    ],
)  # fmt: skip
def test_stated_dates_have_bases_too(ledger, base, before):
    _, *spans = compared(ledger, since="2025-06-11", until="2025-06-20", base=base)
    assert spans == [before, "2025-06-11/2025-06-20"]


@pytest.mark.parametrize(
    ("period", "base", "today", "seen"),
    [
        ("2025年6月", "先月", "2026年10月", "2025年05月"),
        ("2025年6月", "5月", "2026年05月", "2025年05月"),
        ("2025年12月", "去年", "2025年01月〜2025年12月", "2024年12月"),
    ],
)
def test_a_base_of_two_readings_is_refused_with_both(ledger, period, base, today, seen):
    with pytest.raises(InvalidDates, match=f"今日から見れば {today}、period から見れば {seen}"):
        compared(ledger, period=period, base=base)


def test_a_base_outside_of_the_grammar_is_refused_with_the_dates_to_fill_in(ledger):
    with pytest.raises(InvalidPeriod, match=r'base="YYYY-MM-DD\.\.YYYY-MM-DD" に入れてください'):
        compared(ledger, period="2025年6月", base="FY2024-2025")
