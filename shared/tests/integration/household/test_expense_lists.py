"""Lists for the tax office and fixed costs of a couple's four years, against plain counting."""

from datetime import date

import pytest
from couple_ledger import couple, couples_household
from plan_ledger import Bought, fill, household

from mdvec.household import Ledger
from mdvec.household.expense_lists import expense_list, fixed_and_variable_costs
from mdvec.household.month import monthly_household
from mdvec.household.notes import note_row
from mdvec.household.rules import set_rule

TODAY = date(2026, 1, 20)


def by_person(rows):
    sums: dict[str, int] = {}
    for row, folder in rows:
        person = folder.rstrip("/") or "（人の区別なし）"
        sums[person] = sums.get(person, 0) - row.amount
    return sums


@pytest.mark.parametrize("year", [2022, 2024, 2025])
def test_the_lists_of_a_year_are_the_rows_of_their_categories_and_shops_by_person(connection, year):
    rows = couple(year)
    ledger = couples_household(connection, rows, today=TODAY)
    own = [(row, folder) for row, folder in rows if row.day.startswith(str(year)) and row.counts]
    medical = [pair for pair in own if pair[0].category in ("健康・医療/医療費", "健康・医療/薬")]
    answer = expense_list(ledger, "medical", period=f"{year}年")
    assert (len(answer.rows), answer.by_person) == (len(medical), by_person(medical))
    assert answer.total == -sum(row.amount for row, _ in medical)
    look_near = [
        row for row, _ in rows
        if row.day.startswith(str(year)) and (row, _) not in medical
        and (row.shop in ("走る箱", "ドラッグ花子", "山田歯科") or "医療/医" in row.category
             or row.shop == "山田薬局")
    ]  # fmt: skip
    assert (len(answer.near), answer.near_total) == (
        len(look_near), -sum(row.amount for row in look_near),
    )  # fmt: skip
    told = {row.description: row.left_out for row in answer.near if not row.is_target}
    assert set(told.values()) == {"not_target"}
    furusato = [pair for pair in own if pair[0].shop in ("楽天 ふるさと納税", "さとふる")]
    donated = expense_list(ledger, "furusato", period=f"{year}年")
    assert (len(donated.rows), donated.by_person) == (len(furusato), by_person(furusato))
    assert "市役所" in {row.description for row in donated.near}


def test_tags_rules_and_notes_have_the_last_word(connection):
    rows = [
        (Bought("2025-02-01", "山田歯科", -5_000, "未分類/未分類"), "妻/"),
        (Bought("2025-02-02", "山田病院", -700, "健康・医療/医療費"), "妻/"),
        (Bought("2025-02-03", "美容クリニック", -90_000, "健康・医療/医療費"), ""),
        (Bought("2025-02-04", "タクシー", -30, "交通費/タクシー", counts=False), ""),
        (Bought("2025-02-05", "眼鏡", -2, "日用品/雑貨"), "夫/"),
        (Bought("2026-01-05", "山田病院", -1, "健康・医療/医療費"), "夫/"),
    ]
    ledger = couples_household(connection, rows, today=TODAY)
    set_rule(ledger, shop="歯科", category="医療費")
    for row_id, tags in ((3, ["-医療費控除"]), (4, ["医療費控除", "人:花子"]), (2, ["人:太郎"])):
        note_row(ledger, transaction_id=row_id, tags=tags)
    note_row(ledger, transaction_id=5, note="医療費控除になるか聞く")
    answer = expense_list(ledger, "medical", since="2025-01", until="2025-12")
    assert answer.by_person == {"妻": 5_000, "太郎": 700, "花子": 30}
    assert answer.text.splitlines() == [
        "2025年02月〜2025年12月の医療費控除の一覧です: 3件、合計 5,730円。",
        "妻: 1件 5,000円",
        "- 2025-02-01 山田歯科 -5,000円 健康・医療 > 医療費 カード [1]",
        "太郎: 1件 700円",
        '- 2025-02-02 山田病院 -700円 健康・医療 > 医療費 カード #"人:太郎" [2]',
        "花子: 1件 30円",
        "- 2025-02-04 タクシー -30円 交通費 > タクシー（集計外: 計算対象外） カード"
        ' #医療費控除 #"人:花子" [4]',
        "合計に入れていない、近いもの（1件 2円）:",
        "- 眼鏡（日用品 > 雑貨）1件 2円 [5]",
        *(f"※ {note}。" for note in answer.notes),
    ]
    assert "※ タグで外した明細が 1件あります。" in answer.text.splitlines()
    latest = expense_list(ledger, "medical")
    assert (str(latest.days.first), latest.total) == ("2026-01-01", 1)


@pytest.mark.parametrize(
    ("period", "starts_on"),
    [("2025年6月", 1), ("2024年", 25), ("2023-05-03..2024-02-11", 1), ("2022年1月", 25)],
)
def test_fixed_and_variable_costs_add_up_to_the_spending(connection, period, starts_on):
    rows = couple(7)
    ledger = couples_household(connection, rows, today=TODAY, month_starts_on=starts_on)
    answer = fixed_and_variable_costs(ledger, period=period)
    month = monthly_household(ledger, period=period)
    days = (str(answer.days.first), str(answer.days.last))
    own = [row for row, _ in rows if days[0] <= row.day <= days[1] and row.major != "収入"]
    fixed = [row for row in own if row.shop in ("家賃", "音楽の箱")]
    assert answer.spending == month.spending == sum(row.yen for row in own)
    assert answer.fixed == sum(row.yen for row in fixed)
    assert answer.variable == answer.spending - answer.fixed
    assert sum(line.yen for line in answer.lines) == answer.spending
    assert sum(line.rows for line in answer.lines) == sum(row.counts for row in own)


def test_what_speaks_for_a_fixed_cost_is_named_and_tags_decide(connection):
    tax = [Bought(f"{year}-06-30", "市税事務所 固定資産税", -yen, "未分類/未分類")
           for year, yen in ((2023, 84_000), (2024, 84_000), (2025, 86_500))]  # fmt: skip
    others = [
        Bought("2025-06-02", "市水道局", -5_000, "水道・光熱費/水道代"),
        Bought("2025-06-03", "朝市", -300), Bought("2025-06-04", "塾", -20_000, "教養/習い事"),
        Bought("2025-06-05", "電話", -40, "通信費/電話"), Bought("2025-06-06", "朝市", 50),
    ]  # fmt: skip
    ledger = household(connection, [*tax, *others], today=date(2025, 7, 9))
    note_row(ledger, transaction_id=6, tags=["固定費"])
    note_row(ledger, transaction_id=7, tags=["変動費"])
    answer = fixed_and_variable_costs(ledger, period="2025-06")
    assert answer.text.splitlines()[:9] == [
        "2025年06月の支出 111,790円 = 固定費 111,500円 + 変動費 290円",
        "固定費 111,500円（99.7%）:",
        "- 市税事務所 固定資産税（未分類） 86,500円（1件、毎年）",
        "- 塾（教養） 20,000円（1件、タグ）",
        "- 市水道局（水道・光熱費） 5,000円（1件、カテゴリ）",
        "変動費 290円（0.3%）:",
        "- 食費 250円（2件）",
        "- 通信費 40円（1件）",
        "どちらかは、明細のタグ「固定費」「変動費」で決められます。",
    ]


def test_a_tagged_row_that_is_no_payment_is_named_beside_the_list(connection):
    rows = [
        (Bought("2025-02-01", "山田病院", -50_000, "健康・医療/医療費"), ""),
        (Bought("2025-02-09", "架空生命 給付金", 20_000, "収入/一時所得"), ""),
    ]
    ledger = couples_household(connection, rows, today=TODAY)
    payout = connection.execute("SELECT id FROM transactions WHERE amount > 0").fetchall()[0][0]
    note_row(ledger, transaction_id=payout, tags=["医療費控除"])
    answer = expense_list(ledger, "medical", period="2025年")
    assert (answer.total, [row.id for row in answer.near]) == (50_000, [payout])
    assert "架空生命" in answer.text


def test_a_list_speaks_of_its_own_planned_and_renamed_rows_alone(connection):
    rows = [
        Bought("2026-01-05", "山田病院", -700, "健康・医療/医療費"),
        Bought("2026-01-06", "朝市", -90, "食料/食品"),
        Bought("2026-01-06", "朝市", -10, "食費/食品"),
        Bought("2026-01-25", "旅館", -50_000, "旅行/宿"),
    ]
    ledger = household(connection, rows, today=TODAY)
    set_rule(ledger, shop="", category="食料 = 食費")
    notes = expense_list(ledger, "medical", period="2026-01").notes
    assert not any("予定" in note or ("規則で" in note and "含みます" in note) for note in notes)
    planned = fill(
        connection, [*rows, Bought("2026-01-26", "山田病院", -80, "健康・医療/医療費")], "more"
    )
    notes = expense_list(Ledger(connection, planned, TODAY), "medical", period="2026-01").notes
    assert "予定（今日より後の日付の明細）: 1件、支出 80円（上の金額に含みます）" in notes


def test_a_long_list_has_its_first_rows_every_sum_and_how_to_see_the_rest(connection):
    rows = [
        (Bought(f"2025-{1 + n % 12:02}-09", f"病院{n:03}", -n, "健康・医療/医療費"), who)
        for n in range(1, 121) for who in ("夫/", "妻/")
    ]  # fmt: skip
    ledger = couples_household(
        connection,
        [*rows, (Bought("2025-02-01", "山田歯科", -5, "未分類/未分類"), "")],
        today=TODAY,
    )
    text = expense_list(ledger, "medical", period="2025年").text.splitlines()
    assert sum(line.startswith("- ") for line in text) == 100 + 1  # and the near one
    assert {"夫: 120件 7,260円", "妻: 120件 7,260円"} < set(text)
    assert "ほか 140件は limit=240 で示します。" in text
    whole = expense_list(ledger, "medical", limit=240, period="2025年").text
    assert (whole.count("\n- "), "limit=" in whole) == (241, False)
    few = fixed_and_variable_costs(ledger, limit=0, period="2025年").text
    assert ("で示します" in few, "\n- " in few) == (True, False)
