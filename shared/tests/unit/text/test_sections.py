"""Sections: what stands under one heading, and how short ones are joined."""

import pytest

from mdvec.text.chunking import heading_sections, join_short, paragraphs
from mdvec.text.markdown import outline

LONG = "五十文字より長い文章がここに続きます。" * 4


def cut(content, levels=(1, 2, 3)):
    sections = heading_sections(content, outline(content, "note.md"), levels)
    return [(section.heading, content[section.start : section.end]) for section in sections]


def joined(content, min_chars=50):
    sections = heading_sections(content, outline(content, "note.md"), (1, 2, 3))
    return [
        (section.heading, content[section.start : section.end])
        for section in join_short(content, sections, min_chars)
    ]


def test_a_section_runs_from_its_heading_to_the_next_and_keeps_the_path():
    content = "前書き\n\n# 一\na\n## 二\nb\n### 三\nc\n## 四\nd\n# 五\ne"
    assert cut(content) == [
        ("", "前書き\n\n"),
        ("一", "# 一\na\n"),
        ("一 > 二", "## 二\nb\n"),
        ("一 > 二 > 三", "### 三\nc\n"),
        ("一 > 四", "## 四\nd\n"),
        ("五", "# 五\ne"),
    ]


def test_only_the_wanted_levels_cut():
    content = "# 一\n## 二\n### 三\n#### 四\n"
    assert cut(content, levels=(2, 4)) == [
        ("", "# 一\n"),
        ("二", "## 二\n### 三\n"),
        ("二 > 四", "#### 四\n"),
    ]


def test_a_level_that_was_left_out_does_not_break_the_path():
    assert [heading for heading, _ in cut("# 一\n### 三\n## 二\n### 三\n")] == [
        "一", "一 > 三", "一 > 二", "一 > 二 > 三",
    ]  # fmt: skip


def test_a_heading_without_words_leaves_no_gap_in_the_path():
    assert [heading for heading, _ in cut("#\n## 二\n")] == ["", "二"]


JOINED = {
    "a short one joins its first child": (
        f"# 題\n\n## 一\n{LONG}\n|## 二\n{LONG}\n", ["題 > 一", "題 > 二"],
    ),
    "a short one joins its next sibling": (
        f"# 題\n{LONG}\n|## 一\n短い\n## 二\n{LONG}\n", ["題", "題 > 一"],
    ),
    "short siblings join until they are long enough": (
        "".join(f"{'|' * (name == '四')}## {name}\n{'字' * 15}\n" for name in "一二三四五"),
        ["一", "四"],
    ),
    "the last short one of a parent stays alone": (
        f"# 甲\n{LONG}\n|## 子\n短い\n|# 乙\n{LONG}\n|# 丙\n終\n", ["甲", "甲 > 子", "乙", "丙"],
    ),
    "short text before the first heading joins it": (f"前書き\n\n# 題\n{LONG}\n", ["題"]),
    "the same words under other parents stay apart": (
        "# 甲\n## 概要\n短\n|# 乙\n## 概要\n短\n", ["甲 > 概要", "乙 > 概要"],
    ),
    "white space makes nothing long enough": (f"## 一\n{' ' * 100}\n## 二\n{LONG}\n", ["一"]),
}  # fmt: skip
"""A document, with a bar where it is cut, and the headings of its sections."""


@pytest.mark.parametrize(("written", "found"), JOINED.values(), ids=JOINED)
def test_short_sections_are_joined_to_what_they_belong_to(written, found):
    parts = list(zip(found, written.split("|"), strict=True))
    assert joined(written.replace("|", "")) == parts


def test_a_page_begins_a_section_under_its_own_first_heading_or_the_one_before():
    content = f"# 一\n\n短い\n\n\f\n\n# 二\n\n{LONG}\n\n\f\n\n{LONG}"
    assert [(heading, text.strip()) for heading, text in joined(content)] == [
        ("一", "# 一\n\n短い"), ("二", f"# 二\n\n{LONG}"), ("二", LONG),
    ]  # fmt: skip


def test_nothing_is_joined_at_a_minimum_of_zero():
    content = "# 題\n## 一\na\n## 二\nb\n"
    assert joined(content, min_chars=0) == cut(content)


def test_paragraphs_of_plain_text_end_at_blank_lines():
    content = "一\n二\n\n三\r\n \t\r\n四\r\r五\n\n\n\n"
    sections = paragraphs(content, 0)
    assert [content[section.start : section.end] for section in sections] == [
        "一\n二\n\n", "三\r\n \t\r\n", "四\r\r", "五\n\n\n\n",
    ]  # fmt: skip


def test_short_paragraphs_join_what_follows():
    content = f"題\n\n{LONG}\n\n終\n"
    sections = join_short(content, paragraphs(content, 0), 50)
    assert [content[section.start : section.end] for section in sections] == [
        f"題\n\n{LONG}\n\n", "終\n",
    ]  # fmt: skip
