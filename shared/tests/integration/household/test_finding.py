"""Rows found by filters, against counting every row of the ledger in plain Python."""

from datetime import date, timedelta

import pytest
from found_ledger import ACCOUNTS, CATEGORIES, HOME, MARKED_TWICE, ROWS, SHOPS, FilledLedger, told
from hypothesis import given, settings
from hypothesis import strategies as st
from table_of_cases import each

from mdvec.household import Ledger, in_english
from mdvec.household.core.found import InvalidRowFilter, UnknownAccount
from mdvec.household.core.wording import InvalidChoice, InvalidPage
from mdvec.household.finding import ListingOptions
from mdvec.household.month import monthly_household
from mdvec.household.trend import category_trend

KEPT = {
    "counted": lambda why: why is None,
    "all": lambda why: True,
    "not_duplicate": lambda why: why != "duplicate",
    "left_out": lambda why: why is not None,
    "duplicate": lambda why: why == "duplicate",
    "transfer": lambda why: why == "transfer",
    "not_target": lambda why: why == "not_target",
}
IS_NAMED = {
    "Amazon": ("AMAZON.CO.JP", "アマゾン"), "イオン": ("イオン 123", "イオン 456"),
    "スーパー": ("スーパー丸",), "郵便局": (),
}  # fmt: skip


def why_left_out(row):
    _, amount, _, (major, _), _, flag = row
    if flag is not None:
        return "transfer" if flag == MARKED_TWICE else flag
    return "no_amount" if amount is None else None if major else "no_category"


def sums(rows, *, moved=False):
    """The number of rows, spending and income by plain counting; of transfers, out and in."""
    if moved:
        amounts = [row[1] or 0 for row in rows]
        return len(rows), -sum(min(yen, 0) for yen in amounts), sum(max(yen, 0) for yen in amounts)
    income = sum(row[1] or 0 for row in rows if row[3][0] == "収入")
    return len(rows), -sum(row[1] or 0 for row in rows if row[3][0] != "収入"), income


ROW = st.tuples(
    st.dates(date(2025, 5, 20), date(2025, 8, 10)),
    st.none() | st.integers(-9_000, 9_000) | st.sampled_from([1 - 10**15, 10**15 - 1]),
    st.sampled_from(SHOPS), st.sampled_from(CATEGORIES), st.sampled_from(ACCOUNTS),
    st.sampled_from([None, None, None, "transfer", "duplicate", "not_target", MARKED_TWICE]),
)  # fmt: skip


@settings(max_examples=25)
@given(
    rows=st.lists(ROW, min_size=1, max_size=40),
    query=st.sampled_from([None, *IS_NAMED]),
    least=st.none() | st.integers(0, 5_000),
    most=st.none() | st.integers(5_000, 10_000),
    month=st.sampled_from([None, 6, 7]),
    account=st.sampled_from([None, "カードA", "カード"]),
    category=st.sampled_from([None, "食費", "外食", "支出", "収入"]),
    which=st.sampled_from(sorted(KEPT)),
    group_by=st.sampled_from(["shop", "category", "account", "month"]),
)
def test_sums_are_those_of_counting_every_row(
    rows, query, least, most, month, account, category, which, group_by
):
    # Every name that a filter uses is in the ledger, on a day that no period below includes.
    outside = (date(2025, 5, 1), -1)
    for one in CATEGORIES:
        rows = [*rows, (*outside, "会社", one, "カードA", None)]
    ledger = FilledLedger(rows)
    found = ledger.find(
        ListingOptions(group_by=group_by), query=query, min_amount=least, max_amount=most,
        period=month and f"2025年{month}月", account=account, category=category, rows=which,
    )  # fmt: skip

    def matches(row):
        day, amount, shop, (major, minor), owner, _ = row
        return (
            (query is None or shop in IS_NAMED[query])
            and (least is None or (amount is not None and abs(amount) >= least))
            and (most is None or (amount is not None and abs(amount) <= most))
            and (month is None or day.month == month)
            and (account is None or owner.startswith(account))
            and (
                category is None or category in (major, minor)
                or (category == "支出" and major != "収入")
            )
        )  # fmt: skip

    matching = [row for row in rows if matches(row)]
    expected = [row for row in matching if KEPT[which](why_left_out(row))]
    moved = bool(expected) and {why_left_out(row) for row in expected} == {"transfer"}
    total = sums(expected, moved=moved)
    assert told(found) == total
    if which in {"counted", "all", "not_duplicate"}:
        assert sum(found.left_out.values()) == len(matching) - len(expected)
    parts = [(group.rows, group.spending, group.income) for group in found.groups]
    together = tuple(sum(column) for column in zip(*parts, strict=True))
    assert (together or (0, 0, 0)) == total
    assert found.rows == ()  # groups answer what was asked


TIMES = {
    "day": lambda day: day.isoformat(),
    "week": lambda day: f"{day - timedelta(day.weekday())}〜{day + timedelta(6 - day.weekday())}",
    "month": lambda day: f"{day:%Y-%m}",
    "year": lambda day: f"{day:%Y}",
    "weekday": lambda day: f"{'月火水木金土日'[day.weekday()]}曜日",
    "weekend": lambda day: "土日" if day.weekday() > 4 else "平日",
}


def time_of(day, group_by, month):
    """The name of a day's part of time: its days in an asked month, if this has only some."""
    if month is None or group_by not in ("week", "year"):
        return TIMES[group_by](day)
    first = day - timedelta(day.weekday()) if group_by == "week" else day.replace(day=1)
    days = (first + timedelta(number) for number in range(7 if group_by == "week" else 31))
    asked = [each for each in days if each.month == month]
    return f"{asked[0]}〜{asked[-1]}"


CHOICES = st.lists(st.sampled_from(["食費", "外食", "日用品", "収入", "支出"]), max_size=2)
SOME_SHOPS = st.lists(st.sampled_from([one for one in IS_NAMED if one != "郵便局"]), max_size=2)


@settings(max_examples=30)
@given(
    rows=st.lists(ROW, min_size=1, max_size=40),
    category=CHOICES, exclude_category=CHOICES, shop=SOME_SHOPS, exclude_shop=SOME_SHOPS,
    month=st.sampled_from([None, 6, 7]),
    group_by=st.sampled_from(sorted(TIMES)),
    sort=st.sampled_from(["newest", "oldest", "largest", "smallest"]),
)  # fmt: skip
def test_several_names_exclusions_times_and_means_are_those_of_counting_every_row(
    rows, category, exclude_category, shop, exclude_shop, month, group_by, sort
):
    rows = [*rows, *((date(2025, 5, 1), -1, "会社", one, "カードA", None) for one in CATEGORIES)]
    ledger = FilledLedger(rows)
    wanted = {
        "category": category, "exclude_category": tuple(exclude_category), "shop": shop,
        "exclude_shop": exclude_shop, "period": month and f"2025年{month}月",
    }  # fmt: skip
    found = ledger.find(ListingOptions(sort, group_by, page_size=200), **wanted)

    def is_of(row, names):
        major, minor = row[3]
        return any(one in (major, minor) or (one == "支出" and major != "収入") for one in names)

    def is_at(row, names):
        return any(row[2] in IS_NAMED[one] for one in names)

    expected = [
        row for row in rows
        if why_left_out(row) is None and month in (None, row[0].month)
        and (not category or is_of(row, category)) and not is_of(row, exclude_category)
        and (not shop or is_at(row, shop)) and not is_at(row, exclude_shop)
    ]  # fmt: skip
    assert told(found) == sums(expected)
    groups: dict[str, list[tuple]] = {}
    for row in expected:
        groups.setdefault(time_of(row[0], group_by, month), []).append(row)
    assert {(one.name, one.rows, one.spending, one.income) for one in found.groups} == {
        (name, *sums(some)) for name, some in groups.items()
    }
    ordered = sorted(
        ((row[0], number, row) for number, row in enumerate(rows, 1) if row in expected),
        reverse=sort != "oldest",
    )
    if sort in ("largest", "smallest"):
        ordered.sort(key=lambda one: abs(one[2][1]) * (-1 if sort == "largest" else 1))
    assert [row.id for row in found.rows] == [number for _, number, _ in ordered]
    first, last = min(row[0] for row in rows), max(row[0] for row in rows)
    if month:
        first = max(first, date(2025, month, 1))
        last = min(last, date(2025, month, 30 if month == 6 else 31))
    days = (last - first).days + 1
    if expected and days > 0:
        mean = found.means[0]
        assert (mean.unit, mean.over) == ("day", days)
        assert abs(mean.spending * days - found.spending) * 2 <= days
        assert abs(mean.income * days - found.income) * 2 <= days
    if group_by in ("weekday", "weekend") and days > 0:
        every = [TIMES[group_by](first + timedelta(number)) for number in range(days)]
        for one in found.groups:
            assert one.mean.over == every.count(one.name)
            assert abs(one.mean.spending * one.mean.over - one.spending) * 2 <= one.mean.over


def test_a_shop_this_year_is_answered_with_its_sum_and_what_is_left_out():
    found = FilledLedger(ROWS).find(query="Amazon", period="今年")
    assert found.text.splitlines()[0] == (
        "2025年01月01日〜2025年12月31日・「Amazon」: 2件、支出 99,200円"
    )
    assert "ほかに集計外の明細が 1件あり、合計に入れていません（重複 1件）" in found.text
    assert (
        "一致した店: アマゾン（1件、支出 98,000円）、AMAZON.CO.JP（1件、支出 1,200円）"
        in found.text
    )


@each(
    "asked",
    ["Amazon OR ライオン堂", "Amazon、ライオン堂", "Amazonまたはライオン堂", "Amazon ライオン堂"],
)
def test_words_that_no_row_has_together_are_each_named_with_how_to_ask_for_one_of_them(asked):
    found = FilledLedger(ROWS).find(query=f"{asked} -会社")
    assert (found.total_rows, found.spending) == (0, 0)
    alone = found.notes[0].replace("OR（0件）、", "")
    assert alone == (
        "すべての言葉がある明細はありません。言葉ごとでは: Amazon（2件、支出 99,200円）、"
        "ライオン堂（1件、支出 800円）。どれかでよいときは query の言葉の間を | に、"
        "時期は query でなく period に書いてください"
    )
    assert FilledLedger(ROWS).find(query="Amazon|ライオン堂 -会社").spending == 100_000
    assert not FilledLedger(ROWS).find(query="郵便局 病院").notes


@each(("query", "is_told"), [
    ("98000", True), ("98,000円", True), ("９８０００", True), ("123", False), ("98000 円", False),
    ("2025", True), ("１００", True),
])  # fmt: skip
def test_a_number_that_no_text_has_is_told_to_be_asked_as_an_amount_or_time(query, is_told):
    found = FilledLedger(ROWS).find(query=query)
    assert (
        "金額は query でなく min_amount・max_amount、時期は period で探します" in found.notes
    ) == is_told


@each(("group_by", "sort", "names"), [
    ("month", None, ["2025-07", "2025-08"]), ("month", "oldest", ["2025-07", "2025-08"]),
    ("month", "newest", ["2025-08", "2025-07"]), ("month", "smallest", ["2025-08", "2025-07"]),
    ("weekday", "largest", ["水曜日", "火曜日", "木曜日", "金曜日"]),
    ("category", None, ["日用品 > 雑貨", "食費 > 食料品"]),
    ("category", "largest", ["日用品 > 雑貨", "食費 > 食料品"]),
    ("category", "smallest", ["食費 > 食料品", "日用品 > 雑貨"]),
    ("category", "newest", ["日用品 > 雑貨", "食費 > 食料品"]),
    ("weekday", "newest", ["火曜日", "水曜日", "木曜日", "金曜日"]),
])  # fmt: skip
def test_groups_are_in_the_order_that_was_asked_for(group_by, sort, names):
    found = FilledLedger(ROWS).find(ListingOptions(sort, group_by), category="支出")
    assert [group.name for group in found.groups] == names


@each(("group_by", "sort", "limit", "is_told"), [
    ("category", "newest", None, True), ("account", "newest", 0, True),
    ("weekday", "oldest", None, True), ("month", "newest", None, False),
    ("shop", "largest", None, False), ("category", "oldest", 3, False), (None, "newest", 0, False),
])  # fmt: skip
def test_an_order_that_groups_do_not_have_is_told_unless_rows_are_in_it(
    group_by, sort, limit, is_told
):
    found = FilledLedger(ROWS).find(ListingOptions(sort, group_by, page_size=limit))
    told = f"group_by={group_by} は sort={sort} で並べられないので、いつもの順です"
    assert (told in found.notes) == is_told
    assert ("usual order" in in_english(found.text)) == is_told
    if limit:
        assert [row.id for row in found.rows] == [1, 2, 4]


def test_transfers_are_money_out_and_in_and_never_spending():
    rows = [
        (date(2025, 8, 13 + day), yen, "ATM", ("現金・カード", "ATM"), account, "transfer")
        for day in range(4)
        for yen, account in ((-30_000, "カードA"), (30_000, "財布"))
    ]
    ledger = FilledLedger([*rows[:-1], *ROWS])
    moved = "出金 120,000円、入金 90,000円"
    for wanted, listing in (
        ({"query": "ATM"}, ListingOptions()), ({}, ListingOptions(group_by="account")),
        ({}, ListingOptions(group_by="month")), ({"query": "ATM"}, ListingOptions(group_by="day")),
        ({"query": "郵便局 ATM"}, ListingOptions()), ({"query": "TM"}, ListingOptions()),
    ):  # fmt: skip
        found = ledger.find(listing, rows="transfer", **wanted)
        assert moved in found.text
        assert "支出" not in found.text
        assert "収" not in found.text
        assert "money out ¥120,000, money in ¥90,000" in in_english(found.text)
        if found.total_rows:
            days = {"since": "2025-08-13", "until": "2025-08-16"}
            left_out = ledger.find(listing, rows="left_out", **wanted, **days)
            assert moved in left_out.text
            assert "支出" not in left_out.text
    by_account = ledger.find(ListingOptions(group_by="account"), rows="transfer").text
    assert "- カードA: 4件、出金 120,000円\n- 財布: 3件、入金 90,000円" in by_account
    for listing in (ListingOptions(), ListingOptions(group_by="shop")):
        every = ledger.find(listing, rows="all")
        assert "振替 7件を含みます" in every.notes
        assert "with 7 transfers" in in_english(every.text)
    assert "振替" not in ledger.find(rows="duplicate").text


@each(("sort", "group_by", "names"), [
    ("largest", "month", ["2025-07", "2025-06"]), ("smallest", "month", ["2025-06", "2025-07"]),
    (None, "shop", ["ATM", "チャージ"]), (None, "category", ["現金 > ATM", "現金 > チャージ"]),
])  # fmt: skip
def test_transfers_that_come_back_are_as_large_as_what_moved(sort, group_by, names):
    rows = [
        (date(2025, month, 1), yen, shop, ("現金", shop), "財布", "transfer")
        for month, shop, yen in (
            (7, "ATM", -100_000), (7, "ATM", 100_000), (6, "チャージ", -5_000),
        )
    ]  # fmt: skip
    found = FilledLedger(rows).find(ListingOptions(sort, group_by), rows="transfer")
    assert [group.name for group in found.groups] == names


def test_rows_are_shown_only_where_they_are_what_was_asked_for():
    ledger = FilledLedger(ROWS * 4)
    sums = ledger.find(ListingOptions(group_by="shop"), query="Amazon")
    assert (sums.rows, sums.text.splitlines()[-1]) == (
        (), "明細は全 8件です（limit=8 で示します）。"
    )  # fmt: skip
    assert len(ledger.find().rows) == 5
    assert len(ledger.find(ListingOptions(page_size=200)).rows) == 20
    second = ledger.find(ListingOptions(page=2), period="2025年7月", category="支出")
    assert second.text.splitlines()[0] == (
        "2025年07月01日〜2025年07月31日・支出: 明細 6〜10件目（全 12件、[取引ID ファイル:行]）:"
    )
    assert "支出 4" not in second.text


@each(
    ("wanted", "listing", "error", "said"),
    [
        ({"account": "銀行"}, {}, UnknownAccount, "口座「銀行」.*カードA、カードB、財布"),
        ({"min_amount": -5}, {}, InvalidRowFilter, "min_amount は 0 以上"),
        ({"min_amount": 9, "max_amount": 5}, {}, InvalidRowFilter, "大きくなって"),
        ({"category": "貯蓄率"}, {}, InvalidRowFilter, "支出、収入"),
        ({"query": "！"}, {}, InvalidRowFilter, "言葉がありません"),
        ({"rows": "some"}, {}, InvalidChoice, "counted、all"),
        ({}, {"sort": "best"}, InvalidChoice, "newest、oldest"),
        ({}, {"page": 3}, InvalidPage, "3 ページ目"),
    ],
)
def test_what_cannot_be_found_is_refused_with_what_can(wanted, listing, error, said):
    with pytest.raises(error, match=said):
        FilledLedger(ROWS).find(ListingOptions(**listing), **wanted)


def test_spending_without_the_rent_and_two_categories_together():
    ledger = FilledLedger(HOME)
    without = ledger.find(category="支出", exclude_category=["住宅 > 家賃"])
    assert (without.total_rows, without.spending) == (3, 6_000)
    assert without.understood == "支出・「住宅 > 家賃」を除く"
    both = ledger.find(category=["食費", "日用品"])
    assert (both.spending, both.understood) == (5_000, "「食費」、「日用品」")
    shops = ledger.find(shop=["ローソン", "Amazon"])
    assert (shops.spending, shops.understood) == (5_000, "店「ローソン」、「Amazon」")
    assert "別の書き方の店も含めました: AMZN。" in shops.text
    assert "一致した店: ﾛ-ｿﾝ（1件、支出 3,000円）、AMZN MKTP（1件、支出 2,000円）" in shops.text
    many = ledger.find(shop=[f"店{number}" for number in range(100)])
    assert many.understood.endswith("「店6」、「店7」、ほか92店")
    assert len(many.text) < 500
    with pytest.raises(InvalidRowFilter, match="shop は 100件まで"):
        ledger.find(shop=[f"店{number}" for number in range(101)])
    others = ledger.find(category="日用品", exclude_shop=["Amazon"])
    assert others.total_rows == 0
    assert "別の書き方の店も除きました: AMZN。" in others.text


def test_groups_that_are_not_shown_are_counted_and_on_the_next_pages():
    day, _, _, *rest = ROWS[0]
    ledger = FilledLedger(
        [(day, -number, f"店{number:02}甲乙", *rest) for number in range(1, 46) for _ in "ab"]
    )
    first, second, last = (
        ledger.find(ListingOptions(group_by="shop", page=page)) for page in (1, 2, 3)
    )
    assert [(len(page.groups), page.groups[-1].name) for page in (first, second, last)] == [
        (21, "ほか25件の店"), (21, "ほか25件の店"), (6, "ほか40件の店")
    ]  # fmt: skip
    shown = {one.name for page in (first, second, last) for one in page.groups[:-1]}
    assert len(shown) == 45
    assert (first.pages, first.next_page, last.next_page) == (3, 2, None)
    assert first.text.splitlines()[22:] == [
        "店の続きは page=2。", "明細は全 90件です（limit=20 で示します）。"
    ]  # fmt: skip
    assert second.text.splitlines()[1] == "- 店25甲乙: 2件、支出 50円"
    with_rows = ledger.find(ListingOptions(group_by="shop", page=2, page_size=30))
    assert (len(with_rows.groups), len(with_rows.rows), with_rows.pages) == (16, 30, 3)
    assert with_rows.text.splitlines()[-1] == "続きは page=3、limit=30。"
    assert ledger.find(ListingOptions(page_size=20)).text.endswith("続きは page=2、limit=20。")
    everything = ledger.find(ListingOptions(group_by="shop", page_size=200))
    assert (len(everything.groups), everything.next_page) == (45, None)
    with pytest.raises(InvalidPage):
        ledger.find(ListingOptions(group_by="shop", page=4))


def test_a_persons_rows_are_those_of_the_files_in_a_folder():
    ledger = FilledLedger(ROWS)
    alone = ledger.find(ListingOptions(group_by="person"), category="支出")
    assert [(one.name, one.spending) for one in alone.groups] == [("（フォルダなし）", 100_540)]
    assert "どのファイルもフォルダの中にありません" in alone.text
    ledger.connection.execute("UPDATE transactions SET source_file = '妻/b.csv' WHERE id > 4")
    found = ledger.find(ListingOptions(group_by="person"), category="支出")
    assert [(one.name, one.spending) for one in found.groups] == [
        ("（フォルダなし）", 99_200), ("妻", 1_340),
    ]  # fmt: skip


def test_rows_without_a_category_are_found_by_the_name_that_they_are_shown_under():
    day, amount, *_ = ROWS[0]
    nameless = (day, -500, "募金", ("", ""), "財布", None)
    named = (day, amount, "店", ("未分類", "未分類"), "財布", None)
    for rows, counted in (([nameless, ROWS[0]], 0), ([nameless, named, ROWS[0]], 1_200)):
        ledger = FilledLedger(rows)
        for which, found in (("counted", len(rows) - 2), ("all", len(rows) - 1), ("left_out", 1)):
            answer = ledger.find(category="未分類", rows=which)
            assert answer.total_rows == found
        assert ledger.find(exclude_category="未分類", rows="all").total_rows == 1
        household = Ledger(ledger.connection, 1, date(2025, 8, 15))
        month = monthly_household(household, period="2025年7月", category="未分類")
        assert (month.spending, month.counts.no_category, len(month.rows)) == (
            counted, 1, len(rows) - 1,
        )  # fmt: skip
        assert category_trend(household, category="未分類").months


def test_a_category_that_only_rows_left_out_have_is_named_for_its_words():
    day, *_ = ROWS[0]
    paid = (
        day,
        -64_315,
        "三井住友カード",
        ("現金・カード", "カード引き落とし"),
        "財布",
        "transfer",
    )
    ledger = FilledLedger([paid, *ROWS])
    found = ledger.find(query="カード引き落とし")
    note = (
        "カテゴリ「現金・カード > カード引き落とし」の明細は、rows で選ばれていない 1件です。"
        "category と rows=all で選べます"
    )
    assert (found.total_rows, note in found.notes) == (0, True)
    assert "are 1 that rows does not choose" in in_english(note)
    assert "のほかの明細は合計に入れていません" in ledger.find(query="雑貨").text


def test_each_category_that_one_of_the_words_is_called_is_named_with_its_rows():
    day, *_ = ROWS[0]
    ledger = FilledLedger(
        [
            (day, 500, "店ア", ("食費", "返品"), "財布", None),
            (day, 700, "店イ", ("趣味", "返品"), "財布", None),
            (day, -900, "店ウ", ("日用品", "返品箱"), "財布", None),
        ]
    )
    for query in ("返品", "返品|返金", "返品 返金"):
        notes = "".join(ledger.find(query=query).notes)
        assert [notes.count(f"「{major} > 返品") for major in ("食費", "趣味", "日用品")] == [
            1,
            1,
            0,
        ]
    for query in ("返金|払戻", "食費か返品", "-返品"):
        assert "のほかの明細は" not in "".join(ledger.find(query=query).notes)
