"""Charts show exactly the figures of their answers."""

import re
from datetime import date

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from matplotlib.patches import Rectangle
from matplotlib.text import Text
from mdvec.charts.category_drawing import colored, entries_of
from mdvec.charts.figure import draw, figure_of
from mdvec.charts.plot import ChartError
from mdvec.charts.style import typeface
from mdvec.database.connection import open_database
from mdvec.household import Ledger
from mdvec.household.budgeting import budget_status, set_budget
from mdvec.household.comparison import compare_periods
from mdvec.household.habits import forecast_spending
from mdvec.household.month import monthly_household
from mdvec.household.overview import category_hierarchy
from mdvec.household.trend import category_trend
from small_ledger import FLAGS, Row, SmallLedger

from mdvec_mcp.household.context import json_of
from mdvec_mcp.household.pictures import (
    UnfittingGraph,
    budget_chart,
    comparison_chart,
    in_picture,
    month_chart,
    trend_chart,
)
from mdvec_mcp.web.page.plan_view import forecast_picture

TODAY = date(2025, 7, 31)


def written(chart):
    """Every text on a chart."""
    drawn = figure_of(chart, (1900, 1080), typeface(None))
    return [text.get_text() for text in drawn.findobj(Text) if text.get_text()]


@pytest.fixture
def connection(tmp_path):
    with open_database(tmp_path / "ledger.sqlite", "create") as connection:
        yield connection


@pytest.fixture
def ledger_of(connection):
    return lambda rows: SmallLedger(connection, rows)


def test_a_picture_in_english_has_no_japanese_but_the_names_of_categories(ledger_of, connection):
    rows = [Row(f"2025-0{month}-05", -31_000 * month, "食費/外食") for month in (1, 2, 4, 5, 6, 7)]
    rows += [Row(f"2025-07-{n:02}", -900, f"項{n}/他") for n in range(9, 29)]
    tool = ledger_of([*rows, Row("2025-07-03", 800, "返金/他")]).tool_id
    ledger = Ledger(connection, tool, TODAY)
    set_budget(ledger, category="外食", amount=9_000)
    set_budget(ledger, category="食費", amount=900_000, per="year")
    month = monthly_household(Ledger(connection, tool, TODAY), period="2025-07")
    charts = [
        month_chart(month, "pie"),
        month_chart(month, "bar"),
        budget_chart(budget_status(ledger)),
        comparison_chart(compare_periods(ledger, period="2025-07")),
        trend_chart(category_trend(Ledger(connection, tool, TODAY), period="2025"), None),
        forecast_picture(forecast_spending(ledger)),
    ]
    shown = []

    def words(text):
        shown.append(in_picture(text))
        return shown[-1]

    for chart in charts:
        draw(chart, (900, 600), "png", words=words)
    rest = {re.sub(r"(食費|外食|返金|項\d*|他)", "", text) for text in shown}
    assert not [text for text in rest if re.search("[ぁ-んァ-ヶ一-鿿]", text)]
    assert {"total", "budget", "¥217,000", "Jan\n2025"} <= set(shown)


def test_budgets_of_a_year_are_not_on_the_axis_of_those_of_a_month(ledger_of, connection):
    tool = ledger_of([Row("2025-07-05", -3_000, "食費/外食")]).tool_id
    ledger = Ledger(connection, tool, TODAY)
    set_budget(ledger, category="外食", amount=900_000, per="year")
    yearly = budget_chart(budget_status(ledger))
    assert (yearly.targets, yearly.note) == (
        (900_000,),
        "途中です（期間の明細がまだ揃っていません）",
    )
    set_budget(ledger, category="食費", amount=50_000)
    both = budget_chart(budget_status(ledger))
    assert (both.targets, both.note) == ((50_000,), f"{yearly.note}。年の予算は文章にあります")


def test_a_comparison_has_a_pair_of_bars_for_each_category(ledger_of, connection):
    rows = of_july(("食費/外食", -9_000), ("住宅/家賃", -70_500), ("旅行/宿", -40_000))
    rows += [Row("2025-06-05", -3_000, "食費/外食"), Row("2025-06-09", -70_000, "住宅/家賃")]
    ledger = ledger_of(rows)
    answer = compare_periods(Ledger(connection, ledger.tool_id, TODAY), period="2025年7月", limit=2)
    chart = comparison_chart(answer)
    assert chart.title == "2025年7月と2025年6月の比較"
    assert {one.name: one.values for one in chart.series} == {
        "2025年7月": (40_000, 9_000), "2025年6月": (0, 3_000),
    }  # fmt: skip
    assert chart.note == "差の大きい2件です（ほか1件）"
    axes = figure_of(chart, (800, 600), typeface(None)).axes[0]
    assert [bar.get_width() for bar in axes.patches if isinstance(bar, Rectangle)] == [
        40_000,
        9_000,
        0,
        3_000,
    ]
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["旅行", "食費"]


def of_july(*pairs):
    return [Row("2025-07-05", amount, category) for category, amount in pairs]


def test_a_refund_that_is_more_than_was_spent_stays_in_the_pies_total(ledger_of):
    answer = ledger_of(
        of_july(("住宅/家賃", -98_000), ("食費/外食", -60_000), ("旅行/宿", 40_000))
    ).month(TODAY, "2025年7月")
    texts = written(month_chart(answer, "pie"))
    assert answer.spending == 118_000
    # Line by line: name, amount, share, as the answer has them.
    assert texts[-11:] == [
        "住宅", "98,000円", "83.1%", "食費", "60,000円", "50.8%", "旅行", "-40,000円", "-33.9%",
        "合計", "118,000円",
    ]  # fmt: skip
    assert "0円以下の1項目には扇形がありません（合計と割合には含みます）。扇形は2項目です" in texts


def test_amounts_that_total_zero_are_drawn_as_bars(ledger_of):
    answer = ledger_of(of_july(("食費/外食", -100), ("旅行/宿", 400))).month(TODAY, "2025年7月")
    chart = month_chart(answer, None)
    assert (chart.kind, {"100円", "-400円"} <= set(written(chart))) == ("bar", True)
    with pytest.raises(ChartError, match="合計が0円以下"):
        written(month_chart(answer, "pie"))


AMOUNTS = st.one_of(st.none(), st.integers(-90_000, 40_000))
CATEGORIES = (
    "食費/外食", "食費/食料品", "食費/", "住宅/家賃", "旅行/宿", "税/税", "収入/給与", "収入/利息",
    "/",
)  # fmt: skip
ROWS = st.lists(
    st.builds(
        Row,
        st.dates(date(2025, 6, 1), date(2025, 8, 9)).map(str),
        AMOUNTS,
        st.sampled_from(CATEGORIES),
        st.sampled_from([None, None, None, *FLAGS]),
    ),
    max_size=14,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ROWS, st.sampled_from([None, "食費", "収入", "支出", "食費/外食"]))
def test_the_numbers_on_a_pie_are_those_of_the_answer_and_of_the_rows(connection, rows, category):
    with connection:
        ledger = SmallLedger(connection, [Row("2025-07-01", -1, "食費/外食"), *rows])
        answer = ledger.month(TODAY, "2025年7月", category=category)
        spending, income = ledger.came_to("2025-07")
    if category is None:
        assert (answer.spending, answer.income) == (spending, income)
    shares = answer.spending_by_category or answer.income_by_category
    total = sum(share.amount for share in shares)
    if category in (None, "支出"):
        assert total == spending
    chart = month_chart(answer, "pie")
    if total <= 0:
        with pytest.raises(ChartError):
            written(chart)
        return
    texts = written(chart)
    assert texts[-2:] == ["合計", f"{total:,}円"]
    lines = {
        name: (amount, share)
        for name, amount, share in zip(texts, texts[1:], texts[2:], strict=False)
        if amount.endswith("円") and share.endswith("%")
    }
    said = {str(one.category): (f"{one.amount:,}円", f"{one.share:.1f}%") for one in shares}
    joined = {name for name in lines if "項目" in name}
    for name, line in lines.items():
        assert name in joined or said[name] == line
    if not joined:
        assert set(lines) == {str(one.category) for one in shares if one.amount}
    assert sum(int(a[:-1].replace(",", "")) for a, _ in lines.values()) == total
    for share in answer.spending_by_category if category is None else ():
        assert f"{share.amount:,}円" in answer.text


def test_totals_have_charts_and_the_rate_is_in_per_cent(ledger_of):
    rows = of_july(("収入/給与", 300_000), ("食費/外食", -60_000), ("旅行/宿", -32_100))
    rows += [Row("2025-06-05", 200_000, "収入/給与"), Row("2025-06-06", -250_000, "旅行/宿")]
    ledger = ledger_of(rows)
    balance = month_chart(ledger.month(TODAY, "2025年7月", category="収支"), None)
    assert balance.names == ("収入", "支出", "収支")
    assert balance.series[0].values == (300_000, 92_100, 207_900)
    saved = ledger.month(TODAY, "2025年7月", category="貯蓄率")
    assert month_chart(saved, None).title == "2025年7月の貯蓄率 69.3%"
    assert json_of(saved)["savings_rate"] == 69.3
    assert "- 貯蓄率: 69.3%" in saved.text
    with pytest.raises(UnfittingGraph, match="使えるのは bar です"):
        month_chart(saved, "pie")
    spending = month_chart(ledger.month(TODAY, "2025年7月", category="支出"), None)
    assert (spending.kind, spending.title) == ("pie", "2025年7月の支出")
    trend = ledger.trend(TODAY, "貯蓄率")
    drawn = trend_chart(trend, None)
    assert (drawn.series[0].values, drawn.unit) == ((-250, 693), "percent")
    assert {"-40.0%", "0.0%", "80.0%"} <= set(written(drawn))
    assert json_of(trend)["savings"] == {
        "rate": 31.6,
        "months": [
            {"month": "2025-06", "income": 200_000, "spending": 250_000, "rate": -25.0},
            {"month": "2025-07", "income": 300_000, "spending": 92_100, "rate": 69.3},
        ],
    }
    assert trend_chart(ledger.trend(TODAY, "収支"), None).series[0].values == (-50_000, 207_900)
    assert (
        trend_chart(ledger.trend(TODAY, "支出"), None).title == "支出の推移（2025年6月〜2025年7月）"
    )


def test_the_running_month_and_one_without_rows_are_marked_in_text_json_and_picture(ledger_of):
    ledger = ledger_of([Row("2025-05-05", -100, "食費/外食"), Row("2025-07-05", -40, "食費/外食")])
    middle = date(2025, 7, 10)
    trend = ledger.trend(middle, "食費")
    assert trend.text.splitlines()[1:4] == [
        "- 2025年05月: 100円", "- 2025年06月: 明細なし",
        "- 2025年07月（途中）: 40円 （前月比 N/A, 前年同月比 N/A）",
    ]  # fmt: skip
    told = json_of(trend)
    assert (told["running"], told["empty"]) == (["2025-07"], ["2025-06"])
    assert [month["amount"] for month in told["categories"][0]["months"]] == [100, None, 40]
    chart = trend_chart(trend, "bar")
    assert (chart.series[0].values, chart.running, chart.empty) == (
        (100, None, 40), (2025 * 12 + 6,), (2025 * 12 + 5,),
    )  # fmt: skip
    saved = ledger.trend(middle, "貯蓄率").text.splitlines()
    assert (saved[2], saved[3][:15]) == ("- 2025年06月: 明細なし", "- 2025年07月（途中）:")
    whole = month_chart(ledger.month(middle, "2025年5月〜7月"), None)
    assert whole.note == (
        "2025年07月の明細はまだ揃っていない可能性があります。2025年06月には明細がありません"
    )
    assert month_chart(ledger.month(middle, "2025年5月"), None).note == ""


def test_a_category_has_one_colour_in_all_charts_of_its_ledger(ledger_of):
    names = ("食費", "推し活", "園芸", "仕送り", "学費", "薬")
    amounts = [(f"{name}/a{at}", -100 * at - 7) for at, name in enumerate(names)]
    ledger = ledger_of([*of_july(*amounts), Row("2025-06-05", -9, "園芸/b"), *(
        Row("2025-06-06", -5, f"園芸/{kind}") for kind in ("種", "土", "鉢"))])  # fmt: skip
    known = category_hierarchy(Ledger.undated(ledger.connection, ledger.tool_id))

    def colors(chart):
        if chart.keys is not None:
            return {one.key: one.color for one in colored(entries_of(chart), chart.among)}
        return {one.name: one.color for one in chart.series}

    july = colors(month_chart(ledger.month(TODAY, "2025年7月"), "bar", known))
    assert len(set(july.values())) == len(names)
    assert (
        colors(month_chart(ledger.month(TODAY, "2025年6月"), "pie", known)).items() <= july.items()
    )
    for name in names:
        shown = colors(trend_chart(ledger.trend(TODAY, name), None, known))
        assert shown == {name: july[name]}
    minors = colors(month_chart(ledger.month(TODAY, "2025年6月", category="園芸"), "bar", known))
    one = colors(trend_chart(ledger.trend(TODAY, "園芸 > 土"), None, known))
    assert (len(set(minors.values())), one.items() <= minors.items()) == (4, True)
