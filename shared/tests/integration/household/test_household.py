"""A household's answers, from the rows in its ledger."""

import os
import random
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from ledger_rows import list_transactions
from small_ledger import FLAGS, Row, SmallLedger
from table_of_cases import each

from mdvec.dates.months import Month, MonthRange
from mdvec.household import Ledger
from mdvec.household.core.categories import Category, UnknownCategory
from mdvec.household.core.periods import AmbiguousPeriod, InvalidPeriod
from mdvec.household.core.sums import RowCounts, change, mean, percent
from mdvec.household.core.transaction import ListedRow
from mdvec.household.core.wording import EmptyLedger, InsufficientData, InvalidChoice, InvalidPage
from mdvec.household.overview import AvailableMonth, available_months, category_hierarchy
from mdvec.household.trend import category_trend, category_trend_summary, trend_cache

GOLDEN = Path(__file__).parents[2] / "golden" / "household"
TODAY = date(2025, 8, 15)


class FilledLedger:
    """A household's ledger, filled row by row, and asked on one day."""

    def __init__(self, connection):
        self.small = SmallLedger(connection, source="収入・支出詳細_2025-01-01_2025-12-31.csv")
        self.connection, self.tool_id = connection, self.small.tool_id

    def stored(self):
        return list_transactions(self.connection, self.tool_id)

    def add(self, day, amount, category="食費/食料品", shop="スーパー", flag=None):
        self.small.add(Row(day, amount, category, flag, shop))

    def as_of(self, today=TODAY):
        return Ledger(self.connection, self.tool_id, today)

    def trend(self, category=None, **asked):
        return self.small.trend(TODAY, category, **asked)

    def month(self, period=None, **asked):
        return self.small.month(TODAY, period, **asked)


@pytest.fixture
def ledger(connection):
    return FilledLedger(connection)


@pytest.fixture
def year(ledger):
    """Fourteen months with every kind of row, up to 20 July 2025."""
    for number in range(14):
        month = Month(2024, 6).plus(number)
        ledger.add(f"{month}-25", 250_000, "収入/給与", "給与")
        ledger.add(f"{month}-01", -80_000, "住宅/家賃", "家賃")
        ledger.add(f"{month}-10", -(30_000 + 500 * number), "食費/食料品", "スーパー")
        ledger.add(f"{month}-12", -(8_000 - 100 * number), "食費/外食", "食堂")
        ledger.add(f"{month}-15", -6_000, "水道・光熱費/電気代", "電力会社")
        ledger.add(f"{month}-18", -3_000, "交通費/電車", "鉄道")
    ledger.add("2025-07-19", 1_200, "食費/食料品", "スーパー 返品")
    ledger.add("2025-07-20", -40_000, "食費/食料品", "カード引落", "計算対象外")
    ledger.add("2025-07-20", -50_000, "現金・カード/振替", "口座間\n振替", "振替")
    ledger.add("2025-07-20", -31_000, "食費/食料品", "スーパー", "重複")
    ledger.add("2025-07-20", None, "食費/食料品", "金額のない行")
    ledger.add("2025-07-20", -100, "", "カテゴリのない行")
    return ledger


def check_golden(name, text):
    path = GOLDEN / f"{name}.txt"
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(text + "\n", encoding="utf-8")
    assert text + "\n" == path.read_text(encoding="utf-8")


def test_the_texts_match_the_reviewed_examples(year):
    check_golden("trend_of_a_category", year.trend("食費", period="2025年6月〜7月").text)
    check_golden(
        "trend_of_a_short_ledger", year.trend("食費 > 外食", period="2024年7月から9月").text
    )
    check_golden("trend_of_the_top_three", year.trend().text)
    summary = category_trend_summary(year.as_of())
    check_golden("trend_summary", summary.text)
    check_golden("month", year.month("2025年7月").text)
    check_golden("month_of_a_category", year.month(year=2025, month=7, category="食費").text)
    check_golden("year_first_page", year.month(page_size=5).text)


# --- sums against a reckoning over every row ---------------------------------------------------


@pytest.fixture
def random_ledger(ledger):
    choice = random.Random(20250815)
    categories = ["食費/食料品", "食費/外食", "食費/", "住宅/家賃", "収入/給与", "日用品/雑貨", "/"]
    with ledger.connection:
        for _ in range(1500):
            day = date(2023, 5, 3) + timedelta(days=choice.randrange(800))
            if day.month == 2:
                continue  # months without any row
            amount = choice.choice([None, *(choice.randrange(-9000, 2000) for _ in range(9))])
            flag = choice.choice([None] * 9 + list(FLAGS))
            ledger.add(day.isoformat(), amount, choice.choice(categories), "店", flag)
    return ledger


def spent(rows, major, month, minor=None):
    sign = 1 if major == "収入" else -1
    return sum(
        sign * row.amount for row in rows
        if row.counts and row.category_major == major and Month.of(row.date) == month
        and minor in (None, row.category_minor)
    )  # fmt: skip


@each("said", ["食費", "食費/外食", "収入", "住宅"])
def test_a_trend_is_the_sum_of_the_rows_that_count(random_ledger, said):
    rows = random_ledger.stored()
    first, last = (Month.of(edge(row.date for row in rows)) for edge in (min, max))
    major, _, minor = said.partition("/")
    answer = random_ledger.trend(said, period="全期間")
    (trend,) = answer.categories
    assert answer.months == MonthRange(first, last)
    by_month = {m: spent(rows, major, m, minor or None) for m in answer.months}
    with_rows = {Month.of(row.date) for row in rows}
    for figure in trend.months:
        window = [by_month[m] for n in range(12) if (m := figure.month.plus(-n)) in by_month]
        before, year = (by_month.get(figure.month.plus(-n)) for n in (1, 12))
        # A month without any row is not a zero.
        expected = by_month[figure.month] if figure.month in with_rows else None
        assert figure.amount == expected
        assert figure.moving_average == mean(window)
        assert figure.month_over_month == change(figure.amount, before)
        assert figure.year_over_year == change(figure.amount, year)


def test_the_sums_of_a_period_are_those_of_the_rows_that_count(random_ledger):
    answer = random_ledger.month("2024年")
    rows = [row for row in random_ledger.stored() if row.date.year == 2024]
    months = [Month(2024, n) for n in range(1, 13)]
    majors = {row.category_major for row in rows if row.counts}
    total = {major: sum(spent(rows, major, m) for m in months) for major in majors}
    income = total.pop("収入")
    assert {str(s.category): s.amount for s in answer.spending_by_category} == total
    assert {str(s.category): s.rows for s in answer.spending_by_category} == {
        major: sum(row.counts and row.category_major == major for row in rows) for major in total
    }
    assert (answer.spending, answer.income) == (sum(total.values()), income)
    assert answer.balance == income - sum(total.values())
    assert answer.spending_by_category[0].share == percent(
        answer.spending_by_category[0].amount, sum(total.values())
    )
    assert answer.counts.used == sum(row.counts for row in rows)
    assert answer.counts.total == answer.total_rows == len(rows)


def test_every_row_is_on_one_page_in_order_with_its_reason_left_out(random_ledger):
    found: list[ListedRow] = []
    page: int | None = 1
    while page is not None:
        answer = random_ledger.month("2024年", page=page)
        assert len(answer.rows) <= 20
        found, page = [*found, *answer.rows], answer.next_page
    rows = sorted(
        (row for row in random_ledger.stored() if row.date.year == 2024),
        key=lambda r: (r.date, r.id),
    )
    assert [row.id for row in found] == [row.id for row in rows]
    assert answer.pages == -(-len(rows) // 20)
    assert [row.left_out is None for row in found] == [row.counts for row in rows]


# --- what is said of the months ----------------------------------------------------------------


def test_each_row_that_is_left_out_is_counted_by_its_first_reason(year):
    counts = year.month("2025年7月").counts
    assert counts == RowCounts(counts.used, 1, 1, 1, 1, 1)
    assert counts.used == 7
    food = year.trend("食費", period="2025-07").counts
    assert food == RowCounts(food.used, 0, 1, 1, 1, 0)


def test_gaps_and_months_that_may_still_fill_are_marked(ledger):
    ledger.add("2025-04-01", -100)
    ledger.add("2025-06-01", -100)
    ledger.add("2025-07-30", -100)
    assert available_months(ledger.as_of()) == (
        AvailableMonth(2025, 4, "2025-04-01", "2025-04-30", 1, is_gap=False, may_be_filling=False),
        AvailableMonth(2025, 5, "2025-05-01", "2025-05-31", 0, is_gap=True, may_be_filling=False),
        AvailableMonth(2025, 6, "2025-06-01", "2025-06-30", 1, is_gap=False, may_be_filling=False),
        AvailableMonth(2025, 7, "2025-07-01", "2025-07-31", 1, is_gap=False, may_be_filling=True),
    )
    notes = ledger.trend("食費").notes
    without = "は、合計と、揃っていない月を含む平均では 0円として計算しました"
    assert f"明細が 1 件もない月（2025年05月）{without}" in notes
    assert "2025年07月の明細はまだ揃っていない可能性があります" in notes
    assert "過去 4 か月分のデータで計算しました" in notes
    ledger.add("2025-07-31", -100)
    assert not available_months(ledger.as_of())[-1].may_be_filling
    in_july = available_months(ledger.as_of(date(2025, 7, 31)))
    assert [month.may_be_filling for month in in_july] == [False, False, False, True]


def test_figures_without_the_category_are_none(year):
    food = year.month("2025-07", category="食費")
    assert (food.spending, food.income, food.balance) == (42_000, None, None)
    assert [(s.category, s.amount) for s in food.spending_by_category] == [
        (Category("食費", "食料品"), 35_300), (Category("食費", "外食"), 6_700),
    ]  # fmt: skip
    salary = year.month("2025-07", category="給与")
    assert (salary.spending, salary.income, salary.balance) == (None, 250_000, None)
    assert salary.income_by_category[0].share == Decimal("100.0")


def test_a_page_says_where_the_next_is_and_holds_as_many_rows_as_asked(year):
    first = year.month()
    assert (first.page, first.pages, first.next_page, first.total_rows) == (1, 4, 2, 78)
    last = year.month(page=4)
    assert (len(first.rows), len(last.rows), last.next_page) == (20, 18, None)
    assert first.rows[0].description == "家賃"
    for page in (0, 5):
        with pytest.raises(InvalidPage, match="1〜4 を指定"):
            year.month(page=page)
    for size in (-1, 201):
        with pytest.raises(InvalidChoice, match="0〜200 を指定"):
            year.month(page_size=size)
    everything, nothing = year.month(page_size=200), year.month(page_size=0)
    assert (len(everything.rows), everything.next_page, nothing.rows) == (78, None, ())
    assert nothing.text.splitlines()[-1] == "明細は全 78件です（limit=20 で示します）。"


def test_the_second_page_has_its_rows_and_says_of_what_they_are(year):
    first, second = (
        year.month("2025年7月", category="食費", page_size=2, page=page) for page in (1, 2)
    )
    assert second.spending == first.spending
    lines = second.text.splitlines()
    assert lines[0] == ("2025年07月の食費カテゴリの明細 3〜4件目（全 6件、[取引ID ファイル:行]）:")
    assert [line[:2] for line in lines[1:3]] == ["- ", "- "]
    assert lines[3].startswith("ファイル: A=収入・支出詳細_2025-01-01")
    assert lines[4:] == ["続きは page=3、limit=2。"]


# --- what cannot be answered -------------------------------------------------------------------


def test_an_empty_ledger_says_what_to_do(ledger):
    for ask in (
        ledger.trend,
        ledger.month,
        lambda: category_hierarchy(ledger.as_of()),
        lambda: available_months(ledger.as_of()),
        lambda: category_trend_summary(ledger.as_of()),
    ):
        with pytest.raises(EmptyLedger, match=r"データファイルが見つかりません.*import -n kakeibo"):
            ask()


def test_a_period_outside_the_ledger_and_a_month_without_rows_have_too_little_data(ledger):
    ledger.add("2025-05-31", -10)
    ledger.add("2025-07-01", -20)
    for period in ("2024年", "2025-06", "今月"):
        for ask in (ledger.month, lambda period: ledger.trend("食費", period=period)):
            with pytest.raises(InsufficientData, match="対象期間のデータが不足しています") as short:
                ask(period)
            assert "利用できる期間は 2025年05月〜2025年07月 です" in str(short.value)


def test_a_ledger_of_income_alone_says_so_and_shows_it(ledger):
    ledger.add("2025-07-01", 20, "収入/給与")
    answer = ledger.trend()
    assert [(str(one.category), one.total) for one in answer.categories] == [("収入", 20)]
    assert answer.text.startswith("支出がありません（収入はあります）。\n収入")
    ledger.add("2025-07-02", 20, "食費/食料品")
    assert "支出がありません（収入はあります）" in ledger.trend().text


def test_months_without_any_category_of_spending_or_income_have_no_trend(ledger):
    ledger.add("2025-07-01", 20, "食費/食料品")
    with pytest.raises(InsufficientData):
        ledger.trend()


def test_unknown_input_is_refused_with_the_choices(year):
    with pytest.raises(UnknownCategory, match=r"該当カテゴリが見つかりません.*近い名前: 食費"):
        year.trend("食日")
    with pytest.raises(InvalidPeriod, match="2024年06月〜2025年07月"):
        year.month(year=2025, month=13)
    with pytest.raises(AmbiguousPeriod):
        year.month("先月", year=2025)
    with pytest.raises(AmbiguousPeriod):
        year.trend(period="先月", end_month="2025-06")


# --- answers that are kept ---------------------------------------------------------------------


def test_an_answer_is_cached_until_the_data_change(year):
    cache = trend_cache()
    other = FilledLedger(year.connection)
    other.add("2025-07-31", -5)

    def ask(today=TODAY, **asked):
        return cache(category_trend, year.as_of(today), **{"category": "食費", **asked})

    first = ask()
    assert ask() is first
    assert ask(category="住宅") != first
    assert ask(period="2025-06").months.first == Month(2025, 6)
    assert ask(today=date(2025, 7, 31)).notes == first.notes
    later = cache(category_trend, replace(year.as_of(), month_starts_on=26), category="食費")
    assert later.categories != first.categories
    assert cache(category_trend, other.as_of(), category="食費").categories[0].total == 5
    summary = cache(category_trend_summary, year.as_of())
    assert cache(category_trend_summary, year.as_of()) is summary
    year.add("2025-07-21", -1_000_000)
    assert ask().categories[0].total == first.categories[0].total + 1_000_000
    assert cache(category_trend_summary, year.as_of()) is not summary


def test_an_error_is_not_cached(ledger):
    cache = trend_cache()
    with pytest.raises(EmptyLedger):
        cache(category_trend, ledger.as_of())
    ledger.add("2025-07-31", -5)
    answer = cache(category_trend, ledger.as_of())
    assert answer.categories[0].total == 5
