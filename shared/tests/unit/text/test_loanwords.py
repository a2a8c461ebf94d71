"""English words and their katakana."""

from hypothesis import given
from hypothesis import strategies as st
from table_of_cases import each

from mdvec.text.loanwords import first_kana, katakana_of

KNOWN = [
    "フック", "フォーク", "フォーム", "ハンドラ", "ハンドル", "レンダー", "レンダリング",
    "リデューサ", "サスペンス", "トランジション", "ポータル", "チルドレン", "フェッチ",
    "バウンダリ", "エフェクト", "コンテクスト", "クイック", "クエリ", "チケット", "キャプチャ",
]  # fmt: skip


@each(
    ("word", "katakana"),
    [
        ("hook", ["フック"]),
        ("handlers", ["ハンドラ"]),
        ("render", ["レンダー"]),
        ("rendering", ["レンダリング"]),
        ("reducer", ["リデューサ"]),
        ("suspense", ["サスペンス"]),
        ("transition", ["トランジション"]),
        ("children", ["チルドレン"]),
        ("fetching", ["フェッチ"]),
        ("boundary", ["バウンダリ"]),
        ("effects", ["エフェクト"]),
        ("context", ["コンテクスト"]),
        ("capture", ["キャプチャ"]),
        ("water", []),
        ("optimistic", []),
        ("ref", []),
        ("use_state", []),
        ("ハンドラ", []),
    ],
)
def test_an_english_word_is_spelled_by_its_consonants(word, katakana):
    assert katakana_of(word, KNOWN) == katakana
    assert all(spelling[0] in first_kana(word) for spelling in katakana)


@given(st.text("abcdefghijklmnopqrstuvwxyz", max_size=30) | st.text(max_size=10))
def test_any_word_has_known_spellings_or_none(word):
    found = katakana_of(word, KNOWN)
    assert set(found) <= {spelling for spelling in KNOWN if spelling[0] in first_kana(word)}
