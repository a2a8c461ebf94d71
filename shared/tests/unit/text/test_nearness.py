"""What is nearest to a name that nothing has."""

from table_of_cases import each

from mdvec.text import nearest_or_all, nearest_texts, signs_of


@each(
    ("text", "known", "nearest"),
    [
        ("Memo", ["kakeibo", "memo"], ["memo"]),
        ("ミカン", ["りんご", "ﾐｶﾝ", "バナナ"], ["ﾐｶﾝ"]),
        ("東点", ["東店", "西口"], ["東店"]),
        ("京都えき", ["京都駅", "京都", "東京駅"], ["京都", "京都駅"]),
        ("aaa", ["aab", "aac", "aad", "aae"], ["aab", "aac", "aad"]),
        ("A-12", ["A-122", "A-012", "A-00000012"], ["A-012", "A-00000012", "A-122"]),
        ("007", ["7", "008"], ["7", "008"]),
        ("", ["a"], []),
        ("x" * 10**6, ["x" * 10**6, "y"], ["x" * 10**6]),
    ],
)
def test_the_nearest_texts_differ_in_width_case_kana_or_a_letter(text, known, nearest):
    assert nearest_texts(text, known) == nearest


def test_where_none_is_near_all_are_named():
    assert nearest_or_all("zzz", ["memo", "kakeibo"]) == "there are: memo, kakeibo"
    assert nearest_or_all("memoo", ["memo", "kakeibo"]) == "nearest: memo"


@each(
    ("text", "other"),
    [
        ("ミカン", "ﾐｶﾝ"), ("りんご", "ﾘﾝｺﾞ"), ("AMAZON", "ａｍａｚｏｎ"), ("高橋", "髙橋"),
        ("Café", "café"), ("Привет", "привет"), ("パ\n'\"a", "ハ\n'\"a"),
    ],
)  # fmt: skip
def test_texts_that_differ_in_width_kana_and_marks_have_the_same_signs(text, other):
    letters, signs, wanted = signs_of(text)
    without = len(letters) - len(signs)
    table = str.maketrans(letters[:-without], signs, letters[-without:])
    assert other.translate(table) == wanted
    assert wanted.isascii()


def test_a_text_of_more_letters_than_there_are_signs_has_some_in_common():
    _, _, wanted = signs_of("".join(map(chr, range(0x4E00, 0x4E64))))
    assert (len(wanted), len(set(wanted))) == (100, 32)
    assert signs_of("")[2] == ""
