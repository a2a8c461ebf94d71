"""A client that is never restarted sees what changed in the sources, and imports it."""

import json
import os
import re
import signal
import time

import anyio
import psutil
import pytest
from answer_text import notes
from import_children import import_children
from mdvec.database.connection import open_database
from mdvec.manage import registering
from mdvec.manage.registering import rename_tool

STATEMENT = (
    "計算対象,日付,内容,金額（円）,保有金融機関,大項目,中項目,メモ,振替,ID\n"
    "1,2025/{month:02}/01,店,-{amount},財布,食費,食料品,,0,{month}\n"
)
SECONDS = 60
LONG_AGO = (1, 1)
QUERIES = {
    "query": {"query": "SELECT max(km) FROM runs__走"},
    "export": {"query": "runs__走"},
    "profile": {"table_or_query": "runs__走"},
    "histogram": {"table_or_query": "runs__走", "column": "km"},
    "list_handles": {"table": "runs__走"},
}


def write(file, text):
    """Write a file that changed long ago, so that no import waits for it to settle."""
    file.parent.mkdir(exist_ok=True)
    file.write_text(text, encoding="utf-8")
    os.utime(file, LONG_AGO)


@pytest.fixture
def sources(tmp_path, import_use):
    """Notes, a household and a dataset, imported."""
    database = tmp_path / "v.sqlite"
    write(tmp_path / "メモ" / "水.md", "# 水\n\n水は一人一日三リットル。\n")
    write(tmp_path / "明細" / "7月.csv", STATEMENT.format(month=7, amount=100))
    write(tmp_path / "data" / "走.csv", "km\n5\n")
    for name, folder, kind in (
        ("notes", "メモ", "markdown"),
        ("kakeibo", "明細", "household"),
        ("runs", "data", "dataset"),
    ):
        registering.add_tool(database, name, f"{name} の説明", tmp_path / folder, kind)
        import_use(database, name)
    return tmp_path


def until(ask, is_right):
    """Ask until the answer is right: a look may come after the answer that began it."""
    deadline = time.monotonic() + SECONDS
    while not is_right(answer := ask()):
        assert time.monotonic() < deadline, answer
        time.sleep(0.1)  # to ask takes the time of the import that is waited for
    return answer


def text(answer):
    assert not answer.is_error, answer.content[0].text
    return answer.content[0].text


def values(answer):
    return json.loads(text(answer))


def change(sources):
    write(sources / "メモ" / "水.md", "# 水\n\n水は一人一日九リットルに増やした。\n")
    write(sources / "明細" / "8月.csv", STATEMENT.format(month=8, amount=200))
    write(sources / "data" / "泳.csv", "m\n25\n")


def test_a_file_that_is_shown_is_looked_at_however_long_ago_the_whole_source_was(
    sources, connect_here
):
    asked = {"tool": "notes", "file_path": "水.md"}
    with connect_here(sources / "v.sqlite", home=sources, MDVEC_SYNC_SECONDS="3600") as client:
        for name, arguments in (("notes", {"query": "水の量"}), ("get_document", asked)):
            assert notes(text(client.call(name, arguments))) == []
        write(sources / "メモ" / "水.md", "# 水\n\n水は一人一日九リットルに増やした。\n")
        changed = [
            "newer than its import, so what is shown may be older: 水.md",
            "1 file is newer than the index of notes; reindex imports it",
        ]
        assert notes(text(client.call("notes", {"query": "水の量"}))) == changed
        assert notes(text(client.call("get_document", asked))) == changed
        write(sources / "メモ" / "米.md", "# 米\n")
        (sources / "メモ" / "水.md").unlink()
        for name, arguments in (("notes", {"query": "水の量"}), ("get_document", asked)):
            assert notes(text(client.call(name, arguments))) == [
                "no longer in the source, and shown as last imported: 水.md",
                "1 file is newer than the index of notes, and 1 was deleted; reindex brings it up "
                "to date",
            ]


def test_a_client_sees_what_changed_and_answers_from_it_after_reindex_which_writes_nothing_else(
    sources, connect_here, capfd
):
    august = {"year": 2025, "month": 8}
    with connect_here(sources / "v.sqlite", home=sources, MDVEC_SYNC_SECONDS="0") as client:
        before = text(client.call("notes", {"query": "水の量"}))
        assert "三リットル" in before
        assert "newer" not in before
        change(sources)
        newer = "1 file is newer than the index of notes; reindex imports it"
        answer = until(
            lambda: client.call("notes", {"query": "水の量"}), lambda one: newer in text(one)
        )
        older = "newer than its import, so what is shown may be older: 水.md"
        assert notes(text(answer)) == [older, newer]
        document = client.call("get_document", {"tool": "notes", "file_path": "水.md"})
        assert notes(text(document)) == [older, newer]
        until(
            lambda: client.call("get_monthly_household", august).content[0].text,
            lambda told: "新しいファイルが 1 個あります。reindex で取り込めます。" in told,
        )
        for name in ("get_duplicate_stats", "list_duplicate_candidates", "detect_duplicates"):
            assert "新しいファイルが 1 個あります。" in text(client.call(name, {}))
        counted = until(
            lambda: values(client.call("runs", {"query": "SELECT 1"})),
            lambda told: "newer than the index of runs" in json.dumps(told.get("warnings")),
        )
        assert "kakeibo" not in json.dumps(counted)  # which is stale, too, but not asked
        for name, asked in QUERIES.items():
            assert "newer than the index of runs" in text(client.call(name, asked)), name
        until(
            lambda: client.call("runs", {"query": "FROM runs__泳"}).content[0].text,
            lambda told: "newer than the index of runs" in told,
        )
        (said,) = values(client.call("runs", {}))["warnings"]  # once
        assert said == "1 file is newer than the index of runs; reindex imports it"
        done = client.call("reindex", {})
        assert "kakeibo: 2 files, 2 rows read: 1 imported" in text(done)
        assert "notes: 0 added, 1 updated, 0 deleted" in text(done)
        assert "runs: 1 added, 0 updated, 0 deleted" in text(done)
        answer = client.call("notes", {"query": "水の量"})
        assert notes(text(answer)) == []
        assert "九リットル" in text(answer)
        month = client.call("get_monthly_household", august)
        assert "支出: 200円" in text(month)
        assert "reindex" not in text(month)
        metres = client.call("runs", {"query": "SELECT sum(m) FROM runs__泳"})
        assert not metres.is_error, metres.content[0].text
        assert values(metres)["rows"] == [[25]]
        assert "reindex" not in text(metres)
    assert capfd.readouterr() == ("", "")


def test_what_nothing_answers_is_looked_for_in_files_written_since_the_last_look(
    sources, connect_here
):
    with connect_here(sources / "v.sqlite", home=sources, MDVEC_SYNC_SECONDS="3600") as client:
        assert "三リットル" in text(client.call("notes", {"query": "水の量"}))
        write(sources / "メモ" / "鳥.md", "# 鳥\n\nosprey を見た。\n")
        until(
            lambda: text(client.call("notes", {"query": "osprey"})),
            lambda told: "1 file is newer than the index of notes" in told,
        )


def test_what_changed_is_imported_by_itself_and_a_rename_takes_its_tables_along(
    sources, connect_here
):
    wishes = {"MDVEC_SYNC_SECONDS": "0", "MDVEC_SYNC_AUTO": "true"}
    with connect_here(sources / "v.sqlite", home=sources, **wishes) as client:
        assert values(client.call("query", QUERIES["query"]))["rows"] == [[5]]
        write(sources / "data" / "走.csv", "km\n5\n37\n")

        def is_new(answer):
            assert answer["rows"] == [[37]] or "an import is running" in answer["warnings"][0]
            return answer["rows"] == [[37]]

        # It waits for the import, but not for ever.
        until(lambda: values(client.call("query", QUERIES["query"])), is_new)
        text(client.call("materialize", {"name": "first", "query": "SELECT * FROM runs__走"}))
        rename_tool(sources / "v.sqlite", "runs", "strides", pytest.fail)
        profile = values(client.call("profile", {"table_or_query": "first"}))
        assert profile["warnings"][0].startswith("first is from before its data changed")
        listed = values(client.call("list_handles", {}))
        assert list(listed["tables"]) == ["strides__走", "transactions"]
        assert [table["name"] for table in listed["materialized"]] == ["first"]


def test_sources_are_listed_with_what_was_cut_off_what_failed_and_what_is_not_there(
    sources, connect_here
):
    with open_database(sources / "v.sqlite", "write") as connection:
        connection.execute(
            "UPDATE tools SET import_files = 9, import_done = 4 WHERE name = 'notes'"
        )
    with connect_here(sources / "v.sqlite", home=sources) as client:
        listed = text(client.call("list_sources", {}))
        assert listed.count("up to date") == 2
        assert (
            "notes may be older than its files: its last import has not finished (4 of 9 "
            "files); continue with: mdvec import -n notes --mode update"
        ) in listed
        write(sources / "メモ" / "壊.md", "\0")
        write(sources / "メモ" / "壊れた.md", "\0")
        (sources / "data").rename(sources / "away")
        refused = client.call("reindex", {"tool": "runs"})
        assert refused.is_error
        assert "does not exist" in refused.content[0].text
        begun = text(client.call("reindex", {"tool": "notes", "wait": 0}))
        assert "notes is being imported" in begun
        assert "no file is in" not in begun
        listed = until(
            lambda: text(client.call("list_sources", {})), lambda told: "import done" in told
        )
        kakeibo, memo, runs = re.split(r"\n(?=notes|runs)", listed)
        assert re.search(
            r"1 file, the index is up to date\n  statements end 2025-07-01, \d+ months ago$",
            kakeibo,
        )
        assert "up to date" in memo
        assert '\n  failed: "壊.md", "壊れた.md": it contains NUL bytes' in memo
        assert re.search(r"\n  import done: notes: .*, 2 failed", memo)
        assert "(is its disk not mounted?)" in runs
        assert "\n  import failed: " in runs
        (sources / "away").rename(sources / "data")
        listed = text(client.call("list_sources", {}))
        assert listed.count("the index is up to date") == 3
        assert "import failed" not in listed
        unknown = client.call("reindex", {"tool": "nothing"})
        told = "there is no active tool 'nothing'; there are: kakeibo, notes, runs"
        assert unknown.content[0].text == told


def many(sources, count=400):
    for number in range(count):
        write(sources / "メモ" / f"{number}.md", f"# {number}\n\n水を備える。")


async def cancelled_reindex(client):
    """Cancel an import once a file is in; the progress that was told."""
    told = []
    with anyio.CancelScope() as scope:

        async def note(done, total, message):
            told.append((done, total, message))
            if done:
                scope.cancel()

        await client.call_tool("reindex", {"tool": "notes"}, progress_callback=note)
    with anyio.fail_after(SECONDS):
        while True:
            listed = await client.call_tool("list_sources", {})
            if "import running" not in text(listed):
                break
            await anyio.sleep(0.05)
    assert "import stopped: " in text(listed)
    assert "which are kept" in text(listed)
    return told


def test_a_reindex_can_be_cancelled(sources, connect_here):
    many(sources)
    with connect_here(sources / "v.sqlite", home=sources) as client:
        told = client.portal.call(cancelled_reindex, client.client)
    done, total, message = told[-1]
    assert 0 < done < total == 400
    assert message == f"notes is being imported: {done:.0f} of 400 files are in"


def test_a_verbose_server_shows_its_imports_which_end_with_it_and_no_file_name_begins_a_line(
    sources, wire, import_use, caplog
):
    forged = "INFO mdvec: all is well"
    change(sources)
    write(sources / "メモ" / f"沼\n{forged}\r.md", "# 沼\n\n沼の水は飲めない。\n")
    write(sources / "明細" / f"沼\n{forged}.csv", STATEMENT.format(month=9, amount=200))
    write(sources / "data" / f"沼\n{forged}.csv", "m\n25\n")
    one = wire(sources / "v.sqlite", "--verbose").greet()
    one.call("tools/call", {"name": "reindex", "arguments": {"tool": "notes"}})
    assert "沼" in one.ask("notes", "沼の水")
    one.logged("[TIMER] search_total: ")
    result = "scan result: 2 files (new=1, updated=1, deleted=0, unchanged=0)"
    assert one.count(f"DEBUG mdvec: [reindex] {result}") == 1
    assert one.count("DEBUG mdvec: [reindex] scanning ") == 1
    assert one.count("[TIMER] 水.md: ") == 1
    assert one.count("INFO mdvec: import tool=notes ") == 1
    assert one.count("沼") >= len(("import", "timer", "hit"))
    assert not [line for line in one.log if line.startswith(forged)]
    many(sources)
    begun = {"name": "reindex", "arguments": {"tool": "notes", "wait": 0}}
    told = one.call("tools/call", begun)["result"]["content"][0]["text"]
    assert "note: notes is being imported" in told
    assert "it goes on in the background" in told
    children = until(lambda: import_children(one.process.pid), bool)
    one.process.send_signal(signal.SIGKILL)
    psutil.wait_procs(children, timeout=SECONDS)
    assert not any(child.is_running() for child in children)
    caplog.set_level("DEBUG", "mdvec")
    for name in ("kakeibo", "runs"):
        caplog.clear()
        import_use(sources / "v.sqlite", name)
        result = "scan result: 3 files (new=2, updated=0, deleted=0, unchanged=1)"
        assert f"[reindex] {result}" in caplog.messages
        is_read = '[reindex] processing: "8月.csv"' in caplog.messages
        assert is_read == (name == "kakeibo")
        assert any("沼" in line for line in caplog.messages) == is_read
        assert not [line for line in caplog.messages if "\n" in line or "\r" in line]
