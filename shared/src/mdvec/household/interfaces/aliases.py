"""Other spellings of shops: those in ``aliases.toml``, and those that the user confirmed."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources

import apsw

from mdvec.household.core.aliases import Aliases, ShopAlias, with_own


@cache
def given_aliases() -> tuple[ShopAlias, ...]:
    """The aliases that come with mdvec."""
    text = (resources.files("mdvec.household") / "aliases.toml").read_text("utf-8")
    return tuple(
        ShopAlias(shop["name"], tuple(shop["spellings"]), tuple(shop.get("asked", ())))
        for shop in tomllib.loads(text)["shop"]
    )


def own_aliases(connection: apsw.Connection, tool_id: int) -> list[tuple[str, str]]:
    """The user's pairs of a shop's name and another spelling."""
    rows = connection.execute(
        "SELECT name, spelling FROM shop_aliases WHERE tool_id = ? ORDER BY name, spelling",
        (tool_id,),
    )
    return [(str(name), str(spelling)) for name, spelling in rows]


def aliases_of(connection: apsw.Connection, tool_id: int) -> Aliases:
    """All aliases of a household."""
    return with_own(given_aliases(), own_aliases(connection, tool_id))


def put_alias(connection: apsw.Connection, tool_id: int, name: str, spelling: str) -> None:
    """Store a pair; call within a transaction."""
    connection.execute(
        "INSERT OR IGNORE INTO shop_aliases (tool_id, name, spelling) VALUES (?, ?, ?)",
        (tool_id, name, spelling),
    )


def delete_alias(connection: apsw.Connection, tool_id: int, name: str, spelling: str) -> bool:
    """Delete a pair, and return whether there was one."""
    connection.execute(
        "DELETE FROM shop_aliases WHERE tool_id = ? AND name = ? AND spelling = ?",
        (tool_id, name, spelling),
    )
    return connection.changes() > 0
