"""What answers say of the sources: each look runs beside an answer, which waits a moment for it."""

import subprocess
import sys

import pytest
from collection import RULES, Collection, water_and_rice
from mdvec.database.connection import open_database
from mdvec.importing import ImportInterrupted
from mdvec.manage import registering
from mdvec.manage.registering import rename_tool
from mdvec.settings import Settings
from mdvec.settings.sections import DatabaseSettings, ModelSettings
from mdvec.sync.imports import Imports

from mdvec_mcp.freshness import FreshnessWatch, freshness_in_english
from mdvec_mcp.upkeep import source_list

NEWER = "1 file is newer than the index of notes; reindex imports it"
COLD = """
import sys
from pathlib import Path
from mdvec.files.scanning import ScanRules
from mdvec.settings import Settings
from mdvec.sync.imports import Imports
from mdvec_mcp.freshness import FreshnessWatch, freshness_in_english
database, note = map(Path, sys.argv[1:])
rules = ScanRules((".md",), (), 1_000_000)
watch = FreshnessWatch(database, rules, 0, False, Imports(Settings()))
watch.check_tool("notes").notes(freshness_in_english)
while "notes" in str(watch._running):
    pass
note.write_text("# edited", encoding="utf-8")
print(*watch.check_tool("notes").notes(freshness_in_english))
"""


@pytest.fixture
def notes(tmp_path):
    return water_and_rice(tmp_path)


def test_the_first_answer_after_an_edit_says_so_in_a_process_that_has_just_begun(notes):
    said = subprocess.run(
        [sys.executable, "-c", COLD, notes.database, notes.folder / "水.md"],
        capture_output=True, encoding="utf-8", check=True,
    )  # fmt: skip
    assert said.stdout.strip() == NEWER


def test_an_answer_waits_for_the_look_that_another_answer_began(notes):
    for number in range(400):
        notes.write(f"新{number}.md", "# 新\n")
    watch = FreshnessWatch(notes.database, RULES, 0, False, Imports(Settings()))
    first, second = watch.check_tool("notes"), watch.check_tool("notes")
    newer = "400 files are newer than the index of notes; reindex imports them"
    assert second.notes(freshness_in_english) == [newer]
    assert first.notes(freshness_in_english) == [newer]


def test_who_needs_it_newer_has_a_look_more_often(notes):
    watch = FreshnessWatch(notes.database, RULES, 3600, False, Imports(Settings()))
    assert watch.check_tool("notes").notes(freshness_in_english) == []
    notes.write("水.md", "# 水\n\nedited\n")
    assert watch.check_tool("notes").notes(freshness_in_english) == []
    newer = watch.check("tool notes", lambda _: True, 0)
    assert newer.notes(freshness_in_english) == [NEWER]


def test_only_the_tool_of_the_servers_folder_is_imported_by_itself_whatever_its_name(notes):
    other = Collection(notes.folder / "sub", notes.database, name="other")
    other.write("a.md", "# a\n")
    database = DatabaseSettings(path=str(notes.database))
    imports = Imports(Settings(database=database, model=ModelSettings(name="use")))
    folder_tool = registering.find_tool(notes.database, "notes")
    rename_tool(notes.database, "notes", "memo", pytest.fail)
    watch = FreshnessWatch(notes.database, RULES, 0, False, imports, folder_tool.id)
    watch.check("texts", lambda _: True).notes(freshness_in_english)
    watch.wait_for_first_checks()
    assert imports.running("memo") is not None
    assert imports.running("other") is None
    imports.close()


def test_an_index_without_documents_is_looked_at_each_time(tmp_path):
    empty = Collection(tmp_path / "notes", tmp_path / "v.sqlite")
    watch = FreshnessWatch(empty.database, RULES, 86_400, False, Imports(Settings()))
    assert watch.check_tool("notes").notes(freshness_in_english) == []
    watch.wait_for_first_checks()
    empty.write("a.md", "# a\n")
    assert watch.check_tool("notes").notes(freshness_in_english) == [NEWER]


def test_a_tool_that_cannot_be_looked_at_hides_no_other(notes):
    Collection(notes.folder.with_name("broken"), notes.database, name="broken")
    with open_database(notes.database, "write") as connection:
        connection.execute('DROP TABLE "documents_broken"')
    notes.write("水.md", "# 水\n\n九リットル。\n")
    watch = FreshnessWatch(notes.database, RULES, 0, False, Imports(Settings()))
    assert watch.check("texts", lambda _: True).notes(freshness_in_english) == [NEWER]


def test_names_of_no_tools_are_not_remembered_without_end(notes):
    watch = FreshnessWatch(notes.database, RULES, 0, False, Imports(Settings()))
    for number in range(130):
        watch.check_tool(f"none-{number}").notes(freshness_in_english)
    watch.wait_for_first_checks()
    assert 0 < len(watch._last_checks) <= 100
    assert not watch._first_check_until


def test_a_rebuild_elsewhere_after_a_stopped_first_import_is_told_by_its_own_count(tmp_path):
    notes = Collection(tmp_path / "メモ", tmp_path / "v.sqlite")
    for name in ("水", "米", "麦"):
        notes.write(f"{name}.md", f"# {name}\n\n{name}の話。\n")

    def stop(progress) -> None:
        if progress.files_done == 1:
            raise KeyboardInterrupt

    with pytest.raises(ImportInterrupted):
        notes.import_("new", on_progress=stop)
    watch = FreshnessWatch(notes.database, RULES, 0, False, Imports(Settings()))
    told: list[str] = []
    notes.import_("replace", on_progress=lambda _: told.append(source_list(watch).text))
    assert "; no import has finished yet; " in told[-1]
    assert "notes is being built again" not in told[-1]  # the line of the import tells it
    assert "import running: by another process: 3 documents built again so far" in told[-1]
    assert "import running" not in source_list(watch).text
