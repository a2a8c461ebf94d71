"""Reports and edits of a household as a client reads them, over the sample household."""

import re
from pathlib import Path

import pytest
from client_here import answers, asking
from imported import imported

SAMPLES = Path(__file__).parents[4] / "docs" / "examples" / "household"


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    path = tmp_path_factory.mktemp("household") / "vectors.sqlite"
    imported(path, "kakeibo", SAMPLES, "household")
    return path


@pytest.fixture(scope="module")
def ask(database):
    """One server over it."""
    with asking(database) as ask:
        yield ask


def report(name, **arguments):
    return "household_report", {"report": name, **arguments}


def edit(what, **arguments):
    return "edit_household", {"what": what, **arguments}


def yen(words, name):
    """The amount after a name in a text."""
    return int(re.search(rf"{name}:? (-?[\d,]+)円", words)[1].replace(",", ""))


def test_a_comparison_is_a_page_long_and_in_full_a_few(ask):
    concise, full, drawn = ask(
        report("compare", period="2025年", base="2024年"),
        report("compare", period="2025年", base="2024年", detail="full"),
        report("compare", period="2025年", base="2024年", output_format="image"),
    )  # fmt: skip
    assert (len(concise.pictures), len(drawn.pictures)) == (0, 1)
    assert "（家計簿グラフ - 2025年1月〜2025年9月と2024年1月〜2024年12月の比較）" in drawn.words
    assert len(concise.words) < 1_500 < len(full.words)
    assert "detail=full なら" in concise.words


def test_an_edit_of_a_row_says_all_that_it_changed(ask):
    *_, cleared, left = ask(
        edit("note", transaction_id=1, note="雨", tags=["税"], category="交通費"),
        edit("note", transaction_id=1, note="", tags=[], category=""),
        edit("note"),
    )
    lines = cleared.words.splitlines()
    assert lines[:3] == [
        "取引 1 のメモとタグを消しました。",
        "消したもの: 「雨」 #税。",
        "カテゴリを規則かファイルのものに戻しました。",
    ]
    assert (lines[3].startswith("- 20"), "交通費" in lines[3]) == (True, False)
    assert left.words.startswith("メモ、タグ、自分の分類のある明細は 0件")


def test_a_budget_is_set_told_with_a_chart_and_removed(ask):
    done, refused, told, drawn, removed, none = ask(
        edit("budget", category="食費", amount=60_000),
        edit("budget", category="収入", amount=60_000),
        report("budget", period="2025年8月"),
        report("budget", period="2025年8月", output_format="image"),
        edit("budget", category="食費", amount=0),
        report("budget"),
    )
    listed, reported = ask(edit("budget"), report("budget"))
    assert (listed.words, listed.data) == (reported.words, reported.data)
    assert done.words.startswith("食費の予算を毎月 60,000円 にしました。")
    assert refused.is_error
    assert told.words.startswith("2025年08月の予算と実績です。")
    assert "- 食費（毎月）: 予算 60,000円 のうち " in told.words
    assert len(drawn.pictures) == 1
    assert re.search(r"（家計簿グラフ - 2025年8月の予算と実績）.*http://127.0.0.1:", drawn.words)
    assert removed.words == "食費の予算をやめました。"
    assert "edit_household（what=budget）" in none.words


def test_costs_and_a_list_for_the_tax_office_are_reports_with_exact_sums(ask):
    month = {"since": "2025-08", "until": "2025-08"}
    costs, spent, medical, health, donated, joined, gone = ask(
        report("costs", **month),
        ("get_monthly_household", month),
        report("medical", since="2025-01", until="2025-09"),
        ("find_transactions", {"category": ["医療費"], "period": "2025年1月〜9月", "limit": 0}),
        report("furusato"),
        edit("rule", action="add", category="健康・医療 = 保険"),
        edit("rule", action="remove", category="健康・医療 = 保険"),
    )
    assert costs.data["fixed"] + costs.data["variable"] == costs.data["spending"]
    assert costs.data["spending"] == spent.data["spending"]
    assert medical.data["total"] == health.data["spending"] > 0
    assert len(medical.data["rows"]) == health.data["total_rows"]
    assert "ふるさと納税の一覧です: 0件、合計 0円。" in donated.words
    assert "カテゴリ「健康・医療」 → 保険 と決めました" in joined.words
    assert "戻りました" in gone.words


STRANGE = [
    (report("forecast", period="来月"),
     "household_report の report=forecast は period を使いません。使える引数: tool"),
    (report("forecast", since="2025-06", until="2025-06"),
     "since、until を使いません。使える引数: tool。見通しは、最後の明細の月とその先 3か月です。"),
    (report("recurring", until="2025-06"), "使える引数: limit、tool。期間の固定費"),
    (report("compare", period="2025年6月", base="先月より今月"),
     "期間「先月より今月」は読めません"),
    (report("anomalies", since="2025-06", until="2025-08"), "ひと月か、月の初日から"),
    (report("budget", since="2025-08-05", until="2025-08-31"), "since=2025-08-01"),
    (report("net_worth", since="先月"), "since「先月」は読めません。YYYY-MM-DD か YYYY-MM"),
    (("get_monthly_household", {"period": "FY2024-2025"}),
     '初日と最終日を since="YYYY-MM-DD"、until="YYYY-MM-DD" に入れてください'),
    (report("households", tool="kakeibo", by="shop"),
     "は by、tool を使いません。使える引数: since、until、period"),
    (report("budget", base="前年"),
     "は base を使いません。使える引数: since、until、period、output_format、tool"),
    (report("tax"), "report は'compare'、'budget'"),
    (report("compare", limit=201), "limit 201 は使えません。1〜200"),
    (edit("budget", category="食費"), "edit_household の what=budget には amount が必要です"),
    (edit("note", amount=5),
     "は amount を使いません。使える引数: transaction_id、note、tags、category、tool"),
    (edit("note", note="旅行"), "transaction_id が必要です"),
    (edit("note", transaction_id=1), "note か tags か category を付けてください"),
    (edit("rule", shop="リンリン", category="自転車"), "action を try、add、remove から"),
    (edit("alias", shop="リンリン", spelling="RINRIN"), "action を try、add、remove から"),
    (edit("alias", category="食費"),
     "は category を使いません。使える引数: action、shop、spelling、tool"),
]  # fmt: skip


def test_an_argument_that_does_not_belong_is_refused_with_those_that_do(ask):
    given = ask(*[call for call, _ in STRANGE])
    for answer, (_, said) in zip(given, STRANGE, strict=True):
        assert answer.is_error
        assert said in answer.words
        assert "\n" not in answer.words


def test_stated_dates_give_every_tool_the_same_days_as_the_words_for_them(ask):
    stated, worded = {"since": "2025-08-01", "until": "2025-08"}, {"period": "2025年8月"}
    calls: list[tuple[str, dict[str, object]]] = [
        ("get_monthly_household", {"limit": 0}),
        ("get_category_trend", {"category": "食費"}),
        ("find_transactions", {"group_by": "category"}),
        report("compare", base="previous_year"),
        *(report(name) for name in ("budget", "anomalies", "households", "net_worth")),
    ]
    dates, words = (
        ask(*[(tool, {**others, **days}) for tool, others in calls]) for days in (stated, worded)
    )
    for by_dates, by_words, call in zip(dates, words, calls, strict=True):
        said = by_words.words.splitlines()
        read = [line for line in said if "「2025年8月」を 2025年08月 と解釈しました" in line]
        others = [line for line in said if line not in read]
        assert (by_dates.words.splitlines(), by_dates.is_error) == (others, False), call
        assert len(read) == 1, call
        assert re.search("2025年08月|予算はまだ", by_dates.words.splitlines()[0]), call


def test_a_shops_other_spelling_is_tried_confirmed_and_taken_back(ask):
    alias = {"shop": "自転車屋", "spelling": "リンリン"}
    asked = ("find_transactions", {"shop": "自転車屋", "category": ["食費", "交通費", "未分類"]})
    empty, tried, before, added, after, removed, gone = ask(
        edit("alias"),
        edit("alias", action="try", **alias),
        asked,
        edit("alias", action="add", **alias),
        asked,
        edit("alias", action="remove", **alias),
        asked,
    )
    assert empty.words == "自分で決めた店の別の書き方はありません。"
    assert "次も含めます: 2件、支出 47,960円（まだ決めていません）" in tried.words
    assert added.words == "店の別の書き方: 自転車屋 = リンリン"
    assert removed.words == empty.words
    assert yen(after.words, "支出") == 47_960
    assert "別の書き方の店も含めました: リンリン" in after.words
    assert before.words == gone.words
    assert ": 0件" in gone.words


def test_a_rule_is_tried_set_and_removed_and_a_row_is_noted(ask):
    rule = {"shop": "リンリン", "category": "自転車"}
    month = ("get_monthly_household", {"period": "2025年8月", "category": "自転車"})
    tried, before, added, after, removed, wrong = ask(
        edit("rule", action="try", **rule),
        month,
        edit("rule", action="add", **rule),
        month,
        edit("rule", action="remove", shop="リンリン"),
        edit("rule", action="add", shop="", category="食費"),
    )
    assert tried.words.startswith("「リンリン」を含む店 → 交通費 > 自転車: 試すと 1件（支出 ")
    assert yen(before.words, "支出") == 0
    assert "1件のカテゴリが変わりました" in added.words
    assert "1件がファイルのカテゴリに戻りました" in removed.words
    assert yen(after.words, "支出") == 23_980
    assert wrong.is_error
    row = int(re.search(r"リンリン（ピコペイ） .*\[(\d+) A:\d+\]", after.words)[1])
    noted, listed = ask(
        edit("note", transaction_id=row, tags=["旅行"]), edit("note", tags=["旅行"])
    )
    assert noted.words.startswith("記録しました。\n- 2025-08-01 リンリン（ピコペイ） -23,980円")
    assert listed.words.startswith(
        "タグ「旅行」の明細は 1件、集計に入る合計は -23,980円 です。\n- 2025-08-01"
    )
    told, same, ruled, listed_rules = ask(
        report("notes"), edit("note"), report("rules"), edit("rule")
    )
    assert told.words == same.words
    assert "#旅行" in told.words
    assert ruled.words == listed_rules.words
    assert ruled.words.startswith("カテゴリの規則は 0件です。")
    assert f"#旅行（ID {row}、収入・支出詳細_2025-08-01_2025-08-31.csv:" in listed.words


def test_suggestions_change_nothing(ask):
    (listed,) = ask(edit("rule"))
    assert listed.words.startswith("カテゴリの規則は 0件です。")
    assert "\n- 家具のとびら ピコペイ（" in listed.words
    assert "決めるまで何も変わりません" in listed.words


def test_net_worth_comes_from_the_asset_history_with_a_chart(ask):
    told, drawn, full = ask(
        report("net_worth"),
        report("net_worth", output_format="image"),
        report("net_worth", detail="full"),
    )
    first, second = told.words.splitlines()[:2]
    assert re.fullmatch(r"資産推移は2025-09-30までです（\d+か月前）。", first)
    assert second.startswith("2025年09月の純資産は ")
    months = [line for line in full.words.splitlines() if line.startswith("- 2025年0")]
    assert (len(months), all("、" in line for line in months)) == (9, True)
    assert len(drawn.pictures) == 1


def test_a_mapping_is_shown_with_what_is_undecided_and_kept_once_that_is_stated(tmp_path):
    folder = tmp_path / "csv"
    folder.mkdir()
    (folder / "mf.csv").write_text(
        "計算対象,日付,内容,金額（円）,保有金融機関,大項目,中項目,メモ,振替,ID\n"
        "1,2025/07/01,米,-500,現金,食費,食料品,,0,a\n"
    )
    (folder / "架空カード.csv").write_text(
        "利用日,利用店名,利用金額,訂正サイン\n2025/7/1,架空花子のとても長い店名,1000,\n2025/7/2,店,300,-\n"
    )
    imported(tmp_path / "vectors.sqlite", "kakeibo", folder, "household")
    file = {"file": "架空カード.csv"}
    stated = "reversals = {'訂正サイン' = ['-']}"
    shown, refused, in_english, kept, away = answers(
        tmp_path / "vectors.sqlite",
        report("mapping", **file),
        edit("mapping", **file),
        edit("mapping", **file, language="en"),
        edit("mapping", **file, toml=stated),
        report("mapping", file="../vectors.sqlite"),
    )
    assert '決めること: 列 訂正サイン に "-" とあります' in shown.words
    assert "架空花子のとても…" in shown.words
    assert "とても長い店名" not in shown.words
    assert refused.is_error
    assert refused.words.startswith("決まっていないことがあるので保存しませんでした: 列 訂正サイン")
    assert refused.words.endswith("toml='KEY = VALUE' で決めてください")
    assert in_english.words.startswith("not saved, because this is undecided: column 訂正サイン")
    assert in_english.words.endswith("State it: toml='KEY = VALUE'")
    assert "保存しました: 架空カード.mapping.toml" in kept.words
    assert away.is_error
    assert away.words == "家計簿のフォルダーの中のファイルを、その中のパスで指定してください"
    assert (folder / "架空カード.mapping.toml").exists()


def test_of_a_file_that_nothing_recognises_the_lines_are_shown_and_the_columns_can_be_stated(
    tmp_path,
):
    folder = tmp_path / "csv"
    folder.mkdir()
    (folder / "謎.csv").write_text(
        "甲,乙,とても長い名前の列,丁\n2025/7/1,80,架空花子のとても長い店名,\n2025/7/2,,給与,300\n"
    )
    imported(tmp_path / "vectors.sqlite", "kakeibo", folder, "household")
    stated = "date = '甲'\ndescription = 'とても長い名前の列'\npaid_out = '乙'\npaid_in = '丁'"
    shown, in_english, refused, kept = answers(
        tmp_path / "vectors.sqlite",
        report("mapping", file="謎.csv"),
        report("mapping", file="謎.csv", language="en"),
        edit("mapping", file="謎.csv"),
        edit("mapping", file="謎.csv", toml=stated),
    )
    assert shown.words.startswith("謎.csv の読み方は分かりません")
    assert "1: 甲 | 乙 | とても長い名前の列 | 丁" in shown.words
    assert '2: 2025/7/1 | 80 | "架空花子のとても…" |' in shown.words
    assert "決めること: 日付・金額・摘要" in shown.words
    assert in_english.words.startswith("how to read 謎.csv is not known")
    assert "state its date, description and amount (or paid_out and paid_in)" in in_english.words
    assert refused.is_error
    assert "保存しました: 謎.mapping.toml" in kept.words
