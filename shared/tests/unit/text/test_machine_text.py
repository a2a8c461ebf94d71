"""Text that only machines read is found, and nothing that people write."""

import base64
import random

from table_of_cases import each
from tiny_embedder import TinyBackend

from mdvec.text.chunking import chunk_document, is_machine_file, machine_text
from mdvec.text.markdown import line_starts, outline
from mdvec.text.tokens import ChunkingOptions

NOISE = base64.b64encode(random.Random(1).randbytes(3_000)).decode()
LINES = "\n".join(NOISE[at : at + 76] for at in range(0, len(NOISE), 76))
MINIFIED = "!function(e,t){return e=t,{a:1,b:'x'}}(this);" * 40


def left(content):
    """What is not machine text."""
    for start, end in reversed(machine_text(content, line_starts(content), 0)):
        content = content[:start] + content[end:]
    return content


@each(
    ("content", "rest"),
    [
        (f"前![図](data:image/png;base64,{NOISE})後", "前![図]後"),
        (f"前![](data:image/png;base64,{NOISE})後", "前後"),
        (f"[image1]: <data:image/png;base64,{NOISE}>\n後", "\n後"),
        (f"鍵:\n{LINES}\n後", "鍵:\n\n後"),
        (f"鍵:\r\n{LINES}\n後".replace("\n", "\r\n"), "鍵:\r\r\n\r\n後"),
        (f"トークン {NOISE} です", "トークン  です"),
        (f"前\n{MINIFIED}\n後", "前\n後"),
    ],
)
def test_machine_text_is_left_out(content, rest):
    assert left(content) == rest


@each(
    "written",
    [
        "長い日本語の文です。" * 300,
        "A long line of English prose, with (some) signs; and so on. " * 40,
        "* Fix a bug ([#10426](https://github.com/a/b/pull/10426) by [@a](https://github.com/a)) "
        * 30,
        "| a | " + "-" * 2_000 + " |",
        "/usr/local/lib/" + "very-long-name/" * 40,
        "abcdefgh" * 100,
        "| 食費 | 1,200 | 2024-01-01 |" * 100,
        "short data:image/png;base64,AAAA uri",
    ],
)
def test_what_people_write_stays(written):
    assert left(written) == written


@each("name", ["package-lock.json", "Cargo.lock", "jquery.min.js", "a.js.map"])
def test_files_for_machines_are_known_by_name(name):
    assert is_machine_file(name)
    assert not is_machine_file(f"{name}.md")


def test_a_pasted_picture_adds_no_chunk_and_parts_only_its_own_place():
    content = f"# 題\n\n前の文。\n\n![図](data:image/png;base64,{NOISE})\n\n後の文。\n"
    options = ChunkingOptions("heading", 64, 8, (1, 2, 3), 0)
    found = chunk_document(content, outline(content, "a.md"), options, TinyBackend())
    assert [chunk.text for chunk in found] == ["# 題\n\n前の文。\n\n![図]", "後の文。"]
