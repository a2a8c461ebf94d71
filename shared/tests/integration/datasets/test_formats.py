"""JSON, packed files, Arrow and SQLite: every cell as written, or refused by name."""

import base64
import csv
import gzip
import io
import json
import multiprocessing
import resource
import sqlite3
import subprocess
import sys
import zlib
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from datetime import date, datetime, timedelta
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from source_folder import DataFolder, left_out, no_model, problems, workbook

from mdvec.datasets.interfaces import sqlite_file
from mdvec.datasets.interfaces.limits import is_bomb
from mdvec.manage.tool_import import import_tool

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

at = datetime.fromisoformat


RECORDS = [
    {"id": 1, "price": 1.5, "day": "2025-06-01", "code": "007", "at": {"city": "京", "zip": None}},
    {"id": 2**60, "price": 2, "day": "NA", "code": "", "tags": ["a", 1], "at": {"city": "x\ny"}},
    {"id": None, "price": None, "code": "8", "at": None, "more": True},
]  # fmt: skip


COLUMNS = {
    "id": "BIGINT", "price": "DOUBLE", "day": "DATE", "code": "VARCHAR", "at.city": "VARCHAR",
    "at.zip": "VARCHAR", "tags": "VARCHAR", "at": "VARCHAR", "more": "BOOLEAN",
}  # fmt: skip


READ = [
    (1, 1.5, date(2025, 6, 1), "007", "京", None, None, None, None),
    (2**60, 2.0, None, "", "x\ny", None, '["a", 1]', None, None),
    (None, None, None, "8", None, None, None, None, True),
]


def lines(records):
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def test_json_in_every_form_is_the_same_table(files):
    files.write("list.json", json.dumps(RECORDS, indent=2))
    files.write("lines.ndjson", lines(RECORDS))
    files.write("odd_lines.json", "\n" + lines(RECORDS))
    files.write("inner.json", json.dumps({"total": 3, "data": RECORDS}))
    (files.folder / "packed.jsonl.gz").write_bytes(gzip.compress(lines(RECORDS).encode()))
    (files.folder / "cp932.json").write_bytes(lines(RECORDS).encode("cp932"))
    files.write("columns.json", json.dumps({"a": [1, 2], "b": ["x", None]}))
    report = files.import_("new")
    assert problems(report) == left_out(report) == {}
    for name in ("list", "lines", "odd_lines", "inner", "packed", "cp932"):
        assert files.content(f"t__{name}") == (COLUMNS, READ)
    assert files.content("t__columns") == (
        {"a": "BIGINT", "b": "VARCHAR"}, [(1, "x"), (2, None)],
    )  # fmt: skip


FRACTIONS = [
    ("123456789012345.6789", "VARCHAR"), ("0.12345678901234567890", "VARCHAR"),
    ("1e-400", "VARCHAR"), ("1e-99999999999999999999", "VARCHAR"), ("1e400", "VARCHAR"),
    ("0.30000000000000004", "DOUBLE"), ("0.10000000000000001", "DOUBLE"),
    ("1.50000000000000000000", "DOUBLE"), ("1E5", "DOUBLE"), ("5e-324", "DOUBLE"),
    ("-0.0", "DOUBLE"), ("-0.00000000000000000000", "DOUBLE"),
    ("0.1000000000000000055511151231257827021181583404541015625", "DOUBLE"),
    ("0.1000000000000000055511151231257827021181583404541015624", "VARCHAR"),
    ("0.3000000000000000400000000000000000000000", "DOUBLE"),
    ("5.960464477539063e-08", "DOUBLE"), ("5.960464477539062e-08", "DOUBLE"),
    ("5.9604644775390625e-08", "DOUBLE"),
]  # fmt: skip


def test_fractions_that_a_float_would_round_are_kept_as_they_are_written(files):
    names = "abcdefghijklmnopqrstuvwxyz"[: len(FRACTIONS)]
    for name, (number, _) in zip(names, FRACTIONS, strict=True):
        files.write(f"{name}.json", f'[{{"v":{number}}},{{"v":1.5}}]')
    report = files.import_("new")
    told = [line.text for line in report.lines() if "numbers of too many digits" in line.text]
    texts = [name for name, (_, type_) in zip(names, FRACTIONS, strict=True) if type_ == "VARCHAR"]
    assert [line.removeprefix("read: ")[0] for line in told] == texts
    for name, (number, type_) in zip(names, FRACTIONS, strict=True):
        kept = [(number,), ("1.5",)] if type_ == "VARCHAR" else [(float(number),), (1.5,)]
        assert files.content(f"t__{name}") == ({"v": type_}, kept)


def test_json_that_is_no_table_is_left_out_and_broken_json_names_its_line(files):
    files.write("env_1.json", '{"debug": true}')
    files.write("env_2.json", '{"debug": false}')
    files.write("config.json", '{"debug": true, "paths": ["a"]}')
    files.write("numbers.json", "[1, 2]")
    files.write("none.json", "[]")
    files.write("cut.ndjson", '{"a": 1}\n{"a": 2')
    files.write("cut.json", '[{"a": 1},\n\n{"a": 2}')
    files.write("odd.ndjson", '{"a": 1}\n{"a": oops}\n{"a": 3}\n')
    files.write("mixed.ndjson", '{"a": 1}\n[2]\n')
    files.write("twice.ndjson", '{"a": 1, "a": 2}\n')
    files.write("short.jsonl", '{"a": 1}\n{"a":\n{"a": 3}\n{"a": 4}\n')
    files.write("half.ndjson", '{"a": "\\ud800"}\n')
    files.write("more.json", '[{"a": 1}]\n{}')
    report = files.import_("new")
    assert left_out(report) == {
        "config.json": "it is one object, not a list of objects",
        "env_1.json": "it is one object, not a list of objects",
        "env_2.json": "it is one object, not a list of objects",
        "none.json": "it holds no records",
        "numbers.json": "line 1: it holds a single value, not objects",
    }
    assert problems(report) == {
        "cut.json": "line 3: it is not valid JSON: the file ends early",
        "cut.ndjson": "line 2: it is not valid JSON: the file ends early",
        "half.ndjson": "row 1: a text holds half of a character; write the file again",
        "mixed.ndjson": "line 2: it holds a list where the values before are objects",
        "more.json": "line 2: it is not valid JSON: there is more after the end of the list",
        "odd.ndjson": "line 2: it is not valid JSON: expecting value",
        "short.jsonl": "line 2: it is not valid JSON: the line ends early",
        "twice.ndjson": "line 1: it is not valid JSON: an object has the name 'a' twice",
    }
    assert files.import_().details.left_out == report.details.left_out


WHOLE = st.integers(-(2**53), 2**53 - 1)


FLOATS = st.floats(allow_nan=False, allow_infinity=False).map(lambda x: float(f"{x:.16g}"))


CELLS = {
    "BIGINT": WHOLE,
    "DOUBLE": FLOATS.filter(lambda x: x - x == 0) | WHOLE,
    "BOOLEAN": st.booleans(),
    "VARCHAR": st.text(st.characters(exclude_categories=["Cs", "Cc"])).map(lambda text: f"x{text}"),
}


def in_a_workbook(cell):
    """A cell as openpyxl can write it: a number of at most 15 digits, as in Excel, or none."""
    is_long = type(cell) in (int, float) and float(f"{cell:.15g}") != cell
    return None if is_long else cell


@settings(max_examples=3)
@given(data=st.data())
def test_what_json_workbooks_and_sqlite_hold_is_what_is_read(tmp_path_factory, data):
    kinds = data.draw(st.lists(st.sampled_from(sorted(CELLS)), min_size=1, max_size=4))
    row = st.tuples(*[st.none() | CELLS[kind] for kind in kinds])
    rows = data.draw(st.lists(row, min_size=1, max_size=8))
    folder = tmp_path_factory.mktemp("made")
    files = DataFolder(folder / "files", folder / "data.sqlite", name="t")
    names = [f"c{number}" for number in range(len(kinds))]
    files.write("a.json", json.dumps([dict(zip(names, row, strict=True)) for row in rows]))
    with sqlite3.connect(files.folder / "b.db") as made:
        made.execute(f"CREATE TABLE b ({', '.join(names)})")
        made.executemany(f"INSERT INTO b VALUES ({', '.join('?' * len(names))})", rows)
    made.close()
    written = [tuple(map(in_a_workbook, row)) for row in rows]
    workbook(files.folder / "c.xlsx", ("s", [names, *written]))
    assert problems(files.import_("new")) == {}
    assert files.read("t__a") == rows
    assert files.read("t__c") == [row for row in written if any(cell is not None for cell in row)]
    read = files.read("t__b__b")
    assert read == rows  # True is 1 in SQLite, and equals it here


@pytest.mark.parametrize(
    ("ending", "pack", "name"), [("gz", gzip.compress, "gzip"), ("zst", zstd.compress, "Zstandard")]
)
def test_a_packed_csv_is_read_and_a_broken_one_names_its_line(files, ending, pack, name):
    text = io.StringIO()
    csv.writer(text).writerows(
        [["日付", "額"], *[[f"2025-06-{day:02}", day] for day in range(1, 31)]]
    )
    packed = pack(text.getvalue().encode())
    (files.folder / f"sales_2025-06.csv.{ending}").write_bytes(packed)
    (files.folder / "sales_2025-07.csv").write_text(text.getvalue(), encoding="utf-8")
    (files.folder / f"cut.csv.{ending}").write_bytes(packed[:-12])
    (files.folder / f"bad.tsv.{ending}").write_bytes(b"a,b\n1,2\n")
    failed = problems(files.import_("new"))
    assert failed.pop(f"bad.tsv.{ending}") == f"it is not a {name} file; pack it again"
    line, _, why = failed.pop(f"cut.csv.{ending}").partition(": ")
    assert line in {"line 31", "line 1"}  # Zstandard unpacks whole blocks
    assert why == "the packed file ends early; download or pack it again"
    assert list(files.tables()) == ["t__sales_2025_06", "t__sales_2025_07"]
    assert files.content("t__sales_2025_06") == files.content("t__sales_2025_07")
    assert {path.suffix for path in Path(f"{files.database}.datasets/1").iterdir()} == {".parquet"}


def test_what_unpacks_to_very_much_is_a_bomb():
    assert is_bomb(2**29, 2**22)
    assert not is_bomb(2**29, 2**23)
    assert not is_bomb(2**27, 1)


def test_feather_and_arrow_files_keep_their_values_and_types(files):
    frame = pl.DataFrame(
        {"n": [1, None], "s": ["x", "東京"], "d": [date(2025, 6, 1), None],
         "t": [at("2025-06-01 05:00"), None], "l": [[1], [2, 3]],
         "took": [timedelta(hours=26, minutes=3), -timedelta(seconds=1.5)]},
    )  # fmt: skip
    frame.write_ipc(files.folder / "a.feather")
    frame.write_ipc_stream(files.folder / "b.arrow")
    files.write("c.arrow", "no arrow")
    (files.folder / "d.arrow").write_bytes((files.folder / "a.feather").read_bytes()[:200])
    report = files.import_("new")
    kinds = {"n": "BIGINT", "s": "VARCHAR", "d": "DATE", "t": "TIMESTAMP", "l": "BIGINT[]"}
    kinds["took"] = "VARCHAR"  # as durations in workbooks are
    rows = frame.with_columns(took=pl.Series(["26:03:00", "-0:00:01.5"])).rows()
    assert files.content("t__a") == files.content("t__b") == (kinds, rows)
    assert problems(report) == {
        "c.arrow": "it is not an Arrow file; write it again",
        "d.arrow": "it cannot be read as an Arrow file (out-of-spec: InvalidFooter)",
    }


DECIMALS_OF_60_DIGITS = {
    "d.arrow":
    "c-p;@F%H5o3`KuRNUO?2h6*us=-8Ewfu$!v>cRy$2qR-B&cH3<$8|)7fRQi7j#K;PD;>u1c-"
    "jFE>H;7lsfHk6jfy+UdDdW6F?x$U=4y1N;aNbbUC|h>Ou4mQSpS*Cs0>l|fvd<LG5fe0H%YKDC!%z$Jhn_7vTD|%"
    "#LSB?oT|Wgb&I`wn@hUkw~}AjokG_^oyOTKUF{kB#d}RQH+{Gte|Y0N)1d$S30D#r&j",
    "d.parquet":
    "c-jka3^EjD5j7Dt@eySbWe{S(4W@}Qhzf}c=>XLUh_Z>Y$pFQeK$ww{i9wV_Qpc1*f~`0?BQ-Zs6ez$4G?Yn#F-"
    "4UNXnuuG42T4(7Gsi>k(5zmkP+pRG-"
    "Y5DkOV3b1&WGwFanWUgc^sY4p1or$Os0YMNAAfnrxD4V4FZ{nAA9c6oZCBL1Iy1X=;gXazTM^Vo_0kxk6cLQE_H|"
    "o`R8?o`IgBqzuS`Gk`b%=tlsGZywG",
}  # fmt: skip


DECIMALS_OF_256_BITS = (  # 1.50 as decimal256(20, 2) in a stream
    "c-noBO$x$53`XD7u`Oj5vnb-iMGxX-yopOs;C17dkfI3sVDg`jjG5UT=r{|Fkt4GrQL1v3&9XJE%6e<;tg4MnG1XI}O"
    "ztl^OU~b<*h8a*w(k#nQ|JtPWZh|;@{$(n94cqIjh#h#3q{wv<{t`g27a@B#N}(xdGa5>*Zm83y%56"
)


def test_short_decimals_of_256_bits_are_refused_in_words_of_ours(files):
    packed = zlib.decompress(base64.b85decode(DECIMALS_OF_256_BITS))
    (files.folder / "a.arrow").write_bytes(packed)
    assert problems(files.import_("new")) == {
        "a.arrow": "it has decimals of 256 bits; write them with 128 bits, or as text"
    }


def test_long_integers_of_arrow_are_exact_and_decimals_too_long_are_refused(files):
    frame = pl.DataFrame(
        {
            "longest": pl.Series([2**127 - 1, 5], dtype=pl.Int128),
            "long": pl.Series([2**100, -5], dtype=pl.Int128),
            "short": pl.Series([2**62, None], dtype=pl.Int128),
            "list": pl.Series([[2**90], []], dtype=pl.List(pl.Int128)),
        }
    )
    frame.write_ipc(files.folder / "a.arrow")
    for name, packed in DECIMALS_OF_60_DIGITS.items():
        (files.folder / name).write_bytes(zlib.decompress(base64.b85decode(packed)))
    reason = (
        "its column 'd' has decimals of more than 38 digits, which would be rounded; write them as "
        "text"
    )
    assert problems(files.import_("new")) == dict.fromkeys(DECIMALS_OF_60_DIGITS, reason)
    assert files.content("t__a") == (
        {"longest": "VARCHAR", "long": "DECIMAL(38,0)", "short": "BIGINT", "list": "VARCHAR[]"},
        [(str(2**127 - 1), 2**100, 2**62, [str(2**90)]), ("5", -5, None, [])],
    )
    assert "longest: Int128 → String, which keeps it exactly" in files.tables()["t__a"].reading


@pytest.mark.skipif(sys.platform != "linux", reason="Linux alone limits it")
def test_a_file_that_needs_more_memory_than_an_import_may_take_is_refused(files):
    files.write("要.jsonl", lines([{"値": "x" * 16_000_000}]))
    files.write("軽.csv", "店,数\n東京,1\n")
    poor = replace(files.request("new"), max_memory_mb=256)
    # A new process, as every import is: this one may have more than that in reserve.
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
        failed = process.submit(import_tool, poor, no_model).result().failed
        after = process.submit(resource.getrlimit, resource.RLIMIT_DATA).result()
    assert [(problem.file_path, problem.reason) for problem in failed] == [
        (
            "要.jsonl",
            "reading it needs more than 256 MB of memory; split it, or set [analytics] "
            "max_import_mb higher",
        )
    ]
    assert after[0] == resource.RLIM_INFINITY
    assert problems(files.import_()) == {}
    assert len(files.tables()) == 2


def test_sqlite_tables_are_read_by_what_their_values_are(files, monkeypatch):
    monkeypatch.setattr(sqlite_file, "_VIEW_SECONDS", 0.4)
    place = files.folder / "a.sqlite"
    with sqlite3.connect(place) as made:
        made.executescript(
            "CREATE TABLE t (i INTEGER, r REAL, d DATE, b BOOLEAN, x BLOB, mixed, code TEXT,"
            " none DATETIME, twice INTEGER AS (i * 2));"
            "INSERT INTO t (i, r, d, b, x, mixed, code) VALUES"
            " (9007199254740993, 0.1, '2025-06-01', 1, x'00ff', 1, '12'),"
            " (NULL, 2, NULL, 0, NULL, 'a', ''), ('N/A', NULL, '2025-06-02', NULL, x'', 2.5, NULL);"
            "CREATE VIEW v AS SELECT i, upper(code) || '円' AS 額 FROM t WHERE r > 1;"
            "CREATE VIEW lost AS SELECT * FROM nowhere; CREATE VIRTUAL TABLE f USING fts5(words);"
            "CREATE VIEW endless AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n)"
            " SELECT sum(i) AS s FROM n;"
        )
    made.close()
    (files.folder / "thumbs.db").write_bytes(b"\0\1\2")
    (files.folder / "cut.db").write_bytes(place.read_bytes()[:5000])
    report = files.import_("new")
    assert files.content("t__a__t") == (
        {"i": "BIGINT", "r": "DOUBLE", "d": "DATE", "b": "BOOLEAN", "x": "BLOB",
         "mixed": "VARCHAR", "code": "VARCHAR", "none": "TIMESTAMP"},
        [(2**53 + 1, 0.1, date(2025, 6, 1), True, b"\0\xff", "1", "12", None),
         (None, 2.0, None, False, None, "a", "", None),
         (None, None, date(2025, 6, 2), None, b"", "2.5", None, None)],
    )  # fmt: skip
    assert files.content("t__a__v") == ({"i": "BIGINT", "額": "VARCHAR"}, [(None, "円")])
    assert left_out(report) == {
        "a.sqlite#f": "it is a virtual table; only ordinary ones are copied",
        "a.sqlite#t.twice": "it is a computed column; only columns that hold values are copied",
        "a.sqlite#lost": "it is a view that cannot be read (no such table: main.nowhere)",
        "a.sqlite#endless": "it is a view that cannot be read (reading it was stopped after 0.4 s)",
        "thumbs.db": "it is not a SQLite database, or it is encrypted",
    }
    assert problems(report) == {"cut.db": "it is not a complete SQLite database; copy it again"}
    files.choose("b=integer", pattern="a.sqlite#t")
    assert files.types("t__a__t")["b"] == "BIGINT"


def test_what_is_left_out_is_named_also_where_another_table_of_the_file_fails(files):
    with sqlite3.connect(files.folder / "a.sqlite") as made:
        made.executescript(
            "CREATE TABLE gen (a INT, b INT AS (a * 2)); INSERT INTO gen (a) VALUES (4);"
            "CREATE VIEW broken AS SELECT * FROM nope;"
        )
    named = {
        "a.sqlite#gen.b": "it is a computed column; only columns that hold values are copied",
        "a.sqlite#broken": "it is a view that cannot be read (no such table: main.nope)",
    }
    assert left_out(files.import_("new")) == named
    made.executescript("CREATE TABLE bad (t TEXT); INSERT INTO bad VALUES (CAST(x'82ff' AS TEXT))")
    made.close()
    for _ in range(2):
        report = files.import_()
        assert problems(report) == {"a.sqlite#bad": "one of its texts is not UTF-8"}
        assert left_out(report) == named


def test_a_row_too_large_to_store_is_named_with_what_to_do(files):
    with sqlite3.connect(files.folder / "a.sqlite") as made:
        made.execute("CREATE TABLE t (a)")
        made.execute("INSERT INTO t VALUES (1), (zeroblob(40000000))")
    made.close()
    with sqlite3.connect(files.folder / "b.sqlite") as made:
        made.execute("CREATE TABLE t (a)")
        made.execute("INSERT INTO t VALUES (zeroblob(70000000))")
    made.close()
    assert problems(files.import_("new")) == {
        "a.sqlite#t": "row 2 holds more than 64 MB as text (bytes count twice); leave such values "
        "out of the file",
        "b.sqlite#t": "one of its values has more than 64 MB; leave such values out of the file",
    }


@contextmanager
def locking(place):
    """Another process that is writing to a database."""
    code = (
        "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute('BEGIN EXCLUSIVE"
        "'); print('ready', flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", code, str(place)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"ready\n"
        yield
        process.stdin.close()


def test_a_database_being_written_is_read_with_its_log_and_mdvecs_own_never(files):
    other = DataFolder(files.folder / "x", files.folder / "other.db", name="t")
    before = (files.folder / "other.db").read_bytes()
    writer = sqlite3.connect(files.folder / "w.db", isolation_level=None)
    writer.execute("PRAGMA journal_mode = wal")
    writer.execute("CREATE TABLE t (n)")
    writer.execute("INSERT INTO t VALUES (1)")
    report = files.import_("new")
    assert files.read("t__w__t") == [(1,)]
    assert left_out(report) == {"other.db": "it is a database of mdvec itself"}
    writer.execute("INSERT INTO t VALUES (2)")
    assert files.import_().updated == 1
    assert files.read("t__w__t") == [(1,), (2,)]
    writer.execute("PRAGMA journal_mode = delete")
    writer.close()
    with locking(files.folder / "w.db"):
        locked = files.import_()
    assert problems(locked) == {
        "w.db": "another program is writing to it; import again when it is done"
    }
    assert files.read("t__w__t") == [(1,), (2,)]
    assert (files.folder / "other.db").read_bytes() == before
    assert other.tables() == {}
