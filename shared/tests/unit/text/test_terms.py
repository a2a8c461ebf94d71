"""Terms: pairs of CJK runs, whole words of everything else, folded."""

import re
import unicodedata
from collections import Counter

from hypothesis import example, given
from hypothesis import strategies as st
from table_of_cases import each

from mdvec.text.folding import folded
from mdvec.text.index_terms import TermCounter, spelled_parts, terms

CJK = "食費管理水道光熱家計簿ひらがなカタカナー々〇𩸽"
any_text = st.text(st.characters())  # lone surrogates are among them


@each(
    ("text", "words"),
    [
        ("Keep it, keep_it!", ["keep", "it", "keep_it"]),
        ("config.toml", ["config", "toml"]),
        ("error[E0308]: 3.14", ["error", "e0308", "3", "14"]),
        ("ＡＢＣ", ["abc"]),
        ("Straße", ["strasse"]),
        ("Привет мир", ["привет", "мир"]),
        ("水 と 油", ["水", "と", "油"]),
        ('"*()-:^ 🍙。、・\0', []),
        ("", []),
        ("x" * 100, ["x" * 64]),
        ("a\ud800b", ["a", "b"]),
    ],
)
def test_words_and_single_characters_are_terms_as_they_stand(text, words):
    assert terms(text) == words


@each(
    ("text", "found"),
    [
        ("食費管理", ["食費", "費管", "管理"]),
        ("useStateを使う", ["usestate", "を使", "使う"]),
        ("ﾃﾞｰﾀﾍﾞｰｽ", ["デー", "ータ", "タベ", "ベー", "ース"]),
        ("人々の話", ["人々", "々の", "の話"]),
        ("𩸽定食", ["𩸽定", "定食"]),
        ("か\u3099っこう", ["がっ", "っこ", "こう"]),
        ("食費は30%", ["食費", "費は", "30"]),
    ],
)
def test_a_run_of_cjk_characters_is_found_by_its_pairs(text, found):
    assert set(found) <= set(terms(text))


@given(any_text)
def test_no_term_holds_anything_but_letters_digits_and_underscores(text):
    for term in terms(text):
        # Ideographs that are newer than this Python are letters all the same.
        assert re.fullmatch(r"[\w\U00020000-\U0003ffff]+", term), term


@given(any_text)
def test_a_text_is_found_by_each_of_its_terms(text):
    for term in terms(text):
        assert term in terms(term)


@example("ｶﾞ ﾊﾟ ㍿ ﬁ")
@given(any_text)
def test_folding_a_text_beforehand_changes_nothing(text):
    assert terms(unicodedata.normalize("NFKC", text)) == terms(text)


@given(st.text("abcXYZ012_ -.食費カナ"))
def test_width_and_case_do_not_matter(text):
    wide = "".join(chr(ord(sign) + 0xFEE0) if "!" <= sign <= "~" else sign for sign in text)
    assert terms(wide) == terms(text.upper()) == terms(text.lower()) == terms(text)


@given(st.text(CJK, min_size=2, max_size=30), st.text(" 。abc-", max_size=5))
def test_every_two_characters_of_a_run_are_a_term_wherever_it_stands(run, before):
    found = Counter(terms(f"{before}{run}{before}"))
    pairs = Counter(run[place : place + 2] for place in range(len(run) - 1))
    assert pairs <= found


@given(st.text("食費管理ab1 ", max_size=20), st.text("食費管理ab1 ", max_size=20))
def test_a_break_parts_what_stands_before_it_from_what_comes_after(first, second):
    assert terms(f"{first}\n{second}") == terms(first) + terms(second)


@each(
    ("wanted", "text", "counts"),
    [
        (["食費", "usestate"], "食費の食費はuseStateで", {"食費": 2, "usestate": 1}),
        (["state"], "useState", {}),
        (["株価指数"], "日経株価指数先物", {"株価指数": 1}),
        (["データ"], "ﾃﾞｰﾀﾍﾞｰｽ", {"データ": 1}),
        (["abc"], "ＡＢＣ abc, Abc", {"abc": 3}),
        ([], "水", {}),
    ],
)
def test_terms_are_counted_where_they_stand(wanted, text, counts):
    assert TermCounter(wanted).counts(folded(text)) == counts


@given(st.text("食費管理カナabX1_ -\n"), st.text("食費管理カナabX1_ -\n"))
def test_a_term_that_two_texts_share_is_counted(query, text):
    counts = TermCounter(terms(query)).counts(folded(text))
    assert set(counts) >= set(terms(query)) & set(terms(text))
    assert all(counts.values())


@each(
    ("question", "among", "parts"),
    [
        ("サーバーの食費", ("ーバ", "サー", "バー", "食費"), ["サーバー", "食費"]),
        ("サーバーの食費", ("サー",), ["サー"]),
        ("食費と食費、useState", ("食費", "usestate"), ["食費", "usestate"]),
        ("水", (), []),
    ],
)
def test_overlapping_pairs_of_a_question_are_shown_as_the_words_they_come_from(
    question, among, parts
):
    assert spelled_parts(question, among) == parts
