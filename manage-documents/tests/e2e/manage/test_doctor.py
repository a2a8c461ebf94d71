"""`mdvec doctor`: the whole examination, with a real server and a real search."""

from mdvec.database.connection import open_database


def test_the_whole_examination_fixes_an_index_and_searches_through_a_real_server(notes):
    with open_database(notes.database, "write") as connection:
        connection.execute("DELETE FROM fts_1_1 WHERE rowid = 1")
    japanese = notes("doctor", "--fix", MDVEC_DISPLAY_LANGUAGE="ja")
    assert japanese.err == "直しました: notes: 検索の索引を作り直しました\n"
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
    assert {"level", "check", "sentence", "command", "fixable"} == set(found["findings"][0])


def test_a_folder_that_is_empty_now_has_no_command_since_importing_would_drop_its_text(notes):
    notes.environment["MDVEC_DISPLAY_LANGUAGE"] = "ja"  # JSON is in English all the same
    notes.write("disk/a.md", "# ディスク\n")
    notes("import", "-n", "notes", "--mode", "update")
    (notes.docs / "disk" / "a.md").unlink()
    notes.write("new.md", "# 新しい\n")
    findings = notes("doctor", "--format", "json").json["findings"]
    (found,) = [one for one in findings if "empty in the source of notes" in one["sentence"]]
    assert found["command"] is None


def test_trouble_is_an_exit_code_and_a_line(mdvec):
    mdvec.database.write_bytes(b"this is no database, but a text of some length" * 100)
    done = mdvec("doctor")
    assert done.code == 1
    lines = done.out.splitlines()
    assert any(line.startswith("trouble  database: ") for line in lines)
    assert any(line.startswith("ok       python: ") for line in lines)
