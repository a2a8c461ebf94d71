"""`[log]`: what the commands did, without what was asked or found."""

import json


def test_each_import_search_and_refusal_is_a_line_without_its_text(notes):
    log = notes.work / "mdvec.log"
    (notes.work / "mdvec.toml").write_text('[log]\nfile = "mdvec.log"\nformat = "json"\n')
    done = notes.each(
        "import -n notes --mode update",
        "search 水を何リットル備える？ -k 2",
        "search 水 -n nothing",
    )
    assert [one.code for one in done] == [0, 0, 1]
    lines = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
    assert [line["event"] for line in lines if line["event"] != "start"] == [
        "import", "search", "refusal",
    ]  # fmt: skip
    told = {line["event"]: line for line in lines}
    assert told["import"] | {"tool": "notes", "unchanged": 3, "chunks": 4} == told["import"]
    assert told["search"] | {"tools": ["notes"], "k": 2, "hits": 2} == told["search"]
    assert told["refusal"]["error"] == "ToolNotFound"
    assert "水" not in log.read_text("utf-8")


def test_queries_are_logged_only_if_set_and_each_file_at_debug(notes):
    log = notes.home / "logs" / "mdvec.log"
    settings = {"MDVEC_LOG_FILE": str(log), "MDVEC_LOG_LEVEL": "debug", "MDVEC_LOG_QUERIES": "true"}
    notes.write("new.md", "# 新しい\n\n新しい文書です。\n")
    notes("import", "-n", "notes", "--mode", "update", **settings)
    notes("search", "水", **settings)
    text = log.read_text("utf-8")
    assert "query=水" in text
    (timed,) = [line for line in text.splitlines() if "[TIMER] new.md: " in line]
    stages = ("read_and_hash", "split", "embed", "write")
    assert all(f"{stage} " in timed for stage in stages)


def test_what_is_asked_is_not_logged_at_debug_either_if_not_set(notes):
    log = notes.home / "logs" / "mdvec.log"
    notes("search", "水", MDVEC_LOG_FILE=str(log), MDVEC_LOG_LEVEL="debug")
    assert "[TIMER] search_total" in log.read_text("utf-8")
    assert "水" not in log.read_text("utf-8")


def test_a_log_that_cannot_be_written_is_a_warning(notes):
    done = notes("search", "水", MDVEC_LOG_FILE=str(notes.database / "no.log"))
    assert done.code == 0
    assert done.err.startswith("warning: the log ")
    assert "water.md" in done.out
