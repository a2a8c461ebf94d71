"""The table of English sentences: every sentence of the household's answers is in it."""

import ast
import re
import tomllib
from pathlib import Path

from table_of_cases import each

import mdvec.household
from mdvec.household import data_in_english, in_english

HOUSEHOLD = Path(mdvec.household.__file__).parent
JAPANESE = re.compile(r"[ぁ-んァ-ヶ一-鿿]")
READING = {
    "accounts", "cells", "chunk_rows", "column_questions", "column_roles", "export", "mapped_rows",
    "mapping", "moneyforward", "naming", "proposal", "shop_names", "statement_kinds",
    "statement_text", "transfer_pairs", "undecided",
}  # fmt: skip
"""The modules whose Japanese is what they look for in files and questions, or what they write."""
LOOKED_FOR = re.compile(
    r"[|(?\[]|^([月火水木金土日]+|出費|貯金率?|差引|差し引き|差引収支|収支差額?|直前|前期間|前年同期"
    r"|[去昨]年(同月)?)$"
)
"""Such texts in the other modules: patterns, and names of totals and periods."""
OF_PLACES = re.compile(r"^(件、|\d(?=週|か))|[\d円]+$|['\"].*")
"""A number and its unit, and a quoted example: places of the table."""


def texts(path):
    tree = ast.parse(path.read_text("utf-8"))
    told = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in told:
            yield from re.split("[。\n「」]", node.value)


def test_every_japanese_text_of_the_answers_is_in_the_table():
    table = tomllib.loads((HOUSEHOLD / "english.toml").read_text("utf-8"))
    known = "\n".join(name for part in table.values() for name in part)
    known = re.sub(r"「?\{\w+\}」?", "\n", known)
    missing = [
        f"{path.name}: {text}"
        for path in sorted(HOUSEHOLD.rglob("*.py"))
        if path.stem not in READING
        for text in texts(path)
        if JAPANESE.search(text) and not LOOKED_FOR.search(text)
        if OF_PLACES.sub("", text.strip("-※ 円、（）:：%")).strip("（） ") not in known
    ]
    assert not missing


@each(
    ("japanese", "english"),
    [
        ("- 食費: 62,500円 （26.5%, 1件）", "- 食費 (food): ¥62,500 (26.5%, 1 row)"),
        ("※ 「先月」を 2025年06月 と解釈しました。", 'Note: "先月" was read as 2025-06.'),
        ("- 人: 1,000円（3件）", "- 人: ¥1,000 (3 rows)"),
        ("- 店: 1,000円 （50.0%, 3件）", "- 店: ¥1,000 (50.0%, 3 rows)"),
        ("- 毎月 > なし: 1,000円", "- 毎月 > なし: ¥1,000"),
        ("- 食費 8,958円（10件）", "- 食費 (food) ¥8,958 (10 rows)"),
        ("- 塾（食費） 900円（1件、毎年）", "- 塾 (食費 (food)) ¥900 (1 row, every year)"),
        (
            "- 塾（なし、財布）: 毎月 9円、年 108円（次は 2025-07-01 ごろ）",
            "- 塾 (なし, 財布): every month ¥9, ¥108 a year (next about 2025-07-01)",
        ),
        (
            "[check_id 1] チャージで、振替らしい（類似度 90%）、日付差 0日、金額差 0円",
            "[check_id 1] a charge, likely a transfer (similarity 90%), 0 days and ¥0 apart",
        ),
        ("- なし（収入）: 1円 → 2円（+1円）", "- なし (income): ¥1 → ¥2 (+¥1)"),
        ("店の予算を毎月 50,000円 にしました。", "The budget of 店 is ¥50,000 every month now."),
        ("- 支出: 1,000円", "- spending: ¥1,000"),
        (
            "カテゴリ別の支出:\n- 収支: 2円 （9%, 1件）\n- 合計: 1円 （5%, 1件）\n"
            "- （中項目なし）: 1円",
            "Spending by category:\n- 収支 (balance): ¥2 (9%, 1 row)\n"
            "- 合計 (total): ¥1 (5%, 1 row)\n- (no subcategory): ¥1",
        ),
        (
            "動いたカテゴリ（差の大きい順）:\n- 平日: 1円 → 2円（+1円）\n"
            "- 収入（収入）: 1円 → 2円（+1円）",
            "The categories that moved, largest difference first:\n"
            "- 平日 (Monday to Friday): ¥1 → ¥2 (+¥1)\n- income: ¥1 → ¥2 (+¥1)",
        ),
        ("固定費カテゴリ", "the category 固定費 (fixed costs)"),
        ("収支カテゴリ", "the category 収支 (balance)"),
        ("- 平日: 3件、支出 1,000円", "- Monday to Friday: 3 rows, spending ¥1,000"),
        ("- 店7: 2件、支出 1,000円", "- 店7: 2 rows, spending ¥1,000"),
        ("- 食費カテゴリ: 5円 → 7円（+2円、+40.0%）", "- 食費カテゴリ: ¥5 → ¥7 (+¥2, +40.0%)"),
        ("- ほか3店（収入）: 1円 → 2円（+1円）", "- ほか3店 (income): ¥1 → ¥2 (+¥1)"),
        ("2025年06月（5/26〜6/25）の支出です。", "2025-06 (5/26 to 6/25): spending."),
        (
            '- 2025-06-30 "振替。- 収入: 1円" -1,200円 食費（集計外: 振替） 財布',
            '- 2025-06-30 "振替。- 収入: 1円" -¥1,200 食費 (not counted: transfer) 財布',
        ),
        ("A、B（2件、支出 5円）", "A, B (2 rows, spending ¥5)"),
        (
            "家計簿グラフ - 2025年6月（5/26〜6/25）の支出",
            "household chart: spending, 2025-06 (5/26 to 6/25)",
        ),
        ("2025年7月1日〜2025年7月10日の支出", "spending, 2025-07-01 to 2025-07-10"),
        ("海の家", "海の家"),
    ],
)
def test_a_line_keeps_its_figures_and_its_names(japanese, english):
    assert in_english(japanese) == english


def test_answers_as_data_keep_figures_and_names():
    note = "期間の指定がないため、データのある最新の2か月（2025年05月〜2025年06月）としました"
    rows = [{"description": "振替", "amount": -1}]
    data = {"category": "支出", "notes": [note], "rows": rows}
    assert data_in_english(data) == data | {
        "notes": [
            "no period was given: these are the latest 2 months with data (2025-05 to 2025-06)"
        ]
    }
