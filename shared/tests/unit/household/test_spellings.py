"""The spellings of a shop that are taken for one another, and those that are only near."""

import re
import tomllib
from importlib import resources

from table_of_cases import each

from mdvec.household.core.naming import Aliases, Naming, WordsAsked
from mdvec.household.shops import ready_made_aliases

GIVEN = Aliases(ready_made_aliases())


def naming(asked, written, aliases=GIVEN):
    return WordsAsked(asked, aliases).naming((written, ""))


@each(
    ("asked", "written"),
    [
        ("ファミリーマート", "ﾌｱﾐﾘ-ﾏ-ﾄ"), ("ファミリーマート", "フアミリーマート 渋谷店"),
        ("ファミリーマート", "ﾌｧﾐﾘｰﾏｰﾄ"), ("ローソン", "ﾛ-ｿﾝ"), ("ダイソー", "ﾀﾞｲｿ-"),
        ("ダイソー", "ﾀ゛ｲｿｰ"), ("ダイソー", "タイソー"), ("ビックカメラ", "ビツクカメラ"),
        ("ビックカメラ", "ﾋﾞﾂｸｶﾒﾗ"), ("東京ガス", "ﾄｳｷﾖｳｶﾞｽ"), ("東京ガス", "ﾄｳｷﾖｳｶﾞｽ ﾘﾖｳｷﾝ"),
        ("東京ガス", "トウキヨウカス"), ("ﾄｳｷﾖｳｶﾞｽ", "東京ガス"), ("ミニストップ", "ﾐﾆｽﾄﾂﾌﾟ"),
        ("キャンドゥ", "ｷﾔﾝﾄﾞｳ"), ("マクドナルド", "ﾏｸﾄﾅﾙﾄ"), ("セブンイレブン", "ｾﾌﾞﾝ-ｲﾚﾌﾞﾝ"),
        ("ﾌｱﾐﾘ-ﾏ-ﾄ", "ファミリーマート"), ("まつもときよし", "ﾏﾂﾓﾄｷﾖｼ"),
        ("Amazon", "AMZN MKTP JP"), ("アマゾン", "AMZN MKTP JP"),
        ("ウーバーイーツ", "UBER   *EATS"), ("Uber Eats", "ウーバーイーツ"),
        ("ダイソー", "DAISO"), ("ヨドバシカメラ", "ﾖﾄﾞﾊﾞｼ.ｺﾑ"), ("西友", "ｾｲﾕ-"), ("西友", "SEIYU"),
        ("セブンイレブン", "セブンｰイレブン"), ("吉野家", "ﾖｼﾉﾔ"), ("ENEOS", "ｴﾈｵｽ"),
        ("ドンキ", "DON QUIJOTE SHINJUKU"), ("ビックカメラ", "BICCAMERA.COM"),
        ("オーケー", "OK ﾖｳｶﾞﾃﾝ"), ("OK", "オーケー 用賀店"), ("セブン", "7-ELEVEN 渋谷"),
    ],
)  # fmt: skip
def test_a_shop_is_found_as_statements_write_it(asked, written):
    assert naming(asked, written) is Naming.NAMED


@each(
    ("asked", "written", "expected"),
    [
        ("ビール", "ビル管理", Naming.NOT), ("カード", "カドヤ", Naming.NOT),
        ("バス", "ハス", Naming.NOT), ("ガスト", "カスト", Naming.NOT),
        ("内科", "ナイカイ", Naming.NOT), ("イオン", "ライオン堂", Naming.INSIDE),
        ("7-ELEVEN", "セブン銀行", Naming.NOT), ("オーケー", "BOOKOFF", Naming.INSIDE),
        ("ダイソー", "ﾀｲｿｰ ﾀﾞｲﾅﾏ", Naming.NOT), ("スーパー", "ス-パ", Naming.NOT),
        ("西友", "RESEIYUKAI", Naming.INSIDE),
    ],
)  # fmt: skip
def test_what_is_only_like_a_shop_is_not_taken_for_it(asked, written, expected):
    assert naming(asked, written) is expected


def test_the_users_own_spelling_goes_from_the_name_to_what_is_written():
    own = Aliases(ready_made_aliases(), [("セブン", "SEJ"), ("丸八", "MARUHACHI SHOUTEN")])
    assert naming("丸八", "MARUHACHI SHOUTEN", own) is Naming.NAMED
    assert naming("MARUHACHI", "丸八", own) is Naming.NOT
    # A name of a known shop brings its other names along.
    assert naming("セブン-イレブン", "SEJ 渋谷", own) is Naming.NAMED
    assert naming("丸八", "MARUHACHI SHOUTEN") is Naming.NOT


def test_the_answer_knows_which_spelling_named_a_row():
    words = WordsAsked("オーケー", GIVEN)
    assert words.naming(("オーケー 用賀店",)) is Naming.NAMED
    assert not words.used
    assert words.naming(("OK 用賀店",)) is Naming.NAMED
    assert list(words.used) == ["OK"]


def test_words_after_a_minus_are_a_question_of_their_own():
    words = WordsAsked("カフェ -スタバ −ドトール")
    assert words.naming(("カフェ",)) is Naming.NAMED
    assert words.excluded is not None
    assert words.excluded.naming(("ドトール",)) is Naming.NAMED
    assert WordsAsked("-家賃").naming(("何か",)) is Naming.NAMED
    assert naming("ﾛ-ｿﾝ", "ローソン") is Naming.NAMED  # a hyphen inside a word is of the word


def test_each_alias_that_comes_with_mdvec_is_of_one_shop_and_has_a_source():
    spellings = [spelling for one in ready_made_aliases() for spelling in one.spellings]
    assert len(spellings) == len(set(spellings)) > 20
    text = resources.files("mdvec.household").joinpath("aliases.toml").read_text("utf-8")
    shops = tomllib.loads(text)
    assert all(name in known for name, known in shops["spellings"].items())
    assert shops["asked"].keys() < shops["spellings"].keys()
    sources = re.findall("^.* = .*]  # https://.", text, re.MULTILINE)
    assert len(sources) == len(shops["spellings"])
