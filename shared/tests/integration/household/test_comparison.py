"""Two periods side by side, against plain counting of the rows."""

from dataclasses import replace
from datetime import date

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from plan_ledger import Bought, household

from mdvec.dates import Days
from mdvec.household.comparison import InvalidComparison, SameDays, compare_periods
from mdvec.household.core.wording import InsufficientData, InvalidChoice

TODAY = date(2025, 7, 10)


def test_a_comparison_names_what_moved_and_the_rows_that_moved_it(connection):
    ledger = household(
        connection,
        [
            Bought("2025-05-03", "スーパーまるなか", -4_000),
            Bought("2025-05-04", "家賃", -80_000, "住宅/家賃・地代"),
            Bought("2025-06-03", "スーパーまるなか", -4_000),
            Bought("2025-06-20", "寿司 うおまる", -9_800, "食費/外食"),
            Bought("2025-06-04", "家賃", -80_000, "住宅/家賃・地代"),
            Bought("2025-06-25", "給与", 300_000, "収入/給与"),
            Bought("2025-06-26", "振込", -50_000, "住宅/家賃・地代", counts=False),
        ],
        today=TODAY,
    )
    answer = compare_periods(ledger, period="2025年6月")
    assert answer.text.splitlines()[:7] == [
        "2025年05月と 2025年06月の比較です。",
        "- 支出: 84,000円 → 93,800円（+9,800円、+11.7%）",
        "- 収入: 0円 → 300,000円（+300,000円）",
        "動いたカテゴリ（差の大きい順）:",
        "- 収入（収入）: 0円 → 300,000円（+300,000円）",
        "  給与 0 → 300,000円",
        "- 食費: 4,000円 → 13,800円（+9,800円、+245.0%）",
    ]
    full = compare_periods(ledger, period="2025年6月", detail="full")
    assert full.text.splitlines()[5:8] == [
        "  増: 2025-06-25 給与 300,000円 [6]",
        "- 食費: 4,000円 → 13,800円（+9,800円、+245.0%）",
        "  増: 2025-06-20 寿司 うおまる 9,800円 [4]",
    ]
    (most,) = compare_periods(ledger, period="2025年6月", limit=1).movements
    assert most.name == "収入"
    assert answer.notes[1:] == (
        "2025年05月の明細は 2025-05-03 からです",
        "「2025年6月」を 2025年06月 と解釈しました",
    )
    longer = compare_periods(ledger, since="2025-05-30", until="2025-06-26", base="2025-05")
    said = "期間の長さが違います（31日と 28日）。金額は期間の合計どうしの比較です"
    assert longer.text.splitlines()[3] == f"※ {said}。"
    assert (longer.notes[-1], longer.text.count(said)) == (said, 1)
    assert [row.description for row in full.movements[1].added] == ["寿司 うおまる"]
    assert answer.total_movements == 2
    shops = compare_periods(ledger, period="2025年6月", by="shop")
    assert [one.name for one in shops.movements] == ["給与", "寿司 うおまる"]


def test_a_shop_is_paired_with_itself_and_what_is_cut_is_counted(connection):
    rows = [Bought(f"2025-05-{day:02}", "朝市", -100) for day in range(1, 29)]
    rows += [Bought(f"2025-06-{day:02}", "朝市", -110) for day in range(1, 29)]
    rows += [Bought("2025-06-09", f"店{name}", -10, f"{name}/物") for name in "あいうえおかきくけ"]
    ledger = household(connection, rows, today=TODAY)
    answer = compare_periods(ledger, period="2025年6月")
    assert answer.text.splitlines()[3:5] == [
        "- 食費: 2,800円 → 3,080円（+280円、+10.0%）", "  朝市 2,800 → 3,080円",
    ]  # fmt: skip
    assert (len(answer.movements), answer.total_movements) == (8, 10)
    assert "ほか 2件は差がこれより小さいものです（limit=10）。" in answer.text
    whole = compare_periods(ledger, period="2025年6月", limit=10)
    assert (len(whole.movements), "ほか" in whole.text) == (10, False)
    with pytest.raises(InvalidChoice, match="1〜200"):
        compare_periods(ledger, period="2025年6月", limit=0)


def test_a_shop_is_shown_with_all_that_it_came_to(connection):
    """Also where a row of the one period has its equal in the other."""
    rent = "住宅/家賃・地代"
    rows = [Bought(f"2025-0{month}-04", "家賃", -80_000, rent) for month in (4, 5, 6)]
    ledger = household(connection, [*rows, Bought("2025-06-05", "家賃", -5_000, rent)], today=TODAY)
    asked = {"since": "2025-05", "until": "2025-06", "base": "2025-04-01..2025-04-30"}
    answer = compare_periods(ledger, **asked)
    assert "  家賃 80,000 → 165,000円" in answer.text.splitlines()
    ((shop,),) = [one.shops for one in answer.movements]
    assert (shop.before, shop.after) == (80_000, 165_000)


def test_a_category_is_compared_by_what_is_in_it(connection):
    rows = [
        Bought("2025-05-03", "スーパーまるなか", -4_000),
        Bought("2025-06-03", "スーパーまるなか", -4_000),
        Bought("2025-06-20", "寿司 うおまる", -9_800, "食費/外食"),
    ]
    ledger = household(connection, rows, today=TODAY)
    food = compare_periods(ledger, period="2025-06", category="食費")
    assert [(one.name, one.difference) for one in food.movements] == [("外食", 9_800)]
    assert food.text.startswith("2025年05月と 2025年06月の比較（食費）です。")


def test_a_running_month_is_also_compared_up_to_the_same_day(connection):
    days = {"2025-06-01": 100, "2025-06-11": 10_000, "2025-07-10": 300}
    rows = [Bought(day, "朝市", -yen) for day, yen in days.items()]
    ledger = household(connection, rows, today=TODAY)
    answer = compare_periods(ledger)
    assert (answer.spending, answer.same_days) == ((10_100, 300), SameDays(10, (100, 300)))
    assert "支出（どちらも最初の 10日間）: 100円 → 300円" in answer.text
    weeks_later = compare_periods(replace(ledger, today=date(2025, 7, 28)))
    assert weeks_later.same_days == answer.same_days


@pytest.mark.parametrize(
    ("period", "base", "same_days"),
    [
        ("今年", "2024年", SameDays(182, (20, 100))),
        ("今年度", "昨年度", SameDays(92, (20, 70))),
        ("今年", "previous_year", SameDays(182, (20, 100))),
        ("2025年", "前年", SameDays(182, (20, 100))),
        ("2025-01-01..2025-12-31", "previous", SameDays(182, (20, 100))),
        ("2025年度", "前年", SameDays(92, (20, 70))),
        ("2025年", "2024年6月から11月", None),
        ("今年", "2023年", None),  # which the ledger has not from its first day on
    ],
)
def test_a_running_year_is_also_compared_up_to_the_same_day_of_a_named_one(
    connection, period, base, same_days
):
    days = {
        "2023-03-01": 0,
        "2023-12-05": 7,
        "2024-06-05": 20,
        "2024-07-20": 3,
        "2024-12-05": 500,
        "2025-01-05": 30,
        "2025-07-01": 70,
    }
    ledger = household(
        connection, [Bought(day, "朝市", -yen) for day, yen in days.items()], today=TODAY
    )
    answer = compare_periods(ledger, period=period, base=base)
    assert answer.same_days == same_days


@pytest.mark.parametrize("month_starts_on", [1, 25])
def test_a_running_week_is_compared_up_to_the_same_day_whatever_months_it_touches(
    connection, month_starts_on
):
    days = {"2025-06-16": 9, "2025-06-17": 20, "2025-06-22": 500, "2025-06-26": 30}
    rows = [Bought(day, "朝市", -yen) for day, yen in days.items()]
    answer = compare_periods(
        household(connection, rows, today=date(2025, 6, 26), month_starts_on=month_starts_on),
        since="2025-06-23",
        until="2025-06-29",
    )
    assert (answer.before, answer.same_days) == (
        Days(date(2025, 6, 16), date(2025, 6, 22)), SameDays(4, (29, 30)),
    )  # fmt: skip


def test_what_cannot_be_compared_is_refused_with_the_choices(connection):
    ledger = household(connection, [Bought("2025-06-11", "朝市", -250)], today=TODAY)
    with pytest.raises(InvalidChoice, match="category、shop"):
        compare_periods(ledger, by="bank")
    with pytest.raises(InvalidComparison, match="収支は比べられません"):
        compare_periods(ledger, category="収支", base="2025年6月")
    with pytest.raises(InsufficientData):
        compare_periods(ledger, period="2025年6月", base="2023年6月")


ROWS = st.lists(
    st.builds(
        Bought,
        st.builds("2025-0{}-{:02}".format, st.sampled_from((5, 6)), st.integers(1, 28)),
        st.sampled_from(("朝市", "書店", "薬局")),
        st.sampled_from((-300, -200, 200, 1_000)),
        st.sampled_from(("食費/外食", "日用品/", "収入/給与")),
        st.just("カード"),
        st.booleans(),
    ),
    max_size=14,
)


@settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(ROWS)
def test_the_rows_of_each_movement_add_up_to_its_difference(connection, rows):
    ends = [Bought("2025-05-01", "始", -1), Bought("2025-06-01", "終", -1)]
    with connection:
        number = connection.execute("SELECT count(*) FROM tools").fetchone()[0]
        ledger = household(connection, [*ends, *rows], f"kakeibo{number}", today=TODAY)
    answer = compare_periods(ledger, period="2025年6月", base="2025年5月", by="shop", detail="full")
    for month, at in (("2025-05", 0), ("2025-06", 1)):
        of_month = [row for row in [*ends, *rows] if row.day.startswith(month)]
        assert answer.spending[at] == sum(r.yen for r in of_month if r.major != "収入")
        assert answer.income[at] == sum(r.yen for r in of_month if r.major == "収入")
    for one in answer.movements:
        added, gone = (sum(row.yen for row in part) for part in (one.added, one.gone))
        assert added - gone == one.difference == one.after - one.before != 0
    total = sum(one.difference for one in answer.movements)
    assert total == sum(after - before for before, after in (answer.spending, answer.income))
