"""The log file: written by several processes, renamed when it is full, never a failure."""

import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest

from mdvec.log.opening import LogSettings, SharedLogFile, open_log

LINES, WRITERS, FULL = 300, 3, 5_000
WRITER = f"""
import logging, sys
from pathlib import Path
from mdvec.log.opening import SharedLogFile
log = SharedLogFile(Path(sys.argv[1]), {FULL}, 60, sys.exit)
for number in range({LINES}):
    log.emit(logging.makeLogRecord({{"msg": f"{{sys.argv[2]}}-{{number:04}} " + "食" * 20}}))
"""


@pytest.fixture
def logger():
    """The library's logger, as it was before afterwards."""
    logger = logging.getLogger("mdvec")
    level = logger.level
    yield logger
    open_log(options(None), pytest.fail)
    logger.setLevel(level)


def options(file, **changes):
    return LogSettings(file=file and str(file), **changes)


def test_several_processes_lose_no_line_while_they_rename_full_files(tmp_path):
    log = tmp_path / "logs" / "mdvec.log"
    command = [sys.executable, "-c", WRITER, str(log)]
    writers = [subprocess.Popen([*command, str(number)]) for number in range(WRITERS)]
    assert [writer.wait(60) for writer in writers] == [0] * WRITERS
    files = sorted(log.parent.iterdir())
    lines = [line.split()[0] for file in files for line in file.read_text("utf-8").splitlines()]
    assert sorted(lines) == [f"{w}-{n:04}" for w in range(WRITERS) for n in range(LINES)]
    assert len(files) > 2
    assert {file.stat().st_mode & 0o777 for file in files} == {0o600}


def test_only_so_many_full_files_are_kept(tmp_path):
    log = SharedLogFile(tmp_path / "a.log", 50, 2, pytest.fail)
    for number in range(9):
        log.emit(logging.makeLogRecord({"msg": f"{number} {'x' * 30}"}))
    log.close()
    assert {file.name: file.read_text()[0] for file in tmp_path.iterdir()} == {
        "a.log": "8", "a.log.1": "7", "a.log.2": "6",
    }  # fmt: skip


def test_a_file_that_was_moved_or_deleted_is_made_again(tmp_path):
    path = tmp_path / "a.log"
    log = SharedLogFile(path, 1_000, 1, pytest.fail)
    path.unlink()
    log.emit(logging.makeLogRecord({"msg": "here"}))
    log.close()
    assert path.read_text() == "here\n"


def test_a_log_that_cannot_be_opened_is_a_warning(tmp_path, logger):
    (tmp_path / "file").write_text("")
    warnings: list[str] = []
    open_log(options(tmp_path / "file" / "a.log"), warnings.append)
    assert not logger.handlers
    assert len(warnings) == 1
    assert "[log] file" in warnings[0]


def test_a_full_disk_is_one_warning_even_where_the_log_hears_it_too(logger):
    warnings: list[str] = []

    def warn(sentence: str) -> None:
        warnings.append(sentence)
        logger.warning(sentence)

    open_log(options(Path("/dev/full")), warn)
    logger.info("one")
    logger.info("two")
    assert len(warnings) == 1
    assert os.strerror(28) in warnings[0]


def test_the_level_is_the_files_own(tmp_path, logger):
    open_log(options(tmp_path / "a.log", level="WARNING", format="json"), pytest.fail)
    logger.info("quiet")
    logger.warning("loud")
    assert [line.count("loud") for line in (tmp_path / "a.log").read_text().splitlines()] == [1]
