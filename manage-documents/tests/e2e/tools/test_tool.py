"""`mdvec tool …`: adding, changing, enabling, listing and deleting tools."""

from mdvec.database.connection import open_database
from mdvec.manage.registering import add_tool, list_tools
from mdvec.text.one_line import local_time

SPACE = "; to shrink the database file, run mdvec compact\n"


def registered(mdvec):
    return {tool.name: tool for tool in list_tools(mdvec.database, active_only=False)}


def test_add_takes_every_option_by_its_long_name(mdvec):
    settings = mdvec.work / "settings.toml"
    settings.write_text("")
    elsewhere = mdvec.work / "new folder" / "other.sqlite"
    done = mdvec(
        *("tool", "add", "--name", "api-docs", "--description", "API 文書", "--source", "docs"),
        *("--kind", "markdown", "--database", elsewhere, "--config", settings, "--verbose"),
    )
    assert (done.code, done.out) == (0, "")
    logged, *said = done.err.splitlines()
    assert logged.startswith("INFO start program=mdvec")
    assert said[0] == f"added api-docs: {mdvec.docs}"
    given = f"--database '{elsewhere}' --config {settings}"
    assert said[1] == f"next: mdvec import {given} -n api-docs"
    assert said[2].endswith("its tool search reaches it as soon as it is imported")
    (tool,) = list_tools(elsewhere, active_only=False)
    assert (tool.name, tool.description, tool.source) == ("api-docs", "API 文書", mdvec.docs)
    assert (tool.kind, tool.is_active) == ("markdown", True)
    assert not mdvec.database.exists()


def test_add_takes_the_short_options_and_an_update_changes_only_what_it_names(mdvec):
    assert mdvec("tool", "add", "-n", "notes", "-d", "first", "-s", "docs", "-v").code == 0
    done = mdvec("tool", "update", "-n", "notes", "-d", "second\nline")
    assert (done.code, done.err) == (0, "updated notes\n")
    (mdvec.work / "other").mkdir()
    done = mdvec("tool", "update", "--name", "notes", "--source", "other")
    assert done.err == "updated notes\nnext: mdvec import -n notes --mode update\n"
    tool = registered(mdvec)["notes"]
    assert (tool.description, tool.source) == ("second line", mdvec.work / "other")
    assert mdvec("tool", "update", "--name", "notes", "--description", "third").code == 0
    assert registered(mdvec)["notes"].description == "third"


def test_add_refuses_a_name_that_is_taken_a_missing_folder_and_an_empty_description(mdvec):
    add_tool(mdvec.database, "notes", "d", mdvec.docs, "markdown")
    taken, nowhere = mdvec.each(
        "tool add -n notes -d again -s docs", "tool add -n other -d d -s nowhere"
    )
    blank = mdvec("tool", "add", "-n", "other", "-d", " \u3000", "-s", "docs")
    assert (taken.code, nowhere.code, blank.code) == (1, 2, 2)
    assert taken.err == (
        "error: there is a tool 'notes' already; give another name, or change that one with: "
        "mdvec tool update -n notes …\n"
    )
    assert nowhere.err == (
        "error: there is no folder nowhere; name one that exists with --source\n"
    )
    assert blank.err.startswith("error: a tool needs a description")
    assert list(registered(mdvec)) == ["notes"]


REFUSED = ['qu"ote', "two words", "日本語", "x" * 100]


def test_invalid_names_are_refused_in_one_line_and_create_nothing(mdvec):
    before = mdvec.files()
    adding = [("tool", "add", "-d", "d", "-s", "docs", f"--name={name}") for name in REFUSED]
    for done in mdvec.each(*adding):
        assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
        assert "cannot be a tool's name: use 1 to 63 lower-case letters" in done.err
    assert mdvec.files() == before


def test_names_of_unknown_tools_are_shown_and_never_become_sql(notes):
    evil = "notes'; DROP TABLE tools; --"
    commands = (("import", "-n", evil), ("tool", "enable", "-n", evil))
    for done in notes.each(*commands):
        assert (done.code, done.out) == (1, "")
        assert done.err == f'error: there is no tool "{evil}"; nearest: notes\n'
    assert list(registered(notes)) == ["notes"]


def test_tools_named_like_sql_or_like_tables_do_not_affect_others(mdvec, fill):
    mdvec.write("a.md", "# A\n\n一つだけの文書です。")
    for name in ("select", "notes", "notes_data"):
        fill(name)
    assert mdvec("tool", "delete", "-n", "notes", "-y").code == 0
    left = mdvec("status", "--format", "json").json["tools"]
    assert [(tool["name"], tool["documents"]) for tool in left] == [
        ("notes_data", 1),
        ("select", 1),
    ]
    gone = mdvec.each("tool delete --name select --yes", "tool delete -n notes_data -y")
    assert [done.err for done in gone] == [f"deleted select{SPACE}", f"deleted notes_data{SPACE}"]
    with open_database(mdvec.database, "read") as connection:
        names = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").get
    ledger = {
        "transactions", "duplicate_checks", "ledger_files", "ledger_versions", "vector_collections",
        "ledger_statements", "departed_pairs", "budgets", "category_rules", "row_notes",
        "shop_aliases", "asset_months", "shared_pairs", "statement_rows", "account_doubts",
    }  # fmt: skip
    datasets = {
        "dataset_files", "dataset_tables", "dataset_choices", "import_failures", "saved_queries",
    }  # fmt: skip
    assert {name for name in names if not name.startswith("sqlite_")} == {
        "tools",
        *ledger,
        *datasets,
    }


def test_disable_hides_a_tool_and_enable_shows_it_again(mdvec):
    for name in ("b", "a"):
        add_tool(mdvec.database, name, "d", mdvec.docs, "markdown")
    off = mdvec("tool", "disable", "-n", "a")
    assert (off.code, off.out) == (0, "")
    assert off.err == "disabled a; running servers no longer offer it\n"
    assert mdvec("tool", "ls").out == "b\n"
    assert mdvec("tool", "disable", "--name", "b").code == 0
    nothing = mdvec("tool", "ls")
    assert (nothing.code, nothing.out, nothing.err) == (0, "", "")
    long, short = mdvec.each("tool enable --name a", "tool enable -n b")
    assert long.err == "enabled a; running servers offer it too\n"
    assert (long.code, short.code) == (0, 0)
    assert mdvec("tool", "ls").out == "a\nb\n"


def test_ls_prints_only_active_names_in_any_default_format(notes):
    add_tool(notes.database, "off", "switched off", notes.docs, "markdown")
    notes("tool", "disable", "-n", "off")
    names, table, all_as_json, active_as_json = notes.each(
        "tool ls",
        "tool ls --format table",
        "tool ls --all",
        "tool ls --format json",
        MDVEC_DISPLAY_DEFAULT_FORMAT="json",
    )
    assert (names.out, names.err) == ("notes\n", "")
    imported = registered(notes)["notes"].last_import_at
    assert table.out == (
        "name\tactive\tkind\tmodel\tlast import\tsource\tdescription\n"
        f"notes\tyes\tmarkdown\tuse\t{local_time(imported)}\t{notes.docs}\tthe notes of a test\n"
    )
    active = {
        "name": "notes", "title": None, "description": "the notes of a test",
        "source": str(notes.docs),
        "kind": "markdown", "is_active": True, "model": "use", "last_import_at": imported,
    }  # fmt: skip
    off = {
        "name": "off", "title": None, "description": "switched off", "source": str(notes.docs),
        "kind": "markdown", "is_active": False, "model": None, "last_import_at": None,
    }  # fmt: skip
    assert active_as_json.json == {"tools": [active]}
    assert all_as_json.json == {"tools": [active, off]}


def test_ls_all_shows_every_tool_in_plain_lines_when_piped(notes):
    add_tool(notes.database, "off", "switched\toff", notes.docs, "markdown")
    shown = notes("tool", "ls", "--all").out.splitlines()
    assert [line.split("\t")[0] for line in shown] == ["name", "notes", "off"]
    assert shown[2] == f"off\tyes\tmarkdown\t-\t-\t{notes.docs}\tswitched off"


def test_delete_without_a_terminal_and_without_yes_refuses(notes):
    done = notes("tool", "delete", "-n", "notes", stdin="y\n")
    assert (done.code, done.out) == (1, "")
    assert done.err == "error: deleting 'notes' needs a confirmation; without a terminal, add -y\n"
    assert list(registered(notes)) == ["notes"]


def test_delete_with_yes_drops_the_tool_and_leaves_its_folder(notes):
    done = notes("tool", "delete", "-n", "notes", "-y")
    assert (done.code, done.out, done.err) == (0, "", f"deleted notes{SPACE}")
    assert registered(notes) == {}
    assert len([path for path in notes.docs.rglob("*") if path.is_file()]) == 3
    again = notes("tool", "delete", "-n", "notes", "--yes")
    assert (again.code, again.err.count("\n")) == (1, 1)


def test_which_files_are_imported_is_changed_by_patterns(notes):
    changed = notes("tool", "update", "-n", "notes", "--include", "*.md", "--exclude", "git/")
    assert (changed.code, "--mode update" in changed.err) == (0, True)
    assert notes("import", "-n", "notes", "--mode", "update").code == 0
    told = notes("status", "-n", "notes").out
    assert "\nonly\t*.md\nwithout\tgit/\n" in told
    assert "\nwater.md\t" in told
    assert "worktrees.md" not in told


def test_an_update_that_is_refused_changes_nothing(notes):
    before = registered(notes)["notes"]
    for refused in (("--include", "a\\"), ("--source", "nowhere"), ("--title", "長" * 101)):
        done = notes("tool", "update", "-n", "notes", "-d", "other", "--exclude", "git/", *refused)
        assert (done.code, done.err.count("\n")) == (2, 1)
        assert registered(notes)["notes"] == before
