"""Settings in the commands: their origins, their precedence, and error messages."""

import pytest
from mdvec.manage.registering import add_tool


@pytest.fixture
def choices(mdvec):
    """Five databases, each with one tool named after the origin that selects it."""
    places = ("flag", "environment", "file", "working-folder", "users-folder")
    for place in places:
        add_tool(mdvec.work / f"{place}.sqlite", place, "d", mdvec.docs, "markdown")
    mdvec.environment["MDVEC_DATABASE_PATH"] = None
    return mdvec


def setting(path):
    return f'[database]\npath = "{path}"\n'


def test_flag_beats_environment_beats_file_beats_default(choices):
    (choices.work / "sub").mkdir()
    (choices.work / "sub" / "a.toml").write_text(setting("../file.sqlite"))
    named = ("tool", "ls", "--config", "sub/a.toml")
    assert choices(*named).out == "file\n"
    assert choices("tool", "ls", MDVEC_CONFIG="sub/a.toml").out == "file\n"
    environment = {"MDVEC_DATABASE_PATH": "environment.sqlite"}
    assert choices(*named, **environment).out == "environment\n"
    assert choices(*named, "--database", "flag.sqlite", **environment).out == "flag\n"


def test_the_file_is_mdvec_toml_in_the_working_folder_else_the_users_own(choices):
    users = choices.home / "config" / "mdvec" / "config.toml"
    on_a_mac = choices.home / "Library" / "Application Support" / "mdvec" / "config.toml"
    for path in (users, on_a_mac):
        path.parent.mkdir(parents=True)
        path.write_text(setting(choices.work / "users-folder.sqlite"))
    (choices.work / "config.toml").write_text(setting("file.sqlite"))
    assert choices("tool", "ls").out == "users-folder\n"
    (choices.work / "mdvec.toml").write_text(setting("working-folder.sqlite"))
    assert choices("tool", "ls").out == "working-folder\n"


REFUSED = {
    "[database]\npaths = 'a'": "[database] has no setting 'paths'; did you mean 'path'?",
    "path = 'a'": ("'path' is outside a section; write settings as [database] path = …"),
    "[search]\nk = 0": "[search] k cannot be 0; allowed: 1 to 50 hits",
}


def test_an_invalid_setting_is_refused_with_file_key_and_allowed_values(mdvec):
    commands = []
    for number, text in enumerate(REFUSED):
        (mdvec.work / f"{number}.toml").write_text(text)
        commands.append(f"status --config {number}.toml")
    for number, (done, message) in enumerate(
        zip(mdvec.each(*commands), REFUSED.values(), strict=True)
    ):
        assert (done.code, done.out) == (1, "")
        expected = f"error: {mdvec.work}/{number}.toml: {message}\n"
        assert done.err == expected


def test_a_missing_or_invalid_settings_file_is_refused(mdvec):
    (mdvec.work / "broken.toml").write_text("[database\n")
    missing, broken = mdvec.each("tool ls --config nowhere.toml", "tool ls --config broken.toml")
    assert missing.err == (
        "error: there is no settings file nowhere.toml; check --config or MDVEC_CONFIG\n"
    )
    assert broken.err.startswith(f"error: {mdvec.work}/broken.toml is not valid TOML: ")
    assert {done.err.count("\n") for done in (missing, broken)} == {1}
    assert {done.code for done in (missing, broken)} == {1}


def test_an_unknown_variable_is_a_warning_and_a_wrong_value_is_refused(mdvec):
    add_tool(mdvec.database, "notes", "d", mdvec.docs, "markdown")
    unknown = mdvec("tool", "ls", MDVEC_DATABASE="a.sqlite")
    assert (unknown.code, unknown.out, unknown.err) == (
        0,
        "notes\n",
        (
            "warning: environment: MDVEC_DATABASE is not a setting of mdvec and is ignored; "
            "did you mean 'MDVEC_DATABASE_PATH'?\n"
        ),
    )
    wrong = mdvec("tool", "ls", MDVEC_SEARCH_K="many")
    assert (wrong.code, wrong.err) == (
        1,
        "error: environment: [search] k cannot be 'many'; allowed: 1 to 50 hits\n",
    )


def test_environment_variables_set_chunking_and_scan_rules(mdvec):
    add_tool(mdvec.database, "notes", "d", mdvec.docs, "markdown")
    mdvec.write("a.md", "# 一\n\n# 二\n\n## 三\n\n本文がここにある。")
    mdvec.write("b.rst", "別の書式の文書。")
    mdvec.write("c.txt", "入らない文書。")
    report = mdvec(
        *("import", "-n", "notes"),
        MDVEC_DISPLAY_DEFAULT_FORMAT="json",
        MDVEC_CHUNKING_MIN_CHARS="0",
        MDVEC_CHUNKING_HEADING_LEVELS="1",
        MDVEC_SCAN_EXTENSIONS=".md, .rst",
    ).json
    assert (report["added"], report["chunks"], report["failed"]) == (2, 3, [])
