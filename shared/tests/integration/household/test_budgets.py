"""Budgets beside what was spent, against plain counting of the rows."""

from datetime import date

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from plan_ledger import Bought, household, monthly
from table_of_cases import each

from mdvec.household import in_english, review
from mdvec.household.budgeting import InvalidBudget, budget_status, set_budget
from mdvec.household.comparison import SameDays, compare_periods
from mdvec.household.core.budgets import Budget
from mdvec.household.core.categories import Category, UnknownCategory
from mdvec.household.core.pair import DetectionOptions
from mdvec.household.core.wording import InvalidChoice
from mdvec.household.interfaces import plans
from mdvec.household.rules import set_rule

TODAY = date(2025, 6, 19)


def test_a_status_tells_the_pace_and_warns(connection):
    rows = [
        Bought("2025-06-02", "朝市", -35_500),
        Bought("2025-06-03", "薬局", -6_000, "日用品/薬"),
        Bought("2025-06-19", "市営バス", -400, "交通費/バス"),
        Bought("2025-06-25", "予約", -99_000),
    ]
    ledger = household(connection, rows, today=TODAY)
    for category, amount in (("食費", 50_000), ("薬", 5_000)):
        set_budget(ledger, category=category, amount=amount)
    answer = budget_status(ledger)
    assert answer.text.splitlines()[:4] == [
        "2025年06月の予算と実績です（2025-06-19 の時点）。注意が必要なものは 2件です。",
        "- 日用品 > 薬（毎月）: 予算 5,000円 のうち 6,000円（月の 63 %が過ぎて 120 %）、"
        "1,000円 超過",
        "- 食費（毎月）: 予算 50,000円 のうち 35,500円（月の 63 %が過ぎて 71 %）、残り 14,500円。"
        "このままだと 134,500円 になりそうです",
        "  これからの支払い 99,000円（予約 99,000円）を除くと、あと使えるのは -84,500円",
    ]
    assert [one.warning for one in answer.statuses] == ["exceeded", "ahead"]
    assert answer.notes[2:] == (
        "予定（今日より後の日付の明細）: 1件、支出 99,000円（使った金額には含めていません。"
        "期間内のものは「これからの支払い」に数えます）",
    )


def test_a_ledger_that_ends_earlier_has_its_share_and_pace_of_the_same_named_day(connection):
    rows = monthly("朝市", -1_000, "2024-12", 4, day=28, category="食費/食料品")
    ledger = household(connection, rows, today=date(2025, 12, 1))
    set_budget(ledger, category="食費", amount=24_000, per="year")
    for asked in ({}, {"since": "2025-03"}, {"since": "2025-02"}):
        answer = budget_status(ledger, **asked)
        first, line, *_ = answer.text.splitlines()[1:]
        assert first.endswith("の予算と実績です（2025-03-28 の時点）。どれも予算のうちです。")
        assert line.startswith("- 食費（毎年・2025年）: 予算 24,000円 のうち 3,000円（年の 24 %")
        assert "過ぎて 13 %）、残り" in line
        assert in_english(line).startswith(
            "- 食費 (food) (every year, 2025): ¥3,000 of ¥24,000 (13 % with"
        )
        assert "24 % of the year gone" in in_english(line)
        assert "(as of 2025-03-28)" in in_english(first)
    set_budget(ledger, category="支出", amount=900)
    (month,) = [each for each in budget_status(ledger).statuses if each.budget.per == "month"]
    assert (month.elapsed.quantize(1), month.expected) == (90, 1_000)
    ended = budget_status(ledger, since="2025-01-01", until="2025-02-28")
    assert "（2025-02-28 の時点）" in ended.text
    assert "（年の 16 %が過ぎて 8 %）" in ended.text


def test_rent_paid_on_the_first_day_is_no_reason_to_warn(connection):
    rent = monthly("家賃", -80_000, "2025-01", 6, day=1, category="住宅/家賃")
    ledger = household(connection, rent, today=TODAY)
    set_budget(ledger, category="住宅", amount=80_000)
    (status,) = budget_status(ledger).statuses
    assert (status.used, status.expected, status.warning) == (100, 80_000, None)


def test_a_budget_is_replaced_and_removed(connection):
    ledger = household(connection, [Bought("2025-06-02", "朝市", -100)], today=TODAY)
    first = set_budget(ledger, category="食費", amount=100)
    second = set_budget(ledger, category="食費", amount=200)
    assert (first.before, second.before) == (None, 100)
    assert second.message == "食費の予算を毎月 200円 にしました（これまで 100円）。"
    gone = set_budget(ledger, category="食費", amount=0)
    assert gone.message == "食費の予算をやめました。"
    assert budget_status(ledger).text.startswith("予算はまだありません")


@each(("set_per", "asked_per"), [("year", "month"), ("month", "year")])
def test_removing_a_budget_of_the_other_span_names_the_one_that_there_is(
    connection, set_per, asked_per
):
    ledger = household(
        connection, [Bought("2025-06-02", "朝市", -100)], f"of_{set_per}", today=TODAY
    )
    set_budget(ledger, category="食費", amount=100, per=set_per)
    kept = set_budget(ledger, category="食費", amount=0, per=asked_per)
    assert f"per={set_per} と amount=0 でやめられます" in kept.message
    assert f"per={set_per} and amount=0 remove it" in in_english(kept.message)
    assert len(budget_status(ledger).statuses) == 1
    gone = set_budget(ledger, category="食費", amount=0, per=set_per)
    assert gone.message == "食費の予算をやめました。"


def test_a_budget_whose_category_no_row_has_any_more_is_told_and_can_be_removed(connection):
    rows = [Bought("2025-06-02", "朝市", -100), Bought("2025-06-02", "旅館", -9, "旅行/宿")]
    ledger = household(connection, rows, today=TODAY)
    for category in ("旅行", "支出"):
        set_budget(ledger, category=category, amount=100)
    changed = set_rule(ledger, shop="", category="旅行 = 食費")
    assert "旅行の予算は前の名前のままで、移った明細を数えません" in changed.text
    status = budget_status(ledger)
    assert "どの明細のカテゴリでもない予算が 1件あります。" in status.text
    assert "注意が必要なものは、ほかに 1件です。" in status.text
    assert "No row has the category of 1 of them" in in_english(status.text)
    assert any("「旅行」は、規則で「食費」になった" in one for one in status.notes)
    (note,) = (one for one in status.notes if "どの" in one)
    assert note == (
        "予算のカテゴリのうち、どの明細のカテゴリでもないもの: 旅行（amount=0 でやめられます）"
    )
    (line,) = (one for one in status.notes if "「旅行」は、規則で" in one)
    assert "has renamed the budget's category 旅行 (travel) to 食費 (food), so" in in_english(line)
    plans.put_budget(ledger, Budget(Category("旅行"), "year", 9))
    plans.put_budget(ledger, Budget(Category("旅行", "宿"), "month", 9))
    status = budget_status(ledger)
    assert "どの明細のカテゴリでもない予算が 3件あります。" in status.text
    for category, per in (("旅行", "month"), ("旅行", "year"), ("旅行 > 宿", "month")):
        gone = set_budget(ledger, category=category, amount=0, per=per)
        assert gone.message.endswith("の予算をやめました。")
    assert not any("どの" in one for one in budget_status(ledger).notes)


@pytest.mark.parametrize("today", [date(2025, 7, 2), date(2026, 11, 22)])
def test_the_usual_amount_is_of_the_ledgers_last_months(connection, today):
    ledger = household(
        connection, monthly("朝市", -3_000, "2024-12", 7, category="食費/食料品"), today=today
    )
    done = set_budget(ledger, category="食費", amount=100)
    assert "直近6か月の中央値は 3,000円 です" in done.message


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"category": "収入", "amount": 1}, "支出のカテゴリか"),
        ({"category": "貯蓄率", "amount": 1}, "支出のカテゴリか"),
        ({"category": "食費", "amount": -1}, "0〜10,000,000,000"),
        ({"category": "食費", "amount": 1, "per": "week"}, "month、year から選んで"),
    ],
)
def test_what_is_no_budget_is_refused(connection, asked, told):
    ledger = household(
        connection,
        [Bought("2025-06-02", "朝市", -100), Bought("2025-06-25", "給与", 1, "収入/給与")],
        today=TODAY,
    )
    with pytest.raises((InvalidBudget, InvalidChoice), match=told):
        set_budget(ledger, **asked)
    with pytest.raises(UnknownCategory):
        set_budget(ledger, category="服", amount=1)


ROWS = st.lists(
    st.builds(
        Bought,
        st.builds("2025-0{}-{:02}".format, st.integers(1, 6), st.integers(1, 28)),
        st.just("店"),
        st.integers(-9_000, 3_000),
        st.sampled_from(("食費/外食", "食費/", "日用品/", "収入/給与")),
        st.just("カード"),
        st.booleans(),
    ),
    max_size=16,
)


@settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(ROWS)
def test_what_was_spent_is_the_sum_of_the_rows(connection, rows):
    rows = [
        Bought("2025-01-01", "店", -1, "食費/外食"),
        Bought("2025-06-01", "店", -1, "日用品/"),
        *rows,
    ]
    with connection:
        number = connection.execute("SELECT count(*) FROM tools").fetchone()[0]
        ledger = household(connection, rows, f"kakeibo{number}", today=TODAY)
    for category, per in (("支出", "month"), ("食費", "year"), ("外食", "month")):
        set_budget(ledger, category=category, amount=7_000, per=per)
    answer = budget_status(ledger, period="2025年5月〜6月")
    past = [row for row in rows if date.fromisoformat(row.day) <= TODAY and row.major != "収入"]
    recent = [row for row in past if row.day >= "2025-05"]
    expected = {
        "支出": sum(row.yen for row in recent),
        "食費": sum(row.yen for row in past if row.major == "食費"),
        "食費 > 外食": sum(row.yen for row in recent if row.category == "食費/外食"),
    }
    assert {str(one.budget.subject): one.spent for one in answer.statuses} == expected
    assert {one.amount for one in answer.statuses} == {7_000, 14_000}
    outside = [row.yen for row in recent if row.counts and row.major != "食費"]
    assert (answer.unbudgeted or 0) == sum(outside)


def test_what_may_still_be_spent_is_without_the_payments_that_will_come(connection):
    rows = [
        *monthly("家賃", -80_000, "2024-12", 6, day=27, category="住宅/家賃"),
        *[Bought(row.day, "電力", -5_000 - 10 * at, "水道・光熱費/電気")
          for at, row in enumerate(monthly("電力", 0, "2024-12", 6, day=20))],
        *monthly("動画", -990, "2024-12", 7, day=3, category="教養・娯楽/動画"),
        *monthly("給与", 300_000, "2024-12", 6, day=25, category="収入/給与"),
        Bought("2025-06-05", "朝市", -9_000), Bought("2025-07-30", "予約", -7),
    ]  # fmt: skip
    ledger = household(connection, rows, today=TODAY)
    for category, per in (("支出", "month"), ("住宅", "year"), ("食費", "month")):
        set_budget(ledger, category=category, amount=900_000, per=per)
    answer = budget_status(ledger)
    whole, food, home = sorted(answer.statuses, key=lambda one: str(one.budget.subject) != "支出")
    assert (str(whole.budget.subject), whole.spent) == ("支出", 9_990)
    assert [(str(one.day), one.name, one.amount, one.is_fixed) for one in whole.due] == [
        ("2025-06-20", "電力", 5_025, False), ("2025-06-27", "家賃", 80_000, True),
    ]  # fmt: skip
    assert whole.free == 900_000 - 9_990 - 85_025
    statuses = {str(one.budget.subject): one for one in (food, home)}
    assert [str(one.day) for one in statuses["住宅"].due] == [
        f"2025-{month:02}-27" for month in range(6, 13)
    ]
    assert statuses["住宅"].free == 900_000 - 5 * 80_000 - 7 * 80_000
    assert (statuses["食費"].due, statuses["食費"].free) == ((), 891_000)
    assert (
        "  これからの定期的な支払い 約 85,025円（家賃 80,000円、電力 約 5,025円）を除くと、"
        "あと使えるのは 約 804,985円"
    ) in answer.text.splitlines()
    assert "（家賃 80,000円 ×7）を除くと、あと使えるのは -60,000円" in answer.text
    coming = budget_status(ledger, period="2025年7月")
    (july,) = [one for one in coming.statuses if str(one.budget.subject) == "支出"]
    days = ["03", "20", "27", "30"]  # the last is a row dated so
    assert [str(one.day) for one in july.due] == [f"2025-07-{day}" for day in days]
    over = budget_status(ledger, period="2025年5月")
    assert all(one.due == () for one in over.statuses if one.budget.per == "month")


def test_every_row_of_a_month_is_spent_or_due_once(connection):
    """Rent is in the ledger for its day, one of two contracts too; the others are expected."""
    rows = [
        *monthly("家賃", -80_000, "2024-12", 6, day=27, category="住宅/家賃"),
        *monthly("電話", -3_000, "2024-12", 6, day=25),
        *monthly("電話", -980, "2024-12", 6, day=28),
        Bought("2025-06-02", "朝市", -9_000), Bought("2025-06-26", "家賃", -82_000, "住宅/家賃"),
        Bought("2025-06-28", "電話", -980, "通信費/携帯電話"),
        Bought("2025-06-29", "電話", -30_000, "通信費/携帯電話"),
        Bought("2025-06-30", "旅館", -40_000, "旅行/宿"),
        Bought("2025-06-30", "旅館", 500, "旅行/宿"),
        Bought("2025-07-01", "旅館", -7, "旅行/宿"),
    ]  # fmt: skip
    ledger = household(connection, rows, today=TODAY)
    set_budget(ledger, category="支出", amount=300_000)
    (status,) = budget_status(ledger).statuses
    assert (status.spent, status.expected) == (9_000, 9_000 + 82_000 + 30_980 + 39_500 + 3_000)
    assert status.free == 300_000 - 9_000 - 82_000 - 30_980 - 39_500 - 3_000
    assert [one.amount for one in status.due if not one.is_planned] == [3_000]
    july = budget_status(ledger, period="2025-07").statuses[0]
    assert sorted(one.amount for one in july.due) == [7, 980, 3_000, 80_000]


def test_budgets_say_how_much_of_them_is_in_undecided_candidates(connection):
    rows = [Bought("2025-06-02", "家電のアカリ", -42_680, "日用品/家電", account=account)
            for account in ("カード", "PayPay")]  # fmt: skip
    ledger = household(connection, rows, today=TODAY)
    set_budget(ledger, category="日用品", amount=50_000)
    review.detect(ledger, DetectionOptions())
    note = "重複かもしれない 1件（支出 42,680円）は未判定の候補です"
    assert any(note in line for line in budget_status(ledger).notes)


def test_months_that_start_on_the_25th_are_budgeted_and_compared_so(connection):
    bought = [
        Bought("2025-05-24", "朝市", -1), Bought("2025-05-25", "朝市", -20),
        Bought("2025-06-24", "朝市", -300), Bought("2025-06-25", "朝市", -4_000),
    ]  # fmt: skip
    ledger = household(connection, bought, today=date(2025, 6, 26), month_starts_on=25)
    set_budget(ledger, category="食費", amount=500)
    june = budget_status(ledger, period="2025-06")
    assert [one.spent for one in june.statuses] == [320]
    answer = compare_periods(ledger, period="2025年7月")
    assert (answer.spending, answer.same_days) == ((320, 4_000), SameDays(1, (20, 4_000)))
    days = compare_periods(ledger.in_calendar_months, period="6月24日〜6月25日")
    assert days.spending == (0, 4_300)
