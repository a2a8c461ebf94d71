"""Which shops words name, and which only have the letters inside another word."""

import gc
import sys

import pytest
from table_of_cases import each

from mdvec.household.core.naming import Naming, WordsAsked
from mdvec.text.loanwords import katakana_of
from mdvec.text.questions import analyse_question

NAMED = [
    ("Amazon", "AMAZON.CO.JP"),
    ("amazon", "Ａｍａｚｏｎ　プライム"),
    ("アマゾン", "AMAZON.CO.JP"),
    ("Amazon", "ｱﾏｿﾞﾝ"),
    ("まつや", "松屋 新宿店"),
    ("やよい軒", "弥生軒 1234"),
    ("東京ガス", "東京ガス 5月分"),
    ("水道", "東京都水道局"),
    ("水道局", "東京都 水道局"),
    ("セブン", "セブン-イレブン"),
    ("セブンイレブン", "セブン-イレブン"),
    ("スターバックス", "スターバックスコーヒー 渋谷"),
    ("starbucks", "STARBUCKS COFFEE"),
    ("渋谷 スターバックス", "スターバックスコーヒー 渋谷"),
    ("ﾏｸﾄﾞﾅﾙﾄﾞ", "マクドナルド"),
    ("サーバ代", "サーバー代"),
]
INSIDE = [
    ("イオン", "ライオン歯磨き"), ("ポート", "パスポート申請"), ("京都", "東京都水道局"),
    ("au", "Restaurant Bleu"), ("amazon", "AMAZONMKTPLACE"),
]  # fmt: skip
NOT = [
    ("Amazon", "楽天市場"),
    ("松屋", "松本屋"),
    ("東京ガス 電気", "東京ガス"),
    ("店 123", "店 124"),
]


@each(
    ("words", "text", "naming"),
    [(*pair, Naming.NAMED) for pair in NAMED]
    + [(*pair, Naming.INSIDE) for pair in INSIDE]
    + [(*pair, Naming.NOT) for pair in NOT],
)
def test_words_name_a_text_where_its_words_are_the_same(words, text, naming):
    assert WordsAsked(words).naming([text, ""]) is naming


def test_parts_between_spaces_may_be_in_the_shop_and_in_the_memo():
    assert WordsAsked("書店 誕生日").naming(["駅前書店", "誕生日の贈り物"]) is Naming.NAMED
    assert WordsAsked("書店 記念日").naming(["駅前書店", "誕生日の贈り物"]) is Naming.NOT


def test_one_of_several_alternatives_is_enough():
    words = WordsAsked("カフェ ｜駅前 喫茶|")
    assert words.naming(["喫茶 ヒダマリ", "駅前"]) is Naming.NAMED
    assert words.naming(["喫茶 ヒダマリ", ""]) is Naming.NOT


def test_signs_alone_are_no_words():
    assert WordsAsked(" ・！ |").is_empty


@pytest.mark.soak
def test_two_days_of_other_questions_and_rows_need_no_more_memory_than_one():
    """A question about another row every five seconds; the most that any hour has allocated."""
    peaks = []
    for hour in range(48):
        for second in range(hour * 3_600, (hour + 1) * 3_600, 5):
            letters = "".join("アイウエオカキクケコ"[int(digit)] for digit in f"{second:06}")
            shop = f"{letters}商店{second} ｼﾌﾞﾔ店"
            WordsAsked(f"{letters}商店").naming([shop])
            analyse_question(f"{shop} logger{second} の料金はいつ払いましたか")
            katakana_of(f"logger{letters}", [letters, f"{letters}ー"])
        gc.collect()
        peaks.append(sys.getallocatedblocks())
    assert max(peaks[24:]) < 1.1 * max(peaks[:24])


@each("sign", ["--", "—", "――", "ー"])
def test_a_dash_without_a_word_excludes_nothing_and_a_long_vowel_is_a_letter(sign):
    asked = WordsAsked(f"渋谷 {sign} 松屋")
    assert asked.excluded is None
    assert (asked.naming(["渋谷 松屋", ""]) is Naming.NAMED) == (sign != "ー")
    assert WordsAsked("ーツ").excluded is None
