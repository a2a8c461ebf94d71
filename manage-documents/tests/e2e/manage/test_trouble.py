"""Unusable databases, full disks, read-only folders."""

import ctypes
import importlib
import inspect
import py_compile
import re
import resource
import sqlite3
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from imported import imported
from mdvec.database.connection import open_database
from mdvec.database.migrations import LATEST
from mdvec.manage import samples
from mdvec.manage.status import overview
from old_database import database_of_format_17
from table_of_cases import each


def give_up_capabilities():
    """Root may write anywhere, by capabilities that each thread has for itself."""
    libc = ctypes.CDLL(None, use_errno=True)
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    none = (ctypes.c_uint32 * 6)()  # effective, permitted, inheritable; twice 32 bits of each
    if libc.capset(header, none) != 0:
        raise OSError(ctypes.get_errno(), "capset refused")


def without_capabilities(run):
    """What ``run`` returns where the modes of files count."""
    with ThreadPoolExecutor(1, initializer=give_up_capabilities) as threads:
        return threads.submit(run).result()


@contextmanager
def full_disk(size):
    """Meanwhile no file of this process grows beyond a size.

    Nor does a module that is imported now leave its bytecode: Python would cut it off unnoticed.
    """
    before, writes_no_bytecode = resource.getrlimit(resource.RLIMIT_FSIZE), sys.dont_write_bytecode
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    sys.dont_write_bytecode = True
    try:
        yield
    finally:
        sys.dont_write_bytecode = writes_no_bytecode
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_module_first_imported_on_a_full_disk_leaves_no_damaged_bytecode(tmp_path, monkeypatch):
    (tmp_path / "imported_late.py").write_text(f"TEXT = {'long ' * 1_000!r}\n")
    monkeypatch.syspath_prepend(tmp_path)
    with full_disk(2_000):
        importlib.import_module("imported_late")
    assert [file.name for file in tmp_path.rglob("*") if file.is_file()] == ["imported_late.py"]


def test_a_damaged_installation_is_not_taken_for_an_aborted_command(mdvec, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path))
    bytecode = Path(py_compile.compile(samples.__file__))
    bytecode.write_bytes(bytecode.read_bytes()[:500])
    # Of what is loaded later; to compile all of it anew takes a second.
    damaged = f"import sys, mdvec_cli.main; sys.pycache_prefix = {str(tmp_path)!r}\n"
    done = mdvec.process("samples", "tried", first=damaged)
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith(
        "error: a module's bytecode is damaged (marshal data too short); install it again with: "
    )


def refused(mdvec, command):
    """The error of a command that fails with one sentence and leaves the file unchanged."""
    before = mdvec.database.read_bytes()
    done = mdvec(*command.split())
    assert (done.code, done.out, done.err.count("\n")) == (1, "", 1)
    assert mdvec.database.read_bytes() == before
    return done.err


def test_a_file_that_is_not_a_database_is_unchanged(mdvec):
    mdvec.database.write_text("# Notes\n\nNo database.\n" * 100)
    assert refused(mdvec, "import -n notes") == (
        f"error: {mdvec.database} is not a database; name another file with --database, "
        "or move this one away\n"
    )


def test_another_programs_database_is_unchanged(mdvec):
    with closing(sqlite3.connect(mdvec.database)) as other, other:
        other.execute("CREATE TABLE tools (id INTEGER)")
    assert refused(mdvec, "tool add -n other -d d -s docs") == (
        f"error: {mdvec.database} is a database of another program; "
        "name another file with --database\n"
    )


def test_a_database_of_a_newer_version_is_unchanged(notes):
    with closing(sqlite3.connect(notes.database)) as other, other:
        other.execute("PRAGMA user_version = 99")
    said = refused(notes, "tool delete -n notes -y")
    assert said.startswith(f"error: {notes.database} was made by a newer mdvec (format 99, ")
    assert said.endswith("); update mdvec to use it\n")


def test_a_folder_in_place_of_the_database_is_reported(mdvec):
    done = mdvec("import", "-n", "notes", "--database", "docs")
    assert (done.code, done.out) == (1, "")
    assert done.err == (
        f"error: {mdvec.docs} is a folder, not a database; name a file with --database\n"
    )


def test_a_truncated_database_is_reported_as_damaged(notes):
    half = notes.database.read_bytes()[: notes.database.stat().st_size // 2]
    notes.database.write_bytes(half)
    assert refused(notes, "status") == (
        f"error: the database {notes.database} is damaged (database disk image is malformed); "
        "put back a backup with: mdvec restore FILE; without one, move the file away and "
        "import again, which loses decisions, budgets, rules, notes and saved questions\n"
    )


@pytest.mark.parametrize(
    ("path", "message"),
    [("docs/a.md/db.sqlite", "cannot create the folder {work}/docs/a.md for the database"),
     ("dangling", "{work}/dangling cannot be opened; check"),
     ("x" * 300, "{work}/xxx")],
)  # fmt: skip
def test_an_impossible_path_is_one_sentence(mdvec, path, message):
    mdvec.write("a.md", "# A")
    (mdvec.work / "dangling").symlink_to("nowhere/db.sqlite")
    done = mdvec("tool", "add", "-n", "notes", "-d", "d", "-s", "docs", "--database", path)
    assert (done.code, done.out, done.err.count("\n")) == (1, "", 1)
    assert done.err.startswith(f"error: {message.format(work=mdvec.work)}")
    assert "--database" in done.err


def test_in_a_read_only_folder_reading_works_and_writing_is_one_sentence(notes):
    folder = notes.work / "closed"
    folder.mkdir()
    notes.database = notes.database.rename(folder / "db.sqlite")
    folder.chmod(0o555)
    notes.environment["MDVEC_DATABASE_PATH"] = str(notes.database)
    commands = ("status --format json", "compact", "tool delete -n notes -y")
    status, compact, done = without_capabilities(lambda: notes.each(*commands))
    assert status.json["tools"][0]["vectors"] == 4
    assert (compact.code, compact.out) == (1, "")
    assert "the file or its folder is not writable" in compact.err
    assert (done.code, done.out) == (1, "")
    assert done.err == (
        f"error: {notes.database} cannot be written; check that the file and its folder can be "
        "read and written, or name another with --database\n"
    )
    folder.chmod(0o755)
    assert [path.name for path in folder.iterdir()] == ["db.sqlite"]
    assert overview(notes.database).tools[0].vectors == 4


def test_a_database_or_settings_that_this_user_cannot_read_are_named_by_mdvec_itself(notes):
    closed = notes.work / "closed"
    closed.touch(0)
    commands = (f"status --database {closed}", f"status --config {closed}")
    database, settings = without_capabilities(
        lambda: notes.each(*commands, MDVEC_DISPLAY_LANGUAGE="ja")
    )
    assert database.err.startswith(f"エラー: {closed} を開けません。ファイルとフォルダーを")
    assert settings.err == f"エラー: {closed} を読めません（権限がありません）\n"
    assert (database.code, settings.code) == (1, 1)


def test_a_read_only_file_of_an_older_format_says_that_it_must_be_writable(notes, tmp_path):
    notes.database = database_of_format_17(tmp_path / "old")
    notes.database.chmod(0o444)
    before = notes.database.read_bytes()
    notes.environment["MDVEC_DATABASE_PATH"] = str(notes.database)
    done = without_capabilities(lambda: notes("tool", "ls"))
    assert (done.code, done.out) == (1, "")
    assert done.err == (
        f"error: {notes.database} has format 17 and must be brought to {LATEST}, but cannot be "
        "written; make the file and its folder writable, or copy it to where they are\n"
    )
    assert notes.database.read_bytes() == before
    notes.database.chmod(0o600)
    assert without_capabilities(lambda: notes("tool", "ls")).out == "kakeibo\nnotes\nours\nruns\n"


def test_a_read_only_file_is_read_and_unchanged(notes):
    notes.write("new.md", "# 新しい\n\n本文。")
    notes.database.chmod(0o444)
    commands = ("tool ls", "import -n notes -m update", "compact")
    listed, imported, done = without_capabilities(lambda: notes.each(*commands))
    assert listed.out == "notes\n"
    assert (imported.code, imported.out) == (1, "")
    assert f"error: {notes.database} cannot be written; check that" in imported.err
    assert (done.code, done.out) == (1, "")
    assert done.err == (
        f"error: {notes.database} cannot be compacted: the file or its folder is not writable; "
        "change its permissions, or name another database with --database\n"
    )
    assert overview(notes.database).tools[0].documents == 3


def test_a_disk_that_fills_up_while_the_file_is_compacted_loses_nothing(notes):
    with full_disk(60_000):
        done = notes("compact")
    assert (done.code, done.out, done.err.count("\n")) == (1, "", 1)
    assert done.err.startswith("error: ")
    assert "disk" in done.err
    assert overview(notes.database).tools[0].vectors == 4
    assert notes("compact").code == 0


def test_a_backup_without_room_names_the_file_that_was_asked_for(notes):
    with full_disk(60_000):
        done = notes("backup", "saved.zip")
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("error: saved.zip could not be written to its end: the disk has no")
    assert [name for name in notes.files() if "saved.zip" in name] == []


@each(
    ("command", "folder", "room", "file"),
    [
        ("samples", "tried", 2_000, "tried"),
        ("samples", "new/in/tried", 2_000, "tried"),
        ("demo", "new/in/tried", 2_000, "tried/samples"),
        ("demo", "tried", 2_000, "tried/samples"),
        ("demo", "tried", 99_000, "demo.sqlite"),
        ("demo", "docs", 99_000, "demo.sqlite"),
    ],
)
def test_samples_and_a_demo_without_room_leave_nothing_for_the_next_try(
    mdvec, command, folder, room, file
):
    mdvec.write("a.md", "# The user's own")
    before = mdvec.files()
    with full_disk(room):
        done = mdvec(command, folder)
    assert done.code == 1
    (said,) = (line for line in done.err.splitlines() if line.startswith("error: "))
    assert f"{file} c" in said
    assert said.endswith(("make room, then repeat the command", "the space left there"))
    assert mdvec.files() == before
    assert not (mdvec.work / "new").exists()


WHY = re.compile(r"there is no |is a folder, not |\([A-Za-z ]+\)")
PLACES = ("shut/a", "shut/a/b", "shut", "docs/a.md/b", "read-only/a", "loop/a", f"docs/{'n' * 300}")


@pytest.mark.parametrize("place", PLACES)
def test_a_place_that_cannot_be_used_is_one_sentence_for_every_command(mdvec, place):
    mdvec.write("a.md", "# The user's own")
    (mdvec.work / "loop").symlink_to("loop2")
    (mdvec.work / "loop2").symlink_to("loop")
    for name, mode in (("shut", 0), ("read-only", 0o555)):
        (mdvec.work / name).mkdir(mode)
    assert mdvec("tool", "add", "-n", "one", "-d", "one", "-s", "docs").code == 0
    before = mdvec.files()
    commands = (
        f"demo {place}/c", f"samples {place}/c", f"backup {place}/c",
        f"restore {place}/c --yes", f"export one -o {place}/c.csv", f"plot one -o {place}/c.png",
        f"tool add -n two -d two -s {place}/c",
        f"tool add -n two -d two -s docs --database {place}/c", f"household map {place}/c",
        f"register claude-code --docs-dir {place}/c", f"status --config {place}/c",
        f"status --database {place}/c", f"rules install --path {place}/c",
        f"search one --database {place}/c", f"query one --database {place}",
        f"profile one --database {place}",
    )  # fmt: skip
    for command, done in zip(
        commands, without_capabilities(lambda: mdvec.each(*commands)), strict=True
    ):
        assert done.code in (1, 2), command
        assert done.err.startswith("error: "), command
        assert done.err.count("\n") == 1, done.err
        assert place in done.err, done.err
        assert WHY.search(done.err), done.err
        assert "unexpected" not in done.err
        assert "Errno" not in done.err
    assert mdvec.files() == before


def test_a_working_folder_that_may_not_be_entered_denies_no_command(notes):
    shut = notes.work / "shut"
    shut.mkdir()
    (shut / "config.toml").write_text("[search]\nk = 1\n")
    (shut / "mdvec.toml").write_text("[display]\ndefault_format = 'json'\n")
    notes.work = shut
    shut_it = f"import ctypes, os\n{inspect.getsource(give_up_capabilities)}"
    shut_it += "os.chmod('.', 0)\ngive_up_capabilities()\n"
    done = notes.process("tool", "ls", first=shut_it)
    told = f"warning: the working folder {shut} may not be entered; settings in it are not read\n"
    assert (done.code, done.out, done.err) == (0, "notes\n", told)
    shut.chmod(0o700)
    done = notes.process("tool", "ls", first=shut_it, MDVEC_CONFIG=str(notes.work.parent / "x"))
    assert done.err.startswith("error: there is no settings file ")


def test_an_examination_goes_on_where_the_database_may_not_be_looked_at(notes):
    (notes.work / "shut").mkdir(0)
    done = without_capabilities(lambda: notes("doctor", "--database", "shut/db.sqlite"))
    assert done.code == 1
    assert re.search("^trouble  database: .*Permission denied", done.out, re.MULTILINE)
    assert re.search("^ok       python: ", done.out, re.MULTILINE)
    assert done.out.splitlines()[-1].startswith("ok       clients: ")


@pytest.mark.parametrize("target", ["nowhere", "link", "link2"])
def test_a_link_that_leads_nowhere_is_not_replaced_by_what_is_written(notes, target):
    (notes.work / "link").symlink_to(target)
    (notes.work / "link2").symlink_to("link")
    for done in notes.each("backup link", "export notes -o link --file-format csv"):
        assert done.code != 0
        assert re.search("link exists( already)?; ", done.err)
    assert (notes.work / "link").readlink() == Path(target)


def test_settings_in_a_folder_that_may_not_be_entered_are_no_traceback(mdvec):
    (mdvec.work / "shut").mkdir(0)
    done = without_capabilities(
        lambda: mdvec("status", HOME=str(mdvec.work / "shut"), XDG_CONFIG_HOME=None)
    )
    assert done.code == 1
    assert done.err.endswith("/config.toml cannot be read (Permission denied)\n")


def test_a_folder_of_an_unknown_user_is_one_that_is_not_there(mdvec):
    done = mdvec("tool", "add", "-n", "one", "-d", "one", "-s", "~nobody-here/notes")
    assert done.err.startswith("error: there is no folder ~nobody-here/notes; ")


def test_an_exports_folder_that_cannot_be_made_says_so(notes):
    (notes.work / "read-only").mkdir(0o555)
    folder = str(notes.work / "read-only/exports")
    done = without_capabilities(
        lambda: notes("export", "SELECT 1 AS a", MDVEC_ANALYTICS_FOLDER=folder)
    )
    assert done.err == (
        "error: the exports folder cannot be written (Permission denied); check [analytics] "
        "folder and the space left there\n"
    )


def test_a_demo_in_a_folder_that_cannot_be_written_is_refused(mdvec):
    mdvec.docs.chmod(0o555)
    done = without_capabilities(lambda: mdvec("demo", "docs"))
    mdvec.docs.chmod(0o755)
    assert (done.code, done.out) == (1, "")
    assert done.err.splitlines()[-1] == (
        f"error: {mdvec.docs} cannot be used (Permission denied); "
        "check the path, and your rights and the space left there"
    )


def test_a_disk_that_fills_up_while_a_backup_is_restored_keeps_one_copy_only(notes):
    notes("backup", "saved.zip")
    with zipfile.ZipFile(notes.work / "saved.zip") as archive:
        size = archive.getinfo("mdvec.sqlite").file_size
    with full_disk(size):  # the log of the copying is larger
        done = notes("restore", "saved.zip", "--yes")
    assert (done.code, done.out, done.err.count("\n")) == (1, "", 1)
    assert done.err.startswith(f"error: {notes.database} could not be written to its end: the disk")
    assert [name for name in notes.files() if "replaced" in name] == []
    assert overview(notes.database).tools[0].vectors == 4
    assert notes("restore", "saved.zip", "--yes").code == 0


@pytest.mark.parametrize(
    ("mode", "room"),
    [("update", 300_000), pytest.param("replace", 200_000, marks=pytest.mark.soak)],
)
def test_a_disk_that_fills_up_is_one_sentence_and_keeps_what_was_finished(notes, mode, room):
    for number in range(60):
        notes.write(f"{number:02}.md", f"# {number}\n\n" + f"これは {number} 番目の文書。" * 50)
    with full_disk(room):
        done = notes("import", "-n", "notes", "-m", mode)
    assert (done.code, done.out) == (1, "")
    first, said = done.err.splitlines()
    assert first == "model: use"
    assert said.startswith(f"error: {notes.database} could not be written to its end: the disk has")
    assert "; make room, then repeat the command" in said
    (tool,) = overview(notes.database).tools
    with open_database(notes.database, "read") as connection:
        assert connection.execute("PRAGMA integrity_check").get == "ok"
    if mode == "replace":
        assert (tool.documents, tool.vectors) == (3, 4)
    else:
        assert 3 <= tool.documents < 63
        assert tool.vectors >= tool.documents


def test_a_full_disk_ends_a_first_import_with_what_continues_it(mdvec):
    for number in range(24):
        mdvec.write(f"{number:02}.md", f"# {number}\n\n" + f"これは {number} 番目の文書。" * 50)
    assert mdvec("tool", "add", "-n", "notes", "-d", "d", "-s", mdvec.docs).code == 0
    with full_disk(300_000):
        done = mdvec("import", "-n", "notes")
    go_on = "continue with: mdvec import -n notes --mode update\n"
    assert done.err.endswith(f"is reached; make room, then {go_on}")
    assert re.fullmatch(
        r"error: the tool 'notes' has \d+ documents so far, and its first import has not "
        rf"finished; {go_on}", mdvec("import", "-n", "notes").err,
    )  # fmt: skip
    assert mdvec("import", "-n", "notes", "--mode", "update").code == 0
    assert overview(mdvec.database).tools[0].documents == 24


def test_a_picture_for_which_there_is_no_room_names_its_file(mdvec):
    rows = "\n".join(f"{number},{number * 7919 % 1000}" for number in range(2_000))
    mdvec.write("runs.csv", f"n,value\n{rows}\n")
    imported(mdvec.database, "runs", mdvec.docs, "dataset")
    with full_disk(40_000):  # enough for the index of the database's log
        done = mdvec("plot", "SELECT n, value FROM runs__runs", "-o", "a.svg", "--kind", "scatter")
    assert (done.code, done.out) == (1, "")
    assert done.err == (
        "error: a.svg cannot be used (File too large); check the path, and your rights and the "
        "space left there\n"
    )
    assert [name for name in mdvec.files() if "a.svg" in name] == []
