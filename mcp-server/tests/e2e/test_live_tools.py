"""Clients that are never restarted see the tools that another process changes, and are told."""

from functools import partial

import anyio
import anyio.to_thread
from following import Following
from mcp.client.stdio import stdio_client
from mdvec.database.connection import open_database
from mdvec.manage import registering


async def follow(parameters, database, notes):
    """Change tools in this process, and have two clients of servers follow."""
    older, newer = (Following(stdio_client(parameters), mode) for mode in ("legacy", "auto"))

    async def after(change, *values, **more):
        await anyio.to_thread.run_sync(partial(change, database, *values, **more))
        lists = [await each.changed_tools() for each in (older, newer)]
        assert lists[0] == lists[1]
        return lists[0]

    with anyio.fail_after(100):
        async with older.client, newer.client, anyio.create_task_group() as group:
            await group.start(newer.subscribe)
            assert await after(registering.add_tool, "b", "二", notes, "markdown") == {
                "a": "一",
                "b": "二",
            }
            answer = await older.client.call_tool("b", {"query": "git"})
            assert answer.content[0].text.startswith("b: ")
            assert await after(registering.update_tool, "a", "新", None) == {"a": "新", "b": "二"}
            assert await after(registering.set_active, "b", active=False) == {"a": "新"}
            gone = await newer.client.call_tool("b", {"query": "git"})
            assert gone.content[0].text.startswith("there is no tool 'b' here now; list ")
            assert not older.resources_changed | newer.resources_changed
            ledger = ("kakeibo", "家計簿", notes, "household")
            names = (await after(registering.add_tool, *ledger)).keys()
            assert {"kakeibo", "get_monthly_household", "profile"} < names
            assert len((await newer.client.list_resources()).resources) == 6
            assert await after(registering.delete_tool, "kakeibo") == {"a": "新"}
            assert older.resources_changed & newer.resources_changed
            group.cancel_scope.cancel()


def test_clients_of_both_generations_follow_another_process(filled, server, tmp_path):
    database, notes = tmp_path / "live.sqlite", filled / "notes"
    registering.add_tool(database, "a", "一", notes, "markdown")
    anyio.run(follow, server(database), database, notes)


def test_the_unfinished_note_goes_with_the_import_and_an_added_tool_can_be_called_at_once(
    database, wire
):
    def set_import(files):
        with open_database(database, "write") as connection:
            connection.execute(
                "UPDATE tools SET import_files = ?1, import_done = 1, last_import_at = "
                "iif(?1 IS NULL, CURRENT_TIMESTAMP, NULL) WHERE name = 'notes'",
                (files,),
            )

    def described():
        tools = one.call("tools/list")["result"]["tools"]
        return next(tool["description"] for tool in tools if tool["name"] == "notes")

    set_import(3)
    one = wire(database).greet()
    assert "its first import has not finished" in described()
    set_import(None)
    while one.next().get("method") != "notifications/tools/list_changed":
        pass
    assert described().endswith(". notes の説明")
    registering.add_tool(database, "later", "d", database.parent / "notes", "markdown")
    assert one.ask("later", "水").startswith("later: no documents yet")
