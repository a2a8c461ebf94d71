"""Words in their normalised form."""

import unicodedata

from hypothesis import given, settings
from hypothesis import strategies as st
from table_of_cases import each

from mdvec.text.fields import chunk_fields, document_names, field_terms
from mdvec.text.folding import folded
from mdvec.text.morphology import _MAX_KEPT, _RecentRuns, morphemes

SPELLINGS = [
    ("サーバ", "サーバー"), ("打合せ", "打ち合わせ"), ("問合せ", "問い合わせ"),
    ("取込", "取り込み"), ("引越し", "引っ越し"), ("子ども", "子供"), ("こども", "子供"),
    ("シュミレーション", "シミュレーション"), ("インターフェイス", "インターフェース"),
    ("ユーザ", "ユーザー"), ("行なう", "行う"), ("調べた", "調べる"),
    ("調べられなかった", "調べる"), ("Web", "ウェブ"), ("component", "コンポーネント"),
    ("ﾃﾞｰﾀﾍﾞｰｽ", "データベース"), ("國語", "国語"), ("學校", "学校"), ("むげん", "無限"),
    ("2024年12月5日", "December 05, 2024"), ("2024-12-05", "５ Dec 2024"),
    ("令和6年12月5日", "2024/12/5"), ("2024年12月", "Dec. 2024"),
]  # fmt: skip


@each(("one", "other"), SPELLINGS)
def test_spellings_of_a_word_share_a_term(one, other):
    shared = set(field_terms(one).words) & set(field_terms(other).words)
    assert any(term.startswith("=") for term in shared)


def test_particles_and_auxiliaries_are_no_words():
    terms = field_terms("部屋を掃除していました。").words
    assert terms == ["=部屋", "=掃除", "=為る", "=居る"]


def test_a_word_in_letters_stands_as_it_is_unless_the_dictionary_has_it_in_japanese():
    assert field_terms("useState the component").words == ["usestate", "the", "=コンポーネント"]


@each("text", ["2024-13-05", "12024-12-05", "2024年13月", "may be 2024", "mars 2024"])
def test_what_is_no_date_is_none(text):
    assert not any(term.startswith("=20") for term in field_terms(text).words)


def test_a_long_text_without_any_break_is_analysed_whole():
    text = "東京特許許可局" * 10_000
    found = morphemes(text)
    assert (found[0].start, found[-1].end) == (0, len(text))
    assert all(one.end == other.start for one, other in zip(found, found[1:], strict=False))


words = st.lists(
    st.sampled_from([pair[0] for pair in SPELLINGS] + ["useState", "食費"]), max_size=5
)


@settings(max_examples=40)
@given(words, st.text("はをに、。 \n", max_size=3), st.text(max_size=10))
def test_words_lie_in_order_in_the_folded_text_and_a_form_of_any_width_has_the_same(
    parts, between, other
):
    text = between.join(parts) + other
    found = morphemes(text)
    ends = [0, *(word.end for word in found)]
    assert all(
        end <= word.start < word.end <= len(folded(text))
        for end, word in zip(ends, found, strict=False)
    )
    assert morphemes(unicodedata.normalize("NFKC", text)) == found


@given(st.text(max_size=30))
def test_no_term_of_a_word_holds_a_space_or_a_sign_of_the_query_language(text):
    for term in field_terms(text).words:
        assert not set(term) & set(" \"'*()-:^+\0\n"), term


@settings(max_examples=40)
@given(words, st.text("あ亜ア a。", max_size=4), st.text("。\n ", min_size=1, max_size=2))
def test_a_text_has_the_words_of_each_of_its_sentences(parts, rest, stop):
    whole = field_terms(f"{rest}{stop}{'、'.join(parts)}{stop}{rest}").words
    assert set(field_terms("、".join(parts)).words) <= set(whole) | {"=202412", "=20241205"}


def test_the_fields_of_a_chunk_have_each_heading_once_and_its_path_in_words():
    names = document_names("guide/react-18_upgradeGuide.md")
    assert names == "guide/react-18_upgradeGuide guide/react-18 upgrade Guide"
    assert document_names("notes/.env") == "notes/.env"
    fields = chunk_fields("題", names, "題 > 節 > 項", "文")
    assert fields == ("題", names, "節 > 項", "文")
    assert chunk_fields("題", "", "題", "").heading == ""
    assert chunk_fields("題", "", "題名", "").heading == "題名"


def test_the_cache_of_words_stays_small_over_two_days_of_a_new_key_each_second():
    """Also where keys are long, or have no word to count."""
    runs, most = _RecentRuns(), 0
    for second in range(48 * 60 * 60):
        runs.keep(f"{second}{'x' * (second % 3 * 1_000)}", ())
        most = max(most, len(runs))
    assert 3_000 < most <= _MAX_KEPT
    assert sum(map(len, runs)) < 4_000_000
