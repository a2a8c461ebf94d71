"""Rows found by words and the names of shops: signs in names, words left out, other spellings."""

from datetime import date
from itertools import product

import pytest
from found_ledger import CATEGORIES, HOME, ROWS, FilledLedger
from table_of_cases import each

from mdvec.household import Ledger, shops

MINUS = [
    (date(2025, 7, 1), amount, shop, *ROWS[0][3:])
    for shop, amount in (
        ("-マイナス商店", -100), ("カ）ライオン -ズ", -20), ("ズ", -3), ("AEON", -4_000),
    )
]  # fmt: skip


@each(
    ("asked", "spending", "note"),
    [
        ({"shop": ["-マイナス商店"]}, 100, '一致した店: "-マイナス商店"（1件、支出 100円）'),
        ({"shop": ["カ）ライオン -ズ"]}, 20, "一致した店: カ）ライオン -ズ（1件、支出 20円）"),
        (
            {"shop": ["-ズ商店", "AEON"]}, 4_000,
            "「-ズ商店」という名前の店はありません。除く店は exclude_shop に指定してください",
        ),
        (
            {"shop": ["-イオン"]}, 0,
            "「-イオン」という名前の店はありません。除く店は exclude_shop に指定してください",
        ),
        (
            {"exclude_shop": ["-マイナス商店"]}, 4_023,
            '除いた店: "-マイナス商店"（1件、支出 100円）',
        ),
        ({"exclude_shop": ["-AEON"]}, 4_123, ""),
        ({"query": "-AEON"}, 123, "除いた店: AEON（1件、支出 4,000円）"),
    ],
)  # fmt: skip
def test_a_minus_in_the_name_of_a_shop_is_a_sign_of_the_name(asked, spending, note):
    found = FilledLedger(MINUS).find(**asked)
    assert (found.spending, note in found.notes or not note) == (spending, True)


@each(("written", "asked"), product("-−‐―", "-−－﹣‐‑‒–—―─━"))
def test_a_minus_before_the_name_of_a_shop_is_any_dash(written, asked):
    rows = [(MINUS[0][0], -100, f"{written}マイナス店", *ROWS[0][3:]), MINUS[3]]
    assert FilledLedger(rows).find(shop=[f"{asked}マイナス店"]).spending == 100
    assert FilledLedger(rows).find(exclude_shop=[f"{asked}マイナス店"]).spending == 4_000


BAR = [
    (date(2025, 7, 1), -100, "カフェ|バー 月", *ROWS[0][3:]),
    (date(2025, 7, 2), -20, "カフェ 海", *ROWS[0][3:]),
    (date(2025, 7, 3), -3, "バー 月", *ROWS[0][3:]),
]


@each(
    ("asked", "spending"),
    [
        ({"shop": ["カフェ|バー 月"]}, 100),
        ({"shop": ["カフェ｜バー 月"]}, 100),
        ({"shop": ["カフェ|海"]}, 20),
        ({"exclude_shop": ["カフェ|バー 月"]}, 23),
        ({"query": "カフェ|バー 月"}, 123),
    ],
)
def test_a_bar_in_the_name_of_a_shop_separates_no_alternatives(asked, spending):
    assert FilledLedger(BAR).find(**asked).spending == spending


APART = [
    (date(2025, 7, 1 + at), -1_000, shop, *ROWS[0][3:])
    for at, shop in enumerate(
        ["スーパーみなみ", "バス公社", "バス公社", "バス公社 出張", "ジム ONE", "本屋 A&B", "ジム"]
    )
]


@each(
    ("wanted", "said"),
    [
        ({"query": "スーパーみなみ バス公社"}, "バス公社（3件、支出 3,000円）"),
        ({"query": "スーパーみなみ バス公社 -出張"}, "バス公社（2件、支出 2,000円）"),
        ({"query": "スーパーみなみ バス公社", "exclude_shop": "バス公社"}, "バス公社（0件）"),
        ({"query": "スーパーみなみ バス公社", "shop": "スーパーみなみ"}, "バス公社（0件）"),
    ],
)
def test_the_sums_of_each_word_are_without_what_the_question_leaves_out(wanted, said):
    found = FilledLedger(APART).find(**wanted)
    assert found.total_rows == 0
    assert f"言葉ごとでは: スーパーみなみ（1件、支出 1,000円）、{said}。" in found.text
    none = "条件に合う明細に、除くように言われた店のものはありません"
    excludes = "exclude_shop" in wanted or "-" in wanted["query"]
    assert (none in found.notes) == excludes
    assert "言葉ごと" not in FilledLedger(APART).find(query="バス公社 出張 -出張").text


@each("minus", [*"-−－﹣‐‑‒–—―─━", "――", "--", "−-"])
def test_the_answer_names_what_a_minus_of_any_keyboard_leaves_out(minus):
    found = FilledLedger(APART).find(query=f"スーパーみなみ｜バス公社 {minus}出張")
    assert found.notes == (
        "一致した店: バス公社（2件、支出 2,000円）、スーパーみなみ（1件、支出 1,000円）",
        "除いた店: バス公社 出張（1件、支出 1,000円）",
    )


@each("many", [1, 20])
def test_a_listed_shop_of_two_words_stays_one_in_however_long_a_question(many):
    query = f"（ジム ONE、{'本屋 A&B、' * many}バス公社）"
    (note, *_) = FilledLedger(APART).find(query=query).notes
    assert note == (
        "すべての言葉がある明細はありません。言葉ごとでは: ジム ONE（1件、支出 1,000円）、"
        "本屋 A&B（1件、支出 1,000円）、バス公社（3件、支出 3,000円）。"
        "どれかでよいときは query の言葉の間を | に、"
        "時期は query でなく period に書いてください"
    )
    assert FilledLedger(APART).find(query=query.replace("、", "|")).spending == 5_000


def test_the_user_says_once_how_else_a_shop_is_written():
    ledger = FilledLedger(
        [*HOME, (date(2025, 7, 9), -700, "SEJ 渋谷", CATEGORIES[0], "財布", None)]
    )
    tried = shops.try_alias(Ledger.undated(ledger.connection, 1), shop="セブン", spelling="SEJ")
    assert "1件、支出 700円（まだ決めていません）" in tried.text
    assert ledger.find(query="セブン").total_rows == 0
    listed = shops.add_alias(Ledger.undated(ledger.connection, 1), shop="セブン", spelling="SEJ")
    assert listed.aliases == (("セブン", "SEJ"),)
    found = ledger.find(query="セブン")
    assert (found.spending, "別の書き方の店も含めました: SEJ" in found.text) == (700, True)
    assert ledger.find(shop="セブン-イレブン").spending == 700
    with pytest.raises(shops.InvalidAlias, match="決めてありません"):
        shops.remove_alias(Ledger.undated(ledger.connection, 1), shop="ローソン", spelling="SEJ")
    assert not shops.remove_alias(
        Ledger.undated(ledger.connection, 1), shop="せぶん", spelling="sej"
    ).aliases
    assert ledger.find(query="セブン").total_rows == 0
    for shop, spelling, said in (
        ("丸", "まるはち", "短すぎます"),
        ("ローソン", "ﾛ-ｿﾝ", "見つかります"),
    ):
        with pytest.raises(shops.InvalidAlias, match=said):
            shops.add_alias(Ledger.undated(ledger.connection, 1), shop=shop, spelling=spelling)


def test_a_spelling_that_is_only_near_is_named_with_its_sum_and_not_in_the_total():
    row = (CATEGORIES[0], "財布", None)
    found = FilledLedger(
        [
            (date(2025, 7, 1), -500, "ﾌｱﾐﾘ-ﾏ-ﾄ", *row),
            (date(2025, 7, 2), -600, "ﾌｱﾐﾘ-ﾏ-ﾄｼﾌﾞﾔﾃﾝ", *row),  # where the name ends is unsure
            (date(2025, 7, 3), -700, "薬局", *row),
        ]
    ).find(query="ファミリーマート")
    assert (found.total_rows, found.spending) == (1, 500)
    assert "合計に入れていません: ﾌｱﾐﾘ-ﾏ-ﾄｼﾌﾞﾔﾃﾝ（1件、支出 600円）" in found.text


def test_a_shop_with_the_letters_inside_a_word_is_named_but_not_summed():
    found = FilledLedger(ROWS).find(query="イオン")
    assert (found.total_rows, found.spending) == (1, 540)
    inside = "別の言葉の一部にしかない店は合計に入れていません: ライオン堂（1件、支出 800円）"
    assert inside in found.text


def test_a_word_after_a_minus_is_left_out_and_the_answer_says_what_was():
    found = FilledLedger(HOME).find(query="-家賃")
    assert (found.total_rows, found.spending) == (3, 85_000)
    assert "除いた店: 家賃（1件、支出 90,000円）" in found.text
    # The category of that name is another question, and has rows that were not excluded.
    assert "カテゴリ「住宅 > 家賃」の明細は除いていません（1件、支出 80,000円）" in found.text
    assert "exclude_category" in found.text
