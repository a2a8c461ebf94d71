"""What is written comes before what is like it, and what is written nowhere is said to be."""

import random

from collection import imported_notes
from table_of_cases import each

SOUNDS = {
    "COBOL": "ケーブル", "SQLite": "セキュリティー", "rails": "リリース", "zulip": "スリープ",
    "redis": "レディース",
}  # fmt: skip


sounds = imported_notes(
    {f"{at}.md": f"# 記録\n\n{word}の記録。\n" for at, word in enumerate(SOUNDS.values())}
)


@each("asked", ["{}", "{}の記録", "{}のインストール手順"])
@each("name", SOUNDS)
def test_a_name_found_by_its_sound_alone_is_a_guess_in_whatever_case(sounds, name, asked):
    answer = sounds.search(asked.format(name), k=1)
    assert not answer.confident
    assert f'nothing here mentions "{name}"' in answer.notes[0]
    assert any(f'words like "{name}" were searched for instead' in note for note in answer.notes)


def test_a_word_as_it_is_written_comes_before_its_sound(collection):
    for at in range(8):
        collection.write(f"{at}.md", f"# 幅 {at}\n\nスクロールの幅。スクロールは {at} 行目。\n")
    collection.write("z.md", "# 画面\n\nBit 3: the last of them is for scrolling\n")
    collection.import_("new")
    assert collection.places("scrolling", k=1, mode="lexical") == ["z.md"]


def test_a_name_with_its_number_counts_as_one_word_though_its_parts_are_everywhere(collection):
    collection.write("a.md", "# 覚え\n\n内部で Zope2 を使うのが原因で動かない。\n")
    collection.write("b.md", "# 続き\n\n今は Zope 2 を使う。\n")
    for at in range(9):
        collection.write(f"c{at}.md", f"# Zope {at}3\n\nZope を続ける。手順は 2 つある。\n")
    collection.import_("new")
    for mode in ("lexical", "hybrid"):
        assert set(collection.places("Zope2", k=2, mode=mode)) == {"a.md", "b.md"}


def test_a_rare_name_is_found_beside_words_that_a_hundred_passages_have(collection):
    chance = random.Random(1)
    words = ["天気", "電車", "料理", "会議", "予算", "旅行", "写真", "音楽", "植物"]
    for at in range(100):
        first, second, third = chance.sample(words, 3)
        collection.write(
            f"{at}.md",
            f"# {first} {at}\n\nこの{second}のビット割り当ては{third}による。"
            f"{at} 番目のビット割り当てを表にした。\n",
        )
    for at in range(100):
        collection.write(f"z{at}.md", f"# {at}\n\n{'と'.join(chance.sample(words, 5))}。\n")
    collection.write("window.md", "# 窓\n\n0x40 - WIN0H - 右端の座標\n")
    collection.import_("new")
    assert collection.places("WIN0Hのビット割り当て", k=1, mode="lexical") == ["window.md"]


ROWS = "".join(f"| KX-{9000 + at} | {1000 + at * 7:,}円 | 棚{at % 9} |\n" for at in range(200))
table = imported_notes({"t.md": f"# 表\n\n| 品番 | 価格 | 備考 |\n| --- | --- | --- |\n{ROWS}"})


@each(
    ("asked", "written"),
    [
        ("1,861円の品番は何ですか", "1,861"), ("1861円の品番", "1,861"),
        ("価格が2,267円のもの", "2,267"), ("KX-9123の価格", "KX-9123"),
    ],
)  # fmt: skip
def test_the_row_with_the_number_comes_before_the_head_of_the_table(table, asked, written):
    assert len(table.search(asked, k=9, returning="chunk").results) > 1
    assert written in table.search(asked, k=1, mode="lexical", returning="chunk").results[0].content


signs = imported_notes(
    {
        "money.md": "# 家電\n\n冷蔵庫は 98,000円、送料は 1,500円、洗濯機は 120,300円。\n",
        "version.md": "# 版\n\n- [v18.3.1](https://example.com/log)\n",
        "bare.md": "# 依存\n\nZod 4.5.6 を使う。\n",
        "drawing.md": "# 図\n\nM18 3.1 L1 18 3 C3 1 18 1 3 18.1 3.18\n",
        "bases.md": "# 基本\n\n検索では `file.name` と書く。\n",
        "command.md": "# 指示\n\nファイルの name と file の name。\n",
        "errors.md": "# 認証\n\n未ログインは 401、権限がないときは 403。rgb(255, 254, 253)\n",
        "keys.md": "# 操作\n\nCmd+O で開く。\n",
        "more_keys.md": "# キー\n\nCmd+Shift+O と Cmd+P と O。Cmd O は無い。\n",
        **{f"{at}.md": f"# 雑記 {at}\n\n天気や旅行のことを書いた。\n" for at in range(20)},
    }
)


@each(
    ("asked", "absent"),
    [
        ("98,500", "98,500"), ("120,500", "120,500"), ("1,300円", "1,300"),
        ("98,500円の冷蔵庫", "98,500"), ("zod@3.22.4", "3.22.4"),
    ],
)  # fmt: skip
def test_that_an_amount_is_nowhere_is_told_though_its_parts_are_somewhere(signs, asked, absent):
    answer = signs.search(asked, k=1)
    assert not answer.confident
    assert answer.notes[0] == f'nothing here mentions "{absent}"'


def test_numbers_with_a_comma_between_them_may_be_several(signs):
    assert signs.places("401,403エラーの扱い", k=1) == ["errors.md"]
    answer = signs.search("rgb(255,254,253)", k=1)
    assert (answer.confident, answer.results[0].file_path) == (True, "errors.md")
    assert not any("mention" in note for note in answer.notes)


@each(
    ("asked", "file"),
    [
        ("98,000円", "money.md"), ("18.3.1", "version.md"), ("v18.3.1", "version.md"),
        ("v4.5.6", "bare.md"),
        ("file.name", "bases.md"), ("file.nameとは", "bases.md"), ("cmd+o", "keys.md"),
    ],
)  # fmt: skip
def test_a_text_with_signs_comes_before_its_parts(signs, asked, file):
    for mode in ("lexical", "hybrid"):
        assert signs.places(asked, k=1, mode=mode) == [file]
    assert not any("mention" in note for note in signs.search(asked).notes)


def test_a_text_with_signs_that_is_nowhere_is_found_by_its_parts_and_not_denied(signs):
    answer = signs.search("file/name", k=2)
    assert {hit.file_path for hit in answer.results} <= {"command.md", "bases.md"}
    assert not any("mention" in note for note in answer.notes)


def test_an_english_function_word_in_japanese_is_what_a_title_names(collection):
    for word in ("any", "this", "never"):
        collection.write(f"{word}.md", f"# {word}型\n\n型の説明。型は {word} で書く。\n")
    collection.import_("new")
    for word in ("any", "this", "never"):
        assert collection.places(f"{word}型", k=1) == [f"{word}.md"]
    found = collection.search("if型", k=1)
    assert not found.confident
