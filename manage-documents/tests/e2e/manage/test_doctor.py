"""`mdvec doctor`: the whole examination, with a real server and a real search."""

from imported import imported
from mdvec.database.connection import open_database


def test_the_whole_examination_fixes_an_index_and_searches_through_a_real_server(notes, use):
    notes.environment["MDVEC_DISPLAY_LANGUAGE"] = "ja"  # JSON is in English all the same
    notes.write("../other/b.md", "# 本\n")
    emptied = notes.write("../other/disk/a.md", "# ディスク\n")
    imported(notes.database, "other", notes.work / "other", "markdown", load=lambda _: use)
    emptied.unlink()
    settings = notes.write("../mdvec.toml", "[search]\nk = 3\n")
    with open_database(notes.database, "write") as connection:
        connection.execute("DELETE FROM fts_1_1 WHERE rowid = 1")
    notes.write("new.md", "# 新しい\n")
    done = notes("doctor", "--fix", "--format", "json")
    found = done.json
    assert (done.code, found["trouble"]) == (0, False)
    assert found["fixed"] == ["indexes: notes: built its search indexes again"]
    told = {(one["check"], one["level"]): one["sentence"] for one in found["findings"]}
    assert "found its document" in told["server", "ok"]
    assert [key for key in told if key[1] == "trouble"] == []
    (newer,) = [one for one in found["findings"] if "1 file is newer than" in one["sentence"]]
    assert newer["command"] == "mdvec import -n notes --mode update"
    said = "empty in the source of other"
    (empty,) = [one for one in found["findings"] if said in one["sentence"]]
    assert empty["command"] is None  # importing would drop its text
    sentences = [one["sentence"] for one in found["findings"] if one["check"] == "settings"]
    assert f"the settings file is {settings.resolve()}" in sentences
    assert {"level", "check", "sentence", "command", "fixable"} == set(found["findings"][0])


def test_a_model_that_this_version_lacks_is_replaced_by_the_command_that_is_named(notes):
    with open_database(notes.database, "write") as connection:
        connection.execute("UPDATE tools SET model = 'gone'")
    found = notes("doctor", "--format", "json").json["findings"]
    (lacking,) = [one for one in found if "has no model gone" in one["sentence"]]
    _, *command = lacking["command"].replace("NAME", "notes").split()
    done = notes(*command, "--format", "json", MDVEC_MODEL_NAME=None)
    assert (done.code, done.json["model"] in {"use", "e5-small"}) == (0, True)
