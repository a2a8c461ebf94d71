"""Ready-made questions over random tables agree with sums in plain Python."""

import math
import random
from collections import defaultdict
from datetime import datetime, timedelta
from statistics import fmean, median

import duckdb
import pytest
from query_subject import Subject, table_at

from mdvec.database.connection import open_database
from mdvec.sql.process.messages import ParquetTable, QueryLimits
from mdvec.text.one_line import literal

SHAPES = [
    (rows, kind, dated)
    for rows in (0, 1, 2, 120)
    for kind in ("BIGINT", "DOUBLE")
    for dated in ("DATE", "TIMESTAMP")
]
EDGES = {"BIGINT": [10**15, -(10**15), 0], "DOUBLE": [1e12, -1e12, 0.0, math.nan, math.inf]}
STARTS = {
    "day": lambda day: day,
    "week": lambda day: day - timedelta(days=day.weekday()),
    "month": lambda day: day.replace(day=1),
    "quarter": lambda day: day.replace(month=(day.month - 1) // 3 * 3 + 1, day=1),
    "year": lambda day: day.replace(month=1, day=1),
}


class Desk:
    """The questions over a table of each shape."""

    def __init__(self, folder):
        self.rows, database = {}, folder / "vectors.sqlite"
        tables: list[ParquetTable] = []
        with open_database(database, "create"):
            pass
        for shape in SHAPES:
            self.rows[shape] = invented(*shape[:2])
            path = folder / f"{len(tables)}.parquet"
            write(path, self.rows[shape], *shape[1:])
            tables.append(table_at(path, table_of(shape)))
        limits = QueryLimits(5.0, 1024, 10**8)
        subject = Subject(folder, *tables, limits=limits, database=database)
        self.queries, self.questions = subject.process, subject.analytics().questions

    def answer(self, name, shape, **parameters):
        prepared = self.questions.prepare_saved(name, {"table": table_of(shape), **parameters})
        answer = self.questions.answer(prepared)
        return [dict(zip(answer["columns"], row, strict=True)) for row in answer["rows"]]


def table_of(shape):
    return "数_{}_{}_{}".format(*shape)


def write(path, rows, kind, dated):
    """A file of rows (time, amount, other)."""
    duckdb.execute(f"CREATE OR REPLACE TABLE t (day {dated}, amount {kind}, other DOUBLE)")
    if rows:
        duckdb.executemany("INSERT INTO t VALUES (?, ?, ?)", rows)
    duckdb.execute(f"COPY t TO {literal(str(path))} (FORMAT parquet)")


def is_usual(shape):
    """Of few rows, each kind has one type of dates in the ordinary run."""
    rows, kind, dated = shape
    return rows == max(rows for rows, _, _ in SHAPES) or (kind == "BIGINT") == (dated == "DATE")


each_shape = pytest.mark.parametrize(
    "shape",
    [pytest.param(one, marks=() if is_usual(one) else pytest.mark.soak) for one in SHAPES],
    ids=table_of,
)


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    made = Desk(tmp_path_factory.mktemp("desk"))
    yield made
    made.queries.close()


def invented(rows, kind):
    """Rows at random, a twelfth of each value missing, some at the edges."""
    rng = random.Random(f"{rows} {kind}")

    def amount():
        chance = rng.random()
        if chance < 1 / 12:
            return None
        if chance < 1 / 6:
            return rng.choice(EDGES[kind])
        return rng.randrange(-9_000, 9_000) / (1 if kind == "BIGINT" else 8)

    first = datetime(2023, 12, 28)  # noqa: DTZ001 - a table of local times
    return [
        (
            None if rng.random() < 1 / 12 else first + timedelta(hours=rng.randrange(24 * 75)),
            None if (value := amount()) is None else int(value) if kind == "BIGINT" else value,
            rng.randrange(100) / 4,
        )
        for _ in range(rows)
    ]


def by_period(rows, period):
    groups = defaultdict(list)
    for day, amount, _ in rows:
        if day is not None:
            groups[STARTS[period](day.date())].append(amount)
    return {start: groups[start] for start in sorted(groups)}


def finite(values):
    return [value for value in values if value is not None and math.isfinite(value)]


def total(values):
    return sum(there) if (there := finite(values)) else None


def near(value):
    return value if value is None else pytest.approx(value, rel=1e-9, abs=1e-3)


@each_shape
def test_trends_of_every_period_are_those_of_plain_python(desk, shape):
    rows = desk.rows[shape]
    for period in STARTS:
        groups = by_period(rows, period)
        sums = [total(values) for values in groups.values()]
        expected = [
            {
                "period": str(start), "rows": len(values), "sum": near(total(values)),
                "mean": near(fmean(finite(values)) if finite(values) else None),
                "sum_change": near(
                    None if at == 0 or None in (sums[at], sums[at - 1]) else sums[at] - sums[at - 1]
                ),
            }
            for at, (start, values) in enumerate(groups.items())
        ]  # fmt: skip
        found = desk.answer("trend", shape, measure="amount", period=period)
        shown = [{key: row[key] for key in expected[0]} for row in found] if expected else found
        assert shown == expected[: len(found)]
        assert bool(found) == bool(expected)


@each_shape
def test_two_periods_and_anomalies_are_those_of_plain_python(desk, shape):
    rows = desk.rows[shape]
    (found,) = desk.answer(
        "compare_periods", shape, measure="amount", first="2024-01", second="2024-02"
    )
    months = {f"{start:%Y-%m}": values for start, values in by_period(rows, "month").items()}
    for which, month in (("first", "2024-01"), ("second", "2024-02")):
        values = months.get(month, [])
        assert found[f"{which}_rows"] == len(values)
        assert found[f"{which}_sum"] == near(total(values))
    days = {day: value for day, group in by_period(rows, "day").items()
            if (value := total(group)) is not None}  # fmt: skip
    expected = {}
    for at, (day, value) in enumerate(days.items()):
        before = [float(one) for one in list(days.values())[max(0, at - 10) : at]]
        if len(before) < 5:
            continue
        middle = median(before)
        spread = median(abs(one - middle) for one in before)
        if spread and abs(z := 0.6745 * (value - middle) / spread) >= 3.5:
            expected[str(day)] = near(round(z, 2)), near(middle), near(value)
    found = desk.answer("anomalies", shape, measure="amount", window=10)
    assert {row["period"]: (row["robust_z"], row["median"], row["sum"]) for row in found} == dict(
        list(expected.items())[: len(found)]
    )
    assert bool(found) == bool(expected)
