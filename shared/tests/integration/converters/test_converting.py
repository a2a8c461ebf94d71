"""Converting files in a process of its own, and importing them from a folder."""

import json
import os
import sys
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from collection import RULES
from sample_documents import lines, pdf, scan

from mdvec.converters import process
from mdvec.converters.process import ConversionFailed, Converter
from mdvec.database.connection import open_database
from mdvec.documents.reading import DocumentPart, ReadingRefused, read_document
from mdvec.search.core.filters import Filters
from mdvec.sync.freshness import check_source

FIRST = "停電のときは、まず懐中電灯を探して、家族の無事を確かめる。"
MORE = "そのあとで、冷蔵庫の扉をなるべく開けずに、電力会社の知らせを待つ。"
SECOND = "水は一人一日三リットルを備え、三日分を押し入れに置く。"
_FIRST_PAGE = [(60, 80, 20, "防災の手引き"), *lines(60, 120, 11, FIRST, MORE)]
GUIDE = pdf(_FIRST_PAGE, lines(60, 120, 11, SECOND))


@pytest.fixture
def converter():
    made = Converter()
    yield made
    made.close()


def test_the_process_has_given_up_its_rights(converter):
    assert FIRST in converter.convert(GUIDE, "a.pdf").content
    if sys.platform == "linux":
        assert {"landlock", "seccomp"} <= set(converter.walls)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"not a PDF", "it is not a PDF file, or it is damaged"),
        (GUIDE[: len(GUIDE) // 2], "damaged"),
        (
            pdf(lines(60, 60, 11, "x"), password="秘密"),
            "it needs a password; save a copy without one",
        ),
    ],
)
def test_a_file_that_cannot_be_converted_says_why_and_the_next_one_is(converter, data, reason):
    with pytest.raises(ConversionFailed, match=reason):
        converter.convert(data, "a.pdf")
    assert SECOND in converter.convert(GUIDE, "b.pdf").content


def test_a_file_that_takes_too_long_is_given_up():
    converter = Converter(max_seconds=0)
    with pytest.raises(ConversionFailed, match="takes more than 0 seconds"):
        converter.convert(GUIDE, "a.pdf")
    converter.close()


def test_pages_are_told_as_they_are_read_and_each_gives_a_long_file_more_time(monkeypatch):
    read = []
    converter = Converter(max_seconds=5, on_page=lambda *page: read.append(page))
    converter.convert(GUIDE, "a.pdf")
    assert read == [(1, 2), (2, 2)]
    monkeypatch.setattr(process, "_SECONDS_A_PAGE", -3)
    with pytest.raises(ConversionFailed, match="takes more than 5 seconds"):
        converter.convert(GUIDE, "a.pdf")
    monkeypatch.setattr(process, "_SECONDS_A_PAGE", 60)
    monkeypatch.setattr(process, "_MOST_SECONDS_MORE", -5)
    with pytest.raises(ConversionFailed, match="takes more than 5 seconds"):
        converter.convert(GUIDE, "a.pdf")
    converter.close()


def test_a_hit_cites_the_page_and_the_converted_text_to_the_letter(collection):
    (collection.folder / "手引き.pdf").write_bytes(GUIDE)
    collection.rules = replace(RULES, extensions=(".pdf",))
    collection.import_("new")
    hit = collection.search("水は何リットル備える？").results[0]
    assert (hit.file_path, hit.pages, hit.heading) == ("手引き.pdf", "page 2", "防災の手引き")
    document = read(collection, DocumentPart())
    assert document.content[hit.start_position : hit.end_position] == hit.content == SECOND
    assert (document.title, document.pages) == ("防災の手引き", "pages 1-2")
    assert f"[page 2]\n\n{SECOND}" in document.with_pages
    page = read(collection, DocumentPart(page=2))
    assert (page.content.strip(), page.pages) == (SECOND, "page 2")
    with pytest.raises(ReadingRefused, match="has 2 pages; there is no 3"):
        read(collection, DocumentPart(page=3))


def test_only_files_whose_bytes_changed_are_converted_again(collection):
    file = collection.folder / "a.pdf"
    file.write_bytes(GUIDE)
    collection.write("b.md", "# 文\n")
    (collection.folder / "scan.pdf").write_bytes(pdf([scan]))
    collection.rules = replace(RULES, extensions=(".md", ".pdf"))
    report = collection.import_("new")
    assert [(failure.file_path, failure.reason[:34]) for failure in report.failed] == [
        ("scan.pdf", "no page of it has text, as in a sc")
    ]
    os.utime(file, ns=(1, 1))
    assert (collection.import_().updated, collection.import_().unchanged) == (0, 2)
    file.write_bytes(pdf(lines(60, 120, 11, SECOND)))
    assert collection.import_().updated == 1
    with pytest.raises(ReadingRefused, match="has no pages"):
        read(collection, DocumentPart(page=1), "b.md")


def exported(*conversations):
    made = [
        {
            "uuid": f"{at:08}-x", "name": name, "created_at": "2025-05-01T01:02:03Z",
            "chat_messages": [{"sender": "human", "text": text}],
        }
        for at, (name, text) in enumerate(conversations)
    ]  # fmt: skip
    return json.dumps(made, ensure_ascii=False)


def freshness_of(collection):
    return check_source(collection.database, "notes", collection.rules)


def test_a_bundle_is_a_document_for_each_of_its_parts(collection):
    """Also after a kill between two of them, a damaged new file, and its deletion."""
    trip, bread = ("旅の計画", FIRST), ("パン", MORE)
    file = collection.folder / "会話/conversations.json"
    collection.write("会話/conversations.json", exported(trip, bread))
    paths = [
        f"会話/conversations.json/{name}.md" for name in ("パン 00000001", "旅の計画 00000000")
    ]
    collection.rules = replace(RULES, extensions=("conversations.json", ".md"))
    assert collection.import_("new").added == 3
    hit = collection.search("停電のときは").results[0]
    assert (hit.file_path, hit.title) == (paths[1], "旅の計画")
    asked = Filters(since=date(2025, 5, 1), until=date(2025, 5, 1), where=(("people", ("human",)),))
    found = collection.search("冷蔵庫", filters=asked).results
    assert [hit.file_path for hit in found] == [paths[0]]
    with open_database(collection.database, "write") as connection:
        connection.execute("DELETE FROM documents_notes WHERE file_path LIKE '%.json'")
    look = freshness_of(collection)  # as if a kill had come before the list of its parts
    assert (look.added, look.deleted) == (1, 2)
    report = collection.import_()
    assert (report.added, report.updated, report.deleted) == (1, 0, 0)
    assert not freshness_of(collection).is_stale
    assert collection.import_().unchanged == 3
    os.utime(file, (0, 0))
    assert collection.import_().unchanged == 3

    collection.write("会話/conversations.json", exported(trip))
    report = collection.import_()
    assert (report.added, report.updated, report.deleted, report.unchanged) == (0, 1, 1, 1)
    collection.write("会話/conversations.json", "{")
    assert len(collection.import_().failed) == 1
    assert collection.search("停電のときは").results[0].file_path == paths[1]
    file.unlink()
    collection.write("残り.md", "# 残り\n")
    assert collection.import_().deleted == 2


def read(collection, part, path="手引き.pdf"):
    return read_document(Path(collection.database), collection.name, path, part, 10_000)
