"""A bank, three cards and a wallet, a file of each month: three years against plain adding up.

Files are written as public descriptions say, with returns, equal purchases of one day, instalments
that each month's file lists again, and years of the bank that overlap. All names are invented.
"""

import random
from datetime import date, timedelta

import pytest
from ledger_folder import LedgerFolder, line

from mdvec.dates import Month
from mdvec.household import DetectionOptions, ListingOptions, RowFilter, find_transactions, review
from mdvec.household.interfaces.mappings import only_ready_made

YEARS = (2023, 2024, 2025)
MONTHS = [Month(year, number) for year in YEARS for number in range(1, 13)]
SHOPS = ("架空マート", "ｶｸｳｽﾄｱ", "ＫＡＫＵＵ．ＣＯ．ＪＰ", "架空電器", "カクウセキユ", "KAKUU TV")
PAYEES = {
    "enavi": "ラクテンカードサービス",
    "vpass": "ミツイスミトモカード",
    "myjcb": "ジエーシービー",
}
HEADS = {
    "enavi": '"利用日","利用店名・商品名","利用者","支払方法","利用金額","支払手数料","支払総額",'
    '"{next}月支払金額","{after}月繰越残高","新規サイン"',
    "vpass": "架空　太郎　様,4980-12**-****-****,架空カード",
    "myjcb": "ご利用者,カテゴリ,ご利用日,ご利用先など,ご利用金額(￥),支払区分,今回回数,訂正サイン,"
    "お支払い金額(￥),国内/海外,摘要,備考",
}
ROWS = {
    "enavi": '"{day:%Y/%m/%d}","{shop}","本人","{times}回払い","{yen}","0","{yen}","{due}","0","*"',
    "vpass": "{day:%Y/%m/%d},{shop},{yen},{times},{at},{due},",
    "myjcb": '本人,買物,{day:%Y/%m/%d},{shop},"{yen:,}",{times}回払い,{at}回目,,"{due:,}",国内,,',
}
BANK = "日付,摘要,摘要内容,支払い金額,預かり金額,差引残高,メモ,未資金化区分,入払区分"
WALLET = (
    "取引日,出金金額（円）,入金金額（円）,海外出金金額,通貨,変換レート（円）,利用国,取引内容,取引先,"
    "取引方法,支払い区分,利用者,取引番号"
)


def put(folder, path, head, lines, month):
    folder.put(path, "\r\n".join([head, *lines, ""]), saved=month.plus(1).first_day)


def card_files(folder, card, rng):
    """A card's files; returns its purchases as (day, spent), and its bills by month."""
    spent, bills, running = [], {}, []
    for month in MONTHS:
        rows = []
        for _ in range(rng.randrange(2, 9)):
            day = month.first_day + timedelta(rng.randrange(28))
            yen = rng.choice((150, 1000, rng.randrange(200, 20_000)))
            rows.append({"day": day, "shop": rng.choice(SHOPS), "yen": yen, "times": 1})
        if rng.random() < 0.2:
            rows.append({**rows[0], "yen": -rows[0]["yen"]})
        if rng.random() < 0.2:
            rows.append(rows[1])
        spent += [(row["day"], row["yen"]) for row in rows]
        if month.month == 3:
            row = {
                "day": month.first_day,
                "shop": "架空家具",
                "yen": 30_000 + month.year,
                "times": 3,
            }
            running = [{**row, "at": at, "due": 10_000} for at in (1, 2, 3)]
            spent.append((row["day"], row["yen"]))
        listed = [{**row, "at": 1, "due": row["yen"]} for row in rows] + running[:1]
        running = running[1:]
        bills[month] = sum(row["due"] for row in listed)
        head = HEADS[card].format(next=month.plus(1).month, after=month.plus(2).month)
        lines = [ROWS[card].format(**row) for row in listed]
        total = [f",,,,,{bills[month]},"] * (card == "vpass")
        put(folder, f"{card}{month.year}{month.month:02}.csv", head, [*lines, *total], month)
    return spent, bills


def bank_and_wallet_files(folder, bills, rng):
    """Yearly files that overlap; returns what left the bank and the wallet, and what came in."""
    moved, wallet = [], []
    for month in MONTHS:
        moved.append(
            (month.first_day + timedelta(24), "カ）カクウ", rng.randrange(250_000, 350_000))
        )
        moved.append((month.first_day + timedelta(26), "カクウデンキ", -rng.randrange(3000, 9000)))
        charge, day = rng.choice((3000, 5000)), month.first_day + timedelta(rng.randrange(20))
        moved.append((day, "ペイペイ", -charge))
        wallet.append((day, f'-,"{charge:,}",-,-,-,-,チャージ,架空銀行', charge))
        for _ in range(rng.randrange(4)):
            yen, day = rng.randrange(100, 900), day + timedelta(1)
            wallet.append((day, f"{yen},-,-,-,-,-,支払い,{rng.choice(SHOPS)}", -yen))
    for card, of_card in bills.items():
        moved += [
            (month.plus(1).first_day + timedelta(25), PAYEES[card], -yen)
            for month, yen in of_card.items()
            if month.plus(1) in MONTHS
        ]
    moved.sort()
    balance, lines = 900_000, []
    for day, shop, yen in moved:
        balance += yen
        ways = f"{-yen},," if yen < 0 else f",{yen},"
        lines.append((day, f'{day:%Y/%m/%d},振替,{shop},{ways}"{balance:,}",,,'))
    for year in YEARS:
        last = Month(year, 12)
        within = [
            line for day, line in lines if date(year, 1, 1) - timedelta(40) <= day <= last.last_day
        ]
        put(folder, f"1111111_{year}1231.csv", BANK, within, last)
        own = [
            f"{day:%Y/%m/%d} 12:00:00,{cells},PayPay残高,-,-,K{at}"
            for at, (day, cells, _) in enumerate(wallet)
            if day.year == year
        ]
        put(folder, f"Transactions_{year}.csv", WALLET, own, last)
    spent = [(day, -yen) for day, _, yen in moved if yen < 0]
    spent += [(day, -yen) for day, _, yen in wallet if yen < 0]
    return spent, [(day, yen) for day, _, yen in moved if yen > 0]


def find(folder, rows):
    return find_transactions(folder.as_of(date(2026, 1, 10)), rows, ListingOptions())


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(1, 30))]
)
def test_every_month_is_what_plain_adding_up_gives_and_every_bill_is_in_doubt(seed):
    rng, folder = random.Random(seed), LedgerFolder(mappings=only_ready_made())
    spent, bills = [], {}
    for card in PAYEES:
        of_card, bills[card] = card_files(folder, card, rng)
        spent += of_card
    more, earned = bank_and_wallet_files(folder, bills, rng)
    assert folder.import_().failed == ()
    for month in MONTHS:
        answer = find(folder, RowFilter(since=str(month), until=str(month)))
        sums = [
            sum(yen for day, yen in rows if Month.of(day) == month)
            for rows in ([*spent, *more], earned)
        ]
        assert [answer.spending, answer.income] == sums, month
    # A bill with a part of an instalment in it equals no sum of rows, as the docs say.
    plain = len(PAYEES) * sum(month.month not in (3, 4, 5) for month in MONTHS[:-1])
    review.detect(folder.ledger, DetectionOptions())
    answer = find(folder, RowFilter())
    assert f"カードの請求かもしれない {plain}件" in "".join(answer.notes)


def test_a_candidate_that_later_rows_refute_is_dropped_by_the_import_that_brings_them():
    """Else the doubt that answers tell would depend on the order of the imports."""
    folder = LedgerFolder()
    folder.write("財布.csv", line("a", -1111, "2025/07/04", "スーパーA"))
    late = line("b", -1111, "2025/07/05", "スーパーA", "カード")
    folder.write("カード.csv", late)

    def candidates(options=DetectionOptions(), *, by_user=False):  # noqa: B008 - frozen
        folder.import_()
        review.detect(folder.ledger, options, by_user=by_user)
        found = review.list_candidates(folder.ledger).candidates
        return [
            (each.transaction_1.description, each.date_diff_days, each.amount_diff)
            for each in found
            if each.is_likely
        ]

    assert candidates() == [("スーパーA", 1, 0)]
    same_day = line("c", -1111, "2025/07/04", "スーパーA", "カード")
    folder.write("カード.csv", late, same_day)
    assert candidates() == [("スーパーA", 0, 0)]
    wide = DetectionOptions(date_tolerance_days=30)
    folder.write("カード.csv", late, same_day, line("d", -77, "2025/08/01", "本", "カード"))
    folder.write(
        "財布.csv", line("a", -1111, "2025/07/04", "スーパーA"), line("e", -77, "2025/07/24", "本")
    )
    assert candidates(wide, by_user=True) == candidates() != candidates(by_user=True)


def test_a_banks_own_file_beside_an_apps_rows_of_the_account_is_told_whole():
    """Both name the account alike, with texts of their own, and too few amounts to prove it."""
    folder = LedgerFolder()
    folder.mappings = only_ready_made()
    texts = {"デンキダイ": "東京電力", "ヤチン": "家賃", "ミズホ ハナコ": "振込"}
    balance, bank, app = 900_000, ['"年月日","お引出し","お預入れ","お取り扱い内容","残高"'], []
    for number in range(40):
        yen, day = 1_000 * (number % 4 + 1), date(2025, 7, 1) + timedelta(number)
        own = list(texts)[number % 3]
        balance -= yen
        bank.append(f'{day:%Y/%m/%d},{yen},"","{own}",{balance}')
        app.append(line(f"m{number}", -yen, f"{day:%Y/%m/%d}", texts[own], "三井住友銀行"))
    folder.put("meisai.csv", "\r\n".join([*bank, ""]))
    folder.write("mf.csv", *app)
    assert folder.import_().imported == 80
    found = review.detect(folder.ledger, DetectionOptions())
    assert (found.likely_count, found.candidates_count) == (40, 40)
    answer = find_transactions(folder.as_of(date(2025, 9, 1)), RowFilter(), ListingOptions())
    assert any("重複かもしれない 40件" in note for note in answer.notes)


def test_equal_fees_between_which_the_balance_went_on_are_no_likely_duplicate(folder):
    fee = '"2026/9/1","振込手数料","","220","","{:,}","","",""'
    payee = '"2026/9/1","振込","{}","{:,}","","{:,}","","",""'
    rows = [
        payee.format("ヤマダ", 10_000, 90_000), fee.format(89_780),
        payee.format("スズキ", 20_000, 69_780), fee.format(69_560),
    ]  # fmt: skip
    folder.put("1234567_202609.csv", "\n".join([BANK, *rows, ""]))
    folder.import_()
    ledger = folder.ledger
    review.detect(ledger, DetectionOptions())
    (candidate,) = review.list_candidates(ledger).candidates
    assert candidate.reasons == ("同じ口座の明細に別の行としてある",)
    assert not candidate.is_likely
