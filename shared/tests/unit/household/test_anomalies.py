"""What is unusual, over rows that are made for the test."""

from datetime import date
from statistics import median

from hypothesis import given
from hypothesis import strategies as st

from mdvec.dates import Month
from mdvec.household.core.anomalies import MonthAnomalies, anomaly_lines, month_anomalies, robust_z
from mdvec.household.core.shop_names import shop_of
from mdvec.household.core.transaction import CountedRow


def rows_of(*bought):
    return [
        CountedRow(
            number, date.fromisoformat(day), -yen, shop, shop_of(shop), category, "", "カード"
        )
        for number, (day, shop, yen, category) in enumerate(bought, 1)
    ]


def anomalies(rows, as_of):
    return list(month_anomalies(rows, as_of).unusual)


def lines(found, as_of):
    return anomaly_lines(
        MonthAnomalies(Month.of(as_of), as_of, (found,), 12, known_shops=True, new_shops=True)
    )


def months(yen, shop="朝市", day=5, category="食費", count=8):
    return [(f"2025-{n:02}-{day:02}", shop, yen + 10 * n, category) for n in range(1, count + 1)]


def test_a_category_far_from_its_months_is_told_with_its_reason():
    bought = [*months(10_000), ("2025-09-03", "朝市", 10_000, "食費"),
              ("2025-09-20", "寿司 うおまる", 30_000, "食費")]  # fmt: skip
    (found,) = anomalies(rows_of(*bought), date(2025, 9, 30))
    assert (found.kind, found.yen, found.usual, found.compared) == ("category", 40_000, 10_045, 8)
    assert lines(found, date(2025, 9, 30)) == [
        "2025年09月の、いつもと違うもの（差の大きい順）:",
        "- 食費カテゴリ: 40,000円。過去 8か月の中央値は 10,045円（10,010円〜10,080円、z=29.8）"
        "です。大きい明細: 2025-09-20 寿司 うおまる 30,000円 [10]、2025-09-03 朝市 10,000円 [9]",
    ]


def test_a_running_month_is_compared_with_the_same_days():
    bought = [*months(10_000, day=3), *months(50_000, day=25, count=8, category="食費")]
    now = ("2025-09-03", "朝市", 10_100, "食費")
    assert anomalies(rows_of(*bought, now), date(2025, 9, 10)) == []
    early = ("2025-09-04", "朝市", 60_000, "食費")
    kinds = {one.kind: one for one in anomalies(rows_of(*bought, now, early), date(2025, 9, 10))}
    assert kinds["category"].usual == 10_045
    assert "同じ日までの過去 8か月" in lines(kinds["category"], date(2025, 9, 10))[1]


def test_a_yearly_payment_is_known_unless_it_is_dearer_than_before():
    def september(*bought):
        fees = [("2024-09-20", "年会費", 11_000, "税"), *bought]
        return anomalies(rows_of(*months(10_000), *fees), date(2025, 9, 30))

    market = ("2025-09-05", "朝市", 10_100, "食費")
    assert september(market, ("2025-09-21", "年会費", 11_000, "税")) == []
    (dearer,) = september(market, ("2025-09-21", "年会費", 16_500, "税"))
    assert (dearer.name, dearer.yen, dearer.known) == ("税", 16_500, 0)
    paid = [("2025-09-21", "年会費", 11_000, "税"), ("2025-09-22", "役所", 40_000, "税")]
    (more,) = september(market, *paid)
    assert (more.yen, more.known) == (40_000, 11_000)
    assert (
        "税カテゴリ: 40,000円（毎年の支払い 11,000円 を除く）" in lines(more, date(2025, 9, 30))[1]
    )


def test_what_is_missing_is_unusual_too():
    (found,) = anomalies(
        rows_of(*months(80_000, "家賃", category="住宅"), ("2025-09-01", "市", 1, "食費")),
        date(2025, 9, 30),
    )
    assert (found.name, found.yen) == ("住宅", 0)


def test_a_shop_is_compared_with_its_own_rows_and_a_new_one_with_all():
    daily = [
        (f"2025-{n % 8 + 1:02}-{n % 28 + 1:02}", "茶店", 400 + n % 50, "食費") for n in range(120)
    ]
    bought = [*daily, ("2025-09-02", "茶店", 4_000, "食費"), ("2025-09-03", "家具", 90_000, "家")]
    found = {one.kind: one for one in anomalies(rows_of(*bought), date(2025, 9, 30))}
    assert (found["shop"].yen, found["shop"].compared) == (4_000, 120)
    assert (found["new_shop"].name, found["new_shop"].z) == ("家具", None)


def test_small_differences_and_short_histories_are_no_news():
    assert anomalies(rows_of(*months(100), ("2025-09-01", "朝市", 2_900, "食費")),
                     date(2025, 9, 30)) == []  # fmt: skip
    short = months(10_000, count=3)
    assert anomalies(rows_of(*short, ("2025-04-01", "朝市", 90_000, "食費")),
                     date(2025, 4, 30)) == []  # fmt: skip


@given(st.lists(st.integers(0, 10**6), min_size=4, max_size=12), st.integers(0, 10**6))
def test_the_distance_has_the_sign_of_the_difference(history, yen):
    z = robust_z(yen, history)
    difference = yen - median(history)
    assert (z > 0) == (difference > 0)
    assert (z < 0) == (difference < 0)


def test_a_category_that_is_mostly_nothing_has_no_distance():
    rare = [("2025-02-09", "旅館", 40_000, "旅行"), ("2025-09-08", "旅館", 98_000, "旅行")]
    bought = [*months(10_000), *rare]
    found = {one.name: one for one in anomalies(rows_of(*bought), date(2025, 9, 30))}
    assert (found["旅行"].yen, found["旅行"].z) == (98_000, None)
    (told,) = [line for line in lines(found["旅行"], date(2025, 9, 30)) if "旅行" in line]
    assert "中央値は 0円（0円〜40,000円、半分以上が同じ額で、z なし）です" in told
