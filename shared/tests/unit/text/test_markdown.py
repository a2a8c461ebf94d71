"""A document's outline: where its body begins, its title, its headings."""

import re
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st
from table_of_cases import each

from mdvec.text.markdown import Heading, Outline, block_parser, line_starts, outline
from mdvec.text.properties import properties_of
from mdvec.text.tables import tables_of


def headings(content):
    return [(heading.level, heading.words) for heading in outline(content, "note.md").headings]


def title(content):
    return outline(content, "note.md").title


def body(content):
    return content[outline(content, "note.md").body :]


def test_an_outline_has_the_title_the_body_and_every_heading_with_its_place():
    content = "---\ntitle: 家計\n---\nはじめに\n\n# 食費\n\n本文\n\n###### 六\n"
    assert outline(content, "note.md") == Outline(
        title="家計",
        body=18,
        headings=(
            Heading(1, "食費", content.index("# 食費")),
            Heading(6, "六", content.index("###### 六")),
        ),
        is_markdown=True,
    )


def test_a_text_file_has_no_headings_and_no_front_matter():
    content = "---\ntitle: x\n---\n# not a heading\n"
    assert outline(content, "memo.v2.TXT") == Outline("memo.v2", 0, (), is_markdown=False)


@each("name", ["a.md", "a.markdown", "A.MD"])
def test_markdown_is_known_by_its_ending(name):
    assert outline("# h", name).is_markdown


@each(
    "hidden",
    [
        "```\n# code\n```", "~~~~\n~~~\n# code\n~~~~", "```\n# an unclosed fence runs to the end",
        "    # indented code", "> # quoted", "- # in a list", "1. one\n\n   ## in an item",
        "<!--\n# a comment\n-->", "#no space", "####### seven", "\\# escaped",
    ],
)  # fmt: skip
def test_what_only_looks_like_a_heading_is_none(hidden):
    assert headings(f"# real\n\n{hidden}\n") == [(1, "real")]


def test_a_heading_behind_a_closed_fence_counts():
    assert headings("```\n# no\n```\n# yes\n") == [(1, "yes")]


def test_a_heading_behind_a_deeply_nested_list_counts():
    deep = "".join("  " * level + "- 項目\n" for level in range(30))
    assert headings(f"{deep}\n## 次の章\n\n本文。\n") == [(2, "次の章")]


def test_no_line_costs_time_for_more_than_twenty_quotes_around_it():
    content = "> " * 95 + "a\nb\n\n## 次の章\n"
    tokens = block_parser().parse(content)
    assert sum(token.type == "blockquote_open" for token in tokens) == 20
    assert headings(content) == [(2, "次の章")]


def test_setext_headings_count_from_the_first_line_of_their_words():
    content = "text\n\n一行目\n二行目\n===\n\nsub\n---\n"
    assert outline(content, "note.md").headings == (
        Heading(1, "一行目 二行目", content.index("一行目")),
        Heading(2, "sub", content.index("sub")),
    )


@each(
    ("written", "words"),
    [
        ("## 食費 ##", "食費"),
        ("##   spaced \t out  ", "spaced out"),
        ("## 食費 {#food}", "食費"),
        ("## 食費 {/*food*/}", "食費"),
        ("## 食費 {/*a*/} と {/*b*/}", "食費 {/*a*/} と"),
        ("## 食費 {#food} ##", "食費"),
        ("## {#food}", ""),
        ("##", ""),
        ("## a {#b}c}", "a {#b}c}"),
        ("## `code` and **bold**", "`code` and **bold**"),
    ],
)
def test_a_headings_words_come_without_hashes_and_anchors(written, words):
    assert headings(f"{written}\n") == [(2, words)]


def test_a_paragraph_that_a_rule_makes_a_heading_is_cut_short():
    (level, words), = headings("とても長い段落。" * 1000 + "\n---\n")  # fmt: skip
    assert (level, len(words), words[-1]) == (2, 200, "…")


@each("newline", ["\n", "\r\n", "\r"])
def test_every_kind_of_line_end_is_understood(newline):
    content = newline.join(["---", "title: 題", "---", "はじめ", "", "# 一", "本文", "二", "---"])
    first, second = content.index("# 一"), content.index("本文")
    assert outline(content, "note.md") == Outline(
        title="題",
        body=content.index("はじめ"),
        headings=(Heading(1, "一", first), Heading(2, "本文 二", second)),
        is_markdown=True,
    )


def test_lines_start_behind_crlf_cr_and_lf():
    assert line_starts("a\r\nb\rc\nd") == [0, 3, 5, 7]


@each(
    ("matter", "expected"),
    [
        ("---\ntitle: 食費\ntags: [a, b]\n---\n", "食費"),
        ("---\ntitle: 'quoted'\n...\n", "quoted"),
        ("---\ntitle: 1.10\n---\n", "1.10"),
        ("---\ntitle: 2024-01-01\n---\n", "2024-01-01"),
        ("---\ntitle: yes\n---\n", "yes"),
        ("---\ntitle: two\n  lines\n---\n", "two lines"),
        ("---\ntitle: 部: 章\ndate: 2024\n---\n", "部: 章"),
        ("---\ntitle: '部: 章\n---\n", "部: 章"),
        ('---\ntitle: "部" の章\n---\n', '"部" の章'),
        ("---\ntitle: '部' と '章'\n---\n", "'部' と '章'"),
        ('---\ntitle: "部"の"章"\n---\n', '"部"の"章"'),
        ("---\ntitle: 'It's a test'\n---\n", "It's a test"),
        ('---\ntitle: "The "Best" Guide"\n---\n', 'The "Best" Guide'),
        ('---\nlinks: [open\ntitle: "kept" \n---\n', "kept"),
        ("---\ndate: 2024-13-45\ntitle: a\n---\n", "a"),
        ("--- \t\ntitle: a\n---   \n", "a"),
        ("---\n\ntitle: a\nNext review?: b\n---\n", "a"),
        ("---\ntitle: a\n\ndate created: 2025-06-01\n\n---\n", "a"),
        ("+++\ntitle = '食費'\ndraft = true\n+++\n", "食費"),
        ("+++\r\ntitle = 5\r\n+++\r\n", "5"),
    ],
)
def test_front_matter_gives_the_title_and_is_not_the_body(matter, expected):
    assert (title(matter + "text\n"), body(matter + "text\n")) == (expected, "text\n")


@each(
    "matter", ["---\n---\n", "---\ntags: x\n---\n", "---\ntitle:\n---\n", "---\ntitle: ~\n---\n",
               "---\ntitle: [a, b]\n---\n", "+++\n+++\n", "---\na: b: c\n---\n"],
)  # fmt: skip
def test_front_matter_without_a_title_leaves_it_to_the_first_level_1_heading(matter):
    content = matter + "## 二\n\n# 一\n"
    assert (title(content), body(content)) == ("一", "## 二\n\n# 一\n")


@each(
    "content",
    [
        "---\n\nsome text\n\n---\n\nmore\n",
        "---\n\n会議のメモ。注意: 鍵は受付の箱にある。\n\n---\n\n続き。\n",
        "---\n会議のメモ。注意: 鍵は受付の箱にある。\n\n---\n",
        "---\n議題: 次の会\n鍵は受付にある。\n担当: 未定\n---\n",
        "---\r\n\r\nnote: it is here\r\n \t\r\n---\r\n", "---\n# a heading between rules\n---\n",
        "---\n- a list\n---\n", "---\ntitle: never closed\n", "---\ntitle: a\n----\nb\n",
        "text\n---\ntitle: late\n---\n", " ---\ntitle: indented\n---\n",
        "----\ntitle: four\n----\n", "+++\nno toml at all\n+++\n", "+++\ntitle = 'a'\n---\n",
        "---\n" + "a: b\n" * 20_000 + "---\n",
    ],
)  # fmt: skip
def test_what_is_no_front_matter_is_body(content):
    assert body(content) == content


@each(
    ("block", "values"),
    [
        ("title: 良い名\nid: x-1\n続きの行\nstatus: open",
         {"title": "良い名", "id": "x-1", "status": "open"}),
        ("status: open\n担当者：佐藤", {"status": "open", "担当者": "佐藤"}),
        ("category: 総務\ndate:2025-01-31", {"category": "総務", "date": "2025-01-31"}),
        ("title: 題\n<!-- 覚え書き -->", {"title": "題"}),
        ("https: //a.example\n10:00 開始", {"https": "//a.example"}),
        ("title: 会議\n場所: A: B\n- 鍵\n- 傘", {"title": "会議", "場所": "A: B"}),
        ("日時: 2025/6/1 10:00\n場所: 会議室A\n\n決定事項は次のとおり。\n予算: 三百万円",
         {"日時": "2025/6/1 10:00", "場所": "会議室A", "予算": "三百万円"}),
        ("宛先: 佐藤様\n件名: 見積もり\nよろしくお願いいたします。",
         {"宛先": "佐藤様", "件名": "見積もり"}),
        ("田中: いつ始めますか\n鈴木: 火曜です\n田中: 予算: 二百万円です\n鈴木: 火曜です",
         {"田中": ("いつ始めますか", "予算: 二百万円です"), "鈴木": "火曜です"}),
        ("tags: [a, b]\ntags: c", {"tags": ("a", "b", "c")}),
        ("title: A: B\n# 見出し", {"title": "A: B"}),
        ("\nexcalidraw-plugin: parsed\ntags: [excalidraw]\n",
         {"excalidraw-plugin": "parsed", "tags": ("excalidraw",)}),
        ("\n田中: いつ始めますか\n\n鈴木: 火曜です\n",
         {"田中": "いつ始めますか", "鈴木": "火曜です"}),
    ],
)  # fmt: skip
def test_what_may_be_text_between_two_rules_is_read_and_is_in_the_body_too(block, values):
    content = f"---\n{block}\n---\n\n## 次回\n"
    found = outline(content, "a.md")
    assert (properties_of(content, found.matter).values, found.body) == (values, 0)
    assert [heading.words for heading in found.headings] == ["次回"]


@each("lines", ["日時: 六月\n# 場所", "# 会議\n\n日時: 六月", "日時: 六月 #会議", "日時: 六月: 朝"])
def test_text_apart_from_two_rules_with_what_yaml_would_leave_out_has_headings_and_tags(lines):
    content = f"---\n\n{lines}\n\n---\n\n本文\n"
    found = outline(content, "a.md")
    assert (found.matter.entries, found.body) == ((), 0)
    assert (bool(found.headings), properties_of(content, found.matter).tags) == (
        "# " in lines,
        ("会議",) if "#会議" in lines else (),
    )


@each(
    ("block", "expected"),
    [
        ("title: 【自営経営】\nメニュー内「リンク切れ」\n※未読\nid: x",
         "【自営経営】 メニュー内「リンク切れ」 ※未読"),
        ("title:\n題\nid: x", "題"),
        ("title: 題\n\n続き\nid: x", "題"),
        ("title: 題\n- 鍵\nid: x", "題"),
        ("title: 一\ntitle: 二", "二"),
        ("title:\ntitle: 題", "題"),
        ("title: 題\ntitle: [a]", "題"),
    ],
)  # fmt: skip
def test_a_title_goes_on_in_the_line_below_and_the_last_that_is_text_counts(block, expected):
    content = f"---\n{block}\n---\n# 見出し\n"
    assert (title(content), body(content)) == (expected, content)


LINES = st.sampled_from(
    ["title: {}", "{}: {}", "{}: {}: {}", "{}：{}", "status:{}", "tags: {}", "tags: #{} #{}",
     "tags: # {}\n- {}\n- {}", "tags:\n-{}\n-{}", "aliases:\n  -{}\n  - {}", "alias: [{}, {}",
     "{}:\n  {}\n  {}", "{}: '{}", "- {}", "{}", "  {}", "同: {}", "同: [{}, {}]", "date: {}", "",
     "日時: {}\n\n{}", "{}:\n- {}: {}\n- {}", "{}:\n- {}: [{}, {}]", "{}。{}: {}", "]{}",
     "* {}", "{}: [\n{}\n]"]
)  # fmt: skip


@given(st.lists(LINES, min_size=1, max_size=8))
def test_each_word_of_a_block_is_in_an_entry_or_in_the_text(lines):
    numbers = count()
    block = re.sub(r"\{\}", lambda _: f"語{next(numbers)}語", "\n".join(lines))
    content = f"---\n{block}\n---\n本文\n"
    found = outline(content, "a.md")
    told = f"{properties_of(content, found.matter).values} {content[found.body :]}"
    words = re.findall("語[0-9]+語", block)
    comments = re.findall("# ?(語[0-9]+語)", block)
    assert {word for word in words if word not in told} <= {*comments}


def test_entries_that_are_not_valid_yaml_and_nothing_else_are_not_in_the_body():
    block = (
        "title: A: B\ndate created: 2025-06-01\ntags:\n- a\n\n- b\nlist: [\n c,\n]\nnote:\n  二行\n"
    )
    found = outline(f"---\n{block}---\n本文\n", "a.md")
    assert found.body == len(block) + 8
    assert dict(found.matter.entries) == {
        "title": "A: B", "date created": "2025-06-01", "tags": ["a", "b"], "list": ["c"],
        "note": "二行",
    }  # fmt: skip


def test_a_title_falls_back_to_the_files_name():
    assert [
        outline("## only a second level\n", name).title
        for name in ("食費 2024.md", "a.b.md", ".md")
    ] == ["食費 2024", "a.b", ".md"]


def test_front_matter_that_multiplies_itself_does_no_harm():
    lines = ["l0: &l0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]"]
    lines += [f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 9)}]" for n in range(1, 12)]
    content = "\n".join(["---", *lines, "title: *l11", "---", "# 題", ""])
    assert title(content) == "題"


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "content",
    [
        "# a" + " " * 100_000 + "b",
        "# " + "{/*" * 50_000,
        "# " + "{#" * 50_000,
        "---\na: b: c\ntitle: a" + " " * 60_000 + "b\n---\n",
        "---\n" + "[" * 1_000 + "\n---\n",
        ">" * 100_000 + "# a",
        "\n".join("  " * depth + "- a" for depth in range(300)),
        "[" * 100_000,
        "`" * 100_000,
        "|a|\n|-|\n" + " " * 100_000 + "x\n" + "|" + "-" * 100_000,
    ],
    ids=[
        "spaces", "comments", "anchors", "title", "brackets", "quotes", "lists", "links", "ticks",
        "tables",
    ],
)  # fmt: skip
def test_hostile_markdown_is_read_in_reasonable_time(content):
    found = outline(content, "note.md")
    assert found.is_markdown
    assert bool(tables_of(content, found)) == content.startswith("|a|")


@each("content", ["", " \n\t\n", "\n\n", "# ", "---", "+++", "---\n", "\r"])
def test_next_to_nothing_has_an_outline(content):
    assert title(content) == "note"
