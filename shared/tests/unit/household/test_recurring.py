"""Recurring payments and forecasts, over rows that are made for the test."""

import random
from dataclasses import replace
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from table_of_cases import each

from mdvec.household.core.forecast import forecast
from mdvec.household.core.recurring import Payees, recurring_payments
from mdvec.household.core.shop_names import shop_of
from mdvec.household.core.transaction import CountedRow

AS_OF = date(2025, 6, 18)


def rows_of(*payments):
    """Rows of (day, shop, yen spent)."""
    return [
        CountedRow(number, date.fromisoformat(day), -yen, shop, shop_of(shop), "費", "", "カード")
        for number, (day, shop, yen) in enumerate(sorted(payments), 1)
    ]


def each_month(shop, yen, day=5, first=1, last=6, year=2025):
    return [(f"{year}-{month:02}-{day:02}", shop, yen) for month in range(first, last + 1)]


def found(*payments, as_of=AS_OF):
    return recurring_payments(rows_of(*payments), as_of)


def test_a_late_payment_is_missed_only_after_some_days_and_then_the_series_ends():
    rows = each_month("保険", 6_000, last=4)
    (late,) = found(*rows, as_of=date(2025, 5, 9))
    assert (late.missed, late.next_day) == ((), date(2025, 5, 5))
    (missed,) = found(*rows, as_of=date(2025, 5, 20))
    assert (missed.missed, missed.next_day) == ((date(2025, 5, 5),), date(2025, 6, 5))
    (ended,) = found(*rows, as_of=date(2025, 8, 20))
    assert (ended.missed, ended.next_day) == ((), None)


def test_a_bill_that_varies_and_one_of_every_other_month_recur_too():
    power = [(f"2025-0{month}-15", "電力", 5_000 + 700 * (month % 3)) for month in range(1, 7)]
    water = [(f"2025-0{month}-22", "水道局", 5_100 + month) for month in (1, 3, 5)]
    one, two = found(*power, *water)
    assert (one.name, one.interval.name, one.is_fixed) == ("電力", "毎月", False)
    assert (two.name, two.interval.name, two.next_day) == (
        "水道局", "2か月ごと", date(2025, 7, 22),
    )  # fmt: skip


def test_two_contracts_with_one_company_are_two():
    rows = [*each_month("アップル", 150, day=3), *each_month("アップル", 1_080, day=20, last=5)]
    assert [(one.amount, len(one.rows)) for one in found(*rows)] == [(1_080, 5), (150, 6)]


@each(("day", "other"), [(5, 14), (12, 12), (5, 20)])
@each("more", [(), [(f"2025-03-{day}", "音楽", 9_800) for day in (10, 11, 29, 30)]])
def test_the_same_contract_of_two_people_is_two(day, other, more):
    rows = [
        replace(row, account=account)
        for account, on in (("夫", day), ("妻", other))
        for row in rows_of(*each_month("音楽", 980, on), *(more if account == "夫" else ()))
    ]
    rows = [replace(row, id=at) for at, row in enumerate(rows)]
    assert [(one.amount, one.interval.name, one.twice) for one in
            recurring_payments(rows, AS_OF)] == [(980, "毎月", ())] * 2  # fmt: skip


def test_a_contract_that_changed_its_card_stays_one():
    rows = [replace(row, account="新" if row.id > 3 else "旧")
            for row in rows_of(*each_month("音楽", 980))]  # fmt: skip
    assert [len(one.rows) for one in recurring_payments(rows, AS_OF)] == [6]


def test_a_yearly_fee_is_found_from_two_and_shopping_is_not():
    chance = random.Random(7)
    shopping = [
        ((date(2024, 1, 3) + timedelta(days=4 * n + chance.randrange(4))).isoformat(),
         "スーパー", chance.randrange(300, 6_000))
        for n in range(130)
    ]  # fmt: skip
    fee = [("2024-04-20", "カード年会費", 11_000), ("2025-04-21", "カード年会費", 11_000)]
    (yearly,) = found(*shopping, *fee)
    assert (yearly.interval.name, yearly.next_day) == ("毎年", date(2026, 4, 20))


@each("day", [1, 2, 28, 29, 30, 31])
def test_payments_around_the_end_of_a_month_keep_their_month(day):
    days = [date(2025, month, 1) for month in range(1, 7)]
    months = [(one + timedelta(days=day - 1)).isoformat() for one in days]
    (rent,) = found(
        *[(one, "家賃", 80_000) for one in months], as_of=date.fromisoformat(months[-1])
    )
    assert rent.missed == ()
    last = date.fromisoformat(months[-1])
    assert 26 <= (rent.next_day - last).days <= 34


def test_a_forecast_adds_what_recurs_to_what_the_days_usually_bring():
    rent = [row for year, last in ((2024, 12), (2025, 6)) for row in
            each_month("家賃", 80_000, day=27, last=last, year=year)]  # fmt: skip
    rent = [row for row in rent if row[0] <= AS_OF.isoformat()]
    meals = [
        (f"{year}-{month:02}-{day:02}", f"{chr(0x4E00 + 400 * day + year + month * 9)}屋", 1_000)
        for year in (2024, 2025) for month in range(1, 13) for day in (3, 10, 25)
        if f"{year}-{month:02}-{day:02}" <= AS_OF.isoformat()
    ]  # fmt: skip
    now, *ahead = forecast(rows_of(*rent, *meals), AS_OF)
    assert (now.spent, now.recurring, now.other, now.amount) == (2_000, 80_000, 1_000, 83_000)
    assert [(str(one.month), one.amount) for one in ahead] == [
        ("2025-07", 83_000), ("2025-08", 83_000), ("2025-09", 83_000),
    ]  # fmt: skip
    assert (now.low, now.high, now.typical_error, now.trials) == (83_000, 83_000, 0, 12)


def test_a_trial_sees_nothing_later_than_its_day():
    steady = [
        (f"2024-{month:02}-{day:02}", f"{chr(0x4E00 + 20 * day + month)}屋", 1_000)
        for month in range(1, 12) for day in (4, 21)
    ]  # fmt: skip
    jump = [("2024-12-20", "家具", 90_000)]
    (now, *_) = forecast(rows_of(*steady, *jump, ("2025-01-04", "店", 1_000)), date(2025, 1, 10))
    assert now.amount == 2_000
    assert now.high == 2_000 + 88_000 + 1_000
    assert now.typical_error == 0


@given(
    st.lists(st.integers(1, 90_000), min_size=16, max_size=24),
    st.lists(st.integers(-60_000, 60_000), max_size=6),
    st.integers(1, 28),
)
def test_a_forecasts_band_holds_its_estimate(months, others, day):
    first = [date(2023 + n // 12, n % 12 + 1, 1) for n in range(len(months))]
    bought = [
        (f"{one:%Y-%m}-07", f"店{one:%m}", yen) for one, yen in zip(first, months, strict=True)
    ]
    bought += [(f"{first[-1]:%Y-%m}-{n:02}", f"他{n}", yen) for n, yen in enumerate(others, 1)]
    for one in forecast(rows_of(*bought), first[-1].replace(day=day)):
        if one.low is not None and one.high is not None:
            assert one.low <= one.amount <= one.high


def test_the_band_of_spending_that_only_rises_begins_at_the_estimate():
    rising = [(f"{2023 + n // 12}-{n % 12 + 1:02}-07", f"店{n}", 1_000 * n) for n in range(24)]
    _, ahead, *_ = forecast(rows_of(*rising), date(2024, 12, 31))
    assert ahead.high is not None
    assert ahead.low == ahead.amount < ahead.high


def every(days, shop, yen, first, count):
    begin = date.fromisoformat(first)
    return [((begin + timedelta(days=days * n)).isoformat(), shop, yen) for n in range(count)]


@each(("days", "name", "per_year"), [(28, "4週間ごと", 13), (14, "2週間ごと", 26)])
def test_payments_every_four_or_two_weeks_keep_their_weekday(days, name, per_year):
    payments = every(days, "コンタクト", 3_000, "2025-01-08", 161 // days + 1)
    (lenses,) = found(*payments, as_of=date(2025, 6, 18))
    assert (lenses.interval.name, lenses.per_year) == (name, 3_000 * per_year)
    assert lenses.next_day == date.fromisoformat(payments[-1][0]) + timedelta(days=days)


@given(st.integers(1, 31), st.integers(0, 27), st.integers(5, 30), st.integers(0, 3))
def test_payments_once_a_month_are_never_of_four_weeks(day, start, months, late):
    """On a day of the month, or some days later at a weekend."""
    first = [date(2023 + (start + n) // 12, (start + n) % 12 + 1, 1) for n in range(months)]
    due = [(one + timedelta(days=31)).replace(day=1) - timedelta(days=1) for one in first]
    due = [min(end, end.replace(day=min(day, end.day))) for end in due]
    paid = [one + timedelta(days=min(max(7 - one.isoweekday(), 0) % 3, late)) for one in due]
    for series in found(*[(str(one), "家賃", 80_000) for one in paid], as_of=paid[-1]):
        assert series.interval.name == "毎月"


@each(
    ("fees", "amount", "once"),
    [
        ((4_900, 5_900, 5_900), 5_900, [4_900]),
        ((4_900, 4_900, 5_900), 4_900, [5_900]),
        ((3_900, 4_900, 5_900, 5_900), 5_900, [3_900, 4_900]),
        ((4_900, 5_900, 5_900, 6_900), 5_900, [4_900, 6_900]),
    ],
)
def test_a_yearly_fee_that_was_paid_twice_in_a_row_recurs_whatever_came_before(fees, amount, once):
    first = 2026 - len(fees)
    paid = [(f"{first + number}-03-04", "年会費", fee) for number, fee in enumerate(fees)]
    (fee,) = found(*paid)
    assert (fee.interval.name, fee.is_fixed, fee.amount) == ("毎年", True, amount)
    assert [row.yen for row in fee.singles] == once
    assert not found(*paid[:1], *paid[-1:])


def test_a_yearly_tax_whose_amount_moves_a_little_recurs_in_whole_and_in_parts():
    car = [("2023-05-31", "自動車税", 34_500), ("2024-05-30", "自動車税", 36_000),
           ("2025-05-29", "自動車税", 36_000)]  # fmt: skip
    days = ("06-30", "09-30", "12-27", "02-28")
    house = [
        (f"{year + (day < '05')}-{day}", "固定資産税", yen + (600 if day == "06-30" else 0))
        for year, yen in ((2022, 32_000), (2023, 32_400), (2024, 31_000)) for day in days
    ]  # fmt: skip
    series = found(*car, *house)
    assert [(one.name, one.interval.name, one.per_year, str(one.next_day)) for one in series] == [
        ("自動車税", "毎年", 36_000, "2026-05-30"),
        ("固定資産税", "毎年", 31_600, "2025-06-30"),
        ("固定資産税", "毎年", 31_000, "2025-09-30"),
        ("固定資産税", "毎年", 31_000, "2025-12-27"),
        ("固定資産税", "毎年", 31_000, "2026-02-28"),
    ]
    stays = [(f"{year}-05-31", "旅館", yen) for year, yen in
             ((2023, 20_000), (2024, 28_000), (2025, 30_000))]  # fmt: skip
    assert found(*stays) == []
    assert found(*stays[1:]) == []  # two amounts are near each other by chance


def test_a_subscription_that_changes_its_name_keeps_its_history():
    old = each_month("ドウガプラス", 990, day=12, first=7, last=12, year=2024)
    new = each_month("ビデオワン", 990, day=12, first=1, last=2)
    (series,) = found(*old, *new, as_of=date(2025, 2, 20))
    assert (series.name, len(series.rows), series.missed) == ("ビデオワン", 8, ())
    later = [*each_month("ビデオワン", 5, day=20, first=6), *old, *new]
    rows = [replace(row, account="別") if row.yen == 5 else row for row in rows_of(*later)]
    (then,) = Payees(rows).series(date(2025, 2, 20))
    assert len(then.rows) == 8  # what comes later is not seen
    (renaming,) = series.renamings
    assert (renaming.day, renaming.before, renaming.after) == (
        date(2025, 1, 12), "ドウガプラス", "ビデオワン",
    )  # fmt: skip


@pytest.mark.parametrize(
    "new",
    [
        each_month("ビデオワン", 1_090, day=12, first=1, last=5),
        each_month("ビデオワン", 990, day=26, first=1, last=5),
        [*each_month("ビデオワン", 990, day=12, last=5), *each_month("音楽", 990, day=12, last=5)],
        [("2024-03-03", "ビデオワン", 500), *each_month("ビデオワン", 990, day=12, last=5)],
    ],
    ids=["another amount", "another day", "two that fit", "known before"],
)
def test_a_new_subscription_that_is_not_surely_the_old_one_is_another(new):
    old = each_month("ドウガプラス", 990, day=12, first=7, last=12, year=2024)
    series = found(*old, *new, as_of=date(2025, 5, 20))
    assert "ドウガプラス" in {one.name for one in series}
    assert not any(one.renamings for one in series)


def test_two_that_ended_at_once_do_not_share_their_heir():
    ended = [
        row for shop in ("ドウガプラス", "音楽の箱")
        for row in each_month(shop, 990, day=12, first=7, last=12, year=2024)
    ]  # fmt: skip
    series = found(*ended, *each_month("ビデオワン", 990, day=12, last=5), as_of=date(2025, 5, 20))
    assert sorted(len(one.rows) for one in series) == [5, 6, 6]
