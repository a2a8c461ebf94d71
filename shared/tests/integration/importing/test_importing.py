"""Importing a folder: what is added, updated, kept and refused."""

import os
import sys
from dataclasses import replace

import numpy as np
import pytest
from collection import RULES
from tiny_embedder import TinyBackend

from mdvec.database.connection import open_database
from mdvec.embedding.embedder import Embedder, ModelUnavailable
from mdvec.errors import MdvecError
from mdvec.importing.options import ImportRefused
from mdvec.manage.status import details
from mdvec.manage.tool_import import import_tool
from mdvec.tools import registry

LONG = "この節は五十文字より長いので、ひとつのチャンクになります。" * 3


def note(*sections: str) -> str:
    return "\n\n".join(f"## {name}\n\n{name}について。{LONG}" for name in sections) + "\n"


def test_a_new_import_stores_every_file_and_reports_it(collection):
    collection.write("a.md", note("食費", "光熱費"))
    collection.write("sub/b.txt", "plain text, " * 10)
    report = collection.import_("new")
    assert (report.added, report.updated, report.deleted, report.unchanged) == (2, 0, 0, 0)
    assert (report.chunks, report.chunks_embedded, report.failed) == (3, 3, ())
    assert [row[:1] + row[3:4] for row in collection.contents()] == [
        ("a.md", 0), ("a.md", 1), ("sub/b.txt", 0),
    ]  # fmt: skip
    collection.check()


def test_new_fills_a_tool_whose_first_import_found_nothing(collection):
    assert collection.import_("new").added == 0
    collection.write("a.md", note("一"))
    assert collection.import_("new").added == 1
    collection.check()


def test_an_update_follows_added_changed_and_deleted_files(collection):
    collection.write("keep.md", note("一"))
    collection.write("change.md", note("二"))
    collection.write("drop.md", note("三"))
    collection.import_("new")
    collection.write("change.md", note("二", "四"))
    (collection.folder / "drop.md").unlink()
    collection.write("more.md", note("五"))
    report = collection.import_()
    assert (report.added, report.updated, report.deleted, report.unchanged) == (1, 1, 1, 1)
    assert {row[0] for row in collection.contents()} == {"keep.md", "change.md", "more.md"}
    collection.check()


def test_only_chunks_whose_text_changed_are_embedded_again(collection):
    collection.write("a.md", note("一", "二", "三"))
    collection.import_("new")
    collection.backend.embedded.clear()
    collection.write("a.md", note("一", "二と半", "三"))
    report = collection.import_()
    assert report.chunks_embedded == 1
    assert [text[:5] for text in collection.backend.embedded] == ["a\n二と半"]


def test_a_chunk_whose_headings_changed_is_embedded_again(collection):
    collection.write("a.md", f"# 題\n\n## 節\n\n{LONG}\n\n### 小さな節\n\n{LONG}\n")
    collection.import_("new")
    collection.backend.embedded.clear()
    collection.write("a.md", f"# 題\n\n## 別の節\n\n{LONG}\n\n### 小さな節\n\n{LONG}\n")
    assert collection.import_().chunks_embedded == 2
    assert collection.backend.embedded[1].startswith("題 > 別の節\n小さな節\n\n")


def test_a_moved_file_is_not_embedded_again(collection):
    collection.write("a.md", note("一", "二"))
    collection.import_("new")
    (collection.folder / "sub").mkdir()
    (collection.folder / "a.md").rename(collection.folder / "sub" / "a.md")
    report = collection.import_()
    assert (report.added, report.deleted, report.chunks_embedded) == (1, 1, 0)
    collection.check()


def test_a_file_that_gets_another_title_with_its_name_is_embedded_with_it(collection):
    collection.write("a.md", note("一"))
    collection.write("b.md", f"# 題\n\n{LONG}\n")
    collection.import_("new")
    for name in ("a", "b"):
        (collection.folder / f"{name}.md").rename(collection.folder / f"{name}{name}.md")
    report = collection.import_()
    assert (report.added, report.deleted, report.chunks_embedded) == (2, 2, 1)
    assert collection.backend.embedded[-1].startswith("aa\n一")
    collection.check()


def test_a_touched_file_with_the_same_content_is_unchanged_and_its_time_stored(collection):
    collection.write("a.md", note("一"))
    collection.import_("new")
    os.utime(collection.folder / "a.md", ns=(1, 1))
    report = collection.import_()
    assert (report.updated, report.unchanged, report.chunks_embedded) == (0, 1, 0)
    assert collection.rows('SELECT mtime_ns FROM "documents_notes"') == [(1,)]


def test_a_file_dated_later_than_the_database_stores_is_one_like_others(collection):
    for path in ("a.md", "b.md"):
        collection.write(path, note("一"))
    os.utime(collection.folder / "b.md", (13_600_000_000,) * 2)  # 2400
    assert collection.import_("new").added == 2
    assert collection.import_().unchanged == 2


def test_an_update_of_unchanged_files_opens_none_and_loads_no_model(collection):
    collection.write("a.md", note("一"))
    collection.import_("new")
    # The same size and time, other bytes: only opening the file would tell.
    state = (collection.folder / "a.md").stat()
    collection.write("a.md", note("二"))
    os.utime(collection.folder / "a.md", ns=(state.st_atime_ns, state.st_mtime_ns))

    def no_model(name):
        raise AssertionError(name)

    assert import_tool(collection.request("update"), no_model).unchanged == 1


def test_equal_texts_of_one_file_are_embedded_once(collection):
    collection.write("a.md", f"## 同じ\n\n{LONG}\n\n## 同じ\n\n{LONG}\n")
    report = collection.import_("new")
    assert (report.chunks, report.chunks_embedded) == (2, 1)


def test_a_replace_with_other_options_rebuilds_everything(collection):
    collection.write("a.md", note("一", "二", "三") * 3)
    first = collection.import_("new")
    report = collection.import_("replace", strategy="token", size=128, overlap=16)
    assert report.chunks != first.chunks
    assert collection.search("一について").total_chunks == report.chunks
    names = collection.rows(
        "SELECT name FROM sqlite_schema WHERE name LIKE '%@%' OR name GLOB '*_1_1*'"
    )
    assert names == []
    collection.check()
    assert collection.import_().unchanged == 1


def test_an_update_with_another_model_refuses_and_names_replace(collection):
    collection.write("a.md", note("一"))
    collection.import_("new")
    collection.write("b.md", note("二"))
    collection.backend = TinyBackend(dimension=8)
    with pytest.raises(ImportRefused, match=r"tiny@1:16:l2.*tiny@1:8:l2.*--mode replace"):
        collection.import_()
    assert collection.import_("replace").added == 2
    collection.check()


def test_a_document_whose_file_cannot_be_read_today_is_kept(collection):
    collection.write("a.md", note("一"))
    collection.write("b.md", note("二"))
    collection.import_("new")
    (collection.folder / "a.md").write_bytes(b"\0")
    (collection.folder / "b.md").unlink()
    (collection.folder / "b.md").symlink_to("nowhere")
    report = collection.import_()
    assert (report.deleted, len(report.failed)) == (0, 2)
    assert {row[0] for row in collection.contents()} == {"a.md", "b.md"}


class Spoiled(TinyBackend):
    """A model that returns an unusable vector for one text."""

    def __init__(self, answer):
        super().__init__()
        self.answer = answer

    def _vector(self, text):
        vector = super()._vector(text)
        return np.full_like(vector, self.answer) if "毒" in text else vector


@pytest.mark.parametrize(("answer", "reason"), [(np.nan, "NaN"), (0.0, "all zero")])
def test_an_unusable_vector_is_refused_naming_the_file(collection, answer, reason):
    collection.backend = Spoiled(answer)
    collection.write("bad.md", note("一", "毒"))
    collection.write("good.md", note("二"))
    report = collection.import_("new")
    assert report.added == 1
    assert [problem.file_path for problem in report.failed] == ["bad.md"]
    assert reason in report.failed[0].reason
    assert {row[0] for row in collection.contents()} == {"good.md"}
    collection.check()


def test_a_replace_in_which_every_file_fails_leaves_the_tool_unchanged(collection):
    collection.write("a.md", note("毒"))
    collection.import_("new")
    before = collection.contents()
    collection.backend = Spoiled(np.nan)
    with pytest.raises(ImportRefused, match=r"not one file with text.*left as it was"):
        collection.import_("replace")
    assert collection.contents() == before
    assert collection.rows("SELECT name FROM sqlite_schema WHERE name LIKE '%@%'") == []
    collection.check()


def test_an_interrupted_import_says_how_far_it_came_and_update_completes_it(collection):
    for number in range(6):
        collection.write(f"{number}.md", note(f"節{number}"))

    def stop(progress):
        if progress.files_done == 3:
            raise KeyboardInterrupt

    with pytest.raises(MdvecError, match=r"3 of 6 files, which are kept.*--mode update"):
        collection.import_("new", on_progress=stop)
    collection.check()
    report = collection.import_("update")
    assert (report.added, report.unchanged) == (3, 3)


def test_an_interrupted_replace_keeps_the_old_contents_and_no_leftovers(collection):
    for number in range(4):
        collection.write(f"{number}.md", note(f"節{number}"))
    collection.import_("new")
    before = collection.contents()

    def stop(progress):
        if progress.files_done == 2:
            raise KeyboardInterrupt

    with pytest.raises(MdvecError, match="still has what it had before"):
        collection.import_("replace", on_progress=stop)
    assert collection.contents() == before
    assert collection.rows("SELECT name FROM sqlite_schema WHERE name LIKE '%@%'") == []
    collection.check()


def test_ctrl_c_while_the_rows_of_a_query_are_read_leaves_no_leftovers(collection):
    for number in range(4):
        collection.write(f"{number}.md", note(f"節{number}"))
    collection.import_("new")
    before = collection.contents()

    def stop(frame, event, _):
        if event == "call" and frame.f_code is registry._tool.__code__:
            raise KeyboardInterrupt

    def in_the_next_file(progress):
        if progress.files_done == 2:
            sys.setprofile(stop)

    with pytest.raises(MdvecError, match=r"2 of 4 files; .* still has what it had before"):
        collection.import_("replace", on_progress=in_the_next_file)
    assert collection.contents() == before
    assert collection.rows("SELECT name FROM sqlite_schema WHERE name LIKE '%@%'") == []
    collection.check()


def test_a_tool_deleted_while_an_import_runs_stops_it_with_one_sentence(collection):
    from mdvec.manage import registering

    for number in range(4):
        collection.write(f"{number}.md", note(f"節{number}"))

    def delete(progress):
        if progress.files_done == 2:
            registering.delete_tool(collection.database, collection.name)

    with pytest.raises(ImportRefused, match="deleted or rebuilt while this import ran"):
        collection.import_("new", on_progress=delete)
    left = "SELECT name FROM sqlite_schema WHERE name LIKE '%notes%' AND name NOT LIKE 'row_notes%'"
    assert collection.rows(left) == []


def test_two_tools_whose_names_begin_alike_do_not_touch_each_other(collection, tmp_path):
    from collection import Collection

    other = Collection(tmp_path / "other", collection.database, name="notes_data")
    collection.write("a.md", note("一"))
    other.write("b.md", note("二"))
    collection.import_("new")
    other.import_("new")
    collection.import_("replace")
    other.check()
    from mdvec.manage import registering

    registering.delete_tool(collection.database, "notes")
    assert [row[0] for row in other.contents()] == ["b.md"]
    other.check()


def test_an_empty_source_folder_is_treated_as_an_unmounted_disk(collection):
    collection.write("a.md", note("一"))
    collection.import_("new")
    (collection.folder / "a.md").unlink()
    (collection.folder / ".DS_Store").touch()
    with pytest.raises(ImportRefused, match=r"no file to import in .* has 1 document;"):
        collection.import_()
    assert collection.import_("replace").deleted == 1
    assert collection.contents() == []


def test_a_missing_model_stops_the_import(collection):
    collection.write("a.md", note("一"))
    collection.import_("new")
    collection.write("a.md", note("二"))
    collection.write("b.md", note("三"))

    def gone(name):
        raise ModelUnavailable(f"{name} is gone")

    with pytest.raises(ModelUnavailable, match="tiny is gone"):
        import_tool(collection.request(), gone)
    assert len(collection.contents()) == 1


@pytest.mark.parametrize(
    "matter",
    [
        '---\ntitle: "\\UFFFFFFFF"\n---\n',
        "+++\na=" + "[" * 20_000 + "\n+++\n",
        "+++\na=" + "9" * 5_000 + "\n+++\n",
        '---\ntitle: "\\ud83d"\n---\n',
    ],
)
def test_front_matter_that_cannot_be_read_stops_nothing(collection, matter):
    collection.write("a.md", matter + note("一"))
    collection.write("b.md", note("二"))
    assert collection.import_("new").added == 2
    collection.check()


def test_an_emoji_as_json_writes_it_is_one_character_of_the_title(collection):
    collection.write("a.md", '---\ntitle: "\\ud83d\\ude00 朝"\n---\n' + note("一"))
    collection.import_("new")
    assert collection.rows('SELECT title FROM "documents_notes"') == [("😀 朝",)]


def test_a_lock_file_that_cannot_be_created_is_one_sentence(collection):
    collection.write("a.md", note("一"))
    lock = collection.database.with_name(f"{collection.database.name}.import-1.lock")
    lock.mkdir()
    with pytest.raises(MdvecError, match="lock file"):
        collection.import_("new")
    assert lock.is_dir()


def test_a_tool_cut_by_other_rules_answers_and_is_only_imported_by_a_rebuild(collection):
    collection.write("a.md", note("一"))
    collection.import_("new")
    with open_database(collection.database, "write") as connection:
        connection.execute("UPDATE tools SET chunking = json_set(chunking, '$.cut', 1)")
    assert collection.places("一", k=1) == ["a.md"]
    with pytest.raises(ImportRefused, match="mdvec import -n notes --mode replace --model tiny"):
        collection.import_("update")
    facts = dict(details(collection.database, "notes").contents.import_facts())
    assert "cut by other rules" in str(facts["chunks"])
    collection.import_("replace")
    assert collection.import_("update").unchanged == 1


def test_a_lock_file_is_stored_without_chunks_and_named(collection):
    rules = replace(RULES, extensions=(".md", ".json"))
    collection = replace(collection, rules=rules, is_new=False)
    collection.write("app/package-lock.json", '{"name": "x"}')
    collection.write("a.md", note("一"))
    report = collection.import_("new")
    assert (report.added, report.chunks) == (2, 1)
    assert report.hints == (
        "stored, but not searched, as only machines read it (lock files, minified code, encoded "
        "data): app/package-lock.json; to leave such files out, name them in [scan] exclude",
    )
    assert collection.import_().hints == ()


def test_a_note_of_comments_alone_is_not_called_machine_text(collection):
    collection.write("a.md", "<!-- あとで書く -->\n\n%% 下書き %%\n")
    assert collection.import_("new").hints == ()


def test_mdx_is_markdown(collection):
    collection = replace(collection, rules=replace(RULES, extensions=(".mdx",)), is_new=False)
    collection.write(
        "a.mdx", f"---\ntitle: 題\n---\nimport A from './a'\n\n## 節\n\n<A>\n\n{LONG}\n\n</A>\n"
    )
    collection.import_("new")
    assert collection.backend.embedded == [f"題\n節\n\n{LONG}"]


def test_a_note_without_a_body_is_found_by_what_its_front_matter_says(collection):
    collection.write("新居.md", "---\ntitle: 引っ越しの見積もり\nphone: 0120\n---\n")
    collection.write("電話番号.md", "")
    collection.write("ひな形.md", "---\ntags:\n---\n")
    collection.write("下書き.md", "<!-- 引っ越しの見積もりは後で書く -->\n\n%% 見積もり %%\n")
    report = collection.import_("new")
    assert (report.chunks, report.failed) == (1, ())
    (hit,) = collection.search("引っ越しの見積もり", 1).results
    assert (hit.file_path, hit.title) == ("新居.md", "引っ越しの見積もり")
    assert hit.content == "---\ntitle: 引っ越しの見積もり\nphone: 0120\n---"
    for returning in ("chunk", "section", "document"):
        assert collection.places("電話番号", 5, returning=returning, mode="lexical") == []
        (hit,) = collection.search("0120", 1, returning=returning).results
        assert hit.content.rstrip() == "---\ntitle: 引っ越しの見積もり\nphone: 0120\n---"


def test_invalid_yaml_front_matter_is_imported_and_named_once(collection):
    collection.write("a.md", "---\ntitle: A: B\ntags: [会議]\n---\n本文。\n")
    collection.write("b.md", "---\ntitle: good\n---\n本文。\n")
    report = collection.import_("new")
    assert (report.added, report.failed) == (2, ())
    (hint,) = report.hints
    assert "front matter of a.md is not valid YAML" in hint
    assert collection.import_().hints == ()


def test_checksum_finds_a_change_that_size_and_time_do_not_show(collection):
    collection.write("a.md", note("一"))
    collection.import_("new")
    file = collection.folder / "a.md"
    before = file.stat()
    collection.write("a.md", note("二"))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert collection.import_().updated == 0
    request = replace(collection.request(), checksum=True)
    assert import_tool(request, lambda _: Embedder(collection.backend)).updated == 1
