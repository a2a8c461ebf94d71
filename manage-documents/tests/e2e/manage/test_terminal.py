"""On a terminal: tables, a progress bar and a question; in a pipe none of them."""

import re

from mdvec.manage.registering import list_tools

ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def seen(terminal):
    """What a person reads, without colours and cursor movements."""
    assert terminal.end() == 0
    return ESCAPES.sub("", terminal.shown)


def drawn(mdvec, *arguments):
    """The same of a command in this process: its output, and what it says beside it."""
    done = mdvec(*arguments, is_terminal=True, COLUMNS="120")
    assert done.code == 0
    return ESCAPES.sub("", done.out), ESCAPES.sub("", done.err)


def test_statuses_are_drawn_as_tables(notes):
    overview, _ = drawn(notes, "status")
    assert re.search(r"┃ name +┃ active +┃ kind +┃ documents ┃ vectors ┃ model ┃", overview)
    assert re.search(r"│ notes │ yes +│ markdown │ 3 +│ 4 +│ use +│", overview)
    details, _ = drawn(notes, "status", "-n", "notes")
    assert re.search(r"│ chunks +│ heading, up to 192 tokens, overlap 48 +│", details)
    assert re.search(r"│ water\.md +│ 水の備え +│", details)


def test_imports_and_copies_show_how_far_they_are_and_then_only_their_result(notes):
    notes.write("new.md", "# 新しい\n\n文書。")
    report, shown = drawn(notes, "import", "-n", "notes", "-m", "update")
    assert re.search(r"importing notes ━+ 1/1 files 1 chunks, \d+/s \d:\d\d:\d\d", shown)
    assert report.startswith("notes: 1 added, 0 updated, 0 deleted, 3 unchanged, 0 failed;")
    file = notes.work / "backup.zip"
    report, shown = drawn(notes, "backup", file)
    assert re.search(r"backing up ━+ (?P<size>[\d.]+)/(?P=size) .?B", shown)
    assert report.startswith(f"backed up into {file} (")
    _, shown = drawn(notes, "restore", file, "--yes")
    assert re.search(r"restoring ━+ (?P<size>[\d.]+)/(?P=size) .?B", shown)


def test_in_a_pipe_nothing_is_drawn(notes):
    for done in notes.each("status", "tool ls --all", "import -n notes -m update"):
        assert (done.code, done.err) == (0, "")
        assert re.findall(r"[\x1b─-╿\r]", done.out) == []


def test_an_import_shows_files_chunks_rate_and_time_left_and_leaves_only_its_report(notes):
    notes.write("new.md", "# 新しい\n\n文書。")
    terminal = notes.on_terminal("import", "-n", "notes", "-m", "update")
    screen = seen(terminal)
    assert re.search(r"importing notes ━+ 1/1 files 1 chunks, \d+/s \d:\d\d:\d\d", screen)
    said = [line for line in re.split(r"[\r\n]+", screen) if "importing" not in line]
    assert next(line for line in said if line.strip()) == "model: use"
    assert said[-2].startswith("notes: 1 added, 0 updated, 0 deleted, 3 unchanged, 0 failed;")
    # The bar is taken away: the cursor goes up, the line is cleared, the report is written.
    assert re.search(r"\x1b\[1A\x1b\[2Knotes: 1 added", terminal.shown)


def test_delete_asks_and_keeps_the_tool_unless_the_answer_is_yes(notes):
    for answer in ("\n",):
        terminal = notes.on_terminal("tool", "delete", "-n", "notes")
        terminal.wait_for("Delete 'notes' and its imported data? [y/N]: ")
        terminal.type(answer)
        assert terminal.end() == 1
        assert "aborted; nothing was changed" in terminal.shown
    assert [tool.name for tool in list_tools(notes.database, active_only=False)] == ["notes"]
    terminal = notes.on_terminal("tool", "delete", "-n", "notes")
    terminal.wait_for("[y/N]: ")
    terminal.type("y\n")
    assert "deleted notes" in seen(terminal)
    assert list_tools(notes.database, active_only=False) == []
