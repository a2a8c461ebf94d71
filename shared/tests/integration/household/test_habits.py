"""Recurring payments and the forecast of a ledger, in words."""

from datetime import date, timedelta

import pytest
from ledger_folder import LedgerFolder, line
from plan_ledger import Bought, household, monthly

from mdvec.household import deciding, review
from mdvec.household.comparison import compare_periods
from mdvec.household.core.pair import DetectionOptions
from mdvec.household.core.row_sums import shop_names
from mdvec.household.core.wording import EmptyLedger
from mdvec.household.english import in_english
from mdvec.household.expense_lists import fixed_and_variable_costs
from mdvec.household.habits import find_anomalies, forecast_spending, list_recurring_payments
from mdvec.household.rules import list_rules, remove_rule, set_rule


def test_recurring_payments_in_words(connection):
    ledger = household(
        connection,
        [
            *monthly("動画配信", -990, "2025-01", 4, day=12),
            *monthly("動画配信", -1_490, "2025-05", 2, day=12),
            *monthly("保険料", -6_120, "2025-01", 5, day=25),
            *monthly("給与", 300_000, "2025-01", 3, day=25, category="収入/給与"),
            *monthly("給与", 305_000, "2025-04", 2, day=25, category="収入/給与"),
            Bought("2025-06-14", "動画配信", -1_490),
            *monthly("除いた店", -5, "2025-01", 0),
        ],
        today=date(2025, 6, 20),
    )
    answer = list_recurring_payments(ledger)
    assert answer.text.splitlines() == [
        "定期的な支払いは 2件、年に約 91,320円 です（2025-06-14 までの明細から）。",
        "- 保険料（通信費）: 毎月 6,120円、年 73,440円（次は 2025-06-25 ごろ）",
        "- 動画配信（通信費）: 毎月 1,490円、年 17,880円（次は 2025-07-12 ごろ）",
        "  2025-05-12 から値上がり: 990円 → 1,490円",
        "  二重かもしれません: 2025-06-14 にも 1,490円 [17]",
        "定期的な収入 1件:",
        "- 給与（収入）: 毎月 305,000円、年 3,660,000円（次は 2025-06-25 ごろ）",
        "  2025-04-25 から増額: 300,000円 → 305,000円",
        "2025-06-30 までに予定される支払い（合計 6,120円）:",
        "- 2025-06-25 ごろ 保険料 6,120円",
    ]


def test_rows_decided_to_be_two_payments_are_not_asked_about_again(connection):
    rows = [*monthly("ジム", -8_250, "2025-01", 6, day=12), Bought("2025-06-14", "ジム", -8_250)]
    ledger = household(connection, rows, today=date(2025, 6, 20))
    asked = "  二重かもしれません: 2025-06-14 にも 8,250円 [7]"
    review.detect(ledger, DetectionOptions())
    (candidate,) = review.list_candidates(ledger).candidates
    for decision, is_asked in (("skip", True), ("not_duplicate", False)):
        deciding.confirm(ledger, candidate.check_id, deciding.ReviewDecision(decision))
        answer = list_recurring_payments(ledger)
        assert (asked in answer.text, bool(answer.payments[0].twice)) == (is_asked, is_asked)


def test_older_rows_decided_to_be_two_payments_are_not_counted_as_left_out(connection):
    rows = [*monthly("ジム", -8_250, "2025-01", 20, day=12), Bought("2025-06-14", "ジム", -8_250)]
    ledger = household(connection, rows, today=date(2026, 8, 20))
    review.detect(ledger, DetectionOptions())
    (candidate,) = review.list_candidates(ledger).candidates
    assert "（前のもの 1件）" in list_recurring_payments(ledger).text
    deciding.confirm(ledger, candidate.check_id, deciding.ReviewDecision("not_duplicate"))
    assert "前のもの" not in list_recurring_payments(ledger).text


@pytest.mark.parametrize(("today", "is_older"), [("2026-01-11", False), ("2026-07-20", True)])
def test_what_an_answer_about_recurring_payments_leaves_out_is_told(connection, today, is_older):
    ended = date.fromisoformat(today)
    months = (ended.year - 2025) * 12 + ended.month
    paid = [
        *monthly("動画", -990, "2025-01", 4, day=5),
        *monthly("動画", -1_490, "2025-05", months - 4, day=5),
    ]
    answer = list_recurring_payments(household(connection, paid, today=ended))
    told = ("金額の変化や支払いの抜け、二重は、この1年のものだけを示しました（前のもの 1件）",)
    assert (answer.notes, len(answer.payments[0].changes)) == ((told, 0) if is_older else ((), 1))


@pytest.mark.parametrize("day", ["2025-06-20", "2025-07-12"], ids=["beside it", "in its place"])
def test_a_single_purchase_is_no_price(connection, day):
    payments = monthly("ストア", -980, "2024-09", 10, day=12)
    ledger = household(
        connection, [*payments, Bought(day, "ストア", -25_000)], today=date(2025, 7, 20)
    )
    answer = list_recurring_payments(ledger)
    (store,) = answer.payments
    assert (store.amount, store.per_year, store.changes) == (980, 11_760, ())
    assert f"  {day} だけ 25,000円 [11]（1回だけの額は料金とみなしません）" in answer.text
    paid_again = [Bought(f"2025-{month:02}-12", "ストア", -25_000) for month in (8, 9)]
    rows = [*payments, *(Bought("2025-07-12", "ストア", -25_000),), *paid_again]
    later = list_recurring_payments(household(connection, rows, "later", today=date(2025, 9, 20)))
    assert later.payments[0].amount == 25_000
    assert [change.day for change in later.payments[0].changes] == [date(2025, 7, 12)]


def test_a_payment_missing_in_a_month_without_any_row_is_told_as_such(connection):
    rent = [row for row in monthly("家賃", -80_000, "2025-01", 6) if row.day[:7] != "2025-04"]
    gym = [row for row in monthly("ジム", -7_700, "2025-01", 6, day=9) if row.day[5:7] != "03"]
    ledger = household(
        connection,
        [*rent, *(row for row in gym if row.day[:7] != "2025-04")],
        today=date(2025, 6, 20),
    )
    told = list_recurring_payments(ledger).text.splitlines()
    missing = [line for line in told if "支払いがありません" in line or line.startswith("※")]
    assert missing == [
        "  2025-03-09 ごろの支払いがありません",
        "※ 2025年04月には集計に入る明細が 1件もないため、支払いの抜けは示していません。",
    ]


@pytest.mark.parametrize("months", [5, 3], ids=["goes on", "has ended, it seems"])
def test_no_payment_is_missed_after_the_files_of_its_account_end(months):
    folder = LedgerFolder()
    rows = [f"2025/{month:02}/12,動画,本人,1回払い,990" for month in range(1, months + 1)]
    header = "利用日,利用店名・商品名,利用者,支払方法,利用金額"
    folder.put("card.csv", "\n".join([header, *rows, f"2025/{months:02}/20,店,本人,1回払い,5"]))
    gym = [line(f"g{month}", -7_700, f"2025/{month:02}/09", "ジム") for month in range(1, 6)]
    rent = [line(f"r{month}", -80_000, f"2025/{month:02}/27", "家賃") for month in range(1, 7)]
    folder.write("mf.csv", *gym, *rent, line("x", day="2025/06/30", account="銀行"))
    folder.import_()
    answer = list_recurring_payments(folder.as_of(date(2025, 7, 1)))
    told = (
        f"楽天カード の明細は 2025-{months:02}-20 までで、"
        "その後に支払いが抜けたか終わったかは分かりません"
    )
    assert answer.notes == (told,)
    assert in_english(f"※ {told}。").startswith("Note: the rows of 楽天カード end on 2025")
    missed = {each.name: each.missed for each in answer.payments}
    assert missed == {"動画": (), "ジム": (date(2025, 6, 9),), "家賃": ()}
    assert ("この1年に終わったらしいもの 1件" in answer.text) == (months == 3)


def test_a_month_for_which_nothing_is_expected_has_no_empty_brackets(connection):
    rows = [
        Bought("2025-06-15", "服", 5_000, "衣服・美容/衣服"),
        Bought("2025-06-16", "服", -2_000, "衣服・美容/衣服"),
        *(Bought(f"2025-{month:02}-17", "店", -3_000) for month in (6, 7)),
        *(Bought("2025-08-20", "本", yen) for yen in (-500, 500)),
        Bought("2025-09-17", "店", -4_000),
    ]
    answer = forecast_spending(household(connection, rows, today=date(2025, 9, 20)))
    assert "- 2025年10月: 0円" in answer.text.splitlines()
    assert "- 2025-10: ¥0" in in_english(answer.text).splitlines()


def test_rows_that_do_not_count_do_not_recur(connection):
    rows = monthly("振替", -50_000, "2025-01", 6)
    out = [Bought(row.day, row.shop, row.amount, counts=False) for row in rows]
    ledger = household(
        connection, [*out, Bought("2025-06-06", "朝市", -1)], today=date(2025, 6, 20)
    )
    answer = list_recurring_payments(ledger)
    assert answer.payments == ()
    assert "見つかりませんでした" in answer.text
    assert "3か月以上" in forecast_spending(ledger).text


def test_a_ledger_of_income_alone_has_no_forecast_and_says_why(connection):
    ledger = household(
        connection,
        monthly("給与", 300_000, "2025-01", 6, category="収入/給与"),
        today=date(2025, 6, 20),
    )
    sentence = "支出がありません（収入はあります）。"
    assert forecast_spending(ledger).text == sentence
    assert find_anomalies(ledger).text == sentence
    recurring = list_recurring_payments(ledger).text
    first = list_recurring_payments(ledger, limit=0).text.splitlines()
    assert first[1:3] == ["定期的な収入 1件:", "ほか 1件は limit=1 で示します。"]
    assert "定期的な収入 1件:\n- 給与（収入）: 毎月 300,000円" in recurring


@pytest.mark.parametrize("before", [0, 3, 4])
def test_too_few_earlier_months_to_call_anything_usual_are_told(connection, before):
    food = monthly("朝市", -5_000, f"2025-{7 - before:02}", before + 1, day=1)
    ledger = household(
        connection,
        [*food, Bought("2025-07-05", "宝石店", -900_000, "特別な支出/買い物")],
        today=date(2025, 7, 20),
    )
    answer = find_anomalies(ledger)
    note = (
        "カテゴリをいつもと比べるには、その月より前に 4か月以上の明細が必要です"
        f"（あるのは {before}か月）"
    )
    first = answer.text.splitlines()[0]
    if before < 4:
        none = "2025年07月（2025-07-05 まで）は、まだいつもと比べられません。"
        assert (first, answer.notes) == (none, (note,))
        assert f"there are {before})." in in_english(answer.text)
        assert "cannot be compared with what is usual yet" in in_english(answer.text)
    else:
        assert [one.name for one in answer.anomalies] == ["特別な支出"]
        assert note not in answer.notes


def test_where_only_known_shops_can_be_compared_that_is_all_that_is_said(connection):
    visits = [Bought(f"2025-06-{day:02}", "朝市", -5_000) for day in range(1, 20)]
    rows = [*visits, Bought("2025-07-05", "朝市", -5_100), Bought("2025-07-06", "宝石店", -900_000)]
    answer = find_anomalies(household(connection, rows, today=date(2025, 7, 20)))
    assert answer.text.startswith(
        "2025年07月（2025-07-06 まで）に、前から明細が 5件以上ある店では、いつもと大きく違う明細は"
        "ありません（ほかの店とカテゴリは、まだ比べられません）。"
    )
    assert "no row is very different from what is usual at a shop" in in_english(answer.text)


@pytest.mark.parametrize(
    ("visited", "compared"), [(1, "初めての店"), (5, "前から明細が 5件以上ある店と初めての店")]
)
def test_a_new_shop_is_compared_with_all_rows_where_there_are_enough(connection, visited, compared):
    shops = [f"店{chr(0x4E00 + number)}" for number in range(177 // visited)]
    before = [Bought("2025-06-01", shop, -5_000) for shop in shops for _ in range(visited)]
    now = [Bought("2025-07-05", shops[0], -5_100), Bought("2025-07-06", "宝石店", -4_000)]
    answer = find_anomalies(household(connection, [*before, *now], today=date(2025, 7, 20)))
    assert answer.text.startswith(
        f"2025年07月（2025-07-06 まで）に、{compared}では、いつもと大きく違う明細はありません"
        "（ほかの店とカテゴリは、まだ比べられません）。"
    )
    assert "in a new shop" in in_english(answer.text)


def test_payments_to_one_shop_from_two_accounts_are_told_apart(connection):
    rows = [
        Bought(f"2025-{month:02}-03", "保険", -3_000, "保険/生命保険", account)
        for account, last in (("銀行A", 7), ("銀行B", 7), ("銀行C", 3))
        for month in range(1, last + 1)
    ]
    later = Bought("2025-08-01", "朝市", -100)
    ledger = household(connection, [*rows, later], today=date(2025, 8, 1))
    answer = list_recurring_payments(ledger)
    assert [each.account for each in answer.payments] == ["銀行A", "銀行B", "銀行C"]
    assert "- 保険（保険、銀行A）: 毎月 3,000円" in answer.text
    assert "- 保険（銀行C）: 毎月 3,000円、最後は 2025-03-03" in answer.text
    assert answer.text.splitlines()[-2:] == [
        "- 2025-08-03 ごろ 保険 3,000円（銀行A）", "- 2025-08-03 ごろ 保険 3,000円（銀行B）"
    ]  # fmt: skip


def test_every_answer_has_the_same_name_for_a_shop(connection):
    spellings = ["ｽｰﾊﾟｰA", "スーパーA 0123", "スーパーa"]
    rows = [Bought(f"2025-{month:02}-20", spellings[month % 3], -9_000 - month) for month in
            range(1, 7)]  # fmt: skip
    ledger = household(connection, rows, today=date(2025, 6, 20))
    recurring = list_recurring_payments(ledger)
    forecast = forecast_spending(ledger)
    costs = fixed_and_variable_costs(ledger)
    moved = compare_periods(ledger, by="shop")
    by_category = compare_periods(ledger)
    set_rule(ledger, shop="ｽｰﾊﾟｰＡ", category="食費 > 外食")
    assert [payment.name for payment in recurring.payments] == ["スーパーA"]
    assert [due.name for due in forecast.months[1].due] == ["スーパーA"]
    assert [line.shop for line in costs.lines] == ["スーパーA"]
    assert [move.name for move in moved.movements] == ["スーパーA"]
    assert [move.name for move in by_category.movements[0].shops] == ["スーパーA"]
    assert "「スーパーA」を含む店" in list_rules(ledger).text
    assert remove_rule(ledger, shop="スーパーa").text.startswith("「スーパーA」の規則")


def test_shops_are_named_once_until_a_description_changes(connection):
    ledger = household(connection, monthly("ｽｰﾊﾟｰA", -9_000, "2025-01", 5), today=date(2025, 6, 20))
    before = list_recurring_payments(ledger)
    named = shop_names.cache_info().misses
    for answer in (compare_periods, forecast_spending, fixed_and_variable_costs):
        answer(ledger)
    assert shop_names.cache_info().misses == named
    connection.execute("UPDATE transactions SET description = 'スーパーa 12' WHERE row_number = 3")
    after = list_recurring_payments(ledger)
    assert [each.payments[0].name for each in (before, after)] == ["ｽｰﾊﾟｰA", "スーパーa"]


def test_months_without_a_row_are_no_history(connection):
    rows = [Bought("2024-12-03", "朝市", -980), *monthly("朝市", -5_000, "2025-05", 3, day=1)]
    ledger = household(connection, rows, today=date(2025, 7, 31))
    answer = find_anomalies(ledger)
    assert answer.anomalies == ()
    assert "（あるのは 3か月）" in answer.notes[0]
    assert forecast_spending(ledger).months == ()


def test_what_does_not_multiply_to_the_year_says_why(connection):
    bills = [Bought(row.day, "電力", -5_000 - 100 * at * at) for at, row in
             enumerate(monthly("電力", 0, "2024-05", 14))]  # fmt: skip
    lenses = [Bought(str(date(2025, 1, 8) + timedelta(days=28 * n)), "レンズ", -3_000)
              for n in range(6)]  # fmt: skip
    text = list_recurring_payments(
        household(connection, [*bills, *lenses], today=date(2025, 6, 8))
    ).text
    last_year = sum(-row.amount for row in bills[-12:])
    assert f"、過去1年 {last_year:,}円（次は" in text
    assert "4週間ごと 3,000円、年 39,000円（年13回、次は 2025-06-25 ごろ）" in text


def test_an_empty_ledger_is_refused(connection):
    ledger = household(connection, [], today=date(2025, 6, 20))
    with pytest.raises(EmptyLedger):
        list_recurring_payments(ledger)


def test_what_comes_next_follows_the_day_on_which_months_start(connection):
    rent = monthly("家賃", -80_000, "2024-10", 8, day=27, category="住宅/家賃")
    rice = monthly("米", -3_000, "2024-10", 9, day=15, category="食費/食料品")
    phone = monthly("電話", -2_000, "2024-10", 8, day=22)
    late = Bought("2025-06-20", "病院", -70_000, "健康・医療/医療費")
    rows = [*rent, *rice, *phone, late]
    ledger = household(connection, rows, today=date(2025, 6, 20), month_starts_on=26)
    june, july, *_ = forecast_spending(ledger).months
    assert june.month.in_words == "2025年06月（5/26〜6/25）"
    assert (june.spent, june.recurring) == (153_000, 2_000)
    assert (july.spent, july.recurring) == (0, 85_000)
    due = list_recurring_payments(ledger)
    assert [(one.name, one.day) for one in due.due] == [("電話", date(2025, 6, 22))]
    assert "2025-06-25 までに" in due.text
    unusual = find_anomalies(ledger)
    assert [one.name for one in unusual.anomalies] == ["健康・医療"]
    assert unusual.text.startswith("2025年06月（5/26〜6/25）（2025-06-20 まで）")
    on_day_one = forecast_spending(ledger.in_calendar_months).months[0]
    assert (on_day_one.spent, on_day_one.recurring) == (73_000, 82_000)


def test_a_month_that_is_over_is_no_forecast(connection):
    rows = monthly("朝市", -2_000, "2024-06", 13, day=28, category="食費/食料品")
    rows = [*rows, Bought("2025-06-30", "本屋", -500)]
    ledger = household(connection, rows, today=date(2025, 6, 30))
    _, june, july, *_ = forecast_spending(ledger).text.splitlines()
    assert june == "- 2025年06月: 2,500円（これまで 2,500円）"
    assert july.startswith("- 2025年07月: 2,000円、8割の幅 ")


def test_a_ledger_of_the_future_alone_has_no_habits_yet(connection):
    rows = monthly("家賃", -80_000, "2026-06", 3)
    ledger = household(connection, rows, today=date(2025, 6, 20))
    assert list_recurring_payments(ledger).payments == ()
    assert "3か月以上" in forecast_spending(ledger).text
    assert find_anomalies(ledger).text
