"""Passages: which section a position is in, and what fits into an answer."""

from hypothesis import given
from hypothesis import strategies as st
from table_of_cases import each

from mdvec.search.core.neighbours import TextSpan, good_cut, section_at, within_budget
from mdvec.text.markdown import outline

GUIDE = """---
title: 手引き
---
前書き。

# 手引き

はじめに。

## 水

一日三リットル。

### 置き場所

玄関と寝室。

#### 棚

下の段。

### 入れ替え

半年ごと。

## 米

二合。
"""


def section(content: str, words: str, levels=(1, 2, 3), name="guide.md") -> str:
    span = section_at(content, outline(content, name), levels, content.index(words))
    return content[span.start : span.end]


def test_a_section_is_its_heading_with_everything_under_it():
    water = section(GUIDE, "一日三リットル")
    assert water.startswith("## 水\n")
    assert water.endswith("半年ごと。\n\n")
    assert section(GUIDE, "## 水") == water
    assert section(GUIDE, "半年ごと") == "### 入れ替え\n\n半年ごと。\n\n"
    assert section(GUIDE, "二合") == "## 米\n\n二合。\n"


def test_headings_that_do_not_cut_begin_no_section():
    assert section(GUIDE, "下の段").startswith("### 置き場所\n")
    assert section(GUIDE, "下の段", levels=(1, 2)) == section(GUIDE, "## 水")
    assert section(GUIDE, "下の段", levels=(4,)).startswith("#### 棚\n")
    assert section(GUIDE, "下の段", levels=(4,)).endswith("二合。\n")


def test_under_the_title_and_before_it_a_section_ends_at_the_next_heading():
    assert section(GUIDE, "はじめに") == "# 手引き\n\nはじめに。\n\n"
    assert section(GUIDE, "前書き") == "前書き。\n\n"


def test_a_text_without_headings_is_one_section():
    assert section("一行。\n二行。\n", "二行", name="a.txt") == "一行。\n二行。\n"
    assert section("# one\ntwo", "two", name="a.txt") == "# one\ntwo"


spans = st.lists(
    st.tuples(st.integers(0, 99), st.integers(0, 4000)).map(lambda two: TextSpan(two[0], sum(two))),
    min_size=1,
    max_size=12,
)


@given(spans, st.integers(1, 10_000))
def test_passages_fit_into_the_budget_in_their_order_and_the_first_is_always_there(found, budget):
    kept = within_budget(found, budget)
    lengths = [span.end - span.start for span in kept]
    assert 1 <= len(kept) <= len(found)
    assert sum(lengths) <= budget
    for span, whole in zip(kept, found, strict=False):
        assert span.start == whole.start
        assert span.end <= whole.end
        assert span.end > span.start or whole.end == whole.start


@given(spans, st.integers(1, 10_000))
def test_nothing_is_cut_or_left_out_where_everything_fits(found, budget):
    if sum(span.end - span.start for span in found) <= budget:
        assert within_budget(found, budget) == found


@given(spans, st.integers(1, 10_000))
def test_the_longest_are_cut_and_all_to_the_same_length(found, budget):
    kept = within_budget(found, budget)
    cut = {
        span.end - span.start
        for span, whole in zip(kept, found, strict=False)
        if span.end < whole.end
    }
    assert len(cut) <= 1
    for span in kept:
        assert not cut or span.end - span.start <= max(cut)


def test_a_passage_too_many_is_left_out_and_not_squeezed_in():
    found = [TextSpan(0, 900), TextSpan(0, 900), TextSpan(0, 900)]
    assert within_budget(found, 2_000) == found[:2]
    assert within_budget(found, 100) == [TextSpan(0, 100)]
    assert within_budget([TextSpan(5, 5_000), TextSpan(0, 300)], 2_000) == [
        TextSpan(5, 1_705),
        TextSpan(0, 300),
    ]
    assert within_budget([], 100) == []


@each(
    ("content", "end", "cut"),
    [
        ("一行目と\n二行目の途中", 8, 5), ("一\n二行目がとても長い", 9, 9), ("abc\r\ndef", 4, 3),
        ("abcd\r\ndef", 7, 6), ("abc\r\n", 5, 5), ("\r\n", 1, 1), ("abc", 3, 3),
    ],
)  # fmt: skip
def test_a_cut_falls_behind_a_line_where_one_ends_late_enough(content, end, cut):
    assert good_cut(content, 0, end) == cut


@given(st.text("ab\r\n", min_size=2), st.data())
def test_a_cut_goes_forward_and_never_parts_a_line_break(content, data):
    start = data.draw(st.integers(0, len(content) - 2))
    end = data.draw(st.integers(start + 2, len(content)))
    cut = good_cut(content, start, end)
    assert start < cut <= end
    assert cut - start >= (end - start) // 2
    assert content[cut - 1 : cut + 1] != "\r\n"
