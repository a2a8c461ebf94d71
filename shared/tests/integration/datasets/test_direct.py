"""Large CSV files: DuckDB reads them itself, with the same result as when Python does."""

import os
import signal
import threading
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mdvec.datasets.core.understood import FOUND, ReadingOptions
from mdvec.datasets.interfaces.connection import parquet_scan
from mdvec.datasets.interfaces.delimited import delimited_to_parquet
from mdvec.datasets.interfaces.direct_rows import read_directly
from mdvec.files.scanning import UnreadableFile

ALWAYS, NEVER = 0, 2**60
READER = duckdb.connect()


def table(target):
    found = READER.execute(f"SELECT * FROM {parquet_scan(target)}")
    types = [(column[0], str(column[1])) for column in found.description]
    return types, found.fetchall()


def by_python(source, target, reading=FOUND):
    try:
        understood = delimited_to_parquet(source, target, reading=reading, direct_from=NEVER)
    except UnreadableFile as error:
        return str(error)
    return understood, table(target)


def directly(source, target, reading=FOUND):
    """None if Python must read it."""
    told: list[int] = []
    understood = read_directly(source, target, ",;\t|", told.append, reading, ALWAYS)
    if understood is None:
        assert sum(told) == 0
        assert not target.exists()
        return None
    assert sum(told) == len(table(target)[1])
    return understood, table(target)


def both(data, reading=FOUND):
    with TemporaryDirectory() as name:
        source, target = Path(name, "a.csv"), Path(name, "a.part")
        source.write_bytes(data if isinstance(data, bytes) else data.encode())
        direct = directly(source, target, reading)
        target.unlink(missing_ok=True)
        return direct, by_python(source, target, reading)


@pytest.mark.parametrize(
    ("text", "reading"),
    [
        ("a,b\n1,x\n2,y\n", FOUND),
        ("a,b\r\n1,x\r\n2,y", FOUND),
        ('\ufeffa,b\n1,"x, ""y"" z"\n,\n', FOUND),
        ('a,b\n1,"{""k"": 1, ""l"": ""v""}"\n', FOUND),
        ('a,b\n1,"x\n2,y\n"\n3,\n', FOUND),
        ("a;b;c;d\n2025/06/01;true;;1.50\n2025-06-02;false;;2\n", FOUND),
        ("a\tb\n2025-06-01 10:00:00\t-1\n1999-01-01T00:00:00\t0\n", FOUND),
        ("sep=|\na|b\n1|2\n", FOUND),
        ("売上\na,b\n2025-01-01,1\n2025-01-02,2\n2025-01-03,3\n", FOUND),
        ('a,b\n"¥1,234",NA\n5,7\n', FOUND),
        ("a,b\n2025-02-28,1\n2025-02-30,01\n", FOUND),
        ("a,b\n1,2\n3,4\n", ReadingOptions(columns={"a": "text", "b": "number"})),
        ("a,b\n" + "1,\n" * 20_001 + "x,5\n", FOUND),
    ],
)
def test_what_both_read_alike_is_read_directly(text, reading):
    direct, python = both(text, reading)
    assert direct is not None
    assert direct == python


@pytest.mark.parametrize(
    "data",
    [
        "a,b\n1,2,\n",
        'a,b\n1, "x"\n',
        'a,b\n1,"x" \n',
        'a,b\n1, ""\n',
        'a,b\n1, """x"\n',
        "a,b\n1,2\r\n3,4\n",
        "a,b\n1,x\ry\n",
        "a,b\n1,\0\n",
        'a,b\n1,"x\n',
        'a,b\n1,"x"y\n',
        "a\n1\n\n2\n",
        "a,b\n1,日本\n".encode("cp932"),
        "a,b\n1,日本\n".encode("iso2022_jp"),
        "a,b\n1,日本\n".encode("euc_jp"),
        "a,b\n1,ýý\n",
        b'a,b\n1,"x""\xed\xa0\x80"\n',
        f"a,b\n1,{'x' * 131_073}\n",
        "a,b\n1,x\n2\n",
    ],
)
def test_what_duckdb_could_read_otherwise_is_left_to_python(data):
    assert both(data)[0] is None


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
@settings(
    max_examples=int(os.environ.get("N", "20")), deadline=None, derandomize="N" not in os.environ
)
def test_it_never_differs_from_python(data):
    direct, python = both(data)
    assert direct in (None, python)


def write_large(folder):
    source = folder / "large.csv"
    row = '1,2025-06-01,"x, y",2.5,true,abc\n'
    source.write_text("id,day,note,price,flag,code\n" + row * 1_000_000)
    return source


def test_ctrl_c_stops_it_and_progress_is_told_before(tmp_path):
    source, threads = write_large(tmp_path), threading.active_count()
    told: list[int] = []
    before = signal.signal(signal.SIGUSR1, signal.default_int_handler)

    def on_rows(number):
        told.append(number)
        if len(told) == 1:
            os.kill(os.getpid(), signal.SIGUSR1)

    try:
        with pytest.raises(KeyboardInterrupt):
            read_directly(source, tmp_path / "a.part", ",", on_rows, FOUND, ALWAYS)
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert 0 < sum(told) < 1_000_000
    assert threading.active_count() <= threads
