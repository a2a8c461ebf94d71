"""Quoting: any name and any text goes into SQL and comes back the same."""

import apsw
from table_of_cases import each

from mdvec.text.one_line import identifier, literal

HOSTILE = ['a"b', "日本 語", "select", "x'; DROP TABLE tools; --", "1-2"]


@each("name", HOSTILE)
def test_identifiers_hold_any_name(name):
    connection = apsw.Connection(":memory:")
    connection.execute(f"CREATE TABLE {identifier(name)} (a)")
    assert connection.execute("SELECT name FROM sqlite_schema").fetchall() == [(name,)]


@each("text", [*HOSTILE, "", "'", "''", "\n"])
def test_literals_hold_any_text(text):
    found = apsw.Connection(":memory:").execute(f"SELECT {literal(text)}").fetchall()
    assert found == [(text,)]
