"""Files with a repeated header: sections of accounts, or downloads of one joined by hand."""

from datetime import date
from itertools import accumulate

import pytest
from household_folder import HouseholdFolder

from mdvec.household import review
from mdvec.household.core.pair import DetectionOptions
from mdvec.household.month import monthly_household

CARD = "ご利用日,ご利用店名,ご利用金額"
BANK = "日付,摘要,摘要内容,支払い金額,預かり金額,差引残高,メモ"
TRAIN, SHOP, BOOKS = "2026/07/01,鉄道,1000", "2026/07/02,店,300", "2026/07/03,本屋,500"


def bank(start, *payments):
    """A row of the bank for each payment, on one day, from a balance."""
    balances = [start - paid for paid in accumulate(payments)]
    return [
        f"2026/7/1,手数料,,{yen},,{left}," for yen, left in zip(payments, balances, strict=True)
    ]


class Statements(HouseholdFolder):
    """A household's folder with statements whose kinds have mappings or not."""

    def counted(self):
        """The amounts after an import, and the rows and yen in several sections that it reports."""
        ledger = self.import_("update").details.ledger
        assert (ledger.passed_over, ledger.failed) == ((), ())
        amounts = sorted(row.amount or 0 for row in self.transactions())
        return amounts, [(each.rows, each.yen) for each in ledger.listed_again]


@pytest.fixture
def statements(tmp_path):
    return Statements(tmp_path / "csv", tmp_path / "vectors.sqlite", today=date(2026, 8, 1))


def test_equal_rows_of_two_cards_below_two_headers_all_count_and_are_named(statements):
    statements.put("card.csv", CARD, TRAIN, TRAIN, SHOP, "会員 花子", CARD, TRAIN, BOOKS)
    statements.map("card.csv", save=True)
    expected = [-1000, -1000, -1000, -500, -300], [(1, 1000)]
    assert statements.counted() == expected
    assert statements.counted() == expected
    said = [line.text for line in statements.import_("replace").lines()]
    assert [each for each in said if "more than one section" in each] == [
        "card.csv lists 1 row (1,000 yen) in more than one section, and all count; if the same "
        "account was downloaded twice, delete the repeated part of the file"
    ]


def test_rows_with_the_same_balance_in_joined_downloads_of_one_account_count_once(statements):
    first, later = bank(10_000, 110, 110, 500), bank(9_890, 110, 500, 110)
    statements.put("bank.csv", BANK, *first, BANK, *later, BANK, *first)
    assert statements.counted() == ([-500, -110, -110, -110], [])


def test_equal_rows_of_two_accounts_with_other_balances_count_twice_also_if_one_is_repeated(
    statements,
):
    one, other = bank(10_000, 110, 300), bank(50_000, 110, 300)
    statements.put("bank.csv", BANK, *one, "", BANK, *other, "", BANK, *one)
    assert statements.counted() == ([-300, -300, -110, -110], [])


def test_a_header_printed_again_on_each_page_leaves_all_rows(statements):
    rows = bank(10_000, 110, 110, 110, 110)
    statements.put("bank.csv", BANK, *rows[:2], BANK, *rows[2:])
    assert statements.counted() == ([-110] * 4, [])


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        (("1234567", "7654321"), ([-110] * 4, [(2, 220)])),
        (("1234567", "1234567"), ([-110] * 2, [])),
        (("", "1234567"), ([-110] * 4, [(2, 220)])),
    ],
)
def test_equal_balances_below_other_account_numbers_are_of_other_accounts(
    statements, numbers, expected
):
    rows = bank(10_000, 110, 110)
    one, other = (f"口座番号：{number}" * bool(number) for number in numbers)
    rows.append("合計,,,220,")
    statements.put("bank.csv", one, BANK, *rows, "", other, BANK, *rows)
    assert statements.counted() == expected


def test_rows_left_out_as_repeated_are_named_with_their_sum(statements):
    first = bank(10_000, 110, 500)
    statements.put("bank.csv", BANK, *first, BANK, *first[1:], "2026/7/2,店,,90,,9300,")
    statements.map("bank.csv", save=True)
    for mode in ("update", "replace"):
        said = [line.text for line in statements.import_(mode).lines()]
        assert [each for each in said if "section" in each] == [
            "bank.csv lists 1 row (500 yen) in more than one section, with equal balances, and "
            "counted once"
        ]


@pytest.mark.parametrize("is_newest_first", [False, True])
@pytest.mark.parametrize("title", ["", "口座番号：1234567", "2ページ"])
def test_a_page_that_goes_on_where_the_last_one_ended_keeps_a_row_that_comes_again(
    statements, is_newest_first, title
):
    rows = [
        "2026/7/1,電気,,8000,,92000,", "2026/7/2,ＡＴＭ,,10000,,82000,",
        "2026/7/2,預入,,,10000,92000,", "2026/7/2,ＡＴＭ,,10000,,82000,",
        "2026/7/3,水道,,4000,,78000,",
    ]  # fmt: skip
    rows = rows[::-1] if is_newest_first else rows
    statements.put("bank.csv", title, BANK, *rows[:3], title, BANK, *rows[3:])
    statements.map("bank.csv", save=True)
    assert statements.counted() == ([-10_000, -10_000, -8000, -4000, 10_000], [])


@pytest.mark.parametrize("footer", ["以上", ""])
@pytest.mark.parametrize("number", ["口座番号：1234567", ""])
def test_joined_downloads_with_footers_and_their_own_periods_count_once(statements, footer, number):
    first, later = bank(10_000, 110, 500), bank(9_890, 500, 40)
    periods = [f"照会期間：{days}日間" * bool(number) for days in (1, 2)]
    lines = [
        [number, period, BANK, *rows, footer]
        for period, rows in zip(periods, (first, later), strict=True)
    ]
    statements.put("bank.csv", *lines[0], *lines[1])
    statements.map("bank.csv", save=True)
    assert statements.counted() == ([-500, -110, -40], [])


def test_the_number_above_a_last_section_without_rows_is_no_footer(statements):
    rows = bank(10_000, 110, 110)
    one, other = "口座番号：1234567", "口座番号：7654321"
    statements.put("bank.csv", one, BANK, *rows, other, BANK, *rows, other, BANK)
    assert statements.counted() == ([-110] * 4, [(2, 220)])


def test_an_answer_says_how_much_is_in_more_than_one_section_of_its_days(statements):
    header, row = "日付,大項目,内容,金額", "2026/07/01,食費,店,-30"
    statements.put("book.csv", header, "2026/06/01,食費,店,-30", row, header, row)
    statements.import_("update")
    for month, is_said in (("2026-07", True), ("2026-06", False)):
        answer = statements.ask(monthly_household, period=month)
        said = [note for note in answer.notes if "1件（30円）あり、すべて数えています" in note]
        assert bool(said) == is_said


MONEY_FORWARD = "計算対象,日付,内容,金額（円）,保有金融機関,大項目,中項目,メモ,振替"
TWICE = (False, ("同じ口座の明細に別の行としてある",))
ONCE = (True, ("店名が同じ",))


@pytest.mark.parametrize(
    ("header", "row", "below_one"),
    [
        (CARD, TRAIN, TWICE),
        (MONEY_FORWARD, "1,2026/07/01,鉄道,-1000,カードA,交通費,電車,,0", TWICE),
        (MONEY_FORWARD, "1,2026/07/01,鉄道,-1000,現金,交通費,電車,,0", ONCE),  # two may note it
        (BANK, "2026/07/01,手数料,,110,,9890,", ONCE),  # the balance did not go on
    ],
)
def test_equal_rows_below_one_header_are_two_purchases_and_below_two_perhaps_one(
    statements, header, row, below_one
):
    later = row.replace("07", "09")
    statements.put("one.csv", header, row, row)
    statements.put("two.csv", header, later, header, later.replace("9890", "8890"))
    if header == CARD:
        statements.map("one.csv", save=True)
    statements.import_()
    statements.ask(review.detect, DetectionOptions())
    found = statements.ask(review.list_candidates).candidates
    judged = {each.transaction_1.source_file: (each.is_likely, each.reasons) for each in found}
    assert judged == {"one.csv": below_one, "two.csv": ONCE}


@pytest.mark.parametrize("shops", [("ヨドバシカメラ",) * 2, ("AMAZON.CO.JP", "アマゾン")])
def test_rows_of_one_list_that_differ_in_day_or_words_may_be_one_purchase(statements, shops):
    days = ("12", "14") if shops[0] == shops[1] else ("12", "12")
    rows = [
        f"1,2026/07/{day},{shop},-13480,カードA,趣味,家電,,0"
        for day, shop in zip(days, shops, strict=True)
    ]
    statements.put("one.csv", MONEY_FORWARD, *rows)
    statements.import_()
    statements.ask(review.detect, DetectionOptions())
    assert [each.is_likely for each in statements.ask(review.list_candidates).candidates] == [True]


def test_lines_that_are_no_rows_are_told_with_their_count_and_place(statements):
    other = "2026/07/01,本屋,900"
    rows = [*bank(900, 110), "合計,,,110,,,"]
    statements.put("a.csv", "利用日,店,円", other, other, "", BANK, *rows)
    statements.put("b.csv", "架空銀行", BANK, *bank(500, 500), "", "以上")
    report = statements.import_("update")
    ledger = report.details.ledger
    assert (ledger.rows_read, ledger.failed, ledger.passed_over) == (2, (), ())
    assert [(each.path, each.lines) for each in ledger.left_out] == [
        ("a.csv", (2, 3)), ("a.csv", (1,)), ("a.csv", (7,)), ("b.csv", (1,)), ("b.csv", (5,))
    ]  # fmt: skip
    assert [line.text for line in report.lines() if "lines left out" in line.text] == [
        "lines left out, above the header, but with a date and a number: 2 (a.csv:2-3); if these "
        "are rows of another table, give them a file of their own, below their header",
        "lines left out, above the header: 2 (a.csv:1, b.csv:1)",
        "lines left out, as titles, totals and footers: 2 (a.csv:7, b.csv:5)",
    ]
    assert statements.import_("update").details.ledger.left_out == ()
