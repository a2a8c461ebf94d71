"""Comparisons, budgets, habits and rules as a client sees them, over the sample household."""

from pathlib import Path

import pytest
from household_client import answers, import_household

SAMPLES = Path(__file__).parents[4] / "docs" / "examples" / "household"


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    path = tmp_path_factory.mktemp("household") / "vectors.sqlite"
    import_household(path, SAMPLES)
    return path


def test_two_periods_stand_side_by_side(database):
    year, month = answers(
        database,
        ("compare_periods", {"period": "2025年", "base": "2024年1月〜9月"}),
        ("get_monthly_household", {"period": "2025年"}),
    )
    assert year.words.startswith("2024年01月〜2024年09月と 2025年01月〜2025年09月の比較です。")
    assert year.data["spending"][1] == month.data["spending"]
    assert year.data["income"][1] == month.data["income"]
    assert year.data["after"] == ["2025-01-01", "2025-09-30"]


def test_a_budget_is_set_told_with_a_chart_and_removed(database):
    done, refused, told, drawn, removed = answers(
        database,
        ("set_budget", {"category": "食費", "amount": 60_000}),
        ("set_budget", {"category": "収入", "amount": 60_000}),
        ("get_budget_status", {"period": "2025年8月"}),
        ("get_budget_status", {"period": "2025年8月", "output_format": "image"}),
        ("set_budget", {"category": "食費", "amount": 0}),
    )
    assert done.words.startswith("食費の予算を毎月 60,000円 にしました。")
    assert refused.is_error
    assert "2025年08月の予算と実績です。" in told.words
    assert (told.data["statuses"][0]["amount"], drawn.pictures) == (60_000, 1)
    assert removed.data["before"] == 60_000


def test_recurring_payments_and_a_forecast_come_from_the_ledger(database):
    recurring, outlook = answers(
        database,
        ("list_recurring_payments", {}),
        ("get_household_outlook", {"what": "forecast"}),
    )
    found = {one["name"]: one["amount"] for one in recurring.data["payments"]}
    expected = {"家賃": 82_000, "通信 そらモバイル": 3_278, "光インターネット": 4_950,
                "動画配信 みるみる": 1_490, "生命保険料": 6_120, "給与": 312_000}  # fmt: skip
    assert expected.items() <= found.items()
    assert {"みなと電力", "みなとガス", "市水道局"} <= found.keys()
    assert len(found) <= 11
    first = outlook.data["months"][0]
    assert first["spent"] + first["recurring"] + first["other"] > 0
    assert "ずれの中央値" in outlook.words


def test_what_is_unusual_and_all_households_are_outlooks_too(database):
    unusual, together, month = answers(
        database,
        ("get_household_outlook", {"what": "anomalies"}),
        ("get_household_outlook", {"what": "households", "period": "2025年8月"}),
        ("get_monthly_household", {"period": "2025年8月"}),
    )
    assert unusual.words.startswith("2025年09月")
    assert (together.data["spending"], together.data["income"]) == (
        month.data["spending"], month.data["income"],
    )  # fmt: skip


def test_a_rule_is_tried_set_and_removed_and_a_row_is_noted(database):
    rule = {"shop": "リンリン", "category": "自転車"}
    tried, before, added, after, removed, wrong = answers(
        database,
        ("set_category_rule", {"action": "try", **rule}),
        ("get_monthly_household", {"period": "2025年8月", "category": "自転車"}),
        ("set_category_rule", {"action": "add", **rule}),
        ("get_monthly_household", {"period": "2025年8月", "category": "自転車"}),
        ("set_category_rule", {"action": "remove", "shop": "リンリン"}),
        ("set_category_rule", {"action": "add", "shop": "", "category": "食費"}),
    )
    assert tried.words.startswith("「リンリン」を含む店 → 交通費 > 自転車: 試すと 1件（23,980円）")
    assert "対象期間のデータ" in before.words or before.data["spending"] == 0
    assert added.data["changed"] == removed.data["changed"] == 1
    assert after.data["spending"] == 23_980
    assert wrong.is_error
    noted, listed = answers(
        database,
        ("note_transaction", {"transaction_id": after.data["rows"][0]["id"], "tags": ["旅行"]}),
        ("note_transaction", {"tags": ["旅行"]}),
    )
    assert (noted.data["total_rows"], listed.data["total"]) == (1, -23_980)


def test_suggestions_change_nothing(database):
    (listed,) = answers(database, ("set_category_rule", {}))
    assert listed.data["rules"] == []
    assert "家具のとびら ピコペイ" in {one["shop"] for one in listed.data["suggestions"]}
    assert "決めるまで何も変わりません" in listed.words


def test_net_worth_comes_from_the_asset_history_with_a_chart(database):
    told, drawn = answers(
        database,
        ("get_household_outlook", {"what": "net_worth"}),
        ("get_household_outlook", {"what": "net_worth", "output_format": "image"}),
    )
    assert told.words.startswith("2025年09月の純資産は ")
    assert (len(told.data["months"]), drawn.pictures) == (12, 1)
