"""Clients that are never restarted see the tools that another terminal changes, and are told."""

import subprocess
import sys

import anyio
import anyio.to_thread
from following import Following
from mcp.client.stdio import stdio_client
from mdvec.database.connection import open_database
from mdvec.manage import registering

CLI = "import sys; sys.argv[0] = 'mdvec'; from mdvec_cli.main import main; main()"


def mdvec(parameters, database, *words):
    """Run the command line in a process of its own."""
    command = [sys.executable, "-c", CLI, *words, "--database", str(database)]
    done = subprocess.run(
        command, env=parameters.env, capture_output=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stderr


async def follow(parameters, database, notes):
    """Have the command line change tools, and two clients follow."""
    older, newer = (Following(stdio_client(parameters), mode) for mode in ("legacy", "auto"))

    async def after(*words):
        await anyio.to_thread.run_sync(mdvec, parameters, database, *words)
        lists = [await each.changed_tools() for each in (older, newer)]
        assert lists[0] == lists[1]
        return lists[0]

    with anyio.fail_after(100):
        async with older.client, newer.client, anyio.create_task_group() as group:
            await group.start(newer.subscribe)
            assert await after("tool", "add", "-n", "b", "-d", "二", "-s", notes) == {
                "a": "一",
                "b": "二",
            }
            answer = await older.client.call_tool("b", {"query": "git"})
            assert answer.structured_content["tool"] == "b"
            assert await after("tool", "update", "-n", "a", "-d", "新") == {"a": "新", "b": "二"}
            assert await after("tool", "disable", "-n", "b") == {"a": "新"}
            gone = await newer.client.call_tool("b", {"query": "git"})
            assert gone.content[0].text.startswith("there is no tool 'b' here now; list ")
            assert not older.resources_changed | newer.resources_changed
            ledger = ("-n", "kakeibo", "-d", "家計簿", "--kind", "household", "-s", notes)
            names = (await after("tool", "add", *ledger)).keys()
            assert {"kakeibo", "get_monthly_household", "profile"} < names
            assert len((await newer.client.list_resources()).resources) == 6
            assert await after("tool", "delete", "-n", "kakeibo", "-y") == {"a": "新"}
            assert older.resources_changed & newer.resources_changed
            group.cancel_scope.cancel()


def test_clients_of_both_generations_follow_the_command_line(filled, server, tmp_path):
    database, notes = tmp_path / "live.sqlite", filled / "notes"
    registering.add_tool(database, "a", "一", notes, "markdown")
    anyio.run(follow, server(database), database, str(notes))


def test_a_tool_can_be_called_as_soon_as_it_was_added(database, wire):
    one = wire(database).greet()
    registering.add_tool(database, "later", "d", database.parent / "notes", "markdown")
    assert one.ask("later", "水")["tool"] == "later"


def test_the_unfinished_note_disappears_when_the_import_ends(database, wire):
    def set_import(files):
        with open_database(database, "write") as connection:
            connection.execute(
                "UPDATE tools SET import_files = ?, import_done = 1 WHERE name = 'notes'", (files,)
            )

    def described():
        tools = one.call("tools/list")["result"]["tools"]
        return next(tool["description"] for tool in tools if tool["name"] == "notes")

    set_import(3)
    one = wire(database).greet()
    assert "its last import has not finished" in described()
    set_import(None)
    while one.next().get("method") != "notifications/tools/list_changed":
        pass
    assert described() == "notes の説明"
