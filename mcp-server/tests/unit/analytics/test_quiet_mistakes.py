"""Queries that run and mean something else, and others like them that are meant as they stand."""

import pytest
from mdvec.datasets.core.columns import Column

from mdvec_mcp.analytics.core.mending.quiet import quiet_mistake

TABLES = {
    "goals": (Column("shop", "VARCHAR"), Column("2024", "BIGINT"), Column("2025", "BIGINT")),
    "other": (Column("2026", "BIGINT"),),
}


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("SELECT sum(2025) FROM goals", 'SELECT sum("2025") FROM goals'),
        (
            "SELECT shop, max( 2025 - 2024 ) FROM goals",
            'SELECT shop, max( "2025" - "2024" ) FROM goals',
        ),
        ("SELECT 2024 FROM goals", 'SELECT "2024" FROM goals'),
        ('SELECT 2024 AS year, "2024" AS amount FROM goals', None),
        ("SELECT 2024 AS year, shop FROM goals", None),
        ("SELECT count(*) FROM goals WHERE 2024 IN (2024, 2025)", None),
        ("SELECT 'sum(2025)' FROM goals", None),
        ("SELECT sum(2026) FROM goals", None),
        ("SELECT sum(12) FROM goals", None),
    ],
)
def test_a_bare_number_that_is_the_name_of_a_column_is_noticed(written, meant):
    found = quiet_mistake(written, TABLES)
    assert (None if found is None else found.sql) == meant
