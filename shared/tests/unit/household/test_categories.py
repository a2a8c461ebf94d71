"""The names that people give to categories."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from table_of_cases import each

from mdvec.household.core.categories import (
    AmbiguousCategory,
    Category,
    Total,
    UnknownCategory,
    find_category,
    hierarchy_of,
    resolve_subject,
)

HIERARCHY = hierarchy_of(
    [
        ("食費", "食料品"), ("食費", "外食"), ("食費", "食料品"), ("水道・光熱費", "電気代"),
        ("交通費", "電車"), ("交通費", "その他"), ("日用品", "その他"), ("日用品", ""),
        ("通信費", "Wi-Fi"), ("未分類", "未分類"), ("収入", "給与"), ("", ""), ("", "迷子"),
        ("教養・教育", "本"), ("税・社会保障", "税/年金"),
    ]
)  # fmt: skip


def resolve(said, hierarchy=HIERARCHY):
    return resolve_subject(said, hierarchy)[0]


@each(
    ("said", "meant"),
    [
        *((said, Category("食費")) for said in ("食費", " 食 費　", "食費カテゴリ")),
        *(
            (said, Category("水道・光熱費"))
            for said in ("水道・光熱費", "水道･光熱費", "水道光熱費")
        ),
        *((said, Category("通信費", "Wi-Fi")) for said in ("Wi-Fi", "ｗｉ－ｆｉ", "WI-FI")),
        *(
            (f"食費{mark}食料品", Category("食費", "食料品"))
            for mark in ("/", " > ", "＞", "／", "→", "の", "・", "：")
        ),
    ],
)
def test_a_category_is_found_by_its_name_or_both_with_a_mark_between_in_any_width(said, meant):
    assert resolve(said) == meant


def test_a_mark_may_be_a_part_of_a_name():
    assert resolve("税・社会保障 > 税/年金") == Category("税・社会保障", "税/年金")
    assert resolve("税/年金") == Category("税・社会保障", "税/年金")


def test_a_major_goes_before_a_middle_category_of_its_name():
    assert resolve("未分類") == Category("未分類")
    assert resolve("未分類/未分類") == Category("未分類", "未分類")


def test_a_middle_category_of_several_majors_is_ambiguous():
    with pytest.raises(AmbiguousCategory) as asked:
        resolve("その他")
    assert asked.value.choices == ("交通費 > その他", "日用品 > その他")
    assert "次のどれかを指定してください: 交通費 > その他、日用品 > その他" in str(asked.value)
    assert resolve("日用品/その他") == Category("日用品", "その他")


@each(
    ("said", "meant"),
    [("光熱費", Category("水道・光熱費")), ("交通", Category("交通費")),
     ("給", Category("収入", "給与")), ("食料", Category("食費", "食料品")),
     ("ＷＩ", Category("通信費", "Wi-Fi"))],
)  # fmt: skip
def test_a_part_of_only_one_name_is_accepted_and_the_guess_stated(said, meant):
    assert resolve_subject(said, HIERARCHY) == (meant, f"「{said}」は「{meant}」として集計しました")


@each(
    ("said", "choices"),
    [("食", ("食費", "食費 > 外食", "食費 > 食料品")), ("通", ("交通費", "通信費")),
     ("収", ("収入", "収支")), ("支", ("支出", "収支"))],
)  # fmt: skip
def test_a_part_of_several_names_is_ambiguous(said, choices):
    with pytest.raises(AmbiguousCategory) as asked:
        resolve(said)
    assert asked.value.choices == choices


@each(("said", "near"), [("食品", "食料品"), ("食費代", "食費")])
def test_an_unknown_name_is_answered_with_the_nearest_and_the_choices(said, near):
    with pytest.raises(UnknownCategory) as unknown:
        resolve(said)
    message = str(unknown.value)
    assert message.startswith("該当カテゴリが見つかりません")
    assert near in unknown.value.nearest
    assert unknown.value.choices == tuple(HIERARCHY)
    assert "選べる大項目: 交通費、収入、教養・教育" in message


def test_a_middle_category_of_another_major_is_not_found_under_this_one():
    with pytest.raises(UnknownCategory):
        resolve("交通費/食料品")


@given(st.one_of(st.text(), st.lists(st.sampled_from("食費/>の・ 料品")).map("".join)))
def test_any_text_is_resolved_or_refused(said):
    try:
        found = resolve(said)
    except UnknownCategory as error:
        message = str(error)
    else:
        message = ""
        if isinstance(found, Total):
            return
        assert found.major in HIERARCHY
        assert found.minor is None or found.minor in HIERARCHY[found.major]
    assert len(message) < 400


def test_the_exact_spelling_goes_before_one_that_is_only_alike():
    alike = hierarchy_of([("通信費", "Wi-Fi"), ("娯楽", "ＷＩ－ＦＩ")])
    assert resolve("Wi-Fi", alike) == Category("通信費", "Wi-Fi")
    with pytest.raises(AmbiguousCategory):
        resolve("wi-fi", alike)


def test_a_category_with_an_arrow_in_its_name_is_another_than_the_path_that_looks_like_it():
    known = {"X>Y": ["Z"], "X": ["Y"], "食費 > 外食": [], "食費": ["外食"]}
    for name, meant in (
        ("X > Y", Category("X", "Y")), ("X>Y", Category("X>Y")), ("X>Y > Z", Category("X>Y", "Z")),
    ):  # fmt: skip
        assert find_category(name, known) == meant
    with pytest.raises(AmbiguousCategory) as asked:
        find_category("食費 > 外食", known)
    assert [find_category(name, known) for name in asked.value.choices] == [
        Category("食費 > 外食"), Category("食費", "外食"),
    ]  # fmt: skip
