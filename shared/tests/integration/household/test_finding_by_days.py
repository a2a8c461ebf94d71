"""Rows found by days: periods, means over them, planned and stray rows, groups by time."""

from datetime import date, timedelta

import pytest
from found_ledger import CATEGORIES, ROWS, TODAY, FilledLedger, told
from table_of_cases import each

from mdvec.household import Ledger
from mdvec.household.core.categories import UnknownCategory
from mdvec.household.english import in_english
from mdvec.household.finding import ListingOptions
from mdvec.household.month import monthly_household
from mdvec.household.trend import category_trend


def test_a_period_outside_the_ledger_is_said_to_have_no_rows():
    found = FilledLedger(ROWS).find(period="2019年", query="Amazon")
    assert found.total_rows == 0
    first, last = min(row[0] for row in ROWS), max(row[0] for row in ROWS)
    assert f"この期間の明細は 1件もありません（明細があるのは {first}〜{last}）" in found.notes
    within = FilledLedger(ROWS).find(period="7月31日", query="郵便局")
    assert not any("この期間" in note for note in within.notes)


@each("wanted", [{"period": "2025年8月"}, {}, {"query": "店", "rows": "all"}])
def test_rows_after_today_are_named_as_by_the_month(wanted):
    days = ((15, -100), (16, -2_000), (20, 700))
    ledger = FilledLedger(
        [(date(2025, 8, day), yen, "店", CATEGORIES[0], "財布", None) for day, yen in days]
    )
    month = monthly_household(Ledger(ledger.connection, 1, TODAY), period="2025年8月")
    (note,) = [note for note in month.notes if note.startswith("予定")]
    found = ledger.find(**wanted)
    assert note in found.notes
    assert (note[-11:], found.spending) == ("（上の金額に含みます）", month.spending)
    for without in ({"period": "2025年7月"}, {"query": "本"}):
        assert not any(note.startswith("予定") for note in ledger.find(**without).notes)
    (left,) = ledger.find(until="2025-08-15").notes[1:]
    assert left == note.replace("上の金額に含みます", "上の金額には含めていません")


FAR = [
    *((date(2025, month, 5), -300, *ROWS[0][2:]) for month in range(1, 9)),
    (date(2025, 8, 10), -600, *ROWS[0][2:]),
    (date(2026, 3, 31), -70_000, "旅行", CATEGORIES[2], "財布", None),
    (date(1926, 3, 3), -50_000, *ROWS[0][2:]),
]
"""A purchase of each month until 10 August, a planned one and one whose year is wrong."""


@each(
    ("period", "days"),
    [
        (None, ("2025年01月05日〜2025年08月10日", [(218, 14), (8, 375), (6, 300)])),
        ("今年", ("2025年01月05日〜2025年08月10日", [(218, 14), (8, 375), (6, 300)])),
        ("今月", ("2025年08月01日〜2025年08月10日", [(10, 90)])),
        ("1900年から2199年", ("2025年01月05日〜2025年08月10日", [(218, 14), (8, 375), (6, 300)])),
    ],
)
def test_means_are_over_the_days_and_rows_that_are_neither_planned_nor_of_a_wrong_year(
    period, days
):
    words, means = days
    for wanted in ({}, {"query": "Amazon"}):
        found = FilledLedger(FAR).find(ListingOptions(group_by="month"), period=period, **wanted)
        assert [(mean.over, mean.spending) for mean in found.means] == means
        assert f"平均は {words} のもの" in found.notes
    years = FilledLedger(FAR).find(ListingOptions(group_by="year")).groups
    assert [(year.name, year.mean and year.mean.spending) for year in years] == [
        ("1926", None), ("2025", 375), ("2026", None),
    ]  # fmt: skip
    assert not FilledLedger(FAR).find(ListingOptions(group_by="month"), period="2026年3月").means


@each("starts_on", [1, 26])
@each("last", [date(2025, 8, 10), date(2025, 6, 20)])
def test_a_planned_row_of_this_month_and_one_of_a_wrong_year_change_no_mean(last, starts_on):
    own = [(date(2025, 5, 28), -500, *FAR[0][2:]), (last, -1_000, *FAR[0][2:])]
    far = [(date(2025, 8, 20), -80_000, *FAR[0][2:]), (date(1926, 3, 3), -9, *FAR[0][2:])]
    listing = ListingOptions(group_by="month")
    for period in (None, "今年", "2025-05-01から2025-06-25"):
        alone, beside = (
            FilledLedger(rows).find(listing, period=period, starts_on=starts_on)
            for rows in (own, own + far)
        )
        assert alone.means
        assert beside.means == alone.means
    later = FilledLedger(own + far).find(listing, date(2025, 8, 20), starts_on)
    assert later.means != alone.means


def test_all_time_is_every_row_and_names_those_that_are_planned_or_of_a_wrong_year():
    notes = (
        "予定（今日より後の日付の明細）: 1件、支出 70,000円（上の金額に含みます）",
        "日付がほかから何年も離れた明細 1件も含みます: 1926-03-03 AMAZON.CO.JP -50,000円"
        "（a.csv 11行目）。日付の誤りなら、直して取り込み直してください",
    )
    ledger = FilledLedger(FAR)
    every = ledger.find()
    assert (every.total_rows, every.spending, every.notes) == (11, 123_000, notes)
    assert ledger.find(period="全期間") == every
    later = date(2027, 8, 1)
    assert ledger.find(period="全期間", today=later) == ledger.find(today=later)
    assert ledger.find(today=later).age
    assert ledger.find(query="Amazon").notes[-1] == notes[1]
    wide = ledger.find(period="1900年から2199年")
    assert (wide.spending, wide.notes[1:]) == (123_000, notes)
    year = ledger.find(period="今年")
    assert year.spending == 3_000
    assert year.notes[1:] == (
        "データのある 2025年01月〜2025年08月 だけを対象にしました",
        notes[0].replace("上の金額に含みます", "上の金額には含めていません"),
        NOT_INCLUDED,
    )
    assert ledger.find(period="1926年3月").notes == ("「1926年3月」を 1926年03月 と解釈しました",)


NOT_INCLUDED = (
    "日付がほかから何年も離れた明細 1件は含めていません: 1926-03-03 AMAZON.CO.JP -50,000円"
    "（a.csv 11行目）。日付の誤りなら、直して取り込み直してください。"
    "正しければ、その年月を指定すると集計できます"
)


def test_an_end_alone_takes_every_earlier_row_or_names_those_of_a_wrong_year():
    ledger = FilledLedger(FAR)
    for until in ("1926", "1926-03", "1926-12-31", "2024-12-31"):
        assert told(ledger.find(until=until)) == (1, 50_000, 0), until
    for wanted in ({"until": "2025-08-15"}, {"until": "2025-06"}, {"period": "2025年6月まで"}):
        found = ledger.find(query="Amazon", **wanted)
        assert found.spending in (3_000, 1_800)
        assert NOT_INCLUDED in found.notes
        assert NOT_INCLUDED not in ledger.find(query="旅行", **wanted).notes
    assert NOT_INCLUDED not in ledger.find(period="2025年6月").notes


def test_groups_by_time_say_what_their_means_are_over():
    found = FilledLedger(ROWS).find(
        ListingOptions(group_by="weekend"), period="2025年7月", category="支出"
    )
    assert found.text.splitlines()[1:3] == [
        "平均: 1日平均 支出 3,226円（31日）",
        "- 平日: 3件、支出 100,000円、1日平均 支出 4,348円（23日）",
    ]
    year = FilledLedger(ROWS).find(ListingOptions(group_by="year"), category="支出")
    assert [mean.told(moved=False) for mean in year.means[1:]] == [
        "1か月平均 支出 50,270円（2か月、揃っていない月を含む）",
        "1か月平均 支出 100,000円（まる1か月）",
    ]
    assert "、1か月平均 支出 100,000円（まる1か月）" in year.text.splitlines()[2]
    assert "per month spending ¥100,000 (1 month, whole ones only)" in in_english(year.text)
    many = FilledLedger(
        [(date(2025, 1, 1) + timedelta(number), -1, *ROWS[0][2:]) for number in range(200)]
    )
    days = many.find(ListingOptions(group_by="day")).groups
    assert (len(days), days[0].name, days[0].rows) == (121, "2025-03-22より前", 80)
    newest = many.find(ListingOptions("newest", "day")).groups
    assert newest == days[::-1]
    largest = many.find(ListingOptions("largest", "day"))
    assert (len(largest.groups), largest.groups[-1].name) == (121, "ほか80件の日")
    assert "80 other days" in in_english(largest.text)


@each(
    ("group_by", "starts_on", "asked", "names"),
    [
        ("week", 1, ("2025-06-04", "2025-06-17"), ["2025-06-04〜2025-06-08",
         "2025-06-09〜2025-06-15", "2025-06-16〜2025-06-17"]),
        ("month", 1, ("2025-06-15", "2025-07-31"), ["2025-06-15〜2025-06-30", "2025-07"]),
        ("month", 26, ("2025-05-26", "2025-07-01"), ["2025-06", "2025-06-26〜2025-07-01"]),
        ("month", 1, ("2025-06-15", "2025-06-20"), ["2025-06-15〜2025-06-20"]),
        ("year", 1, ("2025-06-15", "2026-12-31"), ["2025-06-15〜2025-12-31", "2026"]),
        ("weekend", 1, ("2025-06-15", "2025-06-20"), ["土日", "平日"]),
        ("week", 1, (None, None), ["2025-05-26〜2025-06-01", "2026-12-28〜2027-01-03"]),
    ],
)  # fmt: skip
def test_a_part_of_time_of_which_only_some_days_were_asked_for_is_named_by_these(
    group_by, starts_on, asked, names
):
    days = (date(2025, 6, 1) + timedelta(number) for number in range(579))
    ledger = FilledLedger([(day, -1, *ROWS[0][2:]) for day in days])
    listing = ListingOptions(group_by=group_by)
    found = ledger.find(listing, date(2026, 12, 31), starts_on, since=asked[0], until=asked[1])
    told = [group.name for group in found.groups]
    assert (told if asked[0] else [told[0], told[-1]]) == names
    if asked == ("2025-06-15", "2026-12-31"):
        assert [group.mean.is_whole for group in found.groups] == [False, True]
        assert "（7か月、揃っていない月を含む）" in found.groups[0].told(moved=False)
        others = [group.mean_of_whole_months for group in found.groups]
        assert (others[0].over, others[0].spending, others[1]) == (6, 31, None)


def test_a_trend_of_more_than_a_year_has_the_total_and_the_mean_of_its_final_twelve_months():
    rows = [
        (date(2024 + number // 12, number % 12 + 1, 1), -100 * (number + 1), *ROWS[0][2:])
        for number in range(14)
    ]
    ledger = Ledger(FilledLedger(rows).connection, 1, date(2025, 3, 1))
    text = category_trend(ledger, category="支出", since="2024-01", until="2025-02").text
    assert text.splitlines()[15:18] == [
        "- 期間の最後の12か月平均（揃っていない月を含む）: 850円", "- まる11か月平均: 800円",
        "- 期間の合計: 10,500円",
    ]  # fmt: skip
    assert in_english(text).splitlines()[15:18] == [
        "- mean of the final 12 months of the period, not all of them complete: ¥850",
        "- mean of the 11 complete months: ¥800", "- total of the period: ¥10,500",
    ]  # fmt: skip
    one = category_trend(ledger, category="支出", since="2025-02", until="2025-02").text
    assert "- 12か月平均（揃っていない月を含む）: 850円" in one
    assert "合計" not in one


def test_a_month_without_any_row_is_named_and_is_not_in_the_mean_of_whole_months():
    """A month without such rows, but with others, is."""
    empty = "明細が 1 件もない月（2025年03月〜2025年04月）"
    named = f"平均では、{empty}を 0円として計算しました（まるの月の平均を除く）"
    rows = [(date(2025, month, 1), -300, *ROWS[0][2:]) for month in (1, 2, 5, 6)]
    ledger = FilledLedger([*rows, (date(2025, 6, 30), -30, "薬局", CATEGORIES[1], "財布", None)])
    found = ledger.find(ListingOptions(group_by="year"), query="Amazon")
    assert [mean.told(moved=False) for mean in found.means[1:]] == [
        "1か月平均 支出 200円（6か月、揃っていない月を含む）", "1か月平均 支出 300円（まる4か月）",
    ]  # fmt: skip
    (year,) = found.groups
    assert (year.mean, year.mean_of_whole_months) == found.means[1:]
    pharmacy = ledger.find(ListingOptions(group_by="month"), query="薬局").means
    assert [mean.spending for mean in pharmacy[1:]] == [5, 8]
    trend = category_trend(Ledger(ledger.connection, 1, TODAY), category="支出", period="2025年6月")
    assert trend.text.splitlines()[2:4] == [
        "- 6か月平均（揃っていない月を含む）: 205円", "- まる4か月平均: 308円",
    ]  # fmt: skip
    assert named in found.notes
    assert named in trend.notes


def test_words_that_name_an_account_point_to_its_filter():
    found = FilledLedger(ROWS).find(query="カードa")
    assert found.total_rows == 0
    assert "口座「カードA」の明細は account で選べます" in found.notes
    assert "account chooses the rows of the account" in in_english(found.text)
    assert FilledLedger(ROWS).find(account="カードA").total_rows == 1


def test_nothing_found_in_a_month_that_may_be_incomplete_says_so():
    found = FilledLedger(ROWS).find(query="家賃", period="今月")
    assert "2025年08月の明細はまだ揃っていない可能性があります" in found.notes
    assert not any("揃って" in note for note in FilledLedger(ROWS).find(query="家賃").notes)


def test_a_category_that_is_the_name_of_a_shop_points_to_the_search():
    ledger = FilledLedger(ROWS)
    with pytest.raises(UnknownCategory) as refused:
        ledger.find(category="ライオン堂")
    hint = "店の名前にある「ライオン堂」は find_transactions の query で探せます"
    assert str(refused.value).endswith(f"。{hint}")
    assert in_english(str(refused.value)).endswith("find_transactions finds it as query")
    with pytest.raises(UnknownCategory) as refused:
        ledger.find(category="どこにもない")
    assert "query" not in str(refused.value)


def test_a_category_named_like_a_part_of_time_keeps_its_name_in_english():
    names = {1: "平日", 5: "土日"}
    ledger = FilledLedger(
        [(date(2025, 7, day), -100, "店", (name, ""), "財布", None) for day, name in names.items()]
    )
    by_category = in_english(ledger.find(ListingOptions(group_by="category")).text)
    assert '- "平日": 1 row, spending ¥100' in by_category
    assert "- Monday to Friday: 1 row" in in_english(
        ledger.find(ListingOptions(group_by="weekend")).text
    )
