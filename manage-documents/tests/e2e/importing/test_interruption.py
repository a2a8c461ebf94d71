"""Ctrl-C in the middle of an import, and several imports at once."""

import re
import signal
import sqlite3
from contextlib import closing

import pytest
from collection import check_indexes
from mdvec.database.connection import open_database
from mdvec.index.tables import Tables
from mdvec.manage.registering import add_tool
from mdvec.manage.status import overview

FILES = 80


def many_files(mdvec, count=FILES):
    for number in range(count):
        mdvec.write(f"{number:03}.md", f"# 覚え書き {number}\n\nこれは {number} 番目の文書です。\n")


def stored(mdvec, table="documents_notes"):
    """How many documents are in the tool's table, or in the one that a rebuild fills.

    Asked again and again, for which our own connections do too much.
    """
    with closing(sqlite3.connect(mdvec.database)) as connection:
        names = connection.execute("SELECT name FROM sqlite_schema WHERE name = ?", (table,))
        if names.fetchone() is None:
            return 0
        return connection.execute(f'SELECT count(*) FROM "{table}"').fetchone()[0]


def check(mdvec, documents):
    """The file is sound, and every document has its chunk in the table and in the index."""
    (tool,) = overview(mdvec.database).tools
    assert (tool.documents, tool.vectors) == (documents, documents)
    with open_database(mdvec.database, "read") as connection:
        assert connection.execute("PRAGMA integrity_check").get == "ok"
        check_indexes(Tables(connection, 1, "notes", 1))
        names = connection.execute("SELECT name FROM sqlite_schema").get
    assert [name for name in names if "@" in name or "_1_2" in name] == []
    assert list(mdvec.work.glob("*.lock")) == []


def until_stored(mdvec, number, table="documents_notes"):
    mdvec.until(lambda: stored(mdvec, table) >= number)


def test_ctrl_c_or_sigterm_keeps_finished_documents_and_an_update_continues(mdvec):
    many_files(mdvec)
    add_tool(mdvec.database, "notes", "d", mdvec.docs, "markdown")
    process = mdvec.start("import", "-n", "notes")
    until_stored(mdvec, 5)
    process.send_signal(signal.SIGINT)
    out, said = process.communicate(timeout=60)
    done = stored(mdvec)
    assert 5 <= done < FILES
    assert (process.returncode, out) == (130, "")
    assert said == (
        f"model: use\nstopped after {done} of {FILES} files, which are kept; "
        "continue with: mdvec import -n notes --mode update\n"
    )
    process = mdvec.start("import", "-n", "notes", "-m", "update")
    until_stored(mdvec, done + 5)
    process.terminate()  # as a closing session does; with the same end
    assert re.fullmatch(r"model: use\nstopped after .*\n", process.communicate(timeout=60)[1])
    assert process.returncode == 130
    done = stored(mdvec)
    check(mdvec, done)
    report = mdvec("import", "-n", "notes", "-m", "update", "--format", "json").json
    assert (report["added"], report["unchanged"]) == (FILES - done, done)
    check(mdvec, FILES)


def test_ctrl_c_on_a_terminal_during_a_replace_keeps_the_old_contents(mdvec, fill):
    many_files(mdvec)
    fill()
    terminal = mdvec.on_terminal("import", "-n", "notes", "--mode", "replace")
    until_stored(mdvec, 5, "documents_notes@2")
    terminal.type("\x03")
    assert terminal.end() == 130
    last = terminal.shown.splitlines()[-1]
    kept = "the tool 'notes' still has what it had before"
    said = re.search(rf"stopped after (\d+) of {FILES} files; {kept}$", last)
    assert said
    assert int(said[1]) >= 5
    check(mdvec, FILES)


def test_a_second_import_of_a_tool_waits_for_the_first_unless_it_would_be_refused(mdvec):
    many_files(mdvec, 20)
    add_tool(mdvec.database, "notes", "d", mdvec.docs, "markdown")
    first = mdvec.start("import", "-n", "notes")
    until_stored(mdvec, 1)
    first.send_signal(signal.SIGSTOP)  # or it might end before the others have begun
    new = mdvec("import", "-n", "notes")
    assert "continue with: mdvec import -n notes --mode update" in new.err
    update = mdvec.start("import", "-n", "notes", "-m", "update")
    waits = "an import of 'notes' (or mdvec compact) is running; waiting for it to end …\n"
    assert update.stderr.readline() == waits
    first.send_signal(signal.SIGCONT)
    assert first.communicate(timeout=60)[0].startswith("notes: 20 added")
    assert update.communicate(timeout=60)[0].startswith("notes: 0 added")
    assert (first.returncode, new.code, update.returncode) == (0, 1, 0)
    check(mdvec, 20)


@pytest.mark.parametrize("kept", [False, True])
def test_a_stopped_demo_removes_what_it_made_and_says_so_last(mdvec, tmp_path, kept):
    mdvec.environment["TMPDIR"] = str(tmp_path)
    mdvec.write("a.md", "# The user's own")
    before = mdvec.files()
    demo = mdvec.start("demo", *["docs"][:kept])
    said = ""
    while "$ mdvec import -n notes" not in said:
        line = demo.stderr.readline()
        assert line, f"it ended early: {said}"
        said += line
    assert f"added notes: {mdvec.docs if kept else tmp_path / 'mdvec-demo-'}" in said
    demo.send_signal(signal.SIGINT)
    _, rest = demo.communicate(timeout=60)
    assert demo.returncode == 130
    *_, last = [line for line in rest.splitlines() if line != "stopped"]
    if kept:
        assert last == f"what the demo made in {mdvec.docs} is removed again"
    else:
        assert last.startswith("the demo's folder is removed again; to keep one: ")
    assert list(tmp_path.glob("mdvec-demo-*")) == []
    assert mdvec.files() == before
