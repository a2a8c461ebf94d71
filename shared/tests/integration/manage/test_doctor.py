"""`mdvec doctor`: what its checks find in a database, and what they fix without a loss."""

import fcntl
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import apsw
import pytest
from collection import Collection
from source_folder import DataFolder, no_model

from mdvec.database.connection import _user_error as user_error
from mdvec.database.connection import open_database
from mdvec.database.migrations import LATEST
from mdvec.index.tables import Tables, create_signatures, create_tables, create_text_indexes
from mdvec.manage import registering
from mdvec.manage.doctor.database import (
    check_copies,
    check_database,
    check_disk,
    check_indexes,
    check_leftovers,
)
from mdvec.manage.doctor.examination import GROUPS, examine
from mdvec.manage.doctor.findings import Finding
from mdvec.manage.doctor.installed import (
    check_libraries,
    check_models,
    check_settings,
    check_sources,
)
from mdvec.manage.doctor.server import ServerFailed, server_session
from mdvec.manage.tool_import import import_tool
from mdvec.settings.loading import Loaded, load_with_origins

OF_DATABASE = (check_database, check_indexes, check_leftovers, check_sources)
FAST = tuple(group for group in GROUPS if group.check in OF_DATABASE)


def installation(database: Path, **environment: str) -> Loaded:
    flags = {"database": {"path": str(database)}}
    return load_with_origins(environment, flags=flags)


def levels(check, database: Path) -> list[str]:
    return [finding.level for finding in check(installation(database))]


def only(check, database: Path, level: str) -> Finding:
    """The one finding of that level."""
    (found,) = [one for one in check(installation(database)) if one.level == level]
    return found


def change(database: Path, *statements: str) -> None:
    with apsw.Connection(str(database)) as connection:
        for statement in statements:
            connection.execute(statement)


@pytest.fixture
def filled(collection: Collection) -> Collection:
    """A tool of two documents."""
    collection.write("a.md", "# 水\n\n水を備えます。\n")
    collection.write("b.md", "# 米\n\nお米は二合炊く。\n")
    collection.import_("new")
    return collection


def test_a_healthy_database_has_only_ok(filled):
    found = examine(installation(filled.database), groups=FAST)
    assert {finding.level for finding in found.findings} == {"ok"}
    assert (found.has_trouble, found.fixed) == (False, ())


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("DELETE FROM fts_1_1 WHERE rowid = 1", "lacks 1 of 2 chunks"),
        ("INSERT INTO fts_1_1 (rowid, text) VALUES (99, 'x')", "has 1 too many"),
        ("DELETE FROM signatures_1_1 WHERE document_id = 2", "1 signatures for 2 vectors"),
        ("DROP TABLE signatures_1_1", "indexes are missing"),
    ],
)
def test_an_index_that_differs_from_the_chunks_is_built_again_without_the_model(
    filled, statement, said
):
    change(filled.database, statement)
    found = only(check_indexes, filled.database, "trouble")
    assert said in found.sentence
    embedded = len(filled.backend.embedded)
    after = examine(installation(filled.database), fix=True, groups=FAST)
    assert len(after.fixed) == 1
    assert not after.has_trouble
    assert len(filled.backend.embedded) == embedded
    filled.check()


def test_vectors_of_another_length_need_the_model_and_are_left_to_the_user(filled):
    change(filled.database, "UPDATE vectors_notes SET embedding = x'00000000' WHERE id = 1")
    found = only(check_indexes, filled.database, "trouble")
    assert "1 of 2 vectors" in found.sentence
    assert (found.command, found.fix) == ("mdvec import -n notes --mode replace --model tiny", None)


def test_a_copy_whose_rows_cannot_be_read_is_trouble_until_its_files_are_read_again(tmp_path):
    runs = DataFolder(tmp_path / "runs", tmp_path / "data.sqlite", name="runs")
    (runs.folder / "a.csv").write_text("n\n" + "".join(f"{n * n}\n" for n in range(9_000)))
    runs.import_("new")
    assert levels(check_copies, runs.database) == ["ok"]
    (copy,) = runs.copies
    content = copy.read_bytes()
    copy.write_bytes(content[:4] + bytes(1_000) + content[1_004:])  # with a page's own header
    found = only(check_copies, runs.database, "trouble")
    assert "runs: queries cannot read runs__a;" in found.sentence
    assert found.command == "mdvec import -n runs --mode update --checksum"
    copy.unlink()
    assert only(check_copies, runs.database, "trouble") == found
    request = replace(runs.request("update"), checksum=True)
    import_tool(request, no_model)
    assert levels(check_copies, runs.database) == ["ok"]


def test_what_a_killed_import_left_is_dropped(filled):
    with open_database(filled.database, "write") as connection, connection:
        staged = Tables(connection, 1, "notes", 2, staged=True)
        create_tables(staged)
        create_signatures(staged)
        create_text_indexes(staged)
    Path(f"{filled.database}.import-1.lock").write_text("")
    found = only(check_leftovers, filled.database, "warning")
    assert "documents_notes@2" in found.sentence
    assert "signatures_1_2" in found.sentence
    assert ".import-1.lock" in found.sentence
    after = examine(installation(filled.database), fix=True, groups=FAST)
    assert [one.done for one in after.fixed] == ["removed what an unfinished import of notes left"]
    assert levels(check_leftovers, filled.database) == ["ok"]
    assert [file.name for file in filled.database.parent.iterdir()] == ["vectors.sqlite"]
    filled.check()


def test_scan_settings_that_a_tool_does_not_follow_are_named_with_the_command(filled):
    found = list(check_sources(installation(filled.database, MDVEC_SCAN_MAX_BYTES="5000")))
    (warning,) = [finding.sentence for finding in found if finding.level == "warning"]
    assert "max_bytes = 10485760, not 5000" in warning
    assert warning.endswith(": mdvec import -n notes --mode update --take-scan")
    rules = installation(filled.database).settings.scan_rules()
    stated = registering.FilePatterns(rules, exclude=("drafts/",))
    registering.update_tool(filled.database, "notes", None, None, patterns=stated)
    found = list(check_sources(installation(filled.database, MDVEC_SCAN_EXCLUDE='["old/"]')))
    assert "warning" not in [finding.level for finding in found]


def test_a_killed_rebuild_is_begun_again_by_one_command_and_what_it_left_is_checked_again(filled):
    with open_database(filled.database, "write") as connection, connection:
        staged = Tables(connection, 1, "notes", 2, staged=True)
        create_tables(staged)
    found = only(check_sources, filled.database, "warning")
    assert found.command == "mdvec import -n notes --mode replace"
    assert found.sentence.endswith(f"begin again with: {found.command}")
    after = examine(installation(filled.database), fix=True, groups=FAST)
    assert [one.level for one in after.findings if one.check == "sources"] == ["ok"]


def test_what_a_running_import_uses_is_no_leftover(filled):
    with open_database(filled.database, "write") as connection, connection:
        staged = Tables(connection, 1, "notes", 2, staged=True)
        create_tables(staged)
    with Path(f"{filled.database}.import-1.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        found = examine(installation(filled.database), fix=True, groups=FAST)
    assert found.fixed == ()
    assert any("is running" in finding.sentence for finding in found.findings)


REMOVE = "from pathlib import Path; from mdvec.database.file import remove_index; remove_index"


def test_a_read_only_index_of_the_log_is_named_and_removed_while_nothing_uses_it(filled):
    index = Path(f"{filled.database}-shm")
    with open_database(filled.database, "write"):
        used = index.stat().st_mode
        index.chmod(0o444)
        removal = f"{REMOVE}(Path({str(filled.database)!r}))"
        refused = subprocess.run([sys.executable, "-c", removal], capture_output=True, text=True)
        assert ("BlockingIOError" in refused.stderr, index.exists()) == (True, True)
        index.chmod(used)
    index.write_bytes(b"")
    index.chmod(0o444)
    error = user_error(apsw.ReadOnlyError("attempt to write"), filled.database)
    assert str(error).startswith(f"{index} is read-only, so {filled.database} cannot be written")
    found = examine(installation(filled.database), fix=True, groups=FAST)
    assert found.json_fields()["fixed"] == [f"database: removed {index}"]
    assert not found.has_trouble


def test_a_file_that_others_can_open_is_made_private(filled):
    filled.database.chmod(0o644)
    found = only(check_database, filled.database, "warning")
    assert found.command == f"chmod 600 {filled.database}"
    examine(installation(filled.database), fix=True, groups=FAST)
    assert filled.database.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("PRAGMA application_id = 7", "of another program"),
        (f"PRAGMA user_version = {LATEST + 1}", "newer mdvec"),
    ],
)
def test_a_foreign_or_newer_database_is_trouble_and_nothing_else_is_read(filled, statement, said):
    change(filled.database, statement)
    (found,) = examine(installation(filled.database), groups=FAST).findings
    assert found.level == "trouble"
    assert said in found.sentence


def test_rows_without_a_parent_are_told(filled):
    change(filled.database, "PRAGMA foreign_keys = OFF", "DELETE FROM documents_notes WHERE id = 1")
    assert "1 rows belong" in only(check_database, filled.database, "trouble").sentence


def test_a_disk_with_little_room_is_a_warning_as_a_small_import_has_enough(filled, monkeypatch):
    usage = shutil._ntuple_diskusage(10**12, 10**12, 44_000_000)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    assert "; imports may fail" in only(check_disk, filled.database, "warning").sentence


def test_a_damaged_file_is_trouble(filled):
    with filled.database.open("r+b") as file:
        file.seek(4096 * 3)
        file.write(b"\xff" * 4096)
    assert examine(installation(filled.database), groups=FAST).has_trouble


def test_an_empty_file_is_told_and_examined_as_a_database_that_is_not_there(tmp_path):
    empty = tmp_path / "e.sqlite"
    empty.touch()
    groups = tuple(group for group in GROUPS if group.name in ("database", "leftovers", "engine"))
    assert not examine(installation(empty), groups=groups).has_trouble
    empty.chmod(0o600)
    found = only(check_database, empty, "warning")
    assert (found.sentence, found.command) == (
        f"{empty} is empty; if it had tools, their content is lost", "mdvec restore FILE",
    )  # fmt: skip


def test_sources_that_vanished_and_tools_without_an_import_are_told(filled, tmp_path):
    (tmp_path / "table.csv").write_text("a\n1\n")
    registering.add_tool(filled.database, "table", "t", tmp_path / "table.csv", "dataset")
    assert "table was never imported" in only(check_sources, filled.database, "warning").sentence
    (tmp_path / "table.csv").unlink()
    filled.folder.rename(tmp_path / "away")
    gone = {
        finding.level: finding.command
        for finding in check_sources(installation(filled.database))
        if "does not exist" in finding.sentence
    }
    assert gone == {
        "warning": "mdvec tool update -n notes -s FOLDER",
        "trouble": "mdvec tool update -n table -s FOLDER",
    }


def test_a_model_that_a_tool_needs_and_nobody_has_is_trouble(filled):
    found = only(check_models, filled.database, "trouble")
    assert "no model tiny; the tool notes was imported with it" in found.sentence


@pytest.mark.parametrize(
    ("architecture", "level", "said"),
    [
        ("BertForSequenceClassification", "ok", "is here"),
        ("BertModel", "trouble", "it is not a cross-encoder; searches keep their usual order"),
        (None, "trouble", "that folder has no model in it"),
    ],
)
def test_the_reranker_is_checked_without_loading_it(filled, tmp_path, architecture, level, said):
    if architecture:
        (tmp_path / "config.json").write_text(f'{{"architectures": ["{architecture}"]}}')
        (tmp_path / "model.safetensors").touch()
    asked = installation(filled.database, MDVEC_SEARCH_RERANKER=f"st:{tmp_path}")
    (found,) = [one for one in check_models(asked) if "reranker" in one.sentence]
    assert (found.level, said in found.sentence) == (level, True), found


def test_settings_tell_their_origin_and_a_log_that_cannot_be_written(filled):
    (filled.folder / "file").write_text("")
    log = str(filled.folder / "file" / "a.log")
    found = [*check_settings(installation(filled.database, MDVEC_SEARCH_K="7", MDVEC_LOG_FILE=log))]
    assert "[search] k = 7, set by environment" in [finding.sentence for finding in found]
    assert [finding.check for finding in found if finding.level == "warning"] == ["log"]


def test_the_libraries_are_here_and_a_font_that_is_gone_is_not(filled, tmp_path):
    gone = installation(filled.database, MDVEC_CHARTS_FONT_PATH=str(tmp_path / "gone.ttf"))
    found = {finding.check: finding for finding in check_libraries(gone)}
    assert (found["sqlite"].level, found["sqlite-vec"].level) == ("ok", "ok")
    assert found["font"].level == "trouble"
    assert "[charts] font_path" in str(found["font"].command)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("print('hello')", "not a message"),
        ("import sys; sys.exit('it broke')", "the server ended: it broke"),
        ("import sys; sys.stdin.read()", "did not answer within 0.5 s"),
    ],
)
def test_a_server_that_does_not_answer_is_told_in_one_sentence(code, said):
    server = server_session([sys.executable, "-c", code], 0.5 if "stdin" in code else 60, {})
    with pytest.raises(ServerFailed, match=said), server:
        pytest.fail("it greeted")


def test_a_server_that_is_not_there_is_told(tmp_path):
    server = server_session([str(tmp_path / "none")], 1, {})
    with pytest.raises(ServerFailed, match="cannot be started"), server:
        pytest.fail("it greeted")
