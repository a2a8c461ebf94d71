"""One server for many clients over HTTP, and the bridge for clients that speak only STDIO."""

import functools
import json
import signal
from contextlib import AsyncExitStack

import anyio
import httpx2
import psutil
import pytest
from answer_text import passages
from crowd import ask_together
from following import Following
from imported import imported
from mcp import Client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mdvec.manage import registering
from page_site import page_site
from table_of_cases import each

TOKEN = "0123456789abcdef"


def test_clients_of_both_generations_and_a_bridge_share_one_model(web, server, filled, tmp_path):
    (tmp_path / "token").write_text(TOKEN)
    (tmp_path / "token").chmod(0o600)
    wanting = ("--log-level", "INFO", "--token-file", str(tmp_path / "token"))
    one, url = web(filled / "vectors.sqlite", *wanting)
    bridged = server(filled / "vectors.sqlite", "--connect", url, MDVEC_SERVER_TOKEN=TOKEN)
    bearer = {"Authorization": f"Bearer {TOKEN}"}
    found = []

    async def search(transport, mode):
        async with Client(transport, mode=mode) as client:
            answer = await client.call_tool("notes", {"query": "水", "k": 1})
            found.append((client.protocol_version, passages(answer.content[0].text)[0]))

    async def run():
        async with httpx2.AsyncClient(headers=bearer, timeout=60) as http:
            with anyio.fail_after(60):
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(search, stdio_client(bridged), "legacy")
                    for mode in ("legacy", "auto"):
                        transport = streamable_http_client(url, http_client=http)
                        tasks.start_soon(search, transport, mode)

    anyio.run(run)
    versions = ["2025-11-25", "2025-11-25", "2026-07-28"]
    assert sorted(version for version, _ in found) == versions
    assert {hit.file_path for _, hit in found} == {"a.md"}
    assert one.count("loaded the model use") == 1
    one.process.send_signal(signal.SIGTERM)
    assert one.process.wait(30) == 0
    one.close()
    assert (one.count("Traceback"), one.count("ERROR")) == (0, 0)


def test_a_bridge_tells_a_person_in_their_language_that_no_server_is_there(wire, tmp_path):
    nowhere = "http://127.0.0.1:9/mcp"
    one = wire(tmp_path / "none.sqlite", "--connect", nowhere, MDVEC_DISPLAY_LANGUAGE="ja")
    one.request("initialize", {})
    told = one.next()["error"]["message"]
    assert told.startswith(f"no mdvec server answers at {nowhere}; start it with")
    one.logged(f"mdvec-mcp: {nowhere} に mdvec のサーバーがありません。")
    one.close()


@pytest.fixture
def here(database):
    """The address of a server over HTTP in this process."""
    with page_site(database) as site:
        yield f"{site.address}/mcp"


def test_clients_over_http_and_the_bridge_are_told_of_a_new_tool(here, server, database):
    clients = [
        Following(streamable_http_client(here), "legacy"),
        Following(streamable_http_client(here), "auto"),
        Following(stdio_client(server(database, "--connect", here)), "auto"),
    ]

    async def run():
        async with AsyncExitStack() as stack:
            for each in clients:
                await stack.enter_async_context(each.client)
            async with anyio.create_task_group() as tasks:
                for each in clients[1:]:
                    await tasks.start(each.subscribe)
                notes = database.parent / "notes"
                registering.add_tool(database, "later", "後から", notes, "markdown")
                with anyio.fail_after(60):
                    lists = [await each.told_of("later") for each in clients]
                tasks.cancel_scope.cancel()
        return lists

    assert [tools["later"] for tools in anyio.run(run)] == ["後から"] * 3


def test_no_client_over_http_takes_the_materialized_table_of_another(here, database):
    runs = database.parent / "runs.csv"
    runs.write_text("day,km\n2025-06-01,5\n2025-06-02,7\n")
    imported(database, "runs", runs, "dataset")

    async def ask(client, tool, **arguments):
        answer = await client.call_tool(tool, arguments)
        return answer.content[0].text if answer.is_error else json.loads(answer.content[0].text)

    async def made(client, km):
        return await ask(
            client, "materialize", name="work", query=f"SELECT km FROM runs WHERE km = {km}"
        )

    async def run(mode):
        both = [Client(streamable_http_client(here), mode=mode) for _ in range(2)]
        async with AsyncExitStack() as stack:
            first, second = [await stack.enter_async_context(client) for client in both]
            handles = [(await made(first, 5))["handle"], (await made(second, 7))["handle"]]
            by_name = [await ask(client, "query", query="FROM work") for client in (first, second)]
            by_handle = [await ask(first, "query", query=f"FROM {handle}") for handle in handles]
        return by_name, [answer["rows"] for answer in by_handle]

    names, handles = anyio.run(run, "legacy")
    assert ([answer["rows"] for answer in names], handles) == ([[[5]], [[7]]], [[[5]], [[7]]])
    names, handles = anyio.run(run, "auto")  # its requests have no session
    assert (names, handles) == (
        ["there is no table 'work'; the tables are: runs"] * 2,
        [[[5]], [[7]]],
    )


def test_the_bridge_tells_of_changes_before_during_and_after_a_kill_of_the_server(
    web, server, database
):
    one, url = web(database)
    port = int(url.removesuffix("/mcp").rpartition(":")[2])
    bridged = Following(stdio_client(server(database, "--connect", url)), "legacy")

    def add(name):
        registering.add_tool(database, name, name, database.parent / "notes", "markdown")

    async def run():
        async with bridged.client:
            add("before")
            with anyio.fail_after(60):
                await bridged.told_of("before")
                one.close()
                add("meanwhile")
                with page_site(database, port=port):
                    await bridged.told_of("meanwhile")  # of the new session
                    add("afterwards")
                    await bridged.told_of("afterwards")

    anyio.run(run)


@pytest.mark.parametrize(
    ("clients", "searches"),
    [
        pytest.param(10, 30, marks=pytest.mark.soak),
        pytest.param(50, 10_000, marks=[pytest.mark.soak, pytest.mark.timeout(1_800)]),
    ],
)
def test_many_clients_at_once_are_all_answered_in_the_same_memory(web, filled, clients, searches):
    one, url = web(filled / "vectors.sqlite")
    ask = functools.partial(ask_together, url, "dev", ["water", "rice", "git"], clients=clients)
    anyio.run(functools.partial(ask, searches=clients))
    process = psutil.Process(one.process.pid)
    before = process.memory_info().rss, process.num_fds()
    assert len(anyio.run(functools.partial(ask, searches=searches))) == searches
    after = process.memory_info().rss, process.num_fds()
    assert after[0] - before[0] < 30_000_000
    assert after[1] - before[1] < 20
    one.process.send_signal(signal.SIGTERM)
    assert one.process.wait(30) == 0


def test_the_bridge_loads_nothing_of_the_server(wire, filled):
    nowhere = "http://127.0.0.1:9/mcp"
    one = wire(filled / "vectors.sqlite", python=("-X", "importtime"), MDVEC_SERVER_URL=nowhere)
    answer = one.call("initialize", {})
    assert answer["error"]["message"] == (
        f"no mdvec server answers at {nowhere}; start it with: mdvec-mcp --http "
        "127.0.0.1:9, or permanently with: mdvec service install"
    )
    assert one.end()[1] == 0
    loaded = {name.partition(".")[0] for name in one.imported()}
    assert "httpx2" in loaded
    assert (
        loaded & {"mcp", "apsw", "numpy", "duckdb", "starlette", "uvicorn", "matplotlib"} == set()
    )


@each(
    ("arguments", "words"),
    [
        (["--http", "0.0.0.0:0"], "needs a token"),
        (["--http", "8765"], "'8765' is not an address; use host:port"),
        (["--http", "--token", "short"], "at least 16 ASCII characters"),
        (["--connect", "127.0.0.1:8765"], "[server] url cannot be"),
    ],
)
def test_what_cannot_be_served_ends_with_one_sentence(filled, refused, arguments, words):
    sentence = refused("--database", filled / "vectors.sqlite", *arguments)
    assert words in sentence
    assert "\n" not in sentence


@pytest.mark.parametrize(
    ("option", "setting"),
    [(["--http", "127.0.0.1:0", "--token-file"], None), (["--http", "127.0.0.1:0"], "TOKEN_FILE"),
     (["--connect", "http://127.0.0.1:9/mcp", "--token-file"], None)],
)  # fmt: skip
def test_a_token_file_that_others_can_open_is_refused(filled, refused, tmp_path, option, setting):
    token = tmp_path / "token"
    token.write_text(TOKEN)
    token.chmod(0o640)
    named = [token] if setting is None else []
    variables = {} if setting is None else {f"MDVEC_SERVER_{setting}": str(token)}
    assert refused("--database", filled / "vectors.sqlite", *option, *named, **variables) == (
        f"other users can open the token file {token} (0640); make it yours alone with: "
        f"chmod 600 {token}"
    )
