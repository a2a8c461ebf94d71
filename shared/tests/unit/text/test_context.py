"""The line of title and headings that is embedded in front of a chunk."""

from hypothesis import given
from hypothesis import strategies as st
from table_of_cases import each
from tiny_embedder import TinyBackend

from mdvec.text.chunking import Chunk
from mdvec.text.readable import in_context, texts_to_embed


@each(
    ("title", "heading", "text", "embedded"),
    [
        ("手引き", "防災 > 水", "一日三リットル。", "手引き > 防災 > 水\n一日三リットル。"),
        ("防災", "防災 > 水", "一日三リットル。", "防災 > 水\n一日三リットル。"),
        ("防災", "防災 > 水", "## 水\n\n一日三リットル。", "防災\n## 水\n\n一日三リットル。"),
        ("防災", "防災", "# 防災\n\n前書き。", "# 防災\n\n前書き。"),
        ("防災", "", "前書き。", "防災\n前書き。"),
        ("防災", "", "# 防災\n前書き。", "# 防災\n前書き。"),
        ("防災", "防災 > 水", "\r\n## 水 {#mizu}\r\n本文", "防災\n\r\n## 水 {#mizu}\r\n本文"),
        ("a", "a > b > c", "text", "a > b > c\ntext"),
    ],
)
def test_what_is_embedded(title, heading, text, embedded):
    assert in_context(title, heading, text) == embedded


def test_of_a_long_path_the_innermost_headings_are_kept():
    embedded = in_context("題" * 150, "外" * 100 + " > 内", "本文")
    line, _, text = embedded.partition("\n")
    assert (len(line), text) == (200, "本文")
    assert line.endswith(f"{'外' * 100} > 内")


words = st.text("ab題 #\n", max_size=8)


@given(words, st.lists(words, max_size=3), st.text("ab題 #\r\n", max_size=30))
def test_the_text_itself_always_stays_whole_at_the_end(title, headings, text):
    embedded = in_context(title, " > ".join(headings), text)
    assert embedded.endswith(text)
    assert len(embedded) <= len(text) + 201


class Tokenizer:
    """Takes fifteen characters at once."""

    def token_spans(self, text):
        return [(place, place + 1) for place in range(len(text))]

    def oversized(self, text):
        return len(text) > 15


def test_a_chunk_that_has_no_room_for_its_context_goes_without():
    chunks = [
        Chunk(number, 0, len(text), 1, 1, "題 > 節", text)
        for number, text in enumerate(["本文です", "一二三四五六七八九十一二三四五"])
    ]
    assert texts_to_embed("a.md", "題", chunks, Tokenizer()) == [
        "題 > 節\n本文です",
        "一二三四五六七八九十一二三四五",
    ]


def test_markdown_is_embedded_as_a_reader_sees_it():
    chunks = [Chunk(0, 0, 9, 1, 1, "題 > `節`", "**本文**です")]
    embedded = [texts_to_embed(file, "題", chunks, TinyBackend()) for file in ("a.md", "a.txt")]
    assert embedded == [["題 > 節\n本文です"], ["題 > `節`\n**本文**です"]]
