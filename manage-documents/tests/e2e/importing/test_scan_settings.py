"""`[scan]` belongs to the tool: another terminal without the variable deletes nothing."""

import json

from mdvec.converters import NEW_TOOL_ENDINGS
from mdvec.database.connection import open_database
from mdvec.manage.registering import add_tool

FOLDER = {"a.md": "# 一\n\n春の話。\n", "b.org": "# 二\n\n夏の話。\n", "c.txt": "秋の話。\n"}
DEFAULTS = ", ".join((".md", ".markdown", ".mdx", ".txt", *NEW_TOOL_ENDINGS))
KEEPS = (
    "the tool 'docs' keeps its own [scan] settings (extensions = [.md, .org], not "
    f"[{DEFAULTS}]); to use the current ones: "
    "mdvec import -n docs --mode update --take-scan\n"
)


def test_a_variable_missing_later_deletes_nothing_and_is_reported_in_one_line(mdvec):
    for path, text in FOLDER.items():
        mdvec.write(path, text)
    add_tool(mdvec.database, "docs", "d", mdvec.docs, "markdown")
    first = mdvec("import", "-n", "docs", MDVEC_SCAN_EXTENSIONS=".md,.org")
    assert first.out.startswith("docs: 2 added")
    update = mdvec("import", "-n", "docs", "--mode", "update", "--format", "json")
    assert (update.json["deleted"], update.json["unchanged"], update.err) == (0, 2, KEEPS)
    rebuilt = mdvec("import", "-n", "docs", "--mode", "replace", "--format", "json")
    assert (rebuilt.json["added"], rebuilt.json["deleted"]) == (2, 0)
    assert rebuilt.err.startswith(KEEPS)
    taken = mdvec("import", "-n", "docs", "--mode", "update", "--take-scan", "--format", "json")
    assert (taken.json["added"], taken.json["deleted"]) == (1, 1)
    assert KEEPS not in taken.err
    details = mdvec("status", "-n", "docs", "--format", "json").json
    assert details["scan"] == {
        "extensions": DEFAULTS.split(", "), "exclude": [], "max_bytes": 10485760,
    }  # fmt: skip
    assert f"files\t{DEFAULTS}\nlargest file\t10.0 MB\n" in mdvec("status", "-n", "docs").out


def test_an_unfinished_import_is_reported_by_search_and_status(notes):
    with open_database(notes.database, "write") as connection:
        connection.execute(
            "UPDATE tools SET last_import_at = NULL, import_files = 222, import_done = 3"
        )
    note = (
        "notes has 3 documents so far: its first import has not finished (3 of 222 files); "
        "continue with: mdvec import -n notes --mode update"
    )
    plain, as_json, status, details, status_json = notes.each(
        "search 水 -k 1",
        "search 水 -k 1 --format json",
        "status",
        "status -n notes",
        "status --format json",
    )
    assert [done.err for done in (plain, status, details)] == [f"note: {note}\n"] * 3
    assert as_json.json["notes"] == [note]
    assert status_json.json["tools"][0]["unfinished"] == note
    assert json.loads(notes("import", "-n", "notes", "-m", "update", "--format", "json").out)
    assert notes("search", "水", "-k", "1").err == ""


def test_files_that_are_not_read_are_named_with_the_command_that_adds_them(mdvec):
    mdvec.write("a.md", "# 一\n\n春の話。\n")
    cell = {"cell_type": "markdown", "source": "# 集計\n\n夏の売上を数える。"}
    mdvec.write("b.ipynb", json.dumps({"cells": [cell], "metadata": {}}))
    mdvec.write("c.csv", "a,b\n1,2\n")
    mdvec.write("d.rtf", "{}")
    mdvec.write("写真", "")
    add_tool(mdvec.database, "docs", "d", mdvec.docs, "markdown")
    said = [
        "not read: notebooks (1 file); to read them too: "
        "mdvec tool update -n docs --formats notebooks",
        "not read: .csv (1 file); data files belong into a dataset, which SQL can query: "
        f"mdvec tool add --kind dataset -n NAME -d DESCRIPTION -s {mdvec.docs}",
        "not read, as mdvec cannot: .rtf (1 file), no ending (1 file)",
    ]
    assert mdvec("import", "-n", "docs").err.splitlines()[1:] == said
    assert mdvec("status", "-n", "docs").err.splitlines() == [f"note: {line}" for line in said]
    wrong = mdvec("tool", "update", "-n", "docs", "--formats", "notebook")
    assert "there is no format 'notebook'; formats are pdf, word" in wrong.err
    assert mdvec("tool", "update", "-n", "docs", "--formats", "notebooks").code == 0
    update = mdvec("import", "-n", "docs", "--mode", "update")
    assert (update.out[:13], update.err) == ("docs: 1 added", "model: use\n")
    assert "夏の売上を数える" in mdvec("get", "-n", "docs", "b.ipynb", "--page", "1").out
    assert mdvec("status", "-n", "docs").err.splitlines() == [f"note: {line}" for line in said[1:]]


def test_a_new_tool_has_the_formats_and_patterns_that_are_stated_for_it(mdvec):
    mdvec.write("a.md", "# 一\n\n春の話。\n")
    mdvec.write("b.py", "def winter():\n    pass\n")
    mdvec.write("private/p.md", "# 鍵\n\nパスワードの置き場所。\n")
    new = ("tool", "add", "-n", "docs", "-d", "d", "-s", mdvec.docs)
    for wrong in (("--formats", "codes"), ("--exclude", "!")):
        done = mdvec(*new, *wrong)
        assert (done.code > 0, mdvec.database.exists()) == (True, False), done.err
    assert mdvec(*new, "--formats", "code", "--exclude", "private/").code == 0
    assert mdvec("import", "-n", "docs").out.startswith("docs: 2 added, ")


def test_a_tools_own_exclude_is_stronger_than_the_settings_of_any_import(mdvec):
    mdvec.write("a.md", "# 一\n\n春の話。\n")
    mdvec.write("private/p.md", "# 鍵\n\nパスワードの置き場所。\n")
    add_tool(mdvec.database, "docs", "d", mdvec.docs, "markdown")
    assert mdvec("tool", "update", "-n", "docs", "--exclude", "private/").code == 0
    for options in ((), ("--mode", "replace"), ("--mode", "replace", "--chunk-size", "128")):
        done = mdvec("import", "-n", "docs", *options, MDVEC_SCAN_EXCLUDE="drafts/")
        assert done.out.startswith("docs: 1 added"), (options, done.err)
        assert "--take-scan" not in done.err
