"""Large CSV files: DuckDB reads them in their place, with the same result as small ones."""

import os
import signal
import threading
from itertools import count

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from source_folder import READER
from table_of_cases import each

from mdvec.datasets.core.understood import FOUND, ReadingOptions
from mdvec.datasets.core.value_types import VALUE_KINDS
from mdvec.datasets.interfaces import csv_conversion
from mdvec.datasets.interfaces.connection import parquet_scan
from mdvec.datasets.interfaces.csv_file import csv_to_parquet
from mdvec.files.problems import UnreadableFile

NUMBERS = count()


def read(folder, data, large_from, reading=FOUND):
    """How a file with these bytes was read, its columns and its rows; or why it was not."""
    number = next(NUMBERS)
    source, target = folder / f"{number}.csv", folder / f"{number}.part"
    source.write_bytes(data if isinstance(data, bytes) else data.encode())
    rows: list[int] = []
    try:
        understood = csv_to_parquet(
            source, target, rows.append, reading=reading, large_from=large_from
        )
    except UnreadableFile as error:
        return str(error)
    found = READER.execute(f"SELECT * FROM {parquet_scan(target)}")
    types = [(column[0], str(column[1])) for column in found.description]
    table = found.fetchall()
    assert sum(rows) == len(table)
    assert set(folder.glob(f"{number}*")) == {source, target}
    return understood, types, table


def both(folder, data, reading=FOUND):
    return read(folder, data, 0, reading), read(folder, data, 2**60, reading)


@each(
    ("text", "reading", "rows"),
    [
        ("a,b\n1,x\n2,y\n", FOUND, 2),
        ("a,b\r\n1,x\r\n2,y", FOUND, 2),
        ('\ufeffa,b\n1,"x, ""y"" z"\n,\n', FOUND, 1),
        ('a,b\n1,"x\n2,y\n"\n3,\n', FOUND, 2),
        ('a,b\n1,"x\n\n\r\n2,y"\n\n3,\n', FOUND, 2),
        ('a,b\r\n1,"x\ny"\r\n3,\r\n', FOUND, 2),
        ('"a\nx",b\n1,2\n', FOUND, 1),
        ("a\n1\n\n2\n", FOUND, 3),
        ("a\n1\n\n2\n\n", FOUND, 3),
        ("a,b\n1,2,\n3,4,\n", FOUND, 2),
        ('a,b\n1, "x, y"\n2,"z" \n', FOUND, 2),
        ('a,b\n1,24" screen\n2,x\n', FOUND, 2),
        ("sep=|\na|b\n1|2\n", FOUND, 1),
        ("売上\na,b\n2025-01-01,1\n2025-01-02,2\n2025-01-03,3\n", FOUND, 3),
        ('a,b\n"¥1,234",NA\n5,7\n', FOUND, 2),
        ("a,b\n2025-02-28,1\n2025-02-30,01\n", FOUND, 2),
        ('sep=;\n"a","b"""\n,\n', FOUND, 1),
        ("first,cell,odd\n" + "1,NA,x\n" * 3 + "2,5,7\n", FOUND, 4),
        ("first,cell,odd\n合計,NA,不明\n" + "x,NA,1\n" * 3, FOUND, 4),
        ("a,b\n1,2\n3,4\n", ReadingOptions(columns={"a": "text", "b": "number"}), 2),
        ("a,b\n" + "1,\n" * 20_001 + "x,5\n", FOUND, 20_002),
        (f"a,b\n0.30000000000000004,1\n{' ' * 16},2\n{' ' * 16}NA,3\n", FOUND, 3),
        ("日,額\n2025-06-01,1\n合計,1\n", FOUND, 2),
        ("日,額\n2025-06-01,1\n 小計 ,1\n,1\n", ReadingOptions(leaves_out_totals=True), 2),
    ],
)
def test_every_row_of_a_large_file_is_read_as_of_a_small_one(one_folder, text, reading, rows):
    large, small = both(one_folder, text, reading)
    assert large == small
    assert len(large[2]) == rows


def test_a_column_that_only_a_last_cell_fills_has_that_cells_type(one_folder):
    for _, types, rows in both(one_folder, "a,b\n" + "1,\n" * 20_001 + "1,5\n"):
        assert types == [("a", "BIGINT"), ("b", "BIGINT")]
        assert rows[-1] == (1, 5)


CAST_ALIKE = (
    "0", "-0", "5", "-5", "+5", "007", "1e5", "1_000", " 5", "5 ", "5.", ".5", "-.50", "0.50",
    "1.5", "-12.25", "-0.00", "00.50", "0.5e1", "12345678901234.50", "999999999999999",
    "1000000000000000", "999999999999999999", "-999999999999999999", "1000000000000000000",
    "9223372036854775807", "0.30000000000000004", "0.10000000000000001", "-2.5e-300", " 0.5",
    "0.1234567890123456789", "12345678901234567.5", "123456789012345678", "1.0e400", "-0.0",
    "inf", "nan", "-Infinity", "true", "True", "TRUE", "false", "False", "t", "1", "yes", " true",
    "2025-06-01", "2025/06/01", "2025-6-1", "2025-06-01 ", "0999-12-31", "1000-01-01", "2999-12-31",
    "3000-01-01", "9999-12-31", "12025-06-01", "0044-03-15 (BC)", "infinity", "epoch",
    "2025-06-01 10:00:00", "2025-06-01T10:00:00", "2025/06/01 10:00:00", "2025-06-01 10:00:00.5",
    "2025-06-01 10:00", "2025-06-01 24:00:00", "0999-06-01 10:00:00", "3000-06-01 10:00:00",
)  # fmt: skip


@pytest.mark.parametrize("type_", ["BOOLEAN", "BIGINT", "DOUBLE", "DATE", "TIMESTAMP"])
def test_a_cell_far_down_fits_a_column_as_it_would_in_its_first_rows(type_):
    kind = next(kind for kind in VALUE_KINDS if kind.quick and kind.type == type_)
    for decimals in (0, 2):
        guess = csv_conversion._Guess("a", "cell", kind, decimals=decimals)
        fits = READER.execute(
            f"SELECT cell, {guess.proof('cast_')} FROM (SELECT cell, TRY_CAST(cell AS {type_}) "
            "AS cast_ FROM (SELECT unnest($1) AS cell)) WHERE cast_ IS NOT NULL",
            [list(CAST_ALIKE)],
        ).fetchall()
        assert fits == [(cell, guess.fits([cell])) for cell, _ in fits]
        assert {verdict for _, verdict in fits} == {True, False}


CELLS = st.one_of(
    st.sampled_from(["", "1", "-20", "007", "1.50", "2025-06-01", "2025/6/1", "true", "NA", "1e5"]),
    st.sampled_from(["2025-06-01 10:00:00", "20000-1-01", "1-1-1 (BC)", '"¥1,234"', "12.5%", "あ"]),
    st.sampled_from([' "', ' ""', '" ', ' ""a', ' """a"', '"", ""', '"{""a"": 1, ""b"": 2}"']),
    st.text("a1 \"',;\t#\\\nあ-\ufeff", max_size=4),
    st.text("a1 ,\n\"'あ", max_size=4).map(lambda text: '"' + text.replace('"', '""') + '"'),
)


@st.composite
def files(draw):
    """Bytes of a file that is nearly a table."""
    width = draw(st.integers(1, 3))
    delimiter = draw(st.sampled_from(",,,;\t|"))
    columns = [draw(st.lists(CELLS, min_size=1, max_size=3)) for _ in range(width)]
    odd = st.lists(CELLS, max_size=4)
    rows = [
        draw(odd) if draw(st.integers(0, 30)) == 0 else [draw(st.sampled_from(c)) for c in columns]
        for _ in range(draw(st.integers(0, 5)))
    ]
    names = draw(st.sampled_from([["a", "b", "c"], ['"a"', '"b"""', "c d"], ["a", "", "1"]]))
    lines = [delimiter.join(row) for row in [names[:width], *rows]]
    before = draw(st.sampled_from(["", "", "", "\ufeff", "sep=;\n", "title\n", "\n", '"t\nu"\n']))
    text = before + "\n".join(lines) + draw(st.sampled_from(["\n", "\n", "", "\n\n"]))
    return text.replace("\n", draw(st.sampled_from(["\n", "\r\n"]))).encode()


@given(files())
@example(b'a,b\n"","\n"\n')
@example("a\n\ufeff\n".encode())
@example('a,\n" ,"¥1,234"\n\n1\n'.encode())
@settings(
    max_examples=int(os.environ.get("N", "8")), deadline=None, derandomize="N" not in os.environ
)
def test_its_size_never_decides_what_is_read(one_folder, data):
    large, small = both(one_folder, data)
    if isinstance(large, str) and isinstance(small, str):
        # What is wrong about stray quotation marks can be said in two ways.
        large, small = large.partition(":")[0], small.partition(":")[0]
    assert large == small


@pytest.mark.soak
def test_a_file_larger_than_the_memory_of_its_reader_is_read(tmp_path):
    source = tmp_path / "large.csv"
    with source.open("w") as text:
        text.write("id,day,note,price,flag,code\n")
        for _ in range(150):
            text.write('1,2025-06-01,"x, y",2.5,true,abc\n' * 100_000)
    assert source.stat().st_size > 480_000_000
    rows: list[int] = []
    csv_to_parquet(source, tmp_path / "a.part", rows.append)
    assert sum(rows) == 15_000_000


def test_ctrl_c_stops_it_and_progress_is_told_before(tmp_path, monkeypatch):
    # The first look comes after a small share of the work, however fast or busy the machine is.
    monkeypatch.setattr(csv_conversion, "_SECONDS_BETWEEN_LOOKS", 0.005)
    source, threads = tmp_path / "large.csv", set(threading.enumerate())
    row = '1,2025-06-01,"x, y",2.5,true,abc\n'
    source.write_text("id,day,note,price,flag,code\n" + row * 1_000_000)
    told: list[int] = []
    before = signal.signal(signal.SIGUSR1, signal.default_int_handler)

    def on_rows(number):
        told.append(number)
        if len(told) == 1:
            os.kill(os.getpid(), signal.SIGUSR1)

    try:
        with pytest.raises(KeyboardInterrupt):
            csv_to_parquet(source, tmp_path / "a.part", on_rows)
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert 0 < sum(told) < 1_000_000
    for thread in set(threading.enumerate()) - threads:
        thread.join(60)
        assert not thread.is_alive()
