"""Exported values of every type are loaded unchanged, or as their exact text."""

import math
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from table_of_cases import each

from mdvec.analysis import safe_load_export
from mdvec.analysis.exports import ExportFolder
from mdvec.sql.child import loading
from mdvec.sql.child.handler import RequestHandler
from mdvec.text.one_line import identifier, literal

FORMATS = ("parquet", "csv")
LIBRARIES = ("polars", "pandas")
LARGEST = 2**127 - 1


@dataclass
class Exporter:
    """Exports as the tool does, without a child process."""

    handler: RequestHandler
    folder: ExportFolder

    def frame(self, query: str, fmt: str, library: str):
        question = {"do": "export", "source": query, "format": fmt, "file": "x", "max_rows": 999}
        made = self.handler.handle(question)
        export = self.folder.place(self.handler.spool / "x", types=dict(made["columns"]), fmt=fmt)
        frame = safe_load_export(export.handle, library=library, folder=self.folder.folder)
        self.folder.path_of(export.handle).unlink()
        return frame


@pytest.fixture(scope="module")
def exporter(tmp_path_factory):
    spool, folder = tmp_path_factory.mktemp("spool"), tmp_path_factory.mktemp("exports")
    connection = loading.connect(1024)
    loading.lock(connection, [], (spool,), 30.0)
    yield Exporter(
        RequestHandler(connection, {}, spool, spool), ExportFolder(folder / "e", 3600, 10**9)
    )
    connection.close()


@dataclass(frozen=True)
class Kind:
    """A DuckDB type, test values for it, and their SQL."""

    name: str
    values: st.SearchStrategy
    written: object


def scalar(name, values, written=str):
    return Kind(name, values, lambda value: f"{written(value)}::{name}")


def quoted(value):
    return literal(str(value))


def decimal(value):
    return f"'{Decimal(value).scaleb(-2):f}'"


SCALARS = [
    scalar("BIGINT", st.integers(-(2**63) + 1, 2**63 - 1) | st.just(2**53 + 1)),
    scalar("HUGEINT", st.integers(-LARGEST, LARGEST) | st.just(2**53 + 1)),
    scalar("UHUGEINT", st.integers(0, 2**128 - 1) | st.just(2**53 + 1)),
    scalar("UBIGINT", st.integers(0, 2**64 - 1)),
    scalar("DECIMAL(38,2)", st.integers(-(10**37), 10**37) | st.integers(-999, 999), decimal),
    scalar("DOUBLE", st.floats(), quoted),
    scalar("BOOLEAN", st.booleans()),
    scalar(
        "VARCHAR",
        st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=5)
        | st.sampled_from(["00123", "", "NULL", "1e5", " x ", "2025-01-01", "a\r\nb", '"', "{a}"]),
        quoted,
    ),
    scalar("DATE", st.dates() | st.sampled_from(["infinity", "-infinity", "30000-01-01"]), quoted),
    scalar("TIMESTAMP", st.datetimes() | st.sampled_from(["infinity"]), quoted),
    scalar("UUID", st.uuids(), quoted),
    scalar("TIMETZ", st.sampled_from(["12:00:00+09", "24:00:00-01", "00:00:00+00"]), quoted),
    scalar("INTERVAL", st.sampled_from(["3 months", "1 day", "00:00:01"]), quoted),
    scalar("TIME", st.sampled_from(["12:00:00", "24:00:00", "00:00:00.000001"]), quoted),
    scalar("BIT", st.sampled_from(["101", "0"]), quoted),
]


def list_of(kind):
    return Kind(
        f"{kind.name}[]",
        st.lists(st.none() | kind.values, max_size=3),
        lambda value: f"[{', '.join(sql(kind, one) for one in value)}]::{kind.name}[]",
    )


def struct_of(kinds):
    fields = [f"f {at}" for at in range(len(kinds))]
    name = ", ".join(f"{identifier(f)} {k.name}" for f, k in zip(fields, kinds, strict=True))

    def written(value):
        pairs = zip(fields, kinds, strict=True)
        parts = (f"{identifier(f)}: {sql(k, value[f])}" for f, k in pairs)
        return f"{{{', '.join(parts)}}}::STRUCT({name})"

    values = dict(zip(fields, (st.none() | kind.values for kind in kinds), strict=True))
    return Kind(f"STRUCT({name})", st.fixed_dictionaries(values), written)


def map_of(kind):
    def written(value):
        pairs = (f"{literal(key)}: {sql(kind, one)}" for key, one in value.items())
        return f"MAP {{{', '.join(pairs)}}}::MAP(VARCHAR, {kind.name})"

    keys = st.sampled_from(["a", "b'", "ん"])
    values = st.dictionaries(keys, st.none() | kind.values, min_size=1, max_size=2)
    return Kind(f"MAP(VARCHAR, {kind.name})", values, written)


def sql(kind, value):
    return f"NULL::{kind.name}" if value is None else kind.written(value)


KINDS = st.recursive(
    st.sampled_from(SCALARS),
    lambda inner: (
        inner.map(list_of)
        | st.lists(inner, min_size=1, max_size=2).map(struct_of)
        | inner.map(map_of)
    ),
    max_leaves=3,
)


@st.composite
def tables(draw):
    kinds = draw(st.lists(KINDS, min_size=1, max_size=2))
    rows = st.tuples(*(st.none() | kind.values for kind in kinds))
    return kinds, draw(st.lists(rows, min_size=1, max_size=3))


def missing(value):
    return value is None or type(value).__name__ in {"NAType", "NaTType"}


def same(value, found, kind):
    """Whether a loaded value equals the original, or is its exact text."""
    if value is None:
        return missing(found) or (isinstance(found, float) and math.isnan(found))
    if missing(found):
        return False
    if isinstance(value, dict):
        return value.keys() == found.keys() and all(
            same(one, found[key], kind) for key, one in value.items()
        )
    if isinstance(value, list):
        return len(value) == len(found) and all(map(same, value, found, [kind] * len(value)))
    return same_scalar(value, found, kind)


def same_scalar(value, found, kind):
    if isinstance(value, bool) or isinstance(found, bool):
        return bool(value) == bool(found)
    if isinstance(value, float):
        return (
            math.isnan(value) if math.isnan(found) else str(float(found)) == str(value)
        )  # 0.0 is not -0.0
    if isinstance(value, int):
        if isinstance(found, float):  # pandas has decimals of 15 digits so
            found = Decimal(repr(float(found)))
        found = Decimal(str(found))
        return found in ((value,) if "DECIMAL" not in kind else (value, Decimal(value).scaleb(-2)))
    if isinstance(value, date):
        return parsed_time(found) == parsed_time(value)
    if hasattr(found, "isoformat"):
        return found.isoformat() == str(value)
    return str(found) == str(value)


def parsed_time(value):
    return datetime.fromisoformat(str(value))


@settings(max_examples=4, deadline=None)
@given(table=tables())
def test_every_value_is_loaded_unchanged(exporter, table):
    kinds, rows = table
    cells = (", ".join(sql(k, v) for k, v in zip(kinds, row, strict=True)) for row in rows)
    query = " UNION ALL ".join(f"SELECT {at}, {row}" for at, row in enumerate(cells))
    names = ", ".join(f"c{at}" for at in range(len(kinds)))
    query = f"SELECT * EXCLUDE (n) FROM ({query}) AS t(n, {names}) ORDER BY n"
    for fmt in FORMATS:
        for library in LIBRARIES:
            frame = exporter.frame(query, fmt, library)
            for at, kind in enumerate(kinds):
                written = [row[at] for row in rows]
                if fmt == "csv" and kind not in SCALARS:  # a nested value is the text that it is
                    text = f"SELECT CAST(c{at} AS VARCHAR) FROM ({query})"
                    written = [one for (one,) in duckdb.execute(text).fetchall()]
                found = frame[f"c{at}"].to_list()
                assert len(found) == len(written)
                for value, one in zip(written, found, strict=True):
                    assert same(value, one, kind.name), (fmt, library, kind.name, value, one)


@each("library", LIBRARIES)
@each(
    ("expression", "parquet"),
    [
        ("{'s': sum(9007199254740993::BIGINT)}", {"s": 2**53 + 1}),
        ("[sum(9007199254740993::BIGINT), NULL]", [2**53 + 1, None]),
        ("MAP {'k': {'s': [sum(9007199254740993::BIGINT)]}}", {"k": {"s": [2**53 + 1]}}),
        ("{'s': sum(9223372036854775807::HUGEINT * 2)}", {"s": str((2**63 - 1) * 2)}),
        ("{'a': 170141183460469231731687303715884105727::HUGEINT}::VARIANT", f'{{"a":{LARGEST}}}'),
        ("union_value(n := 9007199254740993::HUGEINT)", '{"n":9007199254740993}'),
        ("sum(9007199254740993::BIGINT)", 2**53 + 1),
        (f"{LARGEST}::HUGEINT", str(LARGEST)),
        ("INTERVAL 90 SECONDS", "00:01:30"),
    ],
)
def test_a_value_of_a_type_that_files_do_not_have_keeps_its_digits(
    exporter, library, expression, parquet
):
    frame = exporter.frame(f"SELECT {expression} AS v", "parquet", library)
    assert frame["v"].to_list() == [parquet]


@pytest.mark.parametrize("library", LIBRARIES)
def test_text_that_looks_like_another_type_stays_text_in_csv(exporter, library):
    query = """SELECT '00123' AS code, '2025-01-01' AS day, 'true' AS yes, '' AS empty,
        '1e5' AS word, 9007199254740993::HUGEINT AS n, '1.50'::DECIMAL(9,2) AS price"""
    frame = exporter.frame(query, "csv", library)
    assert frame["code"].to_list() == ["00123"]
    assert frame["day"].to_list() == ["2025-01-01"]
    assert frame["yes"].to_list() == ["true"]
    assert frame["empty"].to_list() == [""]
    assert frame["word"].to_list() == ["1e5"]
    assert frame["n"].to_list() == [2**53 + 1]
    assert frame["price"].to_list() == [Decimal("1.50") if library == "polars" else 1.5]


def test_nan_and_null_stay_distinct_in_pandas(exporter):
    frame = exporter.frame("SELECT unnest([1.5, 'nan'::DOUBLE, NULL]) AS v", "parquet", "pandas")
    first, second, third = frame["v"].to_list()
    assert (first, math.isnan(second), missing(third)) == (1.5, True, True)


def test_a_second_attempt_is_written_to_another_file(tmp_path: Path):
    """DuckDB removes the file of a COPY that failed, at times after it has said so."""
    with duckdb.connect() as connection:
        connection.execute("CALL enable_logging('QueryLog')")
        handler = RequestHandler(connection, {}, tmp_path, tmp_path)
        question = {
            "do": "export", "source": f"SELECT {LARGEST}::HUGEINT AS h", "format": "parquet",
            "file": "made.parquet", "max_rows": 9,
        }  # fmt: skip
        handler.handle(question)
        logged = connection.execute("SELECT message FROM duckdb_logs WHERE message LIKE 'COPY%'")
        files = [line.rpartition(" TO ")[2].split("'")[1] for (line,) in logged.fetchall()]
    assert len(files) == len(set(files)) == 2
    assert [path.name for path in tmp_path.iterdir()] == ["made.parquet"]
