"""Profiles and histograms against numpy and pandas, over data of every shape and many sizes."""

import re
from contextlib import closing
from dataclasses import dataclass, replace

import duckdb
import numpy as np
import pandas as pd
import pytest
from query_subject import Subject, table_at
from table_of_cases import each

from mdvec.settings import AnalyticsSettings
from mdvec.sql.core.guard import AnswerGuard, as_json
from mdvec.sql.core.refusals import RowsDiffer
from mdvec.sql.process.messages import QueryLimits
from mdvec.text.one_line import literal

SIZES = [
    1,
    5_000,
    *(pytest.param(n, marks=pytest.mark.soak) for n in (10, 10**3, 20_000, 70_000, 10**6, 10**7)),
]
SECONDS = 60
ROOM = 1_000_000
TIMES = ("moment", "zoned", "nanoseconds")


def shapes(size: int) -> pd.DataFrame:
    """Columns of that length; the order of their values must not matter to any figure."""
    random = np.random.default_rng(size)
    steps = np.arange(size)
    shuffled = random.permutation(size)
    blocked = np.where(steps < 0.4 * size, 10, 1_000)
    skewed = random.lognormal(3, 2, size)
    moments = pd.Timestamp("2024-02-28 23:59:59") + pd.to_timedelta(shuffled * 37, unit="s")
    return pd.DataFrame(
        {
            "sorted": steps,
            "falling": steps[::-1] - size // 2,
            "shuffled": shuffled,
            "blocked": blocked,
            "constant": np.full(size, 123_456_789_012),
            "few": random.integers(0, 7, size),
            "ids": 2**62 + shuffled,
            "small": random.integers(-128, 127, size).astype("int8"),
            "gaps": pd.Series(shuffled).where(steps % 3 != 0).astype("Int64"),
            "nothing": pd.Series([None] * size, dtype="Int64"),
            "skewed": skewed,
            "uniform": random.random(size),
            "tenths": np.sort(shuffled % 1_000 / 10),
            "cents": np.round(random.normal(0, 50, size), 2),
            "far": 1.7e9 + shuffled / 128,
            "single": random.random(size).astype("float32"),
            "odd": np.where(steps % 5 == 1, np.inf, np.where(steps % 7 == 1, -np.inf, skewed)),
            "moment": moments,
            "zoned": moments.tz_localize("UTC"),
            "nanoseconds": moments + pd.to_timedelta(1, unit="ns"),
            "name": pd.Series(shuffled % 97).map({n: f"食費{n}" for n in range(97)}),
            "unique": pd.Series(shuffled).astype(str),
        }
    )


class Tables:
    """Analytics over one Parquet file; ``room`` is the byte limit of an answer."""

    def __init__(self, folder, frame, *, seconds=SECONDS, memory_mb=2_048, room=ROOM) -> None:
        folder.mkdir(exist_ok=True)
        path = folder / "rows.parquet"
        with duckdb.connect() as connection:
            connection.register("frame", frame)
            connection.execute(
                "COPY (SELECT * REPLACE (moment::TIMESTAMP AS moment, "
                "nanoseconds::TIMESTAMP_NS AS nanoseconds), "
                f"cents::DECIMAL(18, 2) AS yen FROM frame) TO {literal(str(path))}"
            )
        # The setting decides what is estimated; a busy machine may take longer than it says.
        limits = QueryLimits(10 * SECONDS, memory_mb, 2**20)
        subject = Subject(folder, table_at(path, "rows"), limits=limits)
        settings = AnalyticsSettings(
            max_seconds=seconds, max_memory_mb=memory_mb, max_output_bytes=room
        )
        self.queries, self.analytics = subject.process, subject.analytics(settings)

    def profile(self, source="rows", columns=None, *, exact=False) -> dict:
        return self.analytics.summaries.profile(source, None, None, columns, exact=exact)

    def histogram(self, column, bins, source="rows") -> dict:
        return self.analytics.summaries.histogram(source, column, bins, None, None)


@dataclass(frozen=True)
class Values:
    """A column in pandas: its finite values in order, and the counts of all others."""

    ordered: pd.Series
    nulls: int
    odd: int
    distinct: int

    @classmethod
    def of(cls, column: pd.Series) -> "Values":
        present = column.dropna()
        finite = present[np.isfinite(present)] if present.dtype.kind == "f" else present
        return cls(
            finite.sort_values(ignore_index=True),
            len(column) - len(present),
            len(present) - len(finite),
            finite.nunique(),
        )


@pytest.fixture(scope="module", params=SIZES)
def compared(request, tmp_path_factory):
    """Tables of one size, and the same rows in pandas."""
    frame = shapes(request.param)
    tables = Tables(tmp_path_factory.mktemp("shapes"), frame)
    frame["yen"] = frame["cents"]
    yield tables, {name: Values.of(frame[name]) for name in frame}, frame
    tables.queries.close()


def errors(answer: dict, figure: str) -> dict[str, float]:
    """The stated error bound of a figure, by column."""
    said = answer.get("approximate", {}).get(figure)
    if said is None:
        return {}
    percent, names = re.fullmatch(r"±([\d.]+) %(?: of the rows)?: (.*)", said).groups()
    return dict.fromkeys(names.split(", "), float(percent) / 100)


def same_value(told, value) -> bool:
    if isinstance(value, pd.Timestamp):
        return told.startswith(value.tz_localize(None).strftime("%Y-%m-%dT%H:%M:%S"))
    if isinstance(value, np.floating):
        # DuckDB tells a FLOAT by its shortest digits.
        return value.dtype.type(told) == value
    return told == value


@each(("source", "exact"), [("rows", False), ("SELECT * FROM rows", True)])
def test_a_profile_is_what_pandas_computes(compared, source, exact):
    tables, columns, frame = compared
    # All of ten million rows, exactly, is more than there is memory for.
    names = ["few", "gaps", "skewed"] if exact and len(frame) > 10**6 else list(columns)
    answer = tables.profile(source, names, exact=exact)
    assert answer["row_count"] == len(frame)
    assert list(answer["columns"]) == names
    medians, counts = errors(answer, "median"), errors(answer, "distinct_count")
    assert not exact or not medians | counts
    for name, figures in answer["columns"].items():
        values = columns[name]
        ordered = values.ordered
        assert figures["null_rate"] == pytest.approx(values.nulls / len(frame), rel=1e-5)
        assert figures.get("not_finite", 0) == values.odd, name
        within = counts.get(name, 0)
        assert figures["distinct_count"] == pytest.approx(values.distinct, rel=within), name
        if not len(ordered):
            assert figures["min"] is figures["max"] is figures["mean"] is figures["median"] is None
            continue
        assert same_value(figures["min"], ordered.iloc[0]), name
        assert same_value(figures["max"], ordered.iloc[-1]), name
        if ordered.dtype.kind in "iuf":
            largest = float(ordered.abs().max())
            mean = float(np.mean(ordered.to_numpy(), dtype=np.longdouble))
            digits = 1e-7 if ordered.dtype == "float32" else 1e-11
            assert figures["mean"] == pytest.approx(mean, rel=digits, abs=digits * largest), name
            same_median(figures["median"], ordered, medians.get(name, 0.0))
            if name not in medians and "q1" in figures and ordered.dtype != "float32":
                quarters = (figures["q1"], figures["median"], figures["q3"])
                assert quarters == pytest.approx(tuple(ordered.quantile([0.25, 0.5, 0.75]))), name


def same_median(told: float, values: pd.Series, within: float) -> None:
    ordered = values.to_numpy()
    if not within:
        lower, upper = ordered[(len(ordered) - 1) // 2], ordered[len(ordered) // 2]
        if values.dtype.kind == "f":
            middle = (float(lower) + float(upper)) / 2
            assert told == pytest.approx(middle, rel=1e-7 if values.dtype == "float32" else 1e-14)
        else:
            both = int(lower) + int(upper)
            assert told == (both // 2 if both % 2 == 0 else both / 2)
        return
    low = np.searchsorted(ordered, told, side="left") / len(ordered)
    high = np.searchsorted(ordered, told, side="right") / len(ordered)
    assert low <= 0.5 + within
    assert high >= 0.5 - within


def edge(text: str) -> int:
    """A time in nanoseconds."""
    return pd.Timestamp(text).value


@pytest.mark.parametrize("bins", [*(pytest.param(n, marks=pytest.mark.soak) for n in (1, 20)), 100])
def test_a_histogram_counts_what_numpy_counts_between_the_same_edges(compared, bins):
    tables, columns, frame = compared
    for name in frame.columns.drop(["name", "unique"]):
        answer = tables.histogram(name, bins)
        values = columns[name]
        found = answer["bins"]
        counted = [one["count"] for one in found]
        assert answer["null_count"] == values.nulls
        assert answer.get("not_finite_count", 0) == values.odd
        assert sum(counted) == len(values.ordered)
        assert answer["total_count"] == len(frame)
        if not found:
            continue
        edges = [one["min"] for one in found] + [found[-1]["max"]]
        assert [one["max"] for one in found[:-1]] == edges[1:-1]
        numbers = values.ordered
        if name in TIMES:
            edges = [pd.Timestamp(edge).value for edge in edges]
            numbers = numbers.dt.as_unit("ns").dt.tz_localize(None)
        elif name == "single":
            numbers = numbers.astype("float64")
        assert len(found) <= bins
        assert counted == counts_between(numbers, edges), name


def counts_between(ordered: pd.Series, edges: list) -> list[int]:
    values = ordered.to_numpy()
    if values.dtype.kind != "f":
        # numpy makes float64 of whole numbers, which does not tell neighbours beyond 2^53 apart.
        values, edges = values.astype("int64") - edges[0], [edge - edges[0] for edge in edges]
    assert edges[0] <= values[0] <= values[-1] <= edges[-1]
    if edges[0] == edges[-1]:
        return [len(values)]
    return np.histogram(values, np.array(edges))[0].tolist()


def test_twenty_bins_fit_into_an_answer_whatever_the_type(tmp_path):
    frame = shapes(70_000)
    days = pd.Timestamp("1999-12-31") + pd.to_timedelta(frame["shuffled"] % 9_000, unit="D")
    frame["day"] = days.dt.date
    tables = Tables(tmp_path, frame, room=AnalyticsSettings().max_output_bytes)
    with closing(tables.queries):
        for name in ("skewed", "odd", "zoned", "nanoseconds", "day", "ids"):
            source = f'SELECT "{name}" FROM rows, range(15)'
            answer = tables.histogram(name, 20, source)
            assert len(as_json(answer).encode()) <= AnalyticsSettings().max_output_bytes
            assert (len(answer["bins"]), answer.get("warnings")) == (20, None), name


def test_categories_are_counted_as_pandas_counts_them(compared):
    tables, columns, frame = compared
    for name in ("name", "unique"):
        answer = tables.histogram(name, 20)
        counted = frame[name].value_counts().rename_axis("value").reset_index()
        ordered = counted.sort_values(["count", "value"], ascending=[False, True])[:20]
        assert answer["bins"] == ordered.to_dict("records")
        assert answer.get("other_values", 0) == max(columns[name].distinct - 20, 0)
        assert answer["total_count"] == len(frame)


@pytest.fixture(scope="module")
def pressed(tmp_path_factory):
    """Tables with so little memory and time that half a million rows are estimated."""
    tables = Tables(tmp_path_factory.mktemp("pressed"), shapes(10), seconds=0.3, memory_mb=512)
    yield tables
    tables.queries.close()


SHAPES = {
    "sorted": "range",
    "falling": "600000 - range",
    "blocked": "CASE WHEN range < 240000 THEN 10 ELSE 1000 + range % 2 END",
    "two halves": "CASE WHEN range < 300000 THEN range ELSE range * 1000 END",
    "many alike": "CASE WHEN range % 10 < 9 THEN 5 ELSE range END",
    "constant": "7",
    "shuffled": "(range * 1000003) % 600000",
    "skewed": "exp(range % 1000 / 100)",
    "sparse": "CASE WHEN range % 20000 = 0 THEN range END",
}


def test_estimates_are_within_their_stated_error(pressed):
    shaped = ", ".join(f'{sql} AS "{name}"' for name, sql in SHAPES.items())
    query = f"SELECT {shaped} FROM range(500000)"
    answer = pressed.profile(query)
    medians, counts = errors(answer, "median"), errors(answer, "distinct_count")
    assert {"sorted", "shuffled"} <= medians.keys() & counts.keys()
    assert max([*medians.values(), *counts.values()]) <= 0.02
    frame = duckdb.execute(query).df()
    for name, figures in answer["columns"].items():
        values = np.sort(frame[name].dropna().to_numpy())  # pandas takes four times as long
        same_median(figures["median"], pd.Series(values), medians.get(name, 0.0))
        distinct = 1 + np.count_nonzero(np.diff(values))
        assert figures["distinct_count"] == pytest.approx(distinct, rel=counts.get(name, 0)), name


def test_many_rows_of_many_columns_are_never_all_in_memory(pressed):
    columns = ", ".join(f"random() AS c{n}" for n in range(20))
    answer = pressed.profile(f"SELECT {columns} FROM range(100000)")
    assert len(answer["columns"]) == len(answer["approximate"]["median"].split(",")) == 20


def test_few_distinct_values_are_never_estimated(pressed):
    query = """
        SELECT range AS id, CASE WHEN range % 200000 = 5 THEN range END AS rare, range % 60 AS few
        FROM range(1000000)
    """
    answer = pressed.profile(query)
    assert answer["approximate"].keys() == {"median", "distinct_count"}
    assert answer["columns"]["rare"] | {"mean": 0} == {
        "min": 5, "max": 800_005, "mean": 0, "median": 400_005, "distinct_count": 5,
        "std": 316_228, "q1": 200_005, "q3": 600_005, "null_rate": 0.999995,
    }  # fmt: skip
    assert answer["columns"]["few"]["distinct_count"] == 60


@pytest.mark.parametrize("rows", [8_000_000, pytest.param(120_000_000, marks=pytest.mark.soak)])
def test_a_histogram_keeps_no_row_in_memory(pressed, rows):
    answer = pressed.histogram("v", 20, f"SELECT range AS v FROM range({rows})")
    assert [one["count"] for one in answer["bins"]] == [rows // 20] * 20


def test_rows_that_change_between_readings_are_reported(pressed):
    with pytest.raises(RowsDiffer, match="materialize it"):
        pressed.histogram("v", 20, "SELECT random() AS v FROM range(1000)")


@each(
    ("type_", "low", "high"),
    [
        ("HUGEINT", -(2**127), 2**127 - 1),
        ("UHUGEINT", 0, 2**128 - 1),
        ("BIGINT", -(2**63), 2**63 - 1),
        ("UBIGINT", 0, 2**64 - 1),
        ("DECIMAL(38, 0)", -(10**38) + 1, 10**38 - 1),
    ],
)
def test_the_extremes_of_a_type_are_profiled(pressed, type_, low, high):
    query = f"SELECT unnest(['{low}', '{high}', '{high}'])::{type_} AS v"
    figures = pressed.profile(query)["columns"]["v"]
    assert figures == {
        "min": low, "max": high, "mean": pytest.approx((low + 2 * high) / 3, rel=1e-11),
        "median": high, "distinct_count": 2, "null_rate": 0, "q3": high,
        "q1": pytest.approx((low + high) / 2, rel=1e-15),
        "std": pytest.approx((high - low) / 3**0.5, rel=1e-5),
    }  # fmt: skip
    found = pressed.histogram("v", 20, query)
    assert [found["bins"][0]["count"], found["bins"][-1]["count"]] == [1, 2]
    assert found["total_count"] == 3


def test_a_list_of_tables_says_which_columns_it_leaves_out(tmp_path):
    frame = shapes(1).assign(**{f"one_of_the_columns_{n}": 1 for n in range(20)})
    tables = Tables(tmp_path, frame)
    with closing(tables.queries):
        for room, listed in ((4_000, list(frame)[:30]), (600, None)):
            listing = replace(tables.analytics.tables, guard=AnswerGuard(room, 50))
            answer = listing.handles()
            found = listing.handles(match="columns_19")
            assert answer["tables"] == ({"rows": listed} if listed else ["rows"])
            assert "table=" in answer["warnings"][0]
            assert found["tables"] == {"rows": ["one_of_the_columns_19"]}
