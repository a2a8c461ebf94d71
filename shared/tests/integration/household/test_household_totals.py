"""支出, 収入, 収支 and 貯蓄率 by month and by trend, against plain counting of the rows."""

from datetime import date
from decimal import ROUND_HALF_UP, Decimal

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from small_ledger import FLAGS, Row, SmallLedger

from mdvec.household.core.categories import AmbiguousCategory, UnknownCategory

TODAY = date(2025, 7, 31)
MONTHS = ("2025-05", "2025-06", "2025-07")


def rate_of(spending, income):
    if income <= 0:
        return None
    return (Decimal(income - spending) * 100 / income).quantize(Decimal("0.1"), ROUND_HALF_UP)


def test_spending_is_all_spending_and_not_the_category_whose_name_holds_the_word(connection):
    ledger = SmallLedger(
        connection,
        [Row("2025-07-01", -8_677, "特別な支出/家具"), Row("2025-07-02", -339_170, "住宅/家賃"),
         Row("2025-06-02", -100, "住宅/家賃"), Row("2025-07-25", 500_000, "収入/給与"),
         Row("2025-07-26", -9, "", None)],
    )  # fmt: skip
    month = ledger.month(TODAY, "2025年7月", category="支出")
    assert month.text.startswith("2025年07月の支出です。\n- 支出: 347,847円\nカテゴリ別の支出:")
    assert (month.spending, month.income, month.balance) == (347_847, None, None)
    assert (month.total_rows, month.counts.used) == (3, 2)
    trend = ledger.trend(TODAY, "支出")
    assert [figure.amount for figure in trend.categories[0].months] == [100, 347_847]
    assert trend.text.startswith("支出の 2025年06月〜2025年07月の推移です。\n- 2025年06月: 100円")
    own = ledger.month(TODAY, "2025年7月", category="特別")
    assert own.spending == 8_677
    assert own.notes[0] == "「特別」は「特別な支出」として集計しました"
    assert "※ 「特別」は「特別な支出」として集計しました。" in own.text
    assert own.notes[0] in ledger.trend(TODAY, "特別").notes
    saved = ledger.trend(TODAY, "貯蓄")
    assert saved.text.startswith("収支の 2025年06月〜2025年07月の推移です。\n- 2025年06月: -100円")
    assert "「貯蓄」は収支（収入 − 支出）として集計しました" in saved.notes


def test_the_savings_rate_comes_with_income_and_spending(connection):
    ledger = SmallLedger(
        connection,
        [Row("2025-06-01", -5, "食費/外食"), Row("2025-07-01", -65_000, "食費/外食"),
         Row("2025-07-25", 200_000, "収入/給与")],
    )  # fmt: skip
    assert ledger.trend(TODAY, "貯蓄率").text.splitlines()[:4] == [
        "貯蓄率（収入に対する収支の割合）の 2025年06月〜2025年07月の推移です。",
        "- 2025年06月: N/A （収入 0円, 支出 5円, 収支 -5円）",
        "- 2025年07月（途中）: 67.5% （収入 200,000円, 支出 65,000円, 収支 +135,000円）",
        "- 期間全体: 67.5%",
    ]
    month = ledger.month(TODAY, "2025年7月", category="貯蓄率")
    assert month.text.splitlines()[:5] == [
        "2025年07月の貯蓄率です。", "- 支出: 65,000円", "- 収入: 200,000円", "- 収支: +135,000円",
        "- 貯蓄率: 67.5%",
    ]  # fmt: skip
    assert ledger.month(TODAY, "2025年6月", category="貯蓄率").savings_rate is None


NAMES = ("食費", "特別な支出", "収支調整", "外食", "食", "収入", "支", "費")
ROWS = st.lists(
    st.builds(
        Row,
        st.builds("{}-{:02}".format, st.sampled_from(MONTHS), st.integers(1, 28)),
        st.one_of(st.none(), st.integers(-90_000, 90_000)),
        st.builds("{}/{}".format, st.sampled_from((*NAMES, "")), st.sampled_from(("", *NAMES))),
        st.sampled_from([None, None, None, *FLAGS]),
    ),
    max_size=12,
)
SAID = (
    "支出", "総支出", "収入", "収支", "貯蓄率", "食費", "食", "支", "費", "外", "特別", "収", "入",
)  # fmt: skip


@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(ROWS, st.sampled_from(SAID))
def test_a_name_is_resolved_exactly_or_with_a_stated_guess(connection, rows, said):
    with connection:
        ledger = SmallLedger(connection, [Row("2025-05-01", -1, "日用品/"), *rows])
        try:
            month = ledger.month(TODAY, "2025年5月〜7月", category=said)
            trend = ledger.trend(TODAY, said, period="2025年5月〜7月")
        except (AmbiguousCategory, UnknownCategory):
            return
    name = str(month.category)
    guessed = any(f"「{said}」は" in note for note in month.notes)
    assert guessed or name in (said, said.removeprefix("総")) or name.endswith(f" > {said}")
    assert [note for note in trend.notes if "として集計" in note] == [
        note for note in month.notes if "として集計" in note
    ]
    major, _, minor = name.partition(" > ")
    totals = {"支出": None, "収支": None, "貯蓄率": None}
    sums = [ledger.came_to(m, totals.get(major, major), minor or None) for m in MONTHS]
    spending, income = (sum(part) for part in zip(*sums, strict=True))
    shown = [figure.amount for figure in trend.series[0].months if str(figure.month) in MONTHS]
    last = MONTHS.index(str(trend.months.last)) + 1
    with_rows = {"2025-05", *(row.day[:7] for row in rows)}

    def known(amounts):
        return [
            amount if month in with_rows else None
            for month, amount in zip(MONTHS, amounts, strict=False)
        ]

    if name == "貯蓄率":
        assert (month.spending, month.income) == (spending, income)
        assert month.savings_rate == trend.savings.rate == rate_of(spending, income)
        assert [m.rate for m in trend.savings.months] == [rate_of(*one) for one in sums[:last]]
        return
    if name == "収支":
        assert (month.spending, month.income) == (spending, income)
        assert (month.balance, trend.categories[0].total) == (income - spending,) * 2
        assert shown == known([earned - spent for spent, earned in sums[:last]])
        return
    at = 1 if major == "収入" else 0
    assert (month.spending, month.income)[at] == (spending, income)[at]
    assert shown == known([one[at] for one in sums[:last]])
