"""`mdvec watch` as a process: it imports what changes, and Ctrl-C ends it."""

import os
import queue
import signal
import subprocess
import sys
import threading
import time

import psutil
import pytest
from mdvec.manage import registering
from mdvec.tools import only_import_of

RUN = "import sys; sys.argv[0] = 'mdvec'; from mdvec_cli.main import main; main()"
SECONDS = 60


class Watching:
    """The command while it runs; its lines can be waited for."""

    def __init__(self, database, home, *words):
        homes = ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME")
        self.process = subprocess.Popen(
            [sys.executable, "-c", RUN, "watch", "--database", str(database), *words],
            env={**os.environ, **dict.fromkeys(homes, str(home))},
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8",
        )  # fmt: skip
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        self.said = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        for line in self.process.stdout:
            self._lines.put(line)

    def until(self, words):
        """Wait for a line with these words."""
        while True:
            self.said.append(self._lines.get(timeout=SECONDS))
            if words in self.said[-1]:
                return self.said[-1]

    def until_true(self, holds):
        """Wait for something to become true while the command runs."""
        while not holds():
            assert self.process.poll() is None
            time.sleep(0.01)

    def interrupt(self):
        self.process.send_signal(signal.SIGINT)
        code = self.process.wait(SECONDS)
        self._reader.join()
        return code

    def close(self):
        self.process.kill()
        self.process.wait()
        self._reader.join()
        self.process.stdout.close()


@pytest.fixture
def watch(tmp_path, kept_caches):
    kept_caches(tmp_path)
    started = []

    def start(*words):
        started.append(Watching(tmp_path / "メモ" / "v.sqlite", tmp_path, *words))
        return started[-1]

    yield start
    for one in started:
        one.close()


@pytest.fixture
def notes(tmp_path):
    folder = tmp_path / "メモ"
    folder.mkdir()
    registering.add_tool(folder / "v.sqlite", "notes", "d", folder, "markdown")
    return folder


def write(folder, name):
    (folder / name).write_text(f"# {name}\n\n水は一人一日三リットル。\n", encoding="utf-8")


def test_new_and_changed_files_are_imported_until_ctrl_c(notes, watch):
    write(notes, "一.md")
    one = watch()
    assert one.until("added").startswith("notes: 1 added, 0 updated, 0 deleted")
    notes.joinpath("sub").mkdir()
    write(notes / "sub", "二.md")
    (notes / "一.md").unlink()
    assert one.until("added").startswith("notes: 1 added, 0 updated, 1 deleted, 0 unchanged")
    assert one.interrupt() == 130
    assert [line for line in one.said if "added" not in line and "model" not in line] == []


@pytest.mark.soak
def test_ctrl_c_during_an_import_keeps_finished_documents(notes, watch):
    for number in range(300):
        write(notes, f"{number}.md")
        os.utime(notes / f"{number}.md", (1, 1))
    one = watch("-n", "notes")
    tables = 'SELECT count(*) FROM "documents_notes"'

    def stored():
        from mdvec.database.connection import open_database

        with open_database(notes / "v.sqlite", "read") as connection:
            return connection.execute(tables).get

    one.until_true(lambda: stored() >= 5)
    assert one.interrupt() == 130
    assert one.until("stopped after").endswith("mdvec import -n notes --mode update\n")
    assert one.until("stopped") == "stopped\n"
    assert 5 <= stored() < 300


def test_a_missing_folder_is_reported_in_one_line_and_deletes_nothing(notes, watch):
    data = notes.parent / "data"
    data.mkdir()
    (data / "走.csv").write_text("km\n5\n", encoding="utf-8")
    registering.add_tool(notes / "v.sqlite", "runs", "d", data, "dataset")
    one = watch("-n", "runs")
    one.until("runs")
    data.rename(notes.parent / "away")
    assert "is not there (is its disk not mounted?)" in one.until("is not there")
    (notes.parent / "away").rename(data)
    assert one.until("there again") == "the source of runs is there again\n"
    assert one.interrupt() == 130


def test_a_tool_that_is_deleted_during_the_import_of_another_ends_nothing(
    notes, watch, monkeypatch
):
    monkeypatch.setenv("MDVEC_DISPLAY_LANGUAGE", "ja")  # and all is said in the user's language
    database, file = notes / "v.sqlite", notes.parent / "走.csv"
    file.write_text("km\n5\n", encoding="utf-8")
    os.utime(file, (1, 1))
    registering.add_tool(database, "data", "d", file, "dataset")
    tool = registering.find_tool(database, "data")
    with only_import_of(database, tool, print):
        one = watch("-n", "data", "-n", "notes")
        one.until_true(psutil.Process(one.process.pid).children)
        registering.delete_tool(database, "notes")
    assert one.until("data: ").startswith("data: 追加 1、更新 0、削除 0")
    assert one.until("もう") == "有効なツール notes はもうありません\n"
    assert one.interrupt() == 130


def test_an_unknown_tool_is_one_sentence(notes, mdvec):
    done = mdvec("watch", "-n", "nothing", "--database", notes / "v.sqlite")
    assert done.code == 1
    assert done.err.startswith("error: there is no tool 'nothing'")
