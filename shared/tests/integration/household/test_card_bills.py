"""Bills of cards: a payment at a bank that equals the card's own rows is counted once."""

import random
from collections import Counter
from datetime import date, timedelta

import pytest
from plan_ledger import Bought, household, ledgers_of

from mdvec.household import Ledger, deciding, review
from mdvec.household.comparison import compare_periods
from mdvec.household.core.card_bills import MAX_CHANCE
from mdvec.household.core.pair import DetectionOptions
from mdvec.household.english import in_english
from mdvec.household.export import export_ledger
from mdvec.household.finding import ListingOptions, find_transactions
from mdvec.household.month import combined_households, monthly_household
from mdvec.household.row_filters import RowFilter
from mdvec.household.trend import category_trend, category_trend_summary

BANK, CARD = "三菱UFJ銀行", "楽天カード"
TODAY = date(2026, 8, 20)
ONE_BILL = [
    Bought("2026-06-03", "家電店", -30_000, "趣味・娯楽/家電", CARD),
    Bought("2026-06-21", "スーパー", -24_321, "食費/食料品", CARD),
    Bought("2026-07-27", "ラクテンカードサービス", -54_321, "未分類/未分類", BANK),
    Bought("2026-07-28", "ガス", -10_800, "水道・光熱費/ガス", BANK),
]


def detected(connection, rows, name="kakeibo", **how):
    ledger = household(connection, rows, name)
    return ledger.tool_id, review.detect(ledger, DetectionOptions(), **how)


def candidates(connection, tool_id, kind="card_bill", **how):
    listed = review.list_candidates(Ledger.undated(connection, tool_id), 50, **how)
    return [one for one in listed.candidates if one.kind == kind]


def decide(connection, tool_id, check_id, decision="duplicate", **how):
    choice = deciding.ReviewDecision(decision, **how)
    return deciding.confirm(Ledger.undated(connection, tool_id), check_id, choice)


def month(connection, tool_id, period="2026年", **how):
    return monthly_household(Ledger(connection, tool_id, TODAY), period=period, **how)


def doubts(notes):
    return [note for note in notes if "未判定" in note]


def test_a_bill_says_how_many_of_its_rows_are_not_shown(connection):
    bought = [
        Bought(f"2026-06-{day:02}", f"店{day}", -10_000 - 17 * day, account=CARD)
        for day in range(3, 10)
    ]
    paid = sum(row.amount for row in bought)
    paying = Bought("2026-07-27", "ラクテンカードサービス", paid, "未分類/未分類", BANK)
    tool_id, _ = detected(connection, [*bought, paying])
    (bill,) = candidates(connection, tool_id)
    assert bill.reasons[0].endswith("と一致する（示すのは金額の大きい5件、ほか2件）")
    assert "(the largest 5 are shown, 2 more are not)" in in_english(bill.reasons[0])


def test_a_bill_that_equals_the_cards_rows_is_a_candidate_and_counts_once_when_decided(connection):
    tool_id, found = detected(connection, ONE_BILL)
    assert (found.candidates_count, found.likely_count) == (1, 0)
    assert "カードの請求らしい 1件" in found.message
    assert month(connection, tool_id).spending == 119_442
    (bill,) = candidates(connection, tool_id)
    assert (bill.transaction_1.id, bill.amount_diff) == (3, 0)
    assert {bill.transaction_2.id, *(row.id for row in bill.others)} == {1, 2}
    assert "2026-06-03〜2026-06-21の明細2件の合計 54,321円と一致する" in bill.reasons[0]
    assert "ほか" not in bill.reasons[0]
    done = decide(connection, tool_id, bill.check_id)
    assert done.marked_transaction_ids == (3,)
    assert "カードの請求として記録しました" in done.message
    after = month(connection, tool_id)
    assert (after.spending, after.counts.transfer) == (119_442 - 54_321, 1)
    assert candidates(connection, tool_id) == []
    (closed,) = candidates(connection, tool_id, skip_checked=False)
    assert closed.user_decision == "duplicate"
    restored = deciding.restore(Ledger.undated(connection, tool_id), 3)
    assert "カードの請求ではない" in restored.message
    assert month(connection, tool_id).spending == 119_442
    assert candidates(connection, tool_id) == []
    decide(connection, tool_id, bill.check_id, "skip")
    assert len(candidates(connection, tool_id)) == 1


def test_until_it_is_decided_every_sum_says_how_much_is_in_doubt(connection):
    tool_id, _ = detected(connection, ONE_BILL)
    words = "カードの請求かもしれない 1件（支出 54,321円）"

    def noted(period):
        found = find_transactions(
            Ledger(connection, tool_id, TODAY), RowFilter(period=period), ListingOptions()
        )
        return [
            doubts(month(connection, tool_id, period).notes),
            doubts(category_trend(Ledger(connection, tool_id, TODAY), period=period).notes),
            doubts(found.notes),
        ]

    for notes in noted("2026年7月"):
        assert [words in note for note in notes] == [True]
    assert words in month(connection, tool_id, "2026年7月").text
    summary = category_trend_summary(Ledger(connection, tool_id, TODAY))
    assert words in doubts(summary.notes)[0]
    assert noted("2026年6月") == [[], [], []]
    assert doubts(month(connection, tool_id, "2026年7月", category="水道・光熱費").notes) == []
    assert doubts(month(connection, tool_id, "2026年7月", category="収入").notes) == []
    compared = compare_periods(Ledger(connection, tool_id, TODAY), period="2026年7月")
    assert [words in note for note in doubts(compared.notes)] == [True]
    (bill,) = candidates(connection, tool_id)
    decide(connection, tool_id, bill.check_id)
    assert noted("2026年7月") == [[], [], []]


def year_of_a_card(seed, months=14, *, closing=31, named=True, round_to=1):
    """A year of a card and its bank; the bills that a plain count of the card's months expects."""
    draw = random.Random(seed)
    rows: list[Bought] = []
    bills: dict[int, int] = {}
    first = date(2025, 1, 1)
    for offset in range(months * 30):
        day = first + timedelta(offset)
        for _ in range(draw.choice([0, 1, 1, 2])):
            yen = draw.randrange(150, 12_000) // round_to * round_to or round_to
            shop = f"店{draw.randrange(40)}"
            rows.append(Bought(day.isoformat(), shop, -yen, account=CARD))
            at = day.year * 12 + day.month - 1 + (day.day > closing)
            bills[at] = bills.get(at, 0) + yen
        if draw.random() < 0.4:
            yen = draw.choice([1_000, 3_000, 110, draw.randrange(500, 60_000)])
            rows.append(Bought(day.isoformat(), f"払い{draw.randrange(30)}", -yen, account=BANK))
    payee = "ラクテンカードサービス" if named else "アメツクス"
    last = max(bills)
    paid = []
    for at, yen in bills.items():
        year, index = divmod(at + 1, 12)
        if at < last:
            paid.append(Bought(date(year, index + 1, 27).isoformat(), payee, -yen, account=BANK))
    return [*rows, *paid], paid


@pytest.mark.parametrize("closing", [31, 15, 5])
@pytest.mark.parametrize("named", [True, False])
def test_every_bill_of_a_years_card_is_found_with_any_closing_day(connection, closing, named):
    rows, paid = year_of_a_card(7, closing=closing, named=named)
    tool_id, _ = detected(connection, rows)
    found = candidates(connection, tool_id)
    assert {(str(one.transaction_1.date), one.transaction_1.amount) for one in found} == {
        (bill.day, bill.amount) for bill in paid
    }
    assert {one.alike_count for one in found} == {len(paid) - 1}
    if named:  # first one by itself, then all
        decide(connection, tool_id, found[0].check_id)
    done = decide(connection, tool_id, found[0].check_id, alike=True)
    assert len(done.marked_transaction_ids) == len(paid)
    expected = sum(row.yen for row in rows) - sum(bill.yen for bill in paid)
    assert month(connection, tool_id, "2025年1月〜2026年12月").spending == expected
    balances = exported_balances(connection, tool_id)
    of_card = sum(row.amount for row in rows if row.account == CARD)
    assert balances[f"assets:{CARD}"] == of_card + sum(bill.yen for bill in paid)
    assert balances[f"assets:{BANK}"] + balances[f"assets:{CARD}"] == -expected
    decide(connection, tool_id, found[0].check_id, "skip", alike=True)
    assert len(candidates(connection, tool_id)) == len(paid)


def exported_balances(connection, tool_id):
    """What each account holds after an export to hledger."""
    totals: Counter[str] = Counter()
    for line in "".join(export_ledger(Ledger.undated(connection, tool_id), "hledger")).splitlines():
        if line.startswith("    "):
            account, yen = line.strip().removesuffix(" JPY").rsplit("  ", 1)
            totals[account] += int(yen)
    return totals


def test_always_for_this_card_decides_later_bills_and_is_taken_back_with_them(connection):
    rows, paid = year_of_a_card(11)
    early = [row for row in rows if row.day < "2025-12-20"]
    tool_id, _ = detected(connection, early)
    before = len(candidates(connection, tool_id))
    first = candidates(connection, tool_id)[0].check_id
    decide(connection, tool_id, first, alike=True)
    fill_more(connection, tool_id, [row for row in rows if row.day >= "2025-12-20"])
    found = review.detect(Ledger.undated(connection, tool_id), DetectionOptions(), by_user=False)
    assert found.followed_count == len(paid) - before > 0
    assert candidates(connection, tool_id) == []
    expected = sum(row.yen for row in rows) - sum(bill.yen for bill in paid)
    assert month(connection, tool_id, "2025年1月〜2026年12月").spending == expected
    decide(connection, tool_id, first, "not_duplicate", alike=True)
    uncounted = month(connection, tool_id, "2025年1月〜2026年12月").spending
    assert uncounted == sum(row.yen for row in rows)


def fill_more(connection, tool_id, rows, path="新.csv"):
    """Add rows to a household."""
    with connection:
        connection.executemany(
            "INSERT INTO transactions (tool_id, identity, mf_id, source_file, row_number, date, "
            "amount, description, category_major, category_minor, account, memo, is_target, "
            "is_transfer) VALUES (?, ?, '', ?, ?, ?, ?, ?, ?, '', ?, '', 1, 0)",
            [
                (
                    tool_id,
                    f"{path} {n}",
                    path, n, row.day, row.amount, row.shop, row.major, row.account,
                )
                for n, row in enumerate(rows)
            ],
        )  # fmt: skip


def test_a_bill_that_fits_no_more_is_no_candidate_after_the_next_import(connection):
    tool_id, _ = detected(connection, ONE_BILL)
    fill_more(connection, tool_id, [Bought("2026-06-10", "本", -700, account=CARD)], "明細.csv")
    review.detect(Ledger.undated(connection, tool_id), DetectionOptions(), by_user=False)
    assert candidates(connection, tool_id) == []


def test_rows_that_the_user_left_out_are_no_reason_to_leave_out_the_bill(connection):
    rows = [*ONE_BILL[1:], Bought("2026-06-03", "家電店", -30_000, account=CARD, counts=False)]
    tool_id, _ = detected(connection, rows)
    assert candidates(connection, tool_id) == []


def test_the_sum_over_all_households_says_whose_bills_are_in_doubt(connection):
    his, _ = detected(connection, ONE_BILL, "his")
    hers, _ = detected(connection, ONE_BILL[:2], "hers")
    both = ledgers_of(connection, {"his": his, "hers": hers}, TODAY)
    answer = combined_households(both, period="2026年")
    assert [note.partition(":")[0] for note in doubts(answer.notes)] == ["his"]
    assert "支出 54,321円" in answer.text


def test_a_purchase_that_is_booked_after_the_closing_day_is_in_the_bill_of_its_file(connection):
    ledger = household(connection, [row for row in ONE_BILL if row.account == BANK])
    late = Bought("2026-05-30", "ガソリン", -5_000, account=CARD)
    before = Bought("2026-05-30", "本", -1_990, account=CARD)
    fill_more(connection, ledger.tool_id, [before], "card-june.csv")
    rows = [late, ONE_BILL[0], Bought("2026-06-21", "スーパー", -19_321, account=CARD)]
    fill_more(connection, ledger.tool_id, rows, "card-july.csv")
    review.detect(ledger, DetectionOptions())
    (bill,) = candidates(connection, ledger.tool_id)
    assert "2026-05-30〜2026-06-21の明細3件の合計 54,321円" in bill.reasons[0]


def test_bills_are_news_once(connection):
    tool_id, _ = detected(connection, ONE_BILL, by_user=False)
    ledger = Ledger.undated(connection, tool_id)
    assert review.count_news(ledger) == (0, 0, 1)
    assert "カードの請求が1件" in review.take_news(ledger)
    assert review.take_news(ledger) == ""


@pytest.mark.parametrize("round_to", [1, 100])
def test_random_ledgers_have_hardly_any_bill_by_chance(connection, round_to):
    """Payments drawn at random beside a card's rows: none of them is its bill."""
    false = 0
    for seed in range(10):
        rows, paid = year_of_a_card(seed, 12, round_to=round_to)
        draw = random.Random(seed)
        others = [
            Bought(one.day, one.shop, -draw.randrange(20_000, 200_000, round_to), account=BANK)
            for one in paid
        ]
        tool_id, _ = detected(connection, [*rows[: -len(paid)], *others], f"k{seed}")
        false += len(candidates(connection, tool_id))
    assert false <= 10 * 2 * MAX_CHANCE
