"""`mdvec backup` and `mdvec restore`: what a person decided comes back, and nothing is lost."""

import os
import shutil
import signal
import sqlite3
import zipfile
from contextlib import closing
from pathlib import Path

import apsw
import pytest
from ledger_folder import HEADER, JULY, line
from mdvec.database import open_database
from mdvec.household import Ledger, data_version
from mdvec.manage import backup, find_tool
from mdvec.manage.doctor.database import check_leftovers
from mdvec.manage.doctor.examination import CheckGroup, examine
from mdvec.platform import OwnFolder
from mdvec.settings.loading import load_with_origins
from mdvec.tools import only_import_of
from table_of_cases import each

SETTINGS = "[search]\nk = 3\n"


@pytest.fixture
def saved(notes):
    """``notes`` with settings and a backup of both."""
    settings = notes.home / "config" / "mdvec" / "config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text(SETTINGS)
    done = notes("backup", "saved.zip")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"backed up into {notes.work / 'saved.zip'} (")
    return notes


def test_a_backup_brings_back_tools_and_settings_and_keeps_what_it_replaces(saved):
    settings = saved.home / "config" / "mdvec" / "config.toml"
    saved("tool", "delete", "-n", "notes", "-y")
    saved("tool", "add", "-n", "later", "-d", "made later", "-s", saved.docs)
    settings.write_text("[search]\nk = 9\n")
    refused = saved("restore", "saved.zip")
    assert (refused.code, refused.out) == (1, "")
    assert "has tools already (later); to replace it, repeat the command with --yes" in refused.err
    in_japanese = saved("restore", "saved.zip", MDVEC_DISPLAY_LANGUAGE="ja").err
    assert "置き換えるなら、--yes を付けてもう一度実行してください。いまの内容も" in in_japanese

    done = saved("restore", "saved.zip", "--yes", "--format", "json")
    assert (done.code, done.json["tools"]) == (0, ["notes"])
    assert "water.md:1-3" in saved("search", "-n", "notes", "水の備え").out
    assert settings.read_text() == SETTINGS
    database, old_settings = map(Path, done.json["replaced"])
    assert "later" in saved("status", "--database", database).out
    assert "k = 9" in old_settings.read_text()
    assert not [name for name in saved.files() if ".mdvec-backup-" in name]


def test_a_settings_file_that_is_a_link_stays_one(saved):
    settings, dotfiles = saved.home / "config" / "mdvec" / "config.toml", saved.work / "dotfiles"
    dotfiles.mkdir()
    (dotfiles / "mdvec.toml").write_text("[search]\nk = 9\n")
    settings.unlink()
    settings.symlink_to(dotfiles / "mdvec.toml")
    done = saved("restore", "saved.zip", "--yes", "--format", "json")
    assert (settings.is_symlink(), settings.read_text()) == (True, SETTINGS)
    kept = Path(done.json["replaced"][1])
    assert (kept.parent, kept.read_text()) == (dotfiles, "[search]\nk = 9\n")


def test_a_missing_a_damaged_and_a_foreign_database_take_a_backup(saved):
    assert saved("restore", "saved.zip", "--database", "new.sqlite").code == 0
    assert "notes" in saved("status", "--database", "new.sqlite").out
    whole = saved.database.read_bytes()
    for damaged in (whole[: len(whole) // 2], b"no database", b""):
        saved.database.write_bytes(damaged)
        if damaged:
            assert "with --yes" in saved("restore", "saved.zip").err
        assert saved("restore", "saved.zip", "--yes").code == 0
        assert "water.md" in saved("search", "-n", "notes", "水の備え").out


@each("allowed", [(), ("--yes",)])
def test_a_folder_is_never_replaced_by_a_database(saved, allowed):
    done = saved("restore", "saved.zip", "--database", "docs", *allowed)
    assert (done.code, done.out) == (1, "")
    assert done.err == (
        f"error: {saved.docs} is a folder, not a database; name a file with --database\n"
    )
    assert (saved.docs / "water.md").is_file()
    assert list(saved.work.glob("*.replaced-*")) == []


def test_a_damaged_database_is_not_backed_up(saved):
    pages = bytearray(saved.database.read_bytes())
    pages[-5 * 4096 : -2 * 4096] = bytes(3 * 4096)
    saved.database.write_bytes(pages)
    before = saved.files()
    done = saved("backup", "later.zip")
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith(f"error: the database {saved.database} is damaged (")
    assert "put back a backup with: mdvec restore FILE; without one, " in done.err
    assert saved.files() == before


def test_restoring_needs_room_for_the_copy_the_log_and_what_is_kept(saved, tmp_path):
    with zipfile.ZipFile(saved.work / "saved.zip") as archive:
        size = archive.getinfo("mdvec.sqlite").file_size

    def restored_into(database, free):
        return backup.restore(
            saved.work / "saved.zip", database, tmp_path / "config.toml",
            replaces=True, free_bytes=lambda _: free,
        ).replaced  # fmt: skip

    for free in (size - 1, 3 * size):
        with pytest.raises(backup.BackupRefused, match=f"has {free:,} free; nothing was changed"):
            restored_into(saved.database, free)
    assert list(saved.work.glob("*.replaced-*")) == []
    assert len(restored_into(saved.database, 3 * size + size // 64 + 2**20)) == 1
    assert restored_into(tmp_path / "new.sqlite", size) == ()  # it is moved there


def a_zip(path, **members):
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name.replace("_", "."), content)


def test_what_is_no_backup_changes_nothing(saved):
    a_zip(saved.work / "other.zip", a_txt="a")
    a_zip(saved.work / "text.zip", mdvec_sqlite="no database")
    with zipfile.ZipFile(saved.work / "saved.zip") as archive:
        database = archive.read("mdvec.sqlite")
    a_zip(saved.work / "newer.zip", mdvec_sqlite=database, config_toml="[search]\nlater = 1\n")
    a_zip(saved.work / "pages.zip", mdvec_sqlite=database[:9_000] + b"x" * (len(database) - 9_000))
    for name, statement in {
        "rows": "UPDATE tools SET kind = 'other'", "format": "PRAGMA user_version = 99",
    }.items():  # fmt: skip
        file = saved.work / name
        file.write_bytes(database)
        with apsw.Connection(str(file)) as connection:
            connection.execute(statement)
        connection.close()
        a_zip(saved.work / f"{name}.zip", mdvec_sqlite=file.read_bytes())
    whole = (saved.work / "saved.zip").read_bytes()
    (saved.work / "cut.zip").write_bytes(whole[:-200])
    middle = len(whole) // 3
    (saved.work / "bad.zip").write_bytes(whole[:middle] + b"\0" * 900 + whole[middle + 900 :])
    os.mkfifo(saved.work / "pipe.zip")  # nobody writes into it
    before = saved.database.read_bytes()
    for name, message in {
        "none.zip": "there is no file none.zip; name one that mdvec backup wrote",
        "docs": "docs is no backup of mdvec: it is no file",
        "pipe.zip": "pipe.zip is no backup of mdvec: it is no file",
        "docs/water.md": "is no backup of mdvec, or it is damaged",
        "cut.zip": "is no backup of mdvec, or it is damaged",
        "bad.zip": "is no backup of mdvec, or it is damaged",
        "other.zip": "is no backup of mdvec: it holds no mdvec.sqlite",
        "text.zip": "the database in text.zip is damaged, or not mdvec's; take another backup;",
        "pages.zip": "the database in pages.zip is damaged, or not mdvec's; take another backup;",
        "rows.zip": "the database in rows.zip is damaged, or not mdvec's; take another backup;",
        "format.zip": "in format.zip was made by a newer mdvec (format 99, this one knows up to",
        "newer.zip": "the settings in newer.zip cannot be used (config.toml: ",
    }.items():
        done = saved("restore", name, "--yes")
        assert (done.code, done.out) == (1, ""), name
        assert message in done.err
        assert "mdvec-backup-" not in done.err  # the folder of its copy
        assert "mdvec restore" not in done.err
    assert saved.database.read_bytes() == before


@each(
    ("target", "message"),
    [
        ("saved.zip", "saved.zip exists already; name a new file"),
        ("docs", "docs exists already; name a new file"),
        ("nowhere/b.zip", "there is no folder nowhere; make it"),
    ],
)
def test_a_backup_is_written_only_where_nothing_is(saved, target, message):
    before = (saved.work / "saved.zip").read_bytes()
    done = saved("backup", target)
    assert (done.code, message in done.err) == (1, True)
    assert (saved.work / "saved.zip").read_bytes() == before


def test_ctrl_c_while_a_backup_is_restored_leaves_the_database_as_it_was(saved, monkeypatch):
    monkeypatch.setattr(backup, "_PAGES_A_STEP", 10)
    saved("tool", "rename", "-n", "notes", "--to", "renamed")

    def stop(copied, size):
        if 0 < copied < size:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        backup.restore(
            saved.work / "saved.zip", saved.database, saved.work / "config.toml",
            replaces=True, on_copied=stop,
        )  # fmt: skip
    assert find_tool(saved.database, "renamed").name == "renamed"
    assert "water.md" in saved("search", "-n", "renamed", "水の備え").out


KILLED = """
import os, signal
from pathlib import Path
from mdvec.manage import backup
def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize(
    "call",
    [
        "back_up(Path('db.sqlite'), None, Path('b.zip'), die)",
        "restore(Path('saved.zip'), Path('db.sqlite'), Path('c'), replaces=True, on_copied=die)",
    ],
)
def test_what_a_killed_backup_or_restore_left_is_named_and_removed_as_by_the_next_backup(
    saved, call
):
    saved("tool", "rename", "-n", "notes", "--to", "renamed")
    assert saved.process(first=f"{KILLED}backup.{call}\n").code == -signal.SIGKILL
    (left,) = saved.work.glob(".mdvec-backup-*")
    assert {file.stat().st_mode & 0o77 for file in [left, *left.iterdir()]} == {0}
    assert [file.name for file in saved.work.glob("*.replaced-*-journal")] == []
    for kept in saved.work.glob("*.replaced-*"):
        assert "renamed" in saved("status", "--database", kept).out
    assert "\tuse\t" in saved("status").out
    copy = shutil.copytree(left, saved.work / "copy")

    with closing(running(saved.work)) as used:
        said = f"a backup or restore was killed and left {left.name} in {saved.work}"
        assert ("warning", said) in [(one.level, one.sentence) for one in leftovers(saved).findings]
        done = leftovers(saved, fix=True)
        assert f"removed {left.name}" in [one.done for one in done.fixed]
        assert [one.level for one in done.findings] == ["ok"]
        assert not left.exists()
        copy.rename(left)
        assert saved("backup", "next.zip").code == 0  # it removes them, too
        assert not left.exists()
        assert used.path.exists()


def leftovers(mdvec, *, fix=False):
    """What `mdvec doctor` finds of them; the command would start a server, too."""
    loaded = load_with_origins({}, flags={"database": {"path": str(mdvec.database)}})
    return examine(loaded, fix=fix, groups=(CheckGroup("leftovers", check_leftovers),))


def running(work):
    """The folder of a backup that runs; making it must not remove what is tested."""
    own = OwnFolder(work, ".mdvec-new-")
    own.path = own.path.rename(work / ".mdvec-backup-running")
    return own


def test_restoring_waits_for_an_import(saved):
    with only_import_of(saved.database, find_tool(saved.database, "notes"), print):
        process = saved.start("restore", "saved.zip", "--yes")
        assert "an import of 'notes'" in process.stderr.readline()
    assert process.wait(60) == 0


def test_a_running_server_sees_that_a_restored_ledger_is_another(mdvec):
    mdvec.write(f"{JULY}.csv", "\r\n".join([HEADER, line("a"), ""]), "cp932")
    mdvec("tool", "add", "-n", "kakeibo", "-d", "家計簿", "-s", mdvec.docs, "--kind", "household")
    mdvec("import", "-n", "kakeibo")

    def version():
        with open_database(mdvec.database, "read") as connection:
            return data_version(Ledger.undated(connection, find_tool(mdvec.database, "kakeibo").id))

    before = version()
    mdvec("backup", "saved.zip")
    mdvec("restore", "saved.zip", "--yes")
    assert version() > before + 1_000_000


def test_a_backup_is_a_zip_of_a_plain_sqlite_file_that_only_its_owner_reads(saved, tmp_path):
    file = saved.work / "saved.zip"
    assert file.stat().st_mode & 0o777 == 0o600
    with zipfile.ZipFile(file) as archive:
        assert sorted(archive.namelist()) == ["config.toml", "mdvec.sqlite"]
        copy = archive.extract("mdvec.sqlite", tmp_path)
    count = sqlite3.connect(copy).execute("SELECT count(*) FROM documents_notes").fetchone()
    assert count == (3,)


def test_a_restored_dataset_names_the_command_that_reads_its_files_again(mdvec):
    mdvec.write("June.csv", "n\n1\n")
    mdvec("tool", "add", "--kind", "dataset", "-n", "runs", "-d", "runs", "-s", mdvec.docs)
    mdvec("import", "-n", "runs")
    mdvec("backup", "saved.zip")
    new = ("--database", "new.sqlite")
    done = mdvec("restore", "saved.zip", *new)
    again = "import --database new.sqlite -n runs --mode update --checksum"
    assert done.err.endswith(f"have the files read again with: mdvec {again}\n")
    lost = mdvec("query", "SELECT n FROM runs__june", *new)
    assert "runs__june (mdvec's copy: its file is gone)" in lost.err
    assert mdvec(*again.split()).code == 0
    assert mdvec("query", "SELECT n FROM runs__june", *new).code == 0
