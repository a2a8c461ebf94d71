"""Rows become records by their columns' names."""

from dataclasses import dataclass

import apsw
import pytest

from mdvec.database.connection import records


@dataclass(frozen=True)
class Shop:
    name: str
    visits: int


def test_rows_become_records_in_any_column_order():
    cursor = apsw.Connection(":memory:").execute(
        "SELECT 3 AS visits, 'コンビニ' AS name UNION ALL SELECT 1, '書店'"
    )
    assert list(records(cursor, Shop)) == [Shop("コンビニ", 3), Shop("書店", 1)]


def test_a_column_without_a_field_is_an_error():
    cursor = apsw.Connection(":memory:").execute("SELECT 3 AS visits, 'x' AS name, 1 AS spare")
    with pytest.raises(TypeError, match="spare"):
        list(records(cursor, Shop))


def test_no_rows_give_no_records():
    cursor = apsw.Connection(":memory:").execute("SELECT 3 AS visits, 'x' AS name WHERE 0")
    assert list(records(cursor, Shop)) == []
