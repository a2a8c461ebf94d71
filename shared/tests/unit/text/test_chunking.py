"""Chunks: their exact places, their headings, and that nothing is lost."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from table_of_cases import each
from tiny_embedder import TinyBackend

from mdvec.text.chunking import Chunk, chunk_document
from mdvec.text.markdown import outline
from mdvec.text.tables import without_head
from mdvec.text.tokens import ChunkingOptions, InvalidChunking, is_blank

TINY = TinyBackend()
SENTENCE = "五十文字より長い文章です。"
LONG = SENTENCE * 5

FRAGMENTS = [
    "# 見出し\n", "## B ##\r\n", "### C {#c}\n", "#### D\n", "title\n===\n", "---\n", "```\n",
    "~~~\r\n", "> quote\n", "- item\n", "  - deep\n", "|a|b|\n", "    code\n", "title: x\n",
    "+++\n", "\n", "\n\n", "\r\n", "\r", " ", "\t", "\u3000", "\u00a0", "\u2028", "\u200b",
    "\ufeff",
    "猫が好きです。", "English words here. ", "ｶﾞｷﾞｸﾞ", "ＡＢＣ１２３", "㍿", "½", "ﬁ", "①㈱髙～",
    "か\u3099き\u3099", "e\u0301\u0323", "👨\u200d👩\u200d👧", "👍🏽", "🇯🇵", "❤\ufe0f",
    "𠮷野家", "한글", "ไทย", "長い文。" * 20, "word " * 80, "無句点" * 60, "\u0301" * 70,
    "\u200d" * 40,
]  # fmt: skip
hostile = st.lists(st.sampled_from(FRAGMENTS), max_size=30).map("".join)
all_options = st.builds(
    ChunkingOptions,
    strategy=st.sampled_from(["heading", "token"]),
    size=st.integers(64, 130),
    overlap=st.sampled_from([0, 8, 31, 63]),
    heading_levels=st.sampled_from([(1, 2, 3), (2,), (1, 2, 3, 4, 5, 6)]),
    min_chars=st.sampled_from([0, 50, 400]),
)


def options(strategy="heading", **others):
    given = {"size": 64, "overlap": 8, "heading_levels": (1, 2, 3), "min_chars": 50, **others}
    return ChunkingOptions(strategy, **given)


def cut(content, name="note.md", tokenizer=TINY, **chosen):
    return chunk_document(content, outline(content, name), options(**chosen), tokenizer)


@given(hostile, st.sampled_from(["note.md", "note.txt"]), all_options)
@settings(deadline=None, max_examples=50)
def test_chunks_are_exact_whole_ordered_and_within_the_size(content, name, chosen):
    read = outline(content, name)
    chunks = chunk_document(content, read, chosen, TINY)
    assert [chunk.index for chunk in chunks] == list(range(len(chunks)))
    assert [content[chunk.start : chunk.end] for chunk in chunks] == [c.text for c in chunks]
    assert not any(is_blank(chunk.text) for chunk in chunks)
    places = [(chunk.start, chunk.end) for chunk in chunks]
    assert all(a <= c and b < d for (a, b), (c, d) in zip(places, places[1:], strict=False))
    covered = {at for start, end in places for at in range(start, end)}
    lost = set(range(read.body, len(content))) - covered
    assert is_blank("".join(content[at] for at in lost))
    assert all(start >= read.body for start, _ in places)
    # A start that is moved back to a whole character adds at most that character.
    assert all(len(TINY.token_spans(chunk.text)) <= chosen.size + 32 for chunk in chunks)


@given(hostile, all_options)
@settings(deadline=None, max_examples=25)
def test_no_chunk_is_more_than_the_model_takes(content, chosen):
    narrow = TinyBackend(max_tokens=20)
    chunks = chunk_document(content, outline(content, "note.md"), chosen, narrow)
    assert not any(narrow.oversized(chunk.text) for chunk in chunks)
    assert [content[chunk.start : chunk.end] for chunk in chunks] == [c.text for c in chunks]


def test_a_chunk_knows_its_place_its_lines_and_its_headings():
    content = f"---\ntitle: x\n---\n\n# 家計\r\n\r\n{LONG}\r\r## 食費\n{LONG}\n\n"
    first, second = content.index("# 家計"), content.index("## 食費")
    assert cut(content, size=128) == [
        Chunk(0, first, second - 2, 5, 7, "家計", f"# 家計\r\n\r\n{LONG}"),
        Chunk(1, second, len(content) - 2, 9, 10, "家計 > 食費", f"## 食費\n{LONG}"),
    ]


@each("newline", ["\n", "\r\n", "\r"])
@each("strategy", ["heading", "token"])
def test_lines_count_from_one_whatever_ends_them(newline, strategy):
    content = newline.join(f"{number}行目の文章です。" for number in range(1, 41))
    chunks = cut(content, strategy=strategy, overlap=0)
    assert [(chunk.start_line, chunk.end_line) for chunk in chunks] == [
        (content.count(newline, 0, chunk.start) + 1, content.count(newline, 0, chunk.end - 1) + 1)
        for chunk in chunks
    ]
    assert len(chunks) > 1


def test_exact_windows_take_no_notice_of_headings_but_know_them():
    content = "前 " * 70 + "\n\n# 一\n\n" + "字 " * 60
    assert [
        (chunk.heading, len(TINY.token_spans(chunk.text)))
        for chunk in cut(content, strategy="token", overlap=0)
    ] == [("", 64), ("", 64), ("一", 4)]


def test_three_thousand_tokens_give_the_four_chunks_of_the_seed():
    words = [f"w{number}" for number in range(3000)]
    chunks = cut(" ".join(words), name="a.txt", strategy="token", size=1024, overlap=64)
    assert [chunk.text.split() for chunk in chunks] == [
        words[0:1024], words[960:1984], words[1920:2944], words[2880:3000],
    ]  # fmt: skip


def test_a_section_over_the_size_goes_on_in_sentences_under_its_heading():
    chunks = cut(f"# 一\n{SENTENCE * 20}", overlap=0)
    assert {chunk.heading for chunk in chunks} == {"一"}
    assert "".join(chunk.text for chunk in chunks) == f"# 一\n{SENTENCE * 20}"
    assert all(chunk.text.endswith("。") for chunk in chunks)


def test_headings_alone_become_a_chunk_and_none_is_lost():
    content = "# 一\n\n## 二\n\n### 三\n\n## 四\n"
    assert [chunk.text for chunk in cut(content)] == ["# 一\n\n## 二\n\n### 三", "## 四"]


@each("strategy", ["heading", "token"])
@each("name", ["note.md", "note.txt"])
@each("content", ["", " ", "\r\n\t\n", "\u3000\u200b\ufeff", "\x0c\x1c", "\n" * 999])
def test_a_file_with_nothing_in_it_has_no_chunks(strategy, name, content):
    assert cut(content, name, strategy=strategy) == []


def test_an_unclosed_fence_is_one_section_to_the_end():
    content = f"# 一\n{LONG}\n```python\n# two\n## three\n" + "x = 1\n" * 40
    assert {chunk.heading for chunk in cut(content)} == {"一", "一 > python"}


def test_plain_text_is_cut_at_blank_lines():
    content = f"{LONG}\n\n{LONG}\r\n\r\n短い\n\n# {LONG}\n"
    assert [(chunk.heading, chunk.text) for chunk in cut(content, "memo.txt", size=128)] == [
        ("", LONG), ("", LONG), ("", f"短い\n\n# {LONG}"),
    ]  # fmt: skip


@pytest.mark.timeout(30)
def test_megabytes_on_one_line_are_cut_without_a_copy_for_each_chunk():
    content = ("x" * 159 + " ") * (256 * 100)
    chunks = cut(content, "one-line.md", size=256, overlap=0)
    assert len(chunks) == 100
    assert "".join(chunk.text for chunk in chunks) == content.rstrip()
    assert {(chunk.start_line, chunk.end_line) for chunk in chunks} == {(1, 1)}


@each(
    ("wrong", "allowed"),
    [
        ({"size": 63, "overlap": 0}, "choose 64 to 4096 tokens"),
        ({"size": 4097}, "choose 64 to 4096 tokens"),
        ({"size": 64, "overlap": 64}, "choose 0 to 63"),
        ({"overlap": -1}, "choose 0 to 63"),
    ],
)
def test_sizes_that_cannot_work_are_refused_with_what_is_allowed(wrong, allowed):
    with pytest.raises(InvalidChunking, match=allowed):
        options(**wrong)


PRICES = "".join(f"| 品{at} | {at * 7}円 | 棚{at % 9} |\n" for at in range(30))


@each(
    ("head", "shown"),
    [
        ("| 品名 | 単価 | 置き場 |\n| :--- | ---: | --- |\n", "| 品名 | 単価 | 置き場 |"),
        ("品名|単価|置き場\r\n---|---|---\r\n", "| 品名 | 単価 | 置き場 |"),
        ("> | 品名 | 単価 \\| 税 | 置き場 |\n> |---|---|---|\n", "| 品名 | 単価 \\| 税 | 置き場 |"),
        ("| 品名 |  | 置き場 |\n|-|-|-|\n", "| 品名 |  | 置き場 |"),
        (f"| {'長い' * 95} | 単価 | 置き場 |\n|-|-|-|\n", f"| {'長い' * 95} | 単価 | … |"),
        ("|  |  |  |\n|---|---|---|\n", ""),
        ("| 品名 | 単価 |\n|---|---|---|\n", ""),
        ("\n|---|---|---|\n", ""),
        ("```\n| 品名 | 単価 | 置き場 |\n|---|---|---|\n", ""),
    ],
)
@each("strategy", ["heading", "token"])
def test_each_passage_that_begins_among_a_tables_rows_has_the_tables_head(head, shown, strategy):
    content = f"# 表\n\n次の通り。\n\n{head}{PRICES}\n\n{LONG * 2}\n"
    first, *rest = cut(content, strategy=strategy, overlap=0)
    assert first.heading == "表"
    rows = content.index(PRICES)
    among = [chunk for chunk in rest if rows < chunk.start < rows + len(PRICES)]
    assert len(among) > 3
    for chunk in among:
        assert content[chunk.start : chunk.end] == chunk.text
        assert chunk.start_line == 1 + content[: chunk.start].count("\n")
        assert chunk.heading == (f"表 > {shown}" if shown else "表")
        assert without_head(chunk.heading) == "表"
    assert rest[-1].heading == "表"
