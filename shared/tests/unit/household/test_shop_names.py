"""Descriptions of one shop in kanji, katakana, bank's kana and Latin letters are alike."""

from hypothesis import given, settings
from hypothesis import strategies as st
from table_of_cases import each

from mdvec.household.core.shop_names import closeness, is_named_in, shop_name


def close(one, other):
    return closeness(shop_name(one), shop_name(other))


@each(
    ("one", "other"),
    [
        ("松屋", "マツヤフーズ"),
        ("東京ガス", "トウキヨウガス"),
        ("AMAZON.CO.JP", "アマゾン"),
        ("Amazon", "ＡＭＡＺＯＮ．ＣＯ．ＪＰ"),
        ("ユニクロ", "UNIQLO"),
        ("ワークマン", "デビット 123456 WORKMAN"),
        ("マツキヨ", "マツモトキヨシ/iD"),
        ("スタバ", "スタ-バツクスコ-ヒ-"),
        ("東急ハンズ", "トウキユウハンズ シンジユクテン"),
        ("関西電力", "カンサイデンリヨク(カブ"),
        ("(株)あきんどスシロー", "スシロー"),
        ("丸亀製麺 田町店", "PAYPAY*マルガメセイメン"),
        ("ｾﾌﾞﾝ-ｲﾚﾌﾞﾝ 荻窪駅前店", "セブン－イレブン"),
        ("西友", "セイユウ"),
        ("QBハウス", "PAYPAY*キユ-ビ-ハウス"),
    ],
)
def test_spellings_of_one_shop(one, other):
    assert close(one, other) >= 0.8
    assert close(other, one) == close(one, other)


@each(
    ("one", "other"),
    [
        ("ドトール", "スターバックス"), ("ユニクロ", "GU"), ("ローソン", "ファミリーマート"),
        ("ガスト", "東京ガス"), ("店 012", "店 345"), ("", "松屋"),
    ],
)  # fmt: skip
def test_other_shops(one, other):
    assert close(one, other) < 0.6


@each(
    ("account", "description"),
    [
        ("PayPay", "PAYPAY"),
        ("Amazon.co.jp", "AMAZON.CO.JP"),
        ("Yahoo!ショッピング", "ヤフ-シヨツピング"),
        ("LOHACO", "ロハコ"),
    ],
)
def test_a_description_names_an_account(account, description):
    assert is_named_in(shop_name(account), shop_name(description)) >= 0.8
    assert is_named_in(shop_name(account), shop_name("松屋")) < 0.6


@settings(max_examples=25, deadline=None)
@given(st.text(max_size=30), st.text(max_size=30))
def test_any_two_texts_can_be_compared(one, other):
    assert 0 <= close(one, other) <= 1
    assert close(one, one) == (1 if shop_name(one).letters else 0)
