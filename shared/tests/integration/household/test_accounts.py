"""Accounts of one bank: equal rows of two people count twice, those of one account once."""

import random
from collections import Counter
from dataclasses import replace
from datetime import date, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ledger_folder import HEADER as MONEY_FORWARD
from ledger_folder import LedgerFolder, line
from table_of_cases import each

from mdvec.dates import Days
from mdvec.household import deciding, review
from mdvec.household.account_report import accounts_report
from mdvec.household.core.accounts import account_number
from mdvec.household.core.balances import BalancedDay, Gap, balance_gaps
from mdvec.household.core.pair import DetectionOptions
from mdvec.household.core.statement_kinds import Mappings
from mdvec.household.deciding import ReviewDecision
from mdvec.household.interfaces import linked_again
from mdvec.household.interfaces.accounts import RowsBeside
from mdvec.household.interfaces.mappings import ready_made
from mdvec.household.ledger_view import statement_notes
from mdvec.household.month import monthly_household

TODAY = date(2025, 9, 10)
HEADER = "日付,摘要,摘要内容,支払い金額,預かり金額,差引残高,メモ"
HIS = [
    ("25", "給料", 300_000),
    ("28", "カード", -10_000),
    ("28", "手数料", -110),
    ("30", "電気", -8_000),
]
HERS = [
    ("25", "給与", 280_000),
    ("28", "カード", -10_000),
    ("28", "手数料", -110),
    ("29", "ガス", -5_000),
]


def statement(rows, opening, *, newest_first=False, above=""):
    """The text of a bank's file; a row is its day of July, or its date, a text and an amount."""
    lines, balance = [], opening
    for day, text, amount in rows:
        balance += amount
        paid = f"{-amount},," if amount < 0 else f",{amount},"
        lines.append(f"{day if '/' in day else f'2025/7/{day}'},{text},,{paid}{balance},")
    return "\r\n".join(
        [*([above] if above else []), HEADER, *lines[:: -1 if newest_first else 1], ""]
    )


def test_doubts_are_looked_up_from_the_few_files_in_doubt_on(folder):
    def first_step(query, *values):
        return next(folder.connection.execute(f"EXPLAIN QUERY PLAN {query}", values))[3]

    assert first_step(linked_again._IN_DOUBT, 1) == "SCAN d"
    assert first_step(linked_again._COUNTING, 1, "[]").startswith("SEARCH t USING INDEX")


def amounts(folder):
    return Counter(row.amount for row in folder.rows())


def rows_of(*files):
    return Counter(amount for rows in files for _, _, amount in rows)


@pytest.mark.parametrize(
    ("his", "hers", "told"),
    [
        (("1111111_202507.csv", ""), ("2222222_202507.csv", ""), ""),
        (("a.csv", "店番号,101,口座番号,1111111"), ("b.csv", "店番号,101,口座番号,2222222"), ""),
        # The balances alone, also where one file has a number.
        (("a.csv", ""), ("b.csv", ""), "三菱UFJ銀行 2"),
        (("a.csv", ""), ("b_2222222.csv", ""), "三菱UFJ銀行 2222222"),
        (("a_1111111.csv", ""), ("b.csv", ""), "三菱UFJ銀行 2"),
    ],
)
@pytest.mark.parametrize("at_once", [True, False])
def test_equal_rows_of_two_accounts_at_one_bank_both_count(folder, his, hers, told, at_once):
    folder.put(his[0], statement(HIS, 100_000, above=his[1]))
    if not at_once:
        folder.import_()
    folder.put(hers[0], statement(HERS, 50_000, above=hers[1]))
    report = folder.import_()
    assert report.account_doubts == ()
    apart = [(each.account, each.paths, each.other) for each in report.set_apart]
    assert apart == ([(told, (hers[0],), his[0])] if told else [])
    assert amounts(folder) == rows_of(HIS, HERS)
    names = {row.account for row in folder.rows()}
    assert len(names) == 2
    for mode in ("update", "replace"):
        again = folder.import_(mode)
        assert (again.imported, again.updated, again.deleted) == (0, 0, 0)
        assert again.set_apart == ()


def test_an_import_names_the_files_of_an_account_that_balances_set_apart(folder):
    for owner, rows, opening in (("彼", HIS, 100_000), ("彼女", HERS, 50_000)):
        for month in (7, 8):
            text = statement([(f"2025/{month}/{day}", *row) for day, *row in rows], opening)
            folder.put(f"{owner}/{month}月.csv", text)
            opening += sum(amount for *_, amount in rows)
    (apart,) = folder.import_().set_apart
    assert (apart.account, len(apart.paths)) == ("三菱UFJ銀行 2", 2)
    assert {path.split("/")[0] for path in apart.paths} != {apart.other.split("/")[0]}


def test_equal_rows_of_two_accounts_that_are_told_apart_are_no_likely_duplicates(folder):
    for month in range(1, 8):
        for number, rows in (("1111111", HIS), ("2222222", HERS)):
            text = statement([(f"2025/{month}/{day}", *row) for day, *row in rows], 100_000)
            folder.put(f"{number}_2025{month:02}.csv", text)
    folder.import_()
    found = review.detect(folder.ledger, DetectionOptions())
    assert (found.candidates_count > 0, found.likely_count) == (True, 0)
    listed = review.list_candidates(folder.ledger).candidates
    assert "同じ銀行の別々の口座にある" in {reason for one in listed for reason in one.reasons}
    answer = monthly_household(folder.as_of(TODAY), period="2025-07")
    assert not any("かもしれない" in note for note in answer.notes)


def test_renaming_and_moving_files_doubles_nothing_and_keeps_each_account(folder):
    folder.put("1111111_202507.csv", statement(HIS, 100_000))
    folder.put("2222222_202507.csv", statement(HERS, 50_000))
    folder.import_()
    before = [(row.id, row.account, row.amount) for row in folder.rows()]
    folder.files = {"彼/7月.csv": folder.files["1111111_202507.csv"],
                    "彼女/7月.csv": folder.files["2222222_202507.csv"]}  # fmt: skip
    report = folder.import_()
    assert (report.imported, report.updated, report.deleted, report.unchanged) == (0, 0, 0, 8)
    after = [(row.id, row.account, row.amount) for row in folder.rows()]
    assert after == before
    newer = [*HERS[1:], ("2025/8/2", "水道", -3_000)]
    folder.put("8月.csv", statement(newer, 330_000), saved=date(2025, 9, 1))
    assert folder.import_().imported == 1
    assert amounts(folder) == rows_of(HIS, HERS, newer[-1:])
    row = folder.rows()[-1]
    assert row.account.endswith("2222222")


def test_notes_stay_with_their_rows_while_the_other_account_is_away(folder):
    folder.put("0.csv", statement(HIS, 100_000))
    folder.import_()
    folder.put("b.csv", statement(HERS, 50_000))
    folder.import_()
    folder.connection.execute(
        "INSERT INTO row_notes (tool_id, identity, note, tags) "
        "SELECT 1, identity, account || description, '[]' FROM transactions"
    )
    rows = {(row.account, row.amount) for row in folder.rows()}
    away = folder.files.pop("0.csv")
    folder.import_("replace")
    folder.files["0.csv"] = away
    folder.import_()
    after = {(row.account, row.amount) for row in folder.rows()}
    assert after == rows
    notes = folder.connection.execute(
        "SELECT note, account || description FROM row_notes "
        "JOIN transactions USING (tool_id, identity)"
    ).fetchall()
    assert len(notes) == 8
    assert all(note == of_row for note, of_row in notes)


@pytest.mark.parametrize("path", ["7月 (1).csv", "7月.csv"])
def test_a_row_that_a_bank_books_late_shifts_balances_and_doubles_nothing(folder, path):
    folder.put("7月.csv", statement(HIS, 100_000))
    folder.import_()
    late = [("1", "デビット", -777), *HIS]
    folder.put(path, statement(late, 100_000), saved=date(2025, 9, 1))
    report = folder.import_()
    assert (report.imported, report.account_doubts) == (1, ())
    assert amounts(folder) == rows_of(late)


def test_the_order_within_a_day_and_a_download_at_noon_double_nothing(folder):
    day = [("31", "米", -500), ("31", "本", -900), ("31", "服", -4_000)]
    folder.put("7月.csv", statement([*HIS, *day[:2]], 100_000))
    after = 100_000 + sum(amount for _, _, amount in HIS)
    folder.put("8月.csv", statement([day[1], day[0], day[2]], after))
    folder.import_()
    assert amounts(folder) == rows_of(HIS, day)


@pytest.mark.parametrize("order", ["hwm", "mhw", "wmh"])
def test_money_forward_beside_two_accounts_counts_each_row_once(folder, order):
    both = [*HIS, *HERS]
    files = {
        "h": ("1111111_7.csv", statement(HIS, 100_000)),
        "w": ("2222222_7.csv", statement(HERS, 50_000)),
        "m": (
            "mf.csv",
            "\r\n".join([MONEY_FORWARD, *(
                line(f"x{n}", amount, f"2025/07/{day}", text, "三菱UFJ銀行")
                for n, (day, text, amount) in enumerate(both)
            ), ""]),
        ),
    }  # fmt: skip
    for which in order:
        folder.put(*files[which])
        folder.import_()
    assert amounts(folder) == rows_of(both)
    folder.import_("replace")
    assert amounts(folder) == rows_of(both)


def listed(rows, *others, account="三菱UFJ銀行"):
    """Money Forward's file of these rows, without IDs, and with those of other accounts."""
    lines = [line("", yen, f"2025/07/{day}", text, account) for day, text, yen in rows]
    return "\r\n".join([MONEY_FORWARD, *lines, *others, ""])


@pytest.mark.parametrize("order", ["hwm", "mhw", "wmh", "hmw"])
@pytest.mark.parametrize("others", [(), (line("", -1, "2025/07/02", "店", "財布"),)])
def test_a_list_without_ids_of_two_accounts_counts_both_and_says_so(folder, order, others):
    """June is in the banks' files alone: the list makes the two accounts no single one."""
    june = [("2025/6/28", "カード", -10_000), ("2025/6/28", "手数料", -110)]
    his = [*june, *HIS, ("31", "雑費", -1_200)]
    hers = [*june, *HERS, ("31", "花", -2_400)]
    both = [row for rows in (his, hers) for row in rows if "/" not in row[0]]
    files = {
        "h": ("1111111_7.csv", statement(his, 100_000)),
        "w": ("2222222_7.csv", statement(hers, 50_000)),
        "m": ("mf.csv", listed(both, *others)),
    }
    for which in order:
        folder.put(*files[which])
        report = folder.import_()
    twice, doubts = rows_of(his, hers), report.account_doubts
    first = his if doubts[0].second.startswith("2") else hers
    twice += rows_of(both) - rows_of([row for row in first if "/" not in row[0]])
    assert amounts(folder) == twice + Counter([-1] * len(others))
    assert [(doubt.first, doubt.rows) for doubt in doubts] == [("mf.csv", 5)]
    month = monthly_household(folder.as_of(TODAY), period="2025-07")
    assert any("5件は、別の口座の" in note and "両方数えます" in note for note in month.notes)
    before = monthly_household(folder.as_of(TODAY), period="2025-06")
    assert not any("別の口座の" in note for note in before.notes)
    review.detect(folder.ledger, DetectionOptions(date_tolerance_days=0))
    for pair in review.list_candidates(folder.ledger, limit=50).candidates:
        rows = (pair.transaction_1, pair.transaction_2)
        if doubts[0].second in {row.source_file for row in rows}:
            deciding.confirm(folder.ledger, pair.check_id, ReviewDecision("duplicate"))
    month = monthly_household(folder.as_of(TODAY), period="2025-07")
    assert not any("5件は、別の口座の" in note for note in month.notes)  # those that are left


def test_many_downloads_of_one_card_are_one_account_and_quick(folder):
    rows = [(1 + n // 15, f"店{n}", 100 + n) for n in range(360)]
    for number in range(20):
        folder.put(f"{number}.csv", card(rows[number * 3 : number * 3 + 300]))
    report = folder.import_()
    assert (report.imported, report.account_doubts) == (357, ())


CARD = "利用日,利用店名・商品名,利用者,支払方法,利用金額,手数料/利息,支払総額,当月支払金額"


def card(rows):
    lines = [f"2025/07/{day:02},{shop},本人,1回払い,{yen},0,{yen},{yen}" for day, shop, yen in rows]
    return "\r\n".join([CARD, *lines, ""])


def test_files_that_share_few_rows_and_no_balance_are_asked_about_and_both_count(folder):
    his = [(day, f"店{day}", 100 * day) for day in range(1, 29)]
    hers = [(day, "定期" if day != 9 else "店9", 100 * day) for day in range(1, 29)]
    folder.put("a.csv", card(his))
    folder.put("b.csv", card(hers))
    (doubt,) = folder.import_().account_doubts
    assert (doubt.first, doubt.second, doubt.rows) == ("a.csv", "b.csv", 1)
    assert sum(amounts(folder).values()) == 56
    answer = monthly_household(folder.as_of(TODAY), period="2025年7月")
    (note,) = [note for note in answer.notes if "同じ口座" in note]
    assert "同じ明細 1件を両方数えています" in note
    other = monthly_household(folder.as_of(TODAY), period="2025年7月")
    assert other.notes == answer.notes
    assert folder.import_().account_doubts == (doubt,)


@pytest.mark.parametrize("hers", [range(1, 10), range(1, 4), range(9, 11)])
def test_a_couples_few_equal_rows_both_count_and_every_month_says_so(folder, hers):
    """Two rows are equal, and each has others on the same days; so it is in both months."""
    truth = []
    for month in (7, 8):
        his = [(day, f"店{day}", 100 * day) for day in range(1, 18)]
        fees = [(9, "手数料", 110), (10, "ATM", 10_000)]
        for person, own in (("夫", his), ("妻", [(day, f"花{day}", 30 * day) for day in hers])):
            rows = sorted([*own, *fees])
            truth += [-yen for _, _, yen in rows]
            text = card(rows).replace("2025/07", f"2025/{month:02}")
            folder.put(f"{person}/{month}月.csv", text)
    report = folder.import_()
    assert [doubt.rows for doubt in report.account_doubts] == [2, 2]
    assert sum(amounts(folder).values()) == len(truth)
    for month in (7, 8):
        answer = monthly_household(folder.as_of(TODAY), period=f"2025-{month}")
        assert sum("同じ明細 2件を両方数えています" in note for note in answer.notes) == 1
    moved = {f"x/{path.replace('/', '-')}": text for path, text in folder.files.items()}
    folder.files = moved
    assert (folder.import_("replace").imported, len(amounts(folder))) == (0, len(set(truth)))


@pytest.mark.parametrize(
    ("his", "hers", "rows"),
    [
        ("夫/7月.csv", "妻/7月.csv", 6),
        ("夫.csv", "妻.csv", 6),
        ("明細_202507.csv", "明細_202508.csv", 4),
        ("7月.csv", "7月 (1).csv", 4),
    ],
)
def test_a_few_rows_that_are_all_equal_prove_no_account_unless_the_files_are_a_series(
    folder, his, hers, rows
):
    """Two subscriptions, on both cards; only downloads of one name count them once."""
    fees = [(30, "音楽", 980), (31, "動画", 1_490)]
    folder.put(his, card([(1, "米店", 3_000), *fees]))
    folder.put(hers, card(fees) + later(8, "本", 700))
    report = folder.import_()
    assert sum(amounts(folder).values()) == rows
    assert [doubt.rows for doubt in report.account_doubts] == [2] * (rows == 6)
    month = monthly_household(folder.as_of(TODAY), period="2025年7月")
    noted = sum("同じ明細 2件を両方数えています" in note for note in month.notes)
    assert noted == (rows == 6)


def test_an_equal_purchase_that_a_later_statement_books_counts_once_and_is_said_to(folder):
    """The second カフェ of July 14, booked late, looks like an instalment of the first."""
    july = [(1, "米店", 3_000), (9, "カフェ", 450), (14, "カフェ", 450), (15, "本", 1_200)]
    folder.put("enavi202507(1234).csv", card(july))
    assert folder.import_().repeated == ()
    folder.put("enavi202508(1234).csv", card([july[2]]) + later(8, "靴", 7_000))
    report = folder.import_()
    assert [(each.account, each.rows, each.yen) for each in report.repeated] == [
        ("楽天カード", 1, 450)
    ]
    assert sum(amounts(folder).values()) == 5
    note = "1件（450円）は enavi202507(1234).csv にも enavi202508(1234).csv にもあり"
    for month, said in (("2025-07", True), ("2025-08", False)):
        answer = monthly_household(folder.as_of(TODAY), period=month)
        assert any(note in each for each in answer.notes) is said
    assert any(note in each for each in accounts_report(folder.as_of(TODAY)).notes)
    folder.put("enavi202509(1234).csv", card([july[2]]) + later(9, "傘", 900))
    assert [each.rows for each in folder.import_().repeated] == [1]
    folder.put("enavi202510(1234).csv", card([]) + later(8, "靴", 7_000) + later(20, "鞄", 400))
    (both,) = folder.import_().repeated
    assert (both.rows, both.yen) == (2, 7_450)
    assert (both.first, both.last) == ("enavi202508(1234).csv", "enavi202510(1234).csv")


@pytest.mark.parametrize(
    "names",
    [
        ("夫/enavi2025{:02}(1234).csv", "妻/enavi2025{:02}(1234).csv"),
        ("enavi2025{:02}(1234).csv", "enavi2025{:02}(5678).csv"),
    ],
)
@pytest.mark.parametrize("people", [1, 2])
def test_instalments_and_late_purchases_leave_each_card_one_account(folder, names, people):
    """Files of months that follow share an instalment, and have others' days: one card's, still."""
    bought = []
    for person, name in enumerate(names[:people]):
        for month in range(1, 7):
            rows = [(f"2025/{month:02}/{day:02}", f"店{person}{day}", 100 + day + person)
                    for day in (*range(3, 24), 31 if month == 1 else 28)]  # fmt: skip
            if month > 1:  # in the card's file of this month, but of the days of the one before
                late = (f"2025/{month - 1:02}/27", f"遅{person}", 700 + person)
                rows = [late, *rows] if month > 2 else [("2025/01/30", "遅", 700), *rows]
            bought += rows
            instalment = ("2025/01/10", f"家電{person}", 30_000)
            rows = [instalment, *rows] if month < 4 else rows
            lines = [f"{day},{shop},本人,1回払い,{yen},0,{yen}" for day, shop, yen in rows]
            lines.sort()
            folder.put(name.format(month), "\r\n".join([CARD, *lines, ""]))
        bought.append(instalment)
    report = folder.import_()
    assert len({row.account for row in folder.rows()}) == people
    assert amounts(folder) == Counter(-yen for _, _, yen in bought)
    assert {each.rows for each in report.repeated} == {1}


def later(month, shop, yen):
    return card([(2, shop, yen)]).split("\r\n", 1)[1].replace("2025/07", f"2025/{month:02}")


def test_a_card_downloaded_again_with_changed_rows_counts_the_equal_ones_once(folder):
    rows = [(day, f"店{day}", 100 * day) for day in range(1, 21)]
    folder.put("a.csv", card(rows))
    folder.put("b.csv", card([*rows[:18], (19, "店19", 1_899), (20, "店20", 1_999)]))
    report = folder.import_()
    assert (report.account_doubts, sum(amounts(folder).values())) == ((), 22)
    assert report.beside == (RowsBeside("a.csv", "b.csv", 2, 3_900),)
    (said,) = statement_notes(folder.ledger, Days(date(2025, 7, 1), date(2025, 7, 31)))
    assert said.startswith("a.csvの明細 2件（3,900円）は、同じ日々の新しいファイル（b.csv）になく")
    assert statement_notes(folder.ledger, Days(date(2025, 7, 1), date(2025, 7, 18))) == []
    folder.put("other.csv", card([*rows[:9], (28, "店28", 1)]))
    assert folder.import_().beside == report.beside  # no word on one of other days
    del folder.files["a.csv"], folder.files["other.csv"]
    report = folder.import_("replace")
    assert (report.beside, sum(amounts(folder).values())) == ((), 20)


def test_a_person_decides_whose_files_they_are(folder):
    his = [(day, f"店{day}", 100 * day) for day in range(1, 29)]
    hers = [(day, "定期" if day != 9 else "店9", 100 * day) for day in range(1, 29)]
    folder.put("a.csv", card(his))
    folder.put("b.csv", card(hers))
    assert folder.import_().account_doubts
    ids = {row.description: row.id for row in folder.rows()}
    ready = next(each for each in ready_made() if each.name == "楽天カード")
    for account, rows in (("楽天カード 彼女", 56), ("楽天カード", 55)):
        own = replace(ready, name="own", files="b.csv", account=account)
        folder.mappings = Mappings((own,), ready_made())
        report = folder.import_()
        assert (report.account_doubts, sum(amounts(folder).values())) == ((), rows)
        now = {row.description: row.id for row in folder.rows()}
        assert {now[shop] for shop in ("店8", "定期")} == {ids[shop] for shop in ("店8", "定期")}


def test_the_report_names_balances_and_the_gaps_between_files(folder):
    folder.put("a.csv", statement(HIS, 100_000))
    august = [("2025/8/10", "家賃", -70_000), ("2025/8/12", "電気", -5_000)]
    folder.put("b.csv", statement(august, 381_890 - 4_200, newest_first=True))
    folder.import_()
    answer = accounts_report(folder.as_of(TODAY))
    (account,) = answer.accounts
    assert (account.balance, account.balance_day) == (302_690, "2025-08-12")
    assert account.gaps == (Gap("2025-07-30", "2025-08-10", -4_200),)
    assert "2025-07-30 から 2025-08-10 の間に -4,200円分の明細がありません" in answer.text


@each(
    ("path", "above", "number"),
    [
        ("1234567_20250701.csv", [], "1234567"),
        ("明細_20250701_20250731.csv", [], ""),
        ("1234567_7654321.csv", [], ""),
        ("2025801.csv", [], ""),
        ("x.csv", ["口座番号,期間,20250701,20250731"], ""),
        ("x.csv", ["口座番号：普通 ***4567"], ""),
        ("2025/x.csv", ["普通預金", "口座番号：７６５４３２１"], "7654321"),
        ("1234567.csv", ['"店番","口座番号"', '"001","7654321"'], "1234567"),
    ],
)
def test_an_account_number_stands_above_the_rows_or_in_the_name(path, above, number):
    assert account_number(path, above) == number


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 10**9), st.booleans(), st.booleans())
def test_a_couples_statements_give_every_row_once(seed, numbered, at_once):
    chance = random.Random(seed)
    folder = LedgerFolder()
    truth = []
    for person, number in (("彼", "1111111"), ("彼女", "2222222")):
        rows = [
            ((date(2025, 4, 1) + timedelta(days)).isoformat().replace("-", "/"),
             chance.choice(["カード", "手数料", "電気"]), -chance.choice([110, 500, 1_000]))
            for days in sorted(chance.choices(range(120), k=40))
        ]  # fmt: skip
        truth.append(rows)
        opening = chance.randrange(10**5, 10**6)
        days = sorted({day for day, _, _ in rows})
        ends = [0, *sorted(chance.sample(range(5, len(days)), 3)), len(days)]
        for part, (begin, end) in enumerate(zip(ends, ends[1:], strict=False)):
            begin = max(0, begin - chance.randrange(4))  # files overlap by whole days
            first, last = days[begin], days[end - 1]
            before = sum(amount for day, _, amount in rows if day < first)
            text = statement([row for row in rows if first <= row[0] <= last], opening + before,
                             newest_first=chance.random() < 0.5)  # fmt: skip
            name = f"{number}_{part}.csv" if numbered else f"{person}{part}.csv"
            folder.put(name, text, saved=date(2025, 8, 1) + timedelta(part))
            if not at_once:
                folder.import_()
            if chance.random() < 0.3:
                folder.files[f"{part}/{name}"] = folder.files.pop(name)
    report = folder.import_()
    assert report.account_doubts == () or not numbered  # a question leaves both counted
    assert amounts(folder) == rows_of(*truth)
    folder.import_("replace")
    assert folder.import_().imported == 0


@given(st.lists(st.integers(-9, 9), min_size=2, max_size=12), st.integers(0, 11), st.data())
def test_a_missing_row_is_the_only_gap(amounts_, place, data):
    rows, balance = [], 0
    for number, amount in enumerate(amounts_):
        balance += amount
        rows.append(BalancedDay(f"2025-07-{number + 1:02}", amount, balance))
    cut = data.draw(st.integers(1, len(rows) - 1))
    assert balance_gaps([rows[:cut], rows[max(0, cut - 2) :][::-1]])[0] == []
    place %= len(rows)
    missing = rows.pop(place)
    gaps, newest = balance_gaps([rows])
    inner = 0 < place < len(rows)
    assert [gap.yen for gap in gaps] == ([missing.amount] if inner and missing.amount else [])
    assert newest == rows[-1]
