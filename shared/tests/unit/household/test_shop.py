"""The shop of a description: one name for all its spellings."""

import re
import unicodedata

from hypothesis import given
from hypothesis import strategies as st
from table_of_cases import each

from mdvec.household.core.shop_names import shop_of, shops_of

DASHES = "-－−‐‑–—―﹣"
NAMES = st.text(
    "アイバスーンッ゛ｱﾊﾞｰﾝらー渋谷店ＡＢａｂABab・.&＆/ 　#()（）1２34０", min_size=1, max_size=14
)


@each(
    ("descriptions", "shop"),
    [
        (("ＡＭＡＺＯＮ", "Amazon", "amazon", " AMAZON　"), "amazon"),
        (("AMAZON.CO.JP", "Ａｍａｚｏｎ．ｃｏ．ｊｐ"), "amazon.co.jp"),
        (("コンビニ－24", "コンビニ−24", "コンビニ-24", "ｺﾝﾋﾞﾆ 24", "コンビニ #24"), "コンビニ"),
        (("セブン-イレブン 1234", "セブン－イレブン", "ｾﾌﾞﾝ−ｲﾚﾌﾞﾝ 0012号店", "セブン‐イレブン(77)",
          "セブンーイレブン"), "セブン-イレブン"),
        (("ラーメン", "ﾗｰﾒﾝ"), "ラーメン"),
        (("らーめん　花月", "らーめん 花月"), "らーめん 花月"),
        (("スーパー",), "スーパー"),
        (("東京ー大阪", "東京―大阪"), "東京-大阪"),
        (("ローソン００１２３", "ローソン00123店", "ローソン No.123"), "ローソン"),
        (("ローソンストア100", "ﾛｰｿﾝｽﾄｱ１００"), "ローソンストア100"),
        (("ローソン 渋谷店 000123", "ローソン　渋谷店"), "ローソン 渋谷店"),
        (("電気代 2025年7月",), "電気代 2025年7月"),
        (("3COINS",), "3coins"),
        (("109", "１０９"), "109"),
        (("Amazon\u200b", "Ama\u00adzon"), "amazon"),
        (("ﾃﾞﾝｷﾀﾞｲ", "デンキダイ", "テ\u3099ンキタ\u3099イ"), "デンキダイ"),
        (("--",), "--"),
        (("",), ""),
    ],
)  # fmt: skip
def test_one_shop_has_one_name(descriptions, shop):
    assert {shop_of(description) for description in descriptions} == {shop}


@given(text=NAMES | st.text(min_size=1, max_size=12))
def test_a_shop_is_its_own_shop_and_never_empty(text):
    assert shop_of(text)
    assert shop_of(shop_of(text)) == shop_of(text)


@given(text=NAMES | st.text(min_size=1, max_size=12))
def test_widths_and_case_do_not_change_the_shop(text):
    assert shop_of(unicodedata.normalize("NFKC", text)) == shop_of(text)
    assert shop_of(text.casefold()) == shop_of(text)


@given(texts=st.lists(NAMES | st.text(max_size=6), max_size=8))
def test_a_batch_gives_the_same_shops_as_single_calls(texts):
    assert shops_of(texts) == {text: shop_of(text) for text in texts}


@given(parts=st.lists(NAMES, min_size=2, max_size=3), dash=st.sampled_from(DASHES))
def test_all_dashes_are_one(parts, dash):
    assert shop_of(dash.join(parts)) == shop_of("-".join(parts))


@given(
    text=st.text("アイバスーンャッらめー", min_size=2, max_size=8).filter(
        lambda t: t[0] not in "ーンッ"
    )
)
def test_a_long_vowel_stays(text):
    without_dashes = re.sub("([ンッ])ー+", r"\1", text)
    assert shop_of(without_dashes).count("ー") == without_dashes.count("ー")
