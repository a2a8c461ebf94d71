"""Mistyped words."""

from hypothesis import given
from hypothesis import strategies as st
from table_of_cases import each

from mdvec.text.loanwords import (
    edit_distance,
    in_other_kana,
    max_edits,
    nearest_spellings,
    written_otherwise,
)


@each(
    ("term", "other"),
    [
        ("=ごみ", ("=ゴミ",)), ("=ゴミ", ("=ごみ",)), ("=サーバー", ("=さーばー",)),
        ("=ごみ箱", ()), ("=ゴみ", ()), ("=木", ()), ("usestate", ()),
    ],
)  # fmt: skip
def test_a_word_in_kana_has_one_other_spelling(term, other):
    assert in_other_kana(term) == other


@each(
    ("term", "other"),
    [
        ("=2", ("2",)), ("2", ("=2",)), ("=20歳", ()), ("=二十歳", ()), ("v2", ()),
        ("=ガスメータ", ("=ガスメーター",)), ("=ガスメーター", ("=ガスメータ",)), ("=バー", ()),
    ],
)  # fmt: skip
def test_a_number_and_a_word_in_katakana_have_one_other_spelling(term, other):
    assert written_otherwise(term) == other


@each(
    ("word", "known", "found"),
    [
        ("usesatte", ["usestate", "useeffect", "usememo"], ["usestate"]),
        ("createprotal", ["createportal", "createroot"], ["createportal"]),
        ("コンポネント", ["コンポーネント", "コンテンツ"], ["コンポーネント"]),
        ("ヴァリデーター", ["バリデーター", "バリュー"], ["バリデーター"]),
        ("バイオリン", ["ヴァイオリン"], ["ヴァイオリン"]),
        ("hook", ["book", "look", "hooks"], ["book", "look", "hooks"]),
        ("abc", ["abd"], []),
        ("食費管理帳", ["食費管理表"], []),
        ("usestate", ["reducer"], []),
    ],
)
def test_a_mistyped_word_is_taken_for_the_nearest(word, known, found):
    assert nearest_spellings(word, known, max_edits(word)) == found or not max_edits(word)
    assert bool(found) <= bool(max_edits(word))


letters = st.text("abc", max_size=7)


@given(letters, letters)
def test_the_distance_is_none_only_between_equals_and_the_same_both_ways(one, other):
    distance = edit_distance(one, other, 9)
    assert (distance == 0) == (one == other)
    assert distance == edit_distance(other, one, 9)
    assert distance <= max(len(one), len(other))
    for limit in (0, 1, 2):
        assert edit_distance(one, other, limit) == min(distance, limit + 1)


def test_letters_that_changed_places_are_one_mistake():
    assert edit_distance("satte", "state", 5) == 1
    assert edit_distance("ab", "ba", 2) == 1
