"""Compacting that is killed or stopped: the file loses nothing, and it can be repeated."""

import os
import random
import shutil
import signal
import subprocess
import sys

import pytest
from collection import Collection

from mdvec.database.connection import open_database
from mdvec.index.tables import Tables
from mdvec.manage.compacting import compact
from mdvec.text.one_line import identifier

SECRET = b"zqxjkvw8871secret"
CHILD = """
import signal, sys, time
from pathlib import Path
from mdvec.manage.compacting import compact
if sys.argv[3] == "stop":
    signal.signal(signal.SIGALRM, signal.default_int_handler)
began = time.perf_counter()
signal.setitimer(signal.ITIMER_REAL, float(sys.argv[2]))  # a kill, unless there is a handler
try:
    compact(Path(sys.argv[1]))
except KeyboardInterrupt:
    sys.exit(130)
signal.setitimer(signal.ITIMER_REAL, 0)
print(time.perf_counter() - began)
"""


def child(database, seconds, how):
    environment = {key: value for key, value in os.environ.items() if "COVERAGE" not in key}
    return subprocess.run(
        [sys.executable, "-c", CHILD, str(database), str(seconds), how],
        capture_output=True, encoding="utf-8", env=environment, timeout=60, check=False,
    )  # fmt: skip


@pytest.fixture(scope="module")
def beginning(tmp_path_factory):
    """A database of some megabytes, half of which an old version deleted without erasing it."""
    folder = tmp_path_factory.mktemp("beginning")
    collection = Collection(folder / "notes", folder / "vectors.sqlite")
    words = random.Random(1)
    for number in range(40):
        text = "\n\n".join(
            f"## {part}\n\n" + "".join(words.choices("春夏秋冬花鳥風月abc ", k=700))
            for part in range(4)
        )
        secret = SECRET.decode() if number >= 20 else ""
        collection.write(f"{number:03}.md", f"# 題\n\n{secret}\n\n{text}")
    collection.import_("new")
    with open_database(collection.database, "write") as connection:
        connection.execute("PRAGMA secure_delete = OFF").fetchall()
        with connection:
            names = Tables(connection, 1, "notes", 1)
            gone = f"(SELECT id FROM {identifier(names.vectors)} WHERE document_id > 20)"
            connection.execute(f"DELETE FROM {identifier(names.fts)} WHERE rowid IN {gone}")
            for table in (names.signatures, names.vectors):
                connection.execute(f"DELETE FROM {identifier(table)} WHERE document_id > 20")
            connection.execute(f"DELETE FROM {identifier(names.documents)} WHERE id > 20")
    return collection


@pytest.mark.parametrize("moments", [2, pytest.param(20, marks=pytest.mark.soak)])
@pytest.mark.parametrize("how", ["kill", pytest.param("stop", marks=pytest.mark.soak)])
def test_killed_at_any_moment_it_loses_nothing_and_can_be_repeated(
    beginning, tmp_path, how, moments
):
    contents = beginning.contents()

    def copy(name):
        folder = tmp_path / name
        folder.mkdir()
        shutil.copy(beginning.database, folder)
        return Collection(beginning.folder, folder / "vectors.sqlite", is_new=False)

    whole = child(copy("whole").database, 0, how)
    took = float(whole.stdout)
    ends = set()
    for number in range(moments):
        there = copy(str(number))
        end = child(there.database, took * (number + 1) / (moments + 2), how).returncode
        ends.add(end)
        if end == 0:  # the machine was busier when it was measured
            took /= moments + 2
        assert there.contents() == contents
        done = compact(there.database)
        assert done.is_complete
        names = [path.name for path in there.database.parent.iterdir()]
        assert names == ["vectors.sqlite"]
        assert SECRET not in there.database.read_bytes()
        assert there.contents() == contents
    there.check()
    assert ends - {0} == {-signal.SIGALRM if how == "kill" else 130}
