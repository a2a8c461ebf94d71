"""Reading on in a document: any part of it, exactly, and nothing but what was imported."""

import unicodedata

import pytest
from collection import Collection, filtered
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from imported import imported
from ledger_folder import HEADER, line
from table_of_cases import each

from mdvec.documents.reading import DocumentPart, ReadingRefused, read_document
from mdvec.manage import registering
from mdvec.search import SearchRefused, list_documents
from mdvec.search.answer import query_like
from mdvec.text import quoted
from mdvec.tools.registry import ToolNotFound

TEXT = "# 題\r\n\r\n一行目\r\n二行目 🍙\n三行目\r四行目"


@pytest.fixture(scope="module")
def notes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reading")
    (folder / "secret.md").write_text("秘密", encoding="utf-8")
    return Collection.of(folder, {"guide.md": TEXT, "sub/deep.md": "# 深い\n\n中身です。\n"})


@pytest.fixture(scope="module")
def odd_names(tmp_path_factory):
    names = (
        "a  b.md", "tab\tname.md", "下/new\nline.md", "bidi\u202ename.md", "two\tblanks.md",
        "two  blanks.md",
    )  # fmt: skip
    return Collection.of(tmp_path_factory.mktemp("odd"), dict.fromkeys(names, "# 題\n\n本文。\n"))


def read(notes, path="guide.md", budget=12_000, **part):
    return read_document(notes.database, "notes", path, DocumentPart(**part), budget)


def test_a_document_is_read_whole_and_exactly(notes):
    found = read(notes)
    assert (found.content, found.title, found.truncated) == (TEXT, "題", False)
    assert (found.start_position, found.end_position, found.total_chars) == (
        0,
        len(TEXT),
        len(TEXT),
    )
    assert (found.start_line, found.end_line, found.total_lines) == (1, 6, 6)


@each(
    ("part", "content"),
    [
        ({"start_line": 3, "end_line": 3}, "一行目\r\n"),
        ({"start_line": 4}, "二行目 🍙\n三行目\r四行目"),
        ({"end_line": 1}, "# 題\r\n"),
        ({"end_line": 99}, TEXT),
        ({"start_line": 6}, "四行目"),
        ({"start_position": 7, "end_position": 10}, "一行目"),
        ({"start_line": 3, "end_position": 9}, "一行"),
        ({"start_position": len(TEXT)}, ""),
        ({"end_position": 10**9}, TEXT),
    ],
)
def test_a_part_is_named_by_lines_and_positions(notes, part, content):
    assert read(notes, **part).content == content


@each(
    ("part", "words"),
    [
        ({"start_line": 7}, "has 6 lines; line 7 is behind its end"),
        ({"start_position": len(TEXT) + 1}, "is behind its end"),
        ({"start_line": 5, "end_line": 2}, "ends before it begins"),
        ({"start_line": 3, "end_line": 2}, "ends before it begins"),
        ({"start_position": 5, "end_position": 2}, "ends before it begins"),
        ({"start_position": 5, "start_line": 1}, "name one of them"),
    ],
)
def test_a_part_that_is_none_is_refused(notes, part, words):
    with pytest.raises(ReadingRefused, match=words):
        read(notes, **part)


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(budget=st.integers(1, 40), start=st.integers(0, len(TEXT)))
def test_reading_on_gives_exactly_the_rest(notes, budget, start):
    pieces, position = [], start
    while True:
        found = read(notes, budget=budget, start_position=position)
        assert len(found.content) <= budget
        pieces.append(found.content)
        assert found.truncated == (found.next_position is not None)
        if found.next_position is None:
            break
        assert found.next_position == found.end_position > position
        position = found.next_position
    assert "".join(pieces) == TEXT[start:]


OUTSIDE = [
    "../secret.md", "../../etc/passwd", "/etc/passwd", "sub/../guide.md", "./guide.md", "",
    "guide.md\0", "%", "*.md", "guide.md' OR 1=1 --", "file:///etc/passwd", "\ud800", "G" * 10_000,
]  # fmt: skip


@each("path", OUTSIDE)
def test_nothing_is_read_but_what_was_imported(notes, path):
    with pytest.raises(ReadingRefused, match="has no document") as refused:
        read(notes, path)
    assert "秘密" not in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_statement_whose_rows_other_files_have_is_no_unknown_document(tmp_path):
    (tmp_path / "money").mkdir()
    for name, amounts in (("a", [-100]), ("b", [-100, -200])):
        rows = [line(str(amount), amount) for amount in amounts]
        (tmp_path / "money" / f"{name}.csv").write_text("\n".join([HEADER, *rows, ""]), "cp932")
    imported(tmp_path / "v.sqlite", "kakeibo", tmp_path / "money", "household")

    def refusal(path):
        with pytest.raises(ReadingRefused) as refused:
            read_document(tmp_path / "v.sqlite", "kakeibo", path, DocumentPart(), 9_000)
        return str(refused.value)

    assert refusal("a.csv").startswith('"a.csv" of kakeibo is a statement file, but no row counts')
    assert refusal("c.csv").startswith("kakeibo has no document 'c.csv'")


def test_a_file_that_is_not_imported_yet_is_said_to_be_there(collection):
    collection.write("a.md", "# 水\n\n水の備蓄。\n")
    collection.import_("new")
    collection.write("下/新.md", "# 新\n\n[[a]] の続き。\n")
    collection.write("新.rst", "ほか\n")
    (collection.folder / "bad.md").write_bytes(b"\x00\x81")
    asked = {
        "下/新.md": '"下/新.md" of notes is not imported yet; reindex imports it',
        "bad.md": '"bad.md" of notes is not imported yet; reindex imports it',
        "新.rst": None, "下/../a.md": None, "node_modules/a.md": None, "下": None,
    }  # fmt: skip
    for path, message in asked.items():
        with pytest.raises(ReadingRefused) as refused:
            read(collection, path)
        assert (message or f"notes has no document '{path}'") in str(refused.value)
        with pytest.raises(SearchRefused, match=message or "no document"):
            collection.search("", related_to=path)
    listing = list_documents(collection.database, None, filtered(links_to="下/新.md"))
    assert listing.notes == (asked["下/新.md"],)
    collection.import_("update")
    assert read(collection, "下/新.md").title == "新"
    with pytest.raises(ReadingRefused, match=r'"bad\.md" of notes could not be imported: '):
        read(collection, "bad.md")


def test_a_file_that_is_never_opened_is_told_with_its_reason(collection, tmp_path):
    (tmp_path / "elsewhere.md").write_text("# 外\n", encoding="utf-8")
    (collection.folder / "out.md").symlink_to(tmp_path / "elsewhere.md")
    collection.write("a.md", "# あ\n")
    collection.import_("new")
    with pytest.raises(ReadingRefused, match=r'"out\.md" of notes could not be imported: '):
        read(collection, "out.md")


def test_a_document_is_read_from_the_database_and_not_from_its_file(notes):
    (notes.folder / "sub/deep.md").unlink()
    assert read(notes, "sub/deep.md").content == "# 深い\n\n中身です。\n"


NAMES = st.text("がぎプペ゛がか\u3099ハ\u309aéa1 -", min_size=1, max_size=8).map(str.strip)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=4)
@given(name=NAMES.filter(bool), stored=st.sampled_from(["NFC", "NFD"]))
def test_a_path_may_be_typed_in_either_unicode_form(tmp_path_factory, name, stored):
    path = unicodedata.normalize(stored, f"{name}/ガス.md")
    notes = {path: "# 題\n\n検針の日。\n"}
    collection = Collection.of(tmp_path_factory.mktemp("forms"), notes)
    hit = collection.search("検針の日", k=1).results[0]
    assert hit.file_path == path  # as it is on the disk
    for form in ("NFC", "NFD"):
        found = read(collection, unicodedata.normalize(form, path))
        assert (found.file_path, found.content) == (path, "# 題\n\n検針の日。\n")


def test_of_two_names_that_look_alike_the_one_that_was_named_is_read(collection):
    for form in ("NFC", "NFD"):
        collection.write(unicodedata.normalize(form, "ガス.md"), f"# {form}\n\n本文。\n")
    collection.import_("new")
    for form in ("NFC", "NFD"):
        assert read(collection, unicodedata.normalize(form, "ガス.md")).title == form


def test_a_mistyped_name_or_an_absolute_path_is_none_and_gets_the_nearest(notes):
    nearest = {"giude.md": "guide.md", "sub/dep.md": "sub/deep.md"}
    for asked, name in {**nearest, str(notes.folder / "sub/deep.md"): "sub/deep.md"}.items():
        with pytest.raises(ReadingRefused, match=f'has no document .*; nearest are: "{name}"'):
            read(notes, asked)


def test_a_name_by_which_notes_link_is_enough_if_only_one_document_has_it(collection):
    collection.write("定例/第3回定例.md", "# 三回目\n")
    collection.write("甲/予定.md", "# 甲\n")
    collection.write("乙/予定.md", "# 乙\n")
    collection.write("x.md", "# 同じ題\n")
    collection.write("丁/y.md", "# 同じ題\n")
    collection.import_("new")
    for name in ("第3回定例", "第3回定例.md", "三回目"):
        assert read(collection, name).file_path == "定例/第3回定例.md"
    with pytest.raises(ReadingRefused, match=r'nearest are: "乙/予定\.md", "甲/予定\.md"'):
        read(collection, "予定.md")
    with pytest.raises(ReadingRefused, match=r'nearest are: "x\.md", "丁/y\.md"'):
        read(collection, "同じ題")


@each(
    ("path", "shown"),
    [
        ("a  b.md", "a b.md"),
        ("tab\tname.md", "tab name.md"),
        ("tab\tname.md", r"tab\tname.md"),
        ("tab\tname.md", r'"tab\tname.md"'),
        ("下/new\nline.md", "下/new line.md"),
        ("下/new\nline.md", "下/new line.md:1-1"),
        ("bidi\u202ename.md", r"bidi\u202ename.md"),
    ],
)
def test_a_path_may_be_named_as_it_is_shown(odd_names, path, shown):
    assert read(odd_names, shown).file_path == path
    source, _ = query_like(odd_names.database, None, shown.removesuffix(":1-1"))
    assert source.file_path == path


def test_of_two_paths_that_are_shown_alike_each_is_listed_and_may_be_named(odd_names):
    with pytest.raises(ReadingRefused, match=r'are: "two\\tblanks\.md", "two  blanks\.md", '):
        read(odd_names, "two blanks.md")
    for path in ("two\tblanks.md", "two  blanks.md"):
        assert read(odd_names, quoted(path)).file_path == path


def test_a_tool_that_is_empty_off_or_not_there_says_what_to_do(collection):
    collection.write("a.md", "# a\n\n本文。\n")
    with pytest.raises(ReadingRefused, match="mdvec import -n notes"):
        read(collection, "a.md")
    registering.set_active(collection.database, "notes", active=False)
    with pytest.raises(ReadingRefused, match="mdvec tool enable -n notes"):
        read(collection, "a.md")
    with pytest.raises(ToolNotFound):
        read_document(collection.database, "other", "a.md", DocumentPart(), 500)
