"""What is nearest to a name that nothing has."""

from table_of_cases import each

from mdvec.text import nearest_or_all, nearest_texts


@each(
    ("text", "known", "nearest"),
    [
        ("Memo", ["kakeibo", "memo"], ["memo"]),
        ("ミカン", ["りんご", "ﾐｶﾝ", "バナナ"], ["ﾐｶﾝ"]),
        ("東点", ["東店", "西口"], ["東店"]),
        ("京都えき", ["京都駅", "京都", "東京駅"], ["京都", "京都駅"]),
        ("aaa", ["aab", "aac", "aad", "aae"], ["aab", "aac", "aad"]),
        ("", ["a"], []),
        ("x" * 10**6, ["x" * 10**6, "y"], ["x" * 10**6]),
    ],
)
def test_the_nearest_texts_differ_in_width_case_kana_or_a_letter(text, known, nearest):
    assert nearest_texts(text, known) == nearest


def test_where_none_is_near_all_are_named():
    assert nearest_or_all("zzz", ["memo", "kakeibo"]) == "there are: memo, kakeibo"
    assert nearest_or_all("memoo", ["memo", "kakeibo"]) == "nearest: memo"
