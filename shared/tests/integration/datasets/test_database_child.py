"""An untrusted .duckdb file: its rows are copied, its code does not run."""

import os
import subprocess
import sys

import duckdb
import pytest
from source_folder import READER

from mdvec.datasets.interfaces import database_file
from mdvec.datasets.interfaces.connection import parquet_scan
from mdvec.datasets.interfaces.database_file import COMPUTED, NotATable, open_duckdb_file
from mdvec.files.problems import UnreadableFile

TELLING = (
    "current_setting('allowed_paths')::VARCHAR || current_setting('allowed_directories')::VARCHAR"
)
HERE = "CASE WHEN current_setting('allowed_paths')::VARCHAR = '[]'"
WITH_LOG = """
import duckdb, os, sys
connection = duckdb.connect(sys.argv[1])
connection.execute("PRAGMA disable_checkpoint_on_shutdown")
connection.execute("SET checkpoint_threshold = '1TB'")
for statement in sys.argv[2:]:
    connection.execute(statement)
os._exit(0)
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "copies").mkdir()
    return tmp_path


def made(folder, *statements):
    with duckdb.connect(folder / "theirs.duckdb") as connection:
        for statement in statements:
            connection.execute(statement)
    return folder / "theirs.duckdb"


def left_open(folder, *statements):
    """A file whose latest changes are in its log."""
    file = folder / "theirs.duckdb"
    subprocess.run([sys.executable, "-c", WITH_LOG, file, *statements], check=True)
    assert (folder / "theirs.duckdb.wal").exists()
    return file


def copied(folder, file):
    """The columns and rows of each table, and what was left out."""
    found = {}
    with open_duckdb_file(file, folder / "copies", folder) as database:
        for table in database.tables:
            target = folder / "copies" / f"{table.label}.parquet"
            table.copy(target)
            read = READER.execute(f"FROM {parquet_scan(target)}")
            found[table.label] = [column[0] for column in read.description], read.fetchall()
    assert sorted(path.suffix for path in (folder / "copies").iterdir()) == [".parquet"] * len(
        found
    )
    return found, database.left_out


def test_generated_columns_are_left_out_and_listed_and_never_run(folder):
    file = made(
        folder,
        f"CREATE TABLE t (a INTEGER, path VARCHAR GENERATED ALWAYS AS ({TELLING}), b INTEGER, "
        f"big BIGINT GENERATED ALWAYS AS ({HERE} THEN a "
        "ELSE length(repeat('x', a::BIGINT * 3000000000)) END), "
        f"slow HUGEINT GENERATED ALWAYS AS ({HERE} THEN a "
        "ELSE list_sum(range(a::BIGINT * 90000000000)) END))",
        "INSERT INTO t (a, b) VALUES (1, 2), (3, 4)",
        "CREATE TABLE plain AS SELECT 170141183460469231731687303715884105727::HUGEINT AS n",
    )
    found, left_out = copied(folder, file)
    assert found == {
        "plain": (["n"], [("170141183460469231731687303715884105727",)]),
        "t": (["a", "b"], [(1, 2), (3, 4)]),
    }
    assert left_out == tuple((f"t.{name}", COMPUTED) for name in ("path", "big", "slow"))


def test_views_are_read_within_limits_and_do_not_tell_where_their_file_is(folder, monkeypatch):
    file = made(
        folder,
        "CREATE TABLE 売上 AS SELECT '京都' AS 店, 5::HUGEINT AS 額",
        "CREATE VIEW 計 AS SELECT 店, sum(額) AS 計 FROM 売上 GROUP BY 店",
        f"CREATE VIEW telling AS SELECT {TELLING} || (FROM (SELECT string_agg(path) "
        "FROM duckdb_databases())) AS path",
        "CREATE VIEW endless AS SELECT max(hash(a, b)) FROM range(1000000) a, range(1000000) b",
        "CREATE TABLE gone (a INTEGER)", "CREATE VIEW lost AS SELECT * FROM gone",
        "DROP TABLE gone",
    )  # fmt: skip
    monkeypatch.setattr(database_file, "_SECONDS", 1.0)
    with open_duckdb_file(file, folder / "copies", folder) as database:
        assert [table.label for table in database.tables] == [
            "売上", "endless", "lost", "telling", "計",
        ]  # fmt: skip
        by_label = {table.label: table for table in database.tables}
        for label in ("計", "telling"):
            by_label[label].copy(folder / "copies" / f"{label}.parquet")
        with pytest.raises(NotATable, match=r"it is a view that cannot be read .*gone"):
            by_label["lost"].copy(folder / "copies" / "lost.parquet")
        with pytest.raises(NotATable, match="stopped after 1 s"):
            by_label["endless"].copy(folder / "copies" / "endless.parquet")
    scan = parquet_scan(folder / "copies" / "計.parquet")
    assert READER.execute(f"FROM {scan}").fetchall() == [("京都", 5)]
    scan = parquet_scan(folder / "copies" / "telling.parquet")
    ((path,),) = READER.execute(f"FROM {scan}").fetchall()
    assert "source.duckdb" in path
    assert "theirs" not in path


def test_expressions_in_a_replayed_log_cannot_reveal_paths(folder):
    file = left_open(
        folder,
        "CREATE TABLE t (a VARCHAR)", "INSERT INTO t VALUES ('x')", "CHECKPOINT",
        f"ALTER TABLE t ALTER a TYPE VARCHAR USING ({TELLING} || "
        "current_setting('secret_directory') || current_setting('temp_directory'))",
    )  # fmt: skip
    found, _ = copied(folder, file)
    (((value,),),) = ([found["t"][1]],)
    assert str(folder) not in value
    assert "theirs" not in value
    assert os.path.expanduser("~") not in value  # noqa: PTH111


def test_a_log_that_exceeds_the_memory_limit_fails_its_file(folder):
    file = left_open(
        folder,
        "CREATE TABLE t (a VARCHAR)", "INSERT INTO t VALUES ('x')", "CHECKPOINT",
        f"ALTER TABLE t ALTER a TYPE VARCHAR USING ({HERE} THEN 'here' "
        "ELSE repeat('x', 3500000000) END)",
    )  # fmt: skip
    with pytest.raises(UnreadableFile), open_duckdb_file(file, folder / "copies", folder):
        pass
    assert list((folder / "copies").iterdir()) == []


def test_rows_in_a_log_are_copied_and_file_and_log_stay_unchanged(folder):
    file = left_open(
        folder,
        "CREATE TABLE t (a INTEGER)", "CHECKPOINT", "INSERT INTO t VALUES (7)",
    )  # fmt: skip
    before = file.read_bytes(), (folder / "theirs.duckdb.wal").read_bytes()
    assert copied(folder, file) == ({"t": (["a"], [(7,)])}, ())
    assert (file.read_bytes(), (folder / "theirs.duckdb.wal").read_bytes()) == before


HUGE = 2**127 - 1
KEPT = {
    "TIMETZ '10:00:00+09'": "10:00:00+09",
    "[TIMETZ '10:00:00.25-05:30']": "['10:00:00.25-05:30']",
    "{'h': TIMETZ '23:00:00+01', 'HUGEINT': 7}": "{'h': '23:00:00+01', 'HUGEINT': 7}",
    f"map(['n'], [{HUGE}])": f"{{n={HUGE}}}",
    f"{{'a': [{HUGE}], 'UHUGEINT': 1}}": f"{{'a': [{HUGE}], 'UHUGEINT': 1}}",
    "INTERVAL '1 month 2 days 3.5 seconds'": "1 month 2 days 00:00:03.5",
    "INTERVAL '1 day 0.000001 seconds'": "1 day 00:00:00.000001",
    "INTERVAL '1 month -1 day'": "1 month -1 day",
    "[INTERVAL '3.000001 seconds']": "['00:00:03.000001']",
    "union_value(分 := 5)": '{"分":5}',
    "[union_value(a := 'x')]": '[{"a":"x"}]',
    "TIMESTAMP_NS '2025-06-01 00:00:00.123456789'": "2025-06-01 00:00:00.123456789",
    "123456789012345678901234567890.12345678::DECIMAL(38, 8)":
        "123456789012345678901234567890.12345678",
    "TIME '24:00:00'": "24:00:00",
    "'infinity'::TIMESTAMPTZ": "infinity",
    "'a'::ENUM('a', 'b)')": "a",
    "BIT '0101'": "0101",
}  # fmt: skip


def test_every_value_is_equal_in_the_copy(folder):
    columns = ", ".join(f'{value} AS "c{n}"' for n, value in enumerate(KEPT))
    file = made(folder, f"CREATE TABLE t AS SELECT {columns}")
    with open_duckdb_file(file, folder / "copies", folder) as database:
        database.tables[0].copy(folder / "copies" / "t.parquet")
    texts = ", ".join(f"CAST(c{n} AS VARCHAR)" for n in range(len(KEPT)))
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        scan = parquet_scan(folder / "copies" / "t.parquet")
        found = connection.execute(f"SELECT {texts} FROM {scan}").fetchone()
        kind = connection.execute(f"SELECT typeof(c5) FROM {scan}").fetchone()
    assert dict(zip(KEPT, found, strict=True)) == KEPT
    assert kind == ("INTERVAL",)
