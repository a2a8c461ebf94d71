"""A running server sends Chroma what it missed."""

import time

from mdvec.database.connection import open_database
from mdvec.index import outbox
from mdvec.tools import rows as tools

from mdvec_mcp.search.engine_upkeep import EngineUpkeep


def waiting(collection) -> int:
    with open_database(collection.database, "read") as connection:
        return outbox.waiting_count(connection, tools.get_tool(connection, "notes").tables)


def test_what_waits_is_sent_once_chroma_is_back(collection, chroma):
    collection.engine = chroma.address
    collection.write("a.md", "# 火\n\n火の話。\n")
    chroma.kill()
    collection.import_("new")
    assert waiting(collection) == 1
    upkeep = EngineUpkeep(collection.database, chroma.address, seconds=0.05)
    upkeep.start()
    try:
        chroma.start()
        until = time.monotonic() + 60
        while waiting(collection):
            assert time.monotonic() < until
            time.sleep(0.05)
    finally:
        upkeep.close()
