"""The household's tools, charts and resources as a client sees them, over the sample household."""

import re
from pathlib import Path

import pytest
from client_here import answers, asking
from imported import imported
from mdvec.database.connection import open_database
from mdvec.embedding.cards import ModelConstants
from mdvec.household import Ledger, review
from mdvec.household.core.pair import DetectionOptions
from mdvec.index.nearest import store_constants
from mdvec.manage import registering
from mdvec.tools.registry import get_tool

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


def size_of(png):
    return int.from_bytes(png[16:20], "big"), int.from_bytes(png[20:24], "big")


def test_a_months_answer_tells_once_of_duplicates_that_an_import_found(database, tmp_path):
    copy = tmp_path / "vectors.sqlite"
    copy.write_bytes(database.read_bytes())
    with open_database(copy, "write") as connection:
        review.detect(Ledger.undated(connection, 1), DetectionOptions(), by_user=False)
        count, *_ = review.count_news(Ledger.undated(connection, 1))
    assert count > 0
    june = ("get_monthly_household", {"year": 2025, "month": 6})
    first, second = answers(copy, june, june)
    told = first.words.splitlines()[-1]
    assert told.startswith(f"新しい明細に、同じ買い物が二度入っているらしい組が{count}件")
    assert told.endswith("あります（list_duplicate_candidates で確認できます）。")
    assert "二度入っている" not in second.words


def test_shops_near_in_meaning_are_offered_beside_the_sums_once_a_model_is_loaded(
    database, tmp_path
):
    copy = tmp_path / "vectors.sqlite"
    copy.write_bytes(database.read_bytes())
    with open_database(copy, "write") as connection:
        fingerprint = get_tool(connection, "kakeibo").fingerprint
        constants = ModelConstants(vector_trust=1.0, unrelated=(0.3, 0.1))
        store_constants(connection, fingerprint, constants)
    words = ("find_transactions", {"query": "内科医院", "limit": 1})
    cold, _, warm, second, chosen, of_category = answers(
        copy, words, ("kakeibo", {"query": "内科"}), words,
        ("find_transactions", {**words[1], "period": "2025年6月"}),
        ("find_transactions", {"query": "内科医院|内科クリニック"}),
        ("find_transactions", {"query": "光熱費", "category": "支出"}),
    )  # fmt: skip
    assert cold.words.splitlines()[1:] == ["「内科医院」: 0件"]
    assert warm.data["total_rows"] == 0
    near = re.search(r"意味の近い店は合計に入れていません: .*内科クリニック（(.*?)）", warm.words)
    assert f"\n「内科医院|内科クリニック」: {near[1]}\n" in chosen.words
    assert near[1] not in second.words
    assert "カテゴリ「水道・光熱費」のほかの明細は合計に入れていません" in of_category.words


def test_rows_are_found_by_shop_amount_and_period_with_the_sums_of_the_month(ask):
    june, spent, largest, wrong = ask(
        ("get_monthly_household", {"period": "2025年6月"}),
        ("find_transactions", {"period": "2025年6月", "group_by": "category"}),
        ("find_transactions",
         {"period": "2025年6月", "category": "支出", "sort": "largest", "limit": 5}),
        ("find_transactions", {"account": "ない銀行"}),
    )  # fmt: skip
    names = ("spending", "income", "balance")
    assert [spent.data[name] for name in names] == [june.data[name] for name in names]
    assert spent.data["total_rows"] == june.data["counts"]["used"]
    assert sum(group["spending"] for group in spent.data["groups"]) == spent.data["spending"]
    assert f"{spent.data['total_rows']:,}件" in spent.words
    amounts = [row["amount"] for row in largest.data["rows"]]
    assert (amounts, len(amounts)) == (sorted(amounts), 5)
    assert wrong.is_error
    assert "口座「ない銀行」は見つかりません" in wrong.words


def test_a_picture_comes_with_the_answer_and_from_its_address_in_exact_pixels(ask):
    month, trend, jpeg = ask(
        ("get_monthly_household", {"period": "2025年6月", "output_format": "image"}),
        ("get_category_trend", {"output_format": "image", "image_size": "1024x768",
                                "graph_type": "area"}),
        ("get_category_trend", {"output_format": "image", "image_format": "jpeg",
                                "graph_type": "bar"}),
    )  # fmt: skip
    assert jpeg.served() == ("image/jpeg", *jpeg.pictures)
    assert jpeg.pictures[0].startswith(b"\xff\xd8\xff")
    for answer, size in ((month, (800, 600)), (trend, (1024, 768))):
        (png,) = answer.pictures
        assert size_of(png) == size
        assert len(png) < 500_000
        assert answer.served() == ("image/png", png)
        assert answer.data["chart"]["alt_text"].startswith("家計簿グラフ - ")
        assert "http://127.0.0.1:" in answer.words


def test_totals_are_answered_by_month_and_trend_and_a_day_with_a_picture(ask):
    image = {"output_format": "image"}
    *totals, day = ask(
        *[
            (tool, {"category": total, "period": "2025年7月から9月", **image})
            for total in ("支出", "収入", "収支", "貯蓄率")
            for tool in ("get_monthly_household", "get_category_trend")
        ],
        ("get_monthly_household", {"period": "2025年7月1日〜7月10日", "limit": 20, **image}),
    )
    assert [len(answer.pictures) for answer in totals] == [1] * 8
    spent, spending, _, income, left, balance, saved, savings = [one.data for one in totals]
    assert spent["spending"] == spending["categories"][0]["total"] > 0
    assert left["balance"] == balance["categories"][0]["total"]
    assert left["balance"] == income["categories"][0]["total"] - spent["spending"]
    assert saved["savings_rate"] == savings["savings"]["rate"]
    assert f"- 貯蓄率: {saved['savings_rate']}%" in totals[6].words
    assert f"- 支出: {spent['spending']:,}円" in totals[0].words
    assert (day.data["first_day"], day.data["last_day"]) == ("2025-07-01", "2025-07-10")
    assert day.data["chart"]["alt_text"] == "家計簿グラフ - 2025年7月1日〜2025年7月10日の支出"
    assert {row["date"][:9] for row in day.data["rows"]} == {"2025-07-0", "2025-07-1"}
    assert 0 < day.data["spending"] < spent["spending"]


def test_an_svg_is_only_at_its_address(ask):
    question = {"category": "食費", "output_format": "image", "image_format": "svg"}
    (answer,) = ask(("get_category_trend", question))
    kind, svg = answer.served()
    assert answer.pictures == []
    assert kind.startswith("image/svg+xml")
    assert b"<svg" in svg


def test_an_unsuitable_graph_is_refused_with_the_suitable_ones(ask):
    pie, line, big = ask(
        ("get_category_trend", {"output_format": "image", "graph_type": "pie"}),
        ("get_monthly_household", {"output_format": "image", "graph_type": "line"}),
        ("get_monthly_household", {"output_format": "image", "image_size": "4000x3000"}),
    )
    assert (pie.is_error, line.is_error, big.is_error) == (True, True, True)
    assert pie.words == (
        "graph_type「pie」は get_category_trend では使えません。使えるのは line、area、bar です"
    )
    assert "pie、bar" in line.words
    assert "1920x1080" in big.words


def test_a_small_limit_shrinks_the_usual_size(database):
    (answer,) = answers(
        database,
        ("get_monthly_household", {"output_format": "image"}),
        charts={"max_size": "640x480"},
    )
    assert size_of(answer.pictures[0]) == (640, 480)


def test_with_an_unusable_font_the_answer_is_text_with_the_reason(database, tmp_path):
    font = tmp_path / "broken.ttf"
    font.write_bytes(b"no font")
    (answer,) = answers(
        database,
        ("get_monthly_household", {"output_format": "image"}),
        charts={"font_path": str(font)},
    )
    assert not answer.is_error
    assert answer.data["chart"]["type"] == "text"
    assert "グラフを描けなかったため" in answer.words
    assert "支出:" in answer.words


def test_unknown_input_is_refused_in_japanese_with_the_choices(ask):
    period, category, page, name, odd = ask(
        ("get_category_trend", {"period": "いつか"}),
        ("get_category_trend", {"category": "食日"}),
        ("get_monthly_household", {"period": "2025年6月", "page": 99}),
        ("get_monthly_household", {"tool": "nobody"}),
        ("get_monthly_household", {"tool": "no\n※ body"}),
    )
    assert all(answer.is_error for answer in (period, category, page, name))
    assert "いつか" in period.words
    assert "2023年10月" in period.words
    assert category.words.startswith("該当カテゴリが見つかりません")
    assert "食費" in category.words
    assert r"家計簿「no\n※ body」が" in odd.words
    assert "家計簿「nobody」が見つかりません。指定できる名前: kakeibo" in name.words


WRONG: list[tuple[str, dict[str, object], str]] = [
    ("get_monthly_household", {"month": "六月"},
     'month は整数で指定してください（指定値: "六月"）。2025-06 のような文字列は since, until '),
    ("get_monthly_household", {"month": "2026-07", "language": "en"},
     'get_monthly_household: month should be a whole number, not "2026-07"; texts such as 2025-06 '
     "go in since, until"),
    ("get_monthly_household", {"month": True}, "month は整数で指定してください（指定値: true）。"),
    ("get_category_trend", {"graph_type": "foo"},
     "graph_type は'bar'、'line'、'pie'、'area' のいずれかで指定してください"),
    ("get_category_trend", {"nosuch": 1},
     "get_category_trend に 'nosuch' という引数はありません。使える引数: category、"),
    ("detect_duplicates", {"amount_tolerance_abs": "x"},
     "amount_tolerance_abs は数値で指定してください"),
    ("confirm_duplicate", {}, "confirm_duplicate には引数 'decision' が必要です。"),
    ("get_category_trend", {"category": 5}, "category は文字列で指定してください"),
]  # fmt: skip


def test_wrong_arguments_are_refused_in_the_language_of_the_answers(ask):
    given = ask(*[call for *call, _ in WRONG])
    for answer, (*_, said) in zip(given, WRONG, strict=True):
        assert answer.is_error
        assert answer.words.startswith(said)


def test_an_empty_household_says_how_to_import(tmp_path):
    empty = tmp_path / "vectors.sqlite"
    registering.add_tool(empty, "kakeibo", "家計簿", tmp_path, "household")
    search, *others = answers(
        empty,
        ("kakeibo", {"query": "水"}),
        ("get_monthly_household", {}),
        ("get_category_trend", {}),
        ("detect_duplicates", {}),
        ("detect_duplicates", {"transaction_ids": [1]}),
        ("list_duplicate_candidates", {}),
        ("get_duplicate_stats", {}),
        ("household_report", {"report": "accounts"}),
    )
    for answer in others:
        assert answer.is_error
        assert answer.words.startswith("データファイルが見つかりません")
    assert "mdvec import -n kakeibo" in search.words


def test_the_resources_have_categories_months_and_trends(ask):
    hierarchy, categories, months, trends = ask(
        "data://category_hierarchy", "data://household_categories",
        "data://available_months", "data://category_trend_summary",
    )  # fmt: skip
    assert hierarchy == categories
    assert "食料品" in hierarchy["食費"]
    assert [month["is_gap"] for month in months] == [False] * 24
    assert (months[0]["year"], months[0]["month"]) == (2023, 10)
    assert {len(category["months"]) for category in trends["categories"]} == {12}


def test_months_from_the_26th_move_sums_titles_charts_and_resources(database):
    image = {"output_format": "image"}
    june, trend, months, summary = answers(
        database,
        ("get_monthly_household", {"period": "2025年6月", **image}),
        ("get_category_trend", {"category": "支出", "period": "2025年6月〜7月", **image}),
        "data://available_months",
        "data://category_trend_summary",
        household={"month_starts_on": 26},
    )
    assert (june.data["first_day"], june.data["last_day"]) == ("2025-05-26", "2025-06-25")
    assert "2025年06月（5/26〜6/25）の家計簿です。" in june.words
    assert june.data["chart"]["alt_text"].endswith("2025年6月（5/26〜6/25）の支出")
    assert trend.data["categories"][0]["months"][0]["amount"] == june.data["spending"]
    assert trend.data["chart"]["alt_text"].endswith(
        '2025年6月〜2025年7月（2025/5/26〜2025/7/25））"'
    )
    assert {"first_day": "2025-05-26", "last_day": "2025-06-25"}.items() <= next(
        month for month in months if (month["year"], month["month"]) == (2025, 6)
    ).items()
    assert "（" in summary["understood"]
