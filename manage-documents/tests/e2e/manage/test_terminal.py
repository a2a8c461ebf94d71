"""On a terminal: tables, a progress bar and a question; in a pipe none of them."""

import re

from imported import imported
from mdvec.manage.registering import list_tools

ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def seen(terminal):
    """What a person reads, without colours and cursor movements."""
    assert terminal.end() == 0
    return ESCAPES.sub("", terminal.shown)


def drawn(mdvec, *arguments, cells="120"):
    """The same of a command in this process: its output, and what it says beside it."""
    done = mdvec(*arguments, is_terminal=True, COLUMNS=cells)
    assert done.code == 0
    return ESCAPES.sub("", done.out), ESCAPES.sub("", done.err)


def test_statuses_are_drawn_as_tables(notes):
    overview, _ = drawn(notes, "status")
    assert re.search(r"┃ name +┃ active +┃ kind +┃ documents ┃ vectors ┃ model ┃", overview)
    assert re.search(r"│ notes │ yes +│ markdown │ 3 +│ 4 +│ use +│", overview)
    details, _ = drawn(notes, "status", "-n", "notes")
    assert re.search(r"│ chunks +│ heading, up to 192 tokens, overlap 48 +│", details)
    assert re.search(r"│ water\.md +│ 水の備え +│", details)


WIDE = "多い列の名,b,c,d,e,f,g\n2025-06-01,京都の茶屋,3,4567890123456,5.25,,七\n"


def test_a_terminal_too_narrow_for_a_table_gets_a_line_for_each_value(mdvec):
    mdvec.write("a.csv", WIDE)
    imported(mdvec.database, "a", mdvec.docs, "dataset")
    wide, narrow = (drawn(mdvec, "query", "a__a", cells=cells)[0] for cells in ("120", "20"))
    assert ("━" in wide, "━" in narrow) == (True, False)
    assert narrow.splitlines() == [
        "1 rows", "多い列の名  2025-06-01", "b           京都の茶屋", "c           3",
        "d           4567890123456", "e           5.25", "f           NULL", "g           七",
    ]  # fmt: skip
    everything = re.sub(r"[\s│┃]", "", wide)
    assert [cell for cell in re.split(r"[,\n]", WIDE) if cell not in everything] == []


def test_a_long_number_stays_whole_and_leaves_the_texts_beside_it_folded(mdvec):
    mdvec.write("a.csv", f"店,メモ\n京都の茶屋と庭園の見学,{'長いメモ。' * 6}\n")
    imported(mdvec.database, "a", mdvec.docs, "dataset")
    shown, _ = drawn(mdvec, "query", "SELECT 店, 1 / 7 AS 平均, メモ FROM a__a", cells="50")
    assert re.search(r"│ 京都の.* │ 0\.14285714285714285 │ 長い", shown)
    small = "SELECT 0 AS a, 1 AS b, 2 AS c, 3 AS d, メモ FROM a__a"
    shown, _ = drawn(mdvec, "query", small, cells="50")
    assert re.search(r"│ 0 │ 1 │ 2 │ 3 │ 長いメモ。", shown)
    facts, _ = drawn(mdvec, "status", "-n", "a", cells="24")
    assert "description  words\n" in facts


def test_columns_that_hold_a_date_stay_a_table_whose_long_cells_are_folded(notes):
    done = notes("tool", "ls", "--all", is_terminal=True, COLUMNS="80")
    assert re.search(r"│ \d{4}-\d\d-\d\d +│", done.out)
    narrow = notes("tool", "ls", "--all", is_terminal=True, COLUMNS="20")
    assert f"source       {notes.docs}\n" in narrow.out
    none = notes("query", "SELECT 1 AS aaaaaaaaaaaa, 2 AS bbbbbbbbbbbb WHERE false",
                 is_terminal=True, COLUMNS="20")  # fmt: skip
    assert none.out.endswith("aaaaaaaaaaaa, bbbbbbbbbbbb\n")


def test_imports_and_copies_show_how_far_they_are_and_then_only_their_result(notes):
    notes.write("new.md", "# 新しい\n\n文書。")
    done = notes("import", "-n", "notes", "-m", "update", is_terminal=True, COLUMNS="120")
    shown = ESCAPES.sub("", done.err)
    assert re.search(r"importing notes ━+ 1/1 files 1 chunks, \d+/s \d:\d\d:\d\d", shown)
    said = [line for line in re.split(r"[\r\n]+", shown) if "importing" not in line]
    assert [line for line in said if line] == ["model: use"]
    assert done.err.endswith("\x1b[1A\x1b[2K")  # the bar is taken away before the report
    assert done.out.startswith("notes: 1 added, 0 updated, 0 deleted, 3 unchanged, 0 failed;")
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


def test_delete_asks_in_the_language_of_the_person_and_keeps_the_tool_unless_the_answer_is_yes(
    notes,
):
    notes.environment["MDVEC_DISPLAY_LANGUAGE"] = "ja"
    terminal = notes.on_terminal("tool", "delete", "-n", "notes")
    terminal.wait_for("「notes」と、取り込んだデータを消しますか？ [y/N]: ")
    terminal.type("\n")
    assert terminal.end() == 1
    assert [tool.name for tool in list_tools(notes.database, active_only=False)] == ["notes"]
    notes.environment["MDVEC_DISPLAY_LANGUAGE"] = "en"
    terminal = notes.on_terminal("tool", "delete", "-n", "notes")
    terminal.wait_for("Delete 'notes' and its imported data? [y/N]: ")
    terminal.type("y\n")
    assert "deleted notes" in seen(terminal)
    assert list_tools(notes.database, active_only=False) == []


MOVES = "\x1b]0;title\x07\x1b[2J\x9b1A\rover\u202eturned"
ESCAPED = ("\\u001b]0;title\\u0007\\u001b[2J\\u009b1A\\rover\\u202eturned",
           "\\x1b]0;title\\x07\\x1b[2J\\x9b1A over\\u202eturned")  # fmt: skip


def test_nothing_from_the_data_moves_the_cursor_of_a_terminal(mdvec):
    mdvec.write("notes/a.md", f"# 題\n\n\t水\u3000{MOVES}\n")
    mdvec.write("rows.csv", f'"{MOVES}\nsecond"\n"{MOVES}"\n')
    imported(mdvec.database, "rows", mdvec.docs / "rows.csv", "dataset")
    imported(mdvec.database, "notes", mdvec.docs / "notes", "markdown")
    for command in (
        ["get", MOVES, "-n", "notes"],
        ["get", "a.md", "-n", "notes"],
        ["get", "a.md", "-n", "notes", "--format", "json"],
        ["query", "rows", "--format", "csv"],
        ["query", "rows"],
        ["histogram", "rows", f"{MOVES}\nsecond"],
        ["query", f'SELECT "{MOVES}" FROM rows'],
    ):
        done = mdvec(*command, is_terminal=True, COLUMNS="200")
        own = ESCAPES.sub("", done.out + done.err).replace("\r\n", "\n")
        assert re.findall(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", own) == [], command
    whole = mdvec("get", "a.md", "-n", "notes", is_terminal=True)
    assert f"\t水\u3000{ESCAPED[0]}\n" in whole.out
    assert mdvec("get", "a.md", "-n", "notes").out.endswith(f"{MOVES}\n")
    assert MOVES in mdvec("query", "rows", "--format", "csv").out
    piped = mdvec("query", "rows")
    assert piped.out == f"{ESCAPED[1]} second\n{ESCAPED[1]}\n"
