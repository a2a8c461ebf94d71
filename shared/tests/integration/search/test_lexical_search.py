"""Finding by words: Japanese without spaces, names of code, widths; whatever is typed is text."""

import pytest
from collection import imported_notes
from source_folder import no_model
from table_of_cases import each

from mdvec.search.answer import Question, search
from mdvec.search.core.filters import MAX_QUERY_CHARS

FILLER = "この段落は、ほかのことについて書いてあります。天気や旅行や音楽の話です。" * 2
NOTES = {
    "food.md": "# 家計簿\n\n## 食費の予算\n\n今月の食費は四万円まで。外食は別に数えます。\n",
    "light.md": "# 家計簿\n\n## 光熱費\n\n冬は電気とガスが高くなるので積み立てます。\n",
    "water.md": "# 防災\n\n## 水の備蓄\n\n一人一日三リットル、玄関と寝室に置きます。\n",
    "react.md": "# React\n\n## 状態\n\nコンポーネントの状態は useState で持ちます。\n",
    "config.md": "# 設定\n\n## ファイル\n\n設定は config.toml に書きます。\n",
    "rust.md": "# Rust\n\n## エラー\n\n型が合わないと error[E0308]: mismatched types です。\n",
    "width.md": "# 記録\n\n## 略語\n\nＡＢＣ分析は在庫を分けます。ﾊﾞｯｸｱｯﾌﾟは毎晩です。\n",
    "kana.md": "# 記録\n\n## 道具\n\nデータベースとサーバーを分けると楽です。\n",
    "travel.md": "# 旅行\n\n## 荷物\n\nパスポートとレポート。パスポートは鞄へ。\n",
    "network.md": "# 回線\n\n## 接続\n\nルータのポートフォワーディングを設定する。\n",
    **{f"filler/{number}.md": f"# 雑記 {number}\n\n{FILLER}\n" for number in range(20, 40)},
}


notes = imported_notes(NOTES)


@each(
    ("query", "file"),
    [
        ("食費", "food.md"),
        ("今月の食費はいくらまでですか", "food.md"),
        ("光熱費", "light.md"),
        ("水の備蓄はどこに置けばいいですか", "water.md"),
        ("備蓄", "water.md"),
        ("useState", "react.md"),
        ("USESTATE", "react.md"),
        ("useStateの使い方", "react.md"),
        ("コンポーネント", "react.md"),
        ("config.toml", "config.md"),
        ("config.tomlはどう書く？", "config.md"),
        ("E0308", "rust.md"),
        ("error[E0308]", "rust.md"),
        ("ABC", "width.md"),
        ("ＡＢＣ", "width.md"),
        ("ａｂｃ分析", "width.md"),
        ("バックアップ", "width.md"),
        ("ﾊﾞｯｸｱｯﾌﾟ", "width.md"),
        ("データベース", "kana.md"),
        ("ﾃﾞｰﾀﾍﾞｰｽ", "kana.md"),
        ("サーバー", "kana.md"),
    ],
)
@each("mode", ["hybrid", "lexical"])
def test_a_word_or_an_unspaced_question_finds_its_passage(notes, query, file, mode):
    assert notes.places(query, k=1, mode=mode) == [file]


def test_words_of_titles_and_headings_count_too(notes):
    assert set(notes.places("家計簿", k=2)) == {"food.md", "light.md"}
    assert notes.places("予算", k=1) == ["food.md"]


PLAIN = [
    '"', '"食費', "食費*", "食費 NEAR 外食", "NEAR(食費 外食)", "食費 AND 外食", "食費 OR 水",
    "NOT 食費", "terms:食費", "col:食費", "-食費", "食費 -外食", "(食費", "食費)", "^食費",
    "{食費}", "食費; DROP TABLE tools", "食費'", "食費%", "食費_", "\\食費", "食費\0",
    "食費\n外食", "+食費",
]  # fmt: skip


@each("query", PLAIN)
@each("mode", ["hybrid", "lexical", "vector"])
def test_the_syntax_of_the_index_is_plain_text(notes, query, mode):
    answer = notes.search(query, mode=mode)
    assert answer.query == query
    if "食費" in query and mode != "vector":
        assert answer.results[0].file_path == "food.md"


ODD = ["[71,82]", "null", "7", "true", "{}", "🍙", "👨\u200d👩\u200d👧", "、。", "%s"]


@each("query", ODD)
def test_anything_readable_is_a_question(notes, query):
    answer = notes.search(query)
    assert answer.query == query
    assert answer.results, "vectors answer what holds no known word"
    assert all(0 <= hit.score <= 1 for hit in answer.results)
    assert notes.search(query, mode="lexical").results == ()


def test_half_a_surrogate_pair_asks_no_model_and_finds_its_other_words(notes):
    assert notes.places("食費\ud800", k=1, mode="lexical") == ["food.md"]


def test_a_long_query_of_different_words_is_answered(notes):
    every = "".join(chr(0x4E00 + number) for number in range(MAX_QUERY_CHARS - 2)) + "食費"
    assert notes.places(every, k=1, mode="lexical") == ["food.md"]


def test_without_a_word_in_common_the_lexical_mode_finds_nothing(notes):
    answer = notes.search("xylophone", mode="lexical")
    assert (answer.results, answer.total_chunks) == ((), len(NOTES))
    assert notes.search("xylophone", mode="hybrid").results


def test_the_lexical_mode_loads_no_model(notes):
    question = Question("食費", ("notes",), mode="lexical")
    assert search(notes.database, question, no_model).results[0].file_path == "food.md"


def test_an_explanation_adds_up_to_the_score(notes):
    for hit in notes.search("今月の食費と外食", k=20).results:
        why = hit.explanation
        assert why.fused == pytest.approx(
            max(
                0.0,
                why.lexical_weight * why.lexical_score
                + (1 - why.lexical_weight) * why.vector_score,
            ),
            abs=2e-4,
        )
    first = notes.search("食費", k=1).results[0].explanation
    assert (first.lexical_rank, first.coverage) == (1, 1.0)
    assert notes.search("食費", k=1, mode="lexical").results[0].explanation.cosine is None


def test_a_word_counts_more_than_its_letters_inside_other_words(notes):
    first, *others = notes.places("ポート", mode="lexical")
    assert (first, "travel.md" in others) == ("network.md", True)


def test_letters_inside_another_word_are_still_found(notes):
    assert notes.places("スポー", mode="lexical")[0] == "travel.md"


def test_a_word_for_the_form_of_an_answer_may_be_what_is_asked_about(collection):
    for number in range(60):
        collection.write(f"{number}.md", f"# 保険 {number}\n\n保険の見直しをした。\n")
        collection.write(f"sofa {number}.md", f"# Sofa {number}\n\nThe oak arm of the sofa.\n")
    collection.write("資料.md", f"# 保険\n\n{FILLER}保険の資料は押入れの箱にある。\n")
    collection.write("cover.md", f"# Sofa\n\n{FILLER} The cover of the sofa can be washed.\n")
    collection.import_("new")
    for asked, file in (
        ("保険に関する資料はどこですか", "資料.md"),
        ("where is the cover of the sofa?", "cover.md"),
    ):
        assert collection.places(asked, 1, mode="lexical") == [file]
