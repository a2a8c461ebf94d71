"""`mdvec model …`, and which model an import chooses."""

from mdvec.manage.registering import add_tool

TO_GET_PLAMO = (
    "pip install -c constraints.txt -e './shared[plamo]' (in mdvec's own folder), "
    "then: mdvec model pull plamo"
)


def test_ls_shows_which_models_are_here_and_which_one_auto_takes(mdvec):
    plain, as_json = mdvec.each("model ls", "model ls --format json")
    assert [line.split("\t")[:3] for line in plain.out.splitlines()][::2] == [
        ["name", "here", "dimension"], ["use (auto)", "yes", "512"],
    ]  # fmt: skip
    plamo, use, e5 = as_json.json["models"]
    assert [model["name"] for model in (plamo, use, e5)] == ["plamo", "use", "e5-small"]
    assert (plamo["available"], use["available"], e5["available"]) == (False, True, True)
    assert (plamo["auto"], use["auto"], e5["auto"]) == (False, True, False)
    assert use["missing"] is None
    assert plamo["missing"] is not None
    assert plamo["how_to_get"] == TO_GET_PLAMO
    assert (e5["dimension"], e5["chunk_size"], e5["max_tokens"]) == (384, 448, 512)


def test_pull_reports_an_installed_model_and_refuses_unknown_names(mdvec):
    use, unknown = mdvec.each("model pull use", "model pull gpt")
    assert (use.code, use.out, use.err) == (0, "", "use is here\n")
    assert (unknown.code, unknown.out) == (2, "")
    assert unknown.err == (
        "error: there is no model 'gpt'; choose one of: plamo, use, e5-small, or auto, or your "
        "own: openai:<model>, gemini:<model>, st:<model or folder>\n"
    )


def test_plamo_without_its_weights_is_refused_with_instructions(mdvec):
    add_tool(mdvec.database, "notes", "d", mdvec.docs, "markdown")
    done = mdvec("import", "-n", "notes", "--model", "plamo")
    assert (done.code, done.out, done.err.count("\n")) == (1, "", 1)
    assert done.err.startswith("error: the model 'plamo' is not here (")
    assert done.err.endswith(f"get it with: {TO_GET_PLAMO}\n")


def test_auto_says_in_one_line_which_model_it_took_and_how_to_get_the_other(mdvec):
    add_tool(mdvec.database, "notes", "d", mdvec.docs, "markdown")
    mdvec.write("a.md", "# A\n\n本文。")
    done = mdvec("import", "-n", "notes", MDVEC_MODEL_NAME=None)
    assert done.code == 0
    assert done.err.startswith("model: use, the embedded model (plamo: ")
    assert done.err.endswith(f"; to get it: {TO_GET_PLAMO})\n")
    assert "1 embedded with use in" in done.out


def test_e5_small_imports_and_the_tool_stays_with_it(mdvec):
    add_tool(mdvec.database, "notes", "d", mdvec.docs, "markdown")
    mdvec.write("a.md", "# A\n\n短い。")
    done = mdvec("import", "-n", "notes", "--model", "e5-small", "--format", "json")
    assert (done.code, done.err) == (0, "model: e5-small\n")
    assert (done.json["model"], done.json["chunks_embedded"]) == ("e5-small", 1)
    again = ("import", "-n", "notes", "-m", "update", "--format", "json")
    stays = mdvec(*again, MDVEC_MODEL_NAME=None)
    other = mdvec(*again, "--model", "use")
    assert (stays.code, stays.json["model"]) == (0, "e5-small")
    assert (other.code, other.err) == (
        1,
        (
            "error: the tool 'notes' was imported with the model 'e5-small'; "
            "to change it to 'use', build it again with --mode replace\n"
        ),
    )
