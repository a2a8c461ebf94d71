"""Passages: where they begin and end, and what stays whole."""

import re

from hypothesis import given, settings
from hypothesis import strategies as st
from table_of_cases import each
from tiny_embedder import TinyBackend

from mdvec.text.chunking import chunk_document
from mdvec.text.markdown import outline
from mdvec.text.tokens import ChunkingOptions

TINY = TinyBackend()
SENTENCE = "二十文字ほどの長さがある文を一つ書きます。"
FENCE = "```js\n" + "call();\n" * 8 + "```\n"


def chunks(content, size=64, overlap=8, name="note.md"):
    options = ChunkingOptions("heading", size, overlap, (1, 2, 3), 0)
    return chunk_document(content, outline(content, name), options, TINY)


def texts(content, **chosen):
    return [chunk.text for chunk in chunks(content, **chosen)]


def second(first_sentence, following="字" * 60):
    """The second passage of a text whose first half ends with ``first_sentence``."""
    return texts(f"{'字' * 40}{first_sentence}{following}", overlap=0)[1]


@each(
    "end",
    [
    "。", "！", "？", "｡", "．", "。」", "！』", "。）", "？！", "です! ", "です?", ". ",
    '." ', "。\n", "。\r\n", "\n\n", "\r\r", "「はい。行きます。」", "**強い文です。**",
    ],
)  # fmt: skip
def test_a_passage_begins_behind_a_sentence(end):
    assert second(end) == "字" * 60


def test_a_straight_quotation_mark_behind_a_sentence_may_open_the_next():
    quoted = '"Dark" の文' + "字" * 50
    assert second("。", following=quoted) == quoted
    assert second('"はい。"', following="彼は" + "字" * 50) == "彼は" + "字" * 50


@each(
    "within",
    [
    "「はい。」と答えた", "「本。」の題", "「もう行く。では」は", "e.g. a", "Dr. Abe",
    "J. Abe", "No. 5", "v. small", "3.14", "v1.2.3", "https://a.jp/b?c=1。", "Yahoo!ニュース",
    "a != b", "３．１４", "`a。b`", "[本。雑誌](https://a.jp)", "[[題。名|別。名]]",
    "（例。他）",
    ],
)  # fmt: skip
def test_a_passage_does_not_begin_within_a_sentence(within):
    content = f"{SENTENCE}{'字' * 30}{within}{'文' * 30}。"
    assert texts(content, overlap=0)[1].startswith("字" * 30)


@each("item", ["- 項目", "1. 項目", "  - 深い項目", "| 名 | 額 |", "> 引用", "* 項目"])
def test_a_passage_begins_with_an_item_or_a_row(item):
    content = f"{item}の一つ目の言葉を続ける\n" * 20
    found = texts(content)
    assert len(found) > 3
    assert all(text.lstrip().startswith(item.lstrip()) for text in found)


def test_the_overlap_is_whole_sentences_of_at_most_the_size_asked():
    short = "短い文。" * 40
    for asked in (0, 4, 9, 20):
        found = chunks(short, overlap=asked)
        shared = {a.end - b.start for a, b in zip(found, found[1:], strict=False)}
        assert all(0 <= length <= asked and length % 4 == 0 for length in shared)
        assert (asked > 4) == any(shared)


def test_no_overlap_where_no_sentence_fits():
    found = chunks(SENTENCE * 10, overlap=8)
    assert all(a.end == b.start for a, b in zip(found, found[1:], strict=False))


@each(
    "words",
    [
        [chr(0x4E00 + number) for number in range(400)],
        [chr(0x3042 + number % 80) for number in range(400)],
        [f"word{number} " for number in range(400)],
    ],
)
def test_no_phrase_is_split_where_no_sentence_ends(words):
    found = texts("".join(words))
    assert len(found) > 5
    for first in range(len(words) - 2):
        phrase = "".join(words[first : first + 3]).strip()
        assert any(phrase in text for text in found)


@each("words", ["コンピュータ", "46728.37", "don't", "a@example.com", "क्षेत्र", "議事録"])
def test_a_cut_within_a_long_line_goes_back_to_a_whole_word(words):
    for between in (" ", "の") if words == "議事録" else (" ",):
        found = texts(f"{words}{between}" * 80, overlap=16)
        assert len(found) > 1
        assert all(text.startswith(words) for text in found)


def test_a_cut_within_a_link_or_a_line_of_code_does_not_go_back():
    link = "[" + "長い題" * 40 + "](https://a.jp)"
    for whole in (link, f"```\n{'x = 1; ' * 60}\n```\n"):
        found = chunks(whole, overlap=8)
        assert len(found) > 1
        assert all(a.end == b.start for a, b in zip(found, found[1:], strict=False))


def test_a_fence_that_fits_is_never_cut():
    content = (
        f"# 題\n\n{SENTENCE}\n\n{FENCE}\n次のように書きます：\n\n{FENCE}\n"
        "- 項目\n\n  ```js\n  x();\n  ```\n" * 4
    )
    found = texts(content)
    assert all(text.count("```") % 2 == 0 for text in found)


@each("lines", range(1, 14))
def test_a_heading_keeps_its_body_whether_that_is_code_or_prose(lines):
    heading = "## 見出しは。文でも切れません"
    code = "```js\n" + "call();\n" * lines + "```\n"
    for body in (code, f"{SENTENCE * lines}\n"):
        found = texts(f"{heading}\n\n{body}\n{SENTENCE * 3}\n")
        assert found[0].startswith(f"{heading}\n\n{body[:5]}")


@each("newline", ["\n", "\r\n"])
@each("fence", ["```jsx {3}\n{}```\n", "~~~jsx\n{}~~~\n", "```jsx\n{}"])
def test_a_fence_that_must_be_cut_is_cut_between_lines_and_each_part_says_its_language(
    fence, newline
):
    code = "".join(f"  call({number}, 'あ。い');\n" for number in range(40))
    content = f"# 題\n\n{fence.replace('{}', code)}".replace("\n", newline)
    found = chunks(content)
    assert len(found) > 3
    assert found[0].text.startswith(f"# 題{newline}")
    assert all(re.match(r"  call\(\d+,", chunk.text) for chunk in found[1:])
    assert {chunk.heading for chunk in found[1:]} == {"題 > jsx"}


def test_no_passage_goes_back_into_code_that_the_one_before_it_shows():
    code = "".join(f"call({number});\n" for number in range(30))
    after = "後の文を一つ書きます。" * 12
    found = chunks(f"```js\n{code}```\n\n{after}\n", overlap=32)
    assert "".join(chunk.text for chunk in found).count("call(") == 30
    assert len([chunk for chunk in found if chunk.text.startswith("call(")]) == 2


def test_a_table_without_pipes_in_front_is_cut_between_rows():
    content = "名 | 額\n--- | ---\n" + "りんご。赤い | 百円。税込\n" * 20
    found = texts(content)
    assert len(found) > 3
    assert all(text.startswith(("名", "りんご")) for text in found)


def test_a_link_is_cut_only_where_it_is_too_large_itself():
    link = "[" + "長い題。" * 10 + "](https://a.jp)"
    found = texts(f"{'字' * 30}、{link}{'字' * 50}", overlap=0)
    assert any(link in text for text in found)
    assert len(texts(f"[{'題。' * 100}](https://a.jp)")) > 1


def test_no_heading_and_no_opening_tag_ends_a_passage():
    content = "".join(f"#### 節{n}\n\n<Note>\n\n{SENTENCE * 2}\n\n</Note>\n\n" for n in range(8))
    for text in texts(content):
        assert not re.search(r"(?:####.*|<Note>)\s*$", text)
        assert not text.startswith("</Note>")


PARTS = [
    "短い文です。", "「はい。」と言う。", "English. And more. ", "e.g. this. ", "ｶﾞｷﾞ｡",
    "👨\u200d👩\u200d👧！", "か\u3099。", "- 項目\n", "  - 深い\n", "1. 番号\n\n   続き\n",
    "| a | b。c |\n", "a | b\n--- | ---\nc | d\n", "```js\nx。y\n```\n",
    "- ```py\n  z\n  ```\n", "~~~\n", "```\n", "[題。名](u)", "[[題|別。名]]",
    "<!-- 注。釈 -->", "<Intro>\n", "</Intro>\n", ":::message\n", "\n", "\n\n", "\r\n", "\r",
    "#### 小\n", "**強。**", "（", "「", "`", "長" * 50, "word " * 30, "call();\n" * 12,
]  # fmt: skip


@given(
    st.lists(st.sampled_from(PARTS), max_size=40).map("".join),
    st.sampled_from(["note.md", "note.txt"]),
    st.sampled_from([0, 8, 31, 63]),
)
@settings(deadline=None, max_examples=40)
def test_passages_overlap_by_no_more_than_asked_and_keep_small_fences(content, name, overlap):
    read = outline(content, name)
    found = chunks(content, overlap=overlap, name=name)
    for before, after in zip(found, found[1:], strict=False):
        shared = content[after.start : before.end] if after.start < before.end else ""
        assert len(TINY.token_spans(shared)) <= overlap
    for fence in read.fences:
        if len(TINY.token_spans(content[fence.start : fence.end])) <= 63:
            edges = [edge for chunk in found for edge in (chunk.start, chunk.end)]
            close = min(fence.close, len(content.rstrip()))
            assert not [edge for edge in edges if fence.start < edge < close]
