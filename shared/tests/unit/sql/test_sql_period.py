"""Ranges of dates: the column they apply to, and the rows they include."""

import duckdb
import pytest
from table_of_cases import each

from mdvec.datasets.core.columns import Column
from mdvec.sql.core.period import (
    PeriodRefused,
    UnknownColumn,
    period_column,
    required_column,
    within,
)

DAY = Column("日付", "DATE")
MOMENT = Column("at", "TIMESTAMP")
TEXT = Column("memo", "VARCHAR")


def found(type_: str, first: str, last: str) -> list[str]:
    condition = within(Column("at", type_), first, last)
    rows = duckdb.execute(
        f"SELECT v FROM (SELECT v, v::{type_} AS at FROM (VALUES ('2025-01-31 00:00:00'), "
        "('2025-01-31 23:59:59.999999'), ('2025-02-01 00:00:00'), ('2025-02-01 12:00:00')) t(v)) "
        f"WHERE {condition} ORDER BY v"
    ).fetchall()
    return [row[0] for row in rows]


def test_the_whole_last_day_is_included():
    assert found("TIMESTAMP", "2025-01-31", "2025-01-31") == [
        "2025-01-31 00:00:00",
        "2025-01-31 23:59:59.999999",
    ]
    assert len(found("DATE", "2025-01-31", "2025-02-01")) == 4


def test_the_last_moment_is_included():
    assert found("TIMESTAMP", "2025-02-01T00:00:00", "2025-02-01T12:00:00") == [
        "2025-02-01 00:00:00",
        "2025-02-01 12:00:00",
    ]


def test_a_moment_with_a_zone_counts_in_utc():
    assert found("TIMESTAMP", "2025-02-01T09:00:00+09:00", "2025-02-01T09:00:00+09:00") == [
        "2025-02-01 00:00:00"
    ]


def test_months_and_years_are_whole():
    assert len(found("TIMESTAMP", "2025-01", "2025-01")) == 2
    assert len(found("TIMESTAMP", "1850", "2025年")) == 4


def test_the_last_possible_day_can_be_the_end():
    assert len(found("TIMESTAMP", "0001-01-01", "9999-12-31")) == 4


@each("bad", ["yesterday", "", "2025-13-01", "'; DROP TABLE x; --", "June"])
def test_an_invalid_date_is_refused_with_an_example(bad):
    with pytest.raises(PeriodRefused, match="2025-01-31"):
        within(DAY, bad, "2025-02-01")


def test_a_range_that_ends_before_it_begins_is_refused():
    with pytest.raises(PeriodRefused, match="before it begins"):
        within(DAY, "2025-02-01", "2025-01-31")


def test_the_only_column_with_dates_is_the_default():
    assert period_column([TEXT, DAY], None) == DAY
    assert period_column([TEXT], None) is None
    assert period_column([DAY, MOMENT], None) is None
    assert period_column([DAY, MOMENT], "AT") == MOMENT


def test_several_columns_with_dates_are_named():
    with pytest.raises(PeriodRefused, match="say date_column, one of: '日付', 'at'"):
        required_column([DAY, MOMENT, TEXT], None)


def test_a_column_without_dates_is_refused():
    with pytest.raises(PeriodRefused, match="'memo' is VARCHAR"):
        period_column([DAY, TEXT], "memo")
    with pytest.raises(UnknownColumn, match="'nothing'"):
        period_column([DAY, TEXT], "nothing")
    with pytest.raises(PeriodRefused, match="no column holds dates"):
        required_column([TEXT], None)
