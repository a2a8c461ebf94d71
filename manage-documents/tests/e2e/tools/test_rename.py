"""`mdvec tool rename`, and the titles that clients show."""


def test_a_renamed_tool_answers_and_is_listed_with_its_title(notes):
    done = notes("tool", "rename", "-n", "notes", "--to", "memo")
    assert (done.code, done.out) == (0, "")
    assert done.err == "renamed notes to memo; running servers offer it under that name\n"
    assert notes("tool", "update", "-n", "memo", "--title", "防災の手帳").code == 0
    (tool,) = notes("tool", "ls", "--all", "--format", "json").json["tools"]
    assert (tool["name"], tool["title"]) == ("memo", "防災の手帳")
    assert notes("status", "-n", "memo", "--format", "json").json["title"] == "防災の手帳"
    assert "title\t防災の手帳\n" in notes("status", "-n", "memo").out
    assert notes("search", "-n", "memo", "水").code == 0
    gone = notes("search", "-n", "notes", "水")
    assert (gone.code, gone.out) == (1, "")
    assert "notes" in gone.err


def test_a_name_that_a_tool_has_already_is_refused_with_what_to_do(notes):
    assert notes("tool", "add", "-n", "memo", "-d", "d", "-s", "docs").code == 0
    same, taken = notes.each("tool rename -n notes --to notes", "tool rename -n notes --to memo")
    assert (same.code, taken.code) == (2, 1)
    assert same.err == "error: the tool is called 'notes' already; give another name\n"
    assert taken.err.startswith("error: there is a tool 'memo' already; give another name, or ")
