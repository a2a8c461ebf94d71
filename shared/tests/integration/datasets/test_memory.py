"""Whatever runs short of an import's memory, the refusal is the same sentence."""

import resource
import sys

import apsw
import pytest

from mdvec.datasets.interfaces.connection import safe_connection
from mdvec.datasets.interfaces.limits import limited_memory
from mdvec.files import UnreadableFile


def in_python():
    bytearray(2**30)


def in_sqlite():
    with apsw.Connection(":memory:") as connection:
        connection.execute("SELECT length(randomblob(900000000))").fetchall()


def in_duckdb():
    with safe_connection([]) as connection:
        connection.execute("SELECT length(list(range)) FROM range(300000000)").fetchall()


@pytest.mark.skipif(sys.platform != "linux", reason="Linux alone limits it")
@pytest.mark.parametrize("reading", [in_python, in_sqlite, in_duckdb])
def test_a_library_that_runs_short_of_memory_is_told_apart(reading):
    refusal = "reading it needs more than 256 MB of memory; split it, or set "
    with pytest.raises(UnreadableFile, match=refusal), limited_memory(256):
        reading()
    assert resource.getrlimit(resource.RLIMIT_DATA)[0] == resource.RLIM_INFINITY
