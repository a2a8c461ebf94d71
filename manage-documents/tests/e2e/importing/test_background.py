"""`mdvec import --background`: the command ends when words find the notes; vectors follow."""

import time

from ledger_folder import HEADER, JULY, line
from mdvec.manage.registering import add_tool

SECONDS, PAUSE = 60, 0.1


def test_the_command_ends_and_the_vectors_come_by_themselves(mdvec):
    add_tool(mdvec.database, "notes", "d", mdvec.docs, "markdown")
    mdvec.write("a.md", "# 水\n\n一人一日三リットルを備える。\n")
    mdvec.environment["MDVEC_MODEL_NAME"] = "e5-small"  # both processes take the one of the command
    done = mdvec.process("import", "-n", "notes", "--background", "--model", "use",
                         "--chunk-size", "128", "--format", "json")  # fmt: skip
    assert (done.code, done.json["chunks_embedded"], done.json["chunks_pending"]) == (0, 0, 1)
    assert done.err == (
        "model: use\n"
        "notes: words find its passages now, and vectors as they come; how far it is: "
        "mdvec status -n notes\n"
    )
    assert "a.md" in mdvec("search", "三リットル").out  # with or without vectors

    deadline = time.monotonic() + SECONDS
    while (status := mdvec("status", "-n", "notes", "--format", "json").json)["unfinished"]:
        assert "passages have vectors so far" in status["unfinished"]
        assert time.monotonic() < deadline
        time.sleep(PAUSE)
    assert (status["model"], status["chunking"]["size"]) == ("use", 128)
    assert mdvec("search", "三リットル", "--mode", "vector").out.count("a.md") == 1


def test_a_rebuild_goes_on_by_itself_while_searches_read_what_was_there(mdvec):
    add_tool(mdvec.database, "notes", "d", mdvec.docs, "markdown")
    mdvec.write("a.md", "# 水\n\n一人一日三リットルを備える。\n")
    mdvec("import", "-n", "notes", "--model", "use")
    replace = ("import", "-n", "notes", "--mode", "replace", "--background", "--model")
    assert mdvec(*replace, f"onnx:{mdvec.docs}").code == 1
    done = mdvec.process(*replace, "e5-small", "--format", "json")
    assert (done.code, done.json["is_running"]) == (0, True)
    deadline = time.monotonic() + SECONDS
    while mdvec("status", "-n", "notes", "--format", "json").json["model"] != "e5-small":
        assert mdvec("search", "三リットル", "--mode", "vector").out.count("a.md") == 1
        assert time.monotonic() < deadline
        time.sleep(PAUSE)
    assert mdvec("search", "三リットル", "--mode", "vector").out.count("a.md") == 1


def test_a_household_is_built_again_at_once_with_its_options(mdvec):
    add_tool(mdvec.database, "kakeibo", "d", mdvec.docs, "household")
    (mdvec.docs / f"{JULY}.csv").write_bytes(f"{HEADER}\r\n{line('a')}\r\n".encode("cp932"))
    mdvec("import", "-n", "kakeibo", "--model", "use")
    replace = ("import", "-n", "kakeibo", "--mode", "replace", "--background")
    done = mdvec(*replace, "--accept-removals")
    at_once = "kakeibo is imported at once: only notes can get vectors later"
    assert (done.code, done.err.splitlines()[0]) == (0, at_once)
    refused = mdvec(*replace, "--restore-removed", "7")
    assert (refused.code, "no row 7 of 'kakeibo' is gone" in refused.err) == (1, True)


def test_without_anything_to_embed_or_with_wrong_options_nothing_goes_on(notes):
    again = notes("import", "-n", "notes", "--mode", "update", "--background")
    assert (again.code, again.err) == (0, "")
    replace = ("import", "-n", "notes", "--mode", "replace", "--background")
    refused = notes(*replace, "--separate")
    assert (refused.code, "'notes' is not a dataset" in refused.err) == (1, True)
    every = notes("import", "--all", "--background")
    assert (every.code, "name one tool with it" in every.err) == (2, True)
