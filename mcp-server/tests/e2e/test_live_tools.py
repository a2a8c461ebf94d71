"""Clients that are never restarted see the tools that another process changes, and are told."""

from functools import partial

import anyio
import anyio.to_thread
from following import Following
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mdvec.database.connection import open_database
from mdvec.manage import registering
from page_site import page_site


async def follow(parameters, here, database, notes):
    """Change tools in this process, and have a client of another one and one of this follow."""
    older = Following(stdio_client(parameters), "legacy")
    newer = Following(streamable_http_client(here), "auto")

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
            unfinished = "UPDATE tools SET import_files = ?, import_done = 1"
            await after(execute, unfinished, (3,))
            (own,) = [tool for tool in (await newer.client.list_tools()).tools if tool.name == "a"]
            assert "its first import has not finished" in str(own.description)
            assert await after(execute, unfinished, (None,)) == {"a": "新"}
            registering.add_tool(database, "later", "d", notes, "markdown")
            answer = await older.client.call_tool("later", {"query": "水"})  # nobody told it yet
            assert answer.content[0].text.startswith("later: no documents yet")
            group.cancel_scope.cancel()


def execute(database, sql, values):
    with open_database(database, "write") as connection:
        connection.execute(sql, values)


def test_clients_of_both_generations_follow_another_process(filled, server, tmp_path):
    database, notes = tmp_path / "live.sqlite", filled / "notes"
    registering.add_tool(database, "a", "一", notes, "markdown")
    with page_site(database) as site:
        anyio.run(follow, server(database), f"{site.address}/mcp", database, notes)
