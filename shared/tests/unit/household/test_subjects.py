"""Totals, and parts of names, which are never resolved silently to something else."""

import unicodedata

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from table_of_cases import each

from mdvec.household.core.categories import (
    INCOME,
    AmbiguousCategory,
    Category,
    Total,
    UnknownCategory,
    hierarchy_of,
    resolve_subject,
)
from mdvec.household.core.shown import bracketed_name

HIERARCHY = hierarchy_of(
    [("特別な支出", "家具"), ("収入", "給与"), ("食費", "外食"), ("その他", "貯蓄以外")]
)


@each(
    ("said", "total"),
    [
        ("支出", Total.SPENDING), ("支出合計", Total.SPENDING), ("総支出", Total.SPENDING),
        ("支出の合計", Total.SPENDING), ("支出総額", Total.SPENDING), ("支出額", Total.SPENDING),
        ("全支出", Total.SPENDING), (" 支 出 ", Total.SPENDING), ("支出カテゴリ", Total.SPENDING),
        ("収入", Category(INCOME)), ("総収入", Category(INCOME)), ("収入合計", Category(INCOME)),
        ("収支", Total.BALANCE), ("収支合計", Total.BALANCE), ("貯蓄率", Total.SAVINGS_RATE),
    ],
)  # fmt: skip
def test_totals_are_totals_and_never_a_category_whose_name_holds_the_word(said, total):
    assert resolve_subject(said, HIERARCHY) == (total, None)
    assert resolve_subject(said, {}) == (total, None)


@each(
    ("said", "total", "words"),
    [("貯蓄", Total.BALANCE, "収支（収入 − 支出）"), ("出費", Total.SPENDING, "支出"),
     ("貯金額", Total.BALANCE, "収支（収入 − 支出）"), ("貯金率", Total.SAVINGS_RATE, "貯蓄率"),
     ("差引", Total.BALANCE, "収支（収入 − 支出）"), ("総出費", Total.SPENDING, "支出")],
)  # fmt: skip
def test_a_synonym_of_a_total_is_reported(said, total, words):
    assert resolve_subject(said, HIERARCHY) == (total, f"「{said}」は{words}として集計しました")


def test_a_category_named_like_a_total_is_ambiguous_and_both_can_be_named():
    own = hierarchy_of([("支出", "謎"), ("投資", "貯蓄"), ("食費", "貯金"), ("教育", "貯金")])
    for said, choices in (
        ("支出", ("支出合計", "支出カテゴリ")), ("貯蓄", ("収支合計", "投資 > 貯蓄")),
        ("貯金", ("収支合計", "教育 > 貯金", "食費 > 貯金")),
    ):  # fmt: skip
        with pytest.raises(AmbiguousCategory) as asked:
            resolve_subject(said, own)
        assert asked.value.choices == choices
    assert resolve_subject("支出合計", own)[0] is Total.SPENDING
    assert resolve_subject("支出カテゴリ", own)[0] == Category("支出")
    assert resolve_subject("投資 > 貯蓄", own)[0] == Category("投資", "貯蓄")


def test_a_major_that_shares_its_name_with_a_middle_category_elsewhere_says_so():
    own = hierarchy_of([("保険", "生命保険"), ("自動車", "保険"), ("保険", "保険")])
    assert resolve_subject("保険", own) == (
        Category("保険"),
        "「保険」は大項目の保険として集計しました（同じ名前の中項目: 自動車 > 保険）",
    )


def test_many_choices_are_counted_and_not_all_named():
    own = hierarchy_of([(f"費目{n}", "") for n in range(40)])
    with pytest.raises(AmbiguousCategory, match="（ほか28件）") as asked:
        resolve_subject("費目", own)
    assert len(asked.value.choices) == 40


NAME = st.text("支出収入食費率aＡ・ ", min_size=1, max_size=4).filter(str.strip)
TREES = st.lists(st.tuples(NAME, st.one_of(st.just(""), NAME)), max_size=12).map(hierarchy_of)


def plain(name):
    text = unicodedata.normalize("NFKC", name).casefold()
    return "".join(text.replace("・", "").split())


@given(TREES, NAME)
def test_no_part_of_a_name_is_answered_silently_or_where_it_can_mean_two_things(tree, said):
    wanted = plain(said)
    assume(wanted)
    every = [Category(major) for major in tree]
    every += [Category(major, minor) for major, minors in tree.items() for minor in minors]
    holding = {one for one in every if wanted in plain(one.minor or one.major)}
    whole = {one for one in every if wanted == plain(one.minor or one.major)}
    paths = {
        one for one in every
        if one.minor and wanted in (plain(one.major + one.minor), f"{one.major}の{one.minor}")
    }  # fmt: skip
    try:
        subject, remark = resolve_subject(said, tree)
    except AmbiguousCategory:
        return
    except UnknownCategory:
        assert not holding
        return
    if subject in (*Total, Category(INCOME)):
        return
    if remark is None:
        assert subject in whole | paths
    elif subject not in whole:
        repeating = {
            one for one in holding
            if one.minor and one.major == subject.major and subject.minor is None
            and plain(one.major) in plain(one.minor)
        }  # fmt: skip
        assert holding - repeating == {subject}
        assert bracketed_name(subject) in remark


def test_a_minor_that_only_repeats_its_majors_name_makes_no_part_of_it_ambiguous():
    own = hierarchy_of([("水道・光熱費", "その他水道・光熱費"), ("水道・光熱費", "電気代")])
    assert resolve_subject("光熱費", own) == (
        Category("水道・光熱費"),
        "「光熱費」は「水道・光熱費」として集計しました",
    )
    assert resolve_subject("その他水道", own)[0] == Category("水道・光熱費", "その他水道・光熱費")
