"""An offer follows its database: a file that comes later, changes, is replaced or is damaged."""

import pytest
from mcp.server.subscriptions import ResourceUpdated, ToolsListChanged
from mdvec.database.connection import open_database
from mdvec.manage import registering

from mdvec_mcp.calls import READ_ONLY
from mdvec_mcp.live_offer import LiveOffer
from mdvec_mcp.offer import Offer


def offered(rows):
    """A tool for each row, and one resource."""
    offer = Offer()
    for row in rows:

        @offer.tool(name=row.name, description=row.description, annotations=READ_ONLY, is_row=True)
        async def tool(query: str) -> str:
            return query

    async def read() -> str:
        return ""

    offer.add_resource("data://one", "d", "text/plain", read)
    return offer


@pytest.fixture
def database(tmp_path):
    return tmp_path / "vectors.sqlite"


@pytest.fixture
def live(database):
    """Made before the database exists."""
    return LiveOffer(database, [], offered)


def add(database, name, kind="markdown"):
    registering.add_tool(database, name, "d", database.parent, kind)


def settled(live):
    """Look until the file's time is old enough to be trusted; what was told meanwhile."""
    events = live.poll()
    while live._seen is None:
        events += live.poll()
    return events


def test_a_database_that_comes_later_is_followed(live, database):
    assert (live.poll(), list(live.offer.tools)) == ([], [])
    add(database, "a")
    assert live.poll() == [ToolsListChanged()]
    add(database, "b")
    assert live.poll() == [ToolsListChanged()]
    assert list(live.offer.tools) == ["a", "b"]


def test_an_offer_is_rebuilt_only_if_what_it_shows_changed(live, database):
    add(database, "a")
    settled(live)
    offer = live.offer
    registering.update_tool(database, "a", None, database.parent.parent)
    assert live.poll() == []
    assert live.offer is offer
    registering.update_tool(database, "a", "other", None)
    assert live.poll() == [ToolsListChanged()]
    assert live.offer is not offer


def test_a_reader_does_not_count_as_a_change(live, database):
    add(database, "a")
    settled(live)
    seen = live._seen
    with open_database(database, "read") as connection:
        connection.execute("SELECT * FROM tools").fetchall()
        assert live.poll() == []
        assert live._seen is seen


def test_another_file_in_its_place_is_followed(live, database):
    add(database, "a")
    settled(live)
    other = database.with_name("other.sqlite")
    add(other, "b")
    other.replace(database)
    assert live.poll() == [ToolsListChanged()]
    assert list(live.offer.tools) == ["b"]


@pytest.mark.parametrize(
    "damage",
    [
        lambda database: database.unlink(),
        lambda database: database.write_bytes(b""),
        lambda database: database.write_text("no database " * 200),
    ],
)
def test_the_last_offer_stays_while_the_file_cannot_be_read(live, database, damage):
    add(database, "a")
    settled(live)
    whole = database.read_bytes()
    damage(database)
    assert settled(live) == [] if database.exists() else live.poll() == []
    assert list(live.offer.tools) == ["a"]
    database.write_bytes(whole)
    registering.set_active(database, "a", active=False)
    assert live.poll() == [ToolsListChanged()]
    assert list(live.offer.tools) == []


def test_resources_are_updated_with_a_ledgers_rows_and_decisions(live, database):
    add(database, "kakeibo", "household")
    assert live.poll() == [ToolsListChanged()]
    with open_database(database, "write") as connection:
        connection.execute("UPDATE ledger_versions SET version = version + 1")
    assert live.poll() == [ResourceUpdated("data://one")]


def test_tools_of_one_definition_share_their_schemas(live, database):
    add(database, "a")
    add(database, "b")
    live.poll()
    first, second = live.offer.tools.values()
    assert first.parameters is second.parameters
    assert first.fn is not second.fn
    assert (first.name, second.name) == ("a", "b")
