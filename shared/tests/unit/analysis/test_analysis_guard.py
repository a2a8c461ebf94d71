"""The output guard cuts, warns once, and restores everything."""

import io
import logging
import subprocess
import sys
from contextlib import redirect_stdout

import numpy as np
import pandas as pd
import polars as pl
import pytest
from table_of_cases import each

from mdvec.analysis import (
    AnalysisError,
    OutputLimits,
    output_guard,
    safe_json_output,
    safe_summary_table,
    validate_output,
)

LONG = range(1000)


def printed_by(code):
    out = io.StringIO()
    with redirect_stdout(out):
        code()
    return out.getvalue()


def test_output_within_the_limit_is_unchanged():
    def cell():
        with output_guard(max_bytes=20):
            print("平均 4:31")
            sys.stdout.writelines(["a", "b"])

    assert printed_by(cell) == "平均 4:31\nab"


def test_output_over_the_limit_is_dropped_with_one_warning(caplog):
    def cell():
        with output_guard(max_bytes=10):
            for _ in range(1000):
                print("12345")

    with caplog.at_level(logging.WARNING, "mdvec"):
        out = printed_by(cell)
    warning = (
        "output trimmed: 6,000 bytes were printed, 10 are shown, 5,990 left out; print a summary "
        "instead (safe_summary_table, safe_json_output), or write the rest to a file and print "
        "its name"
    )
    assert out == f"12345\n1234\n[mdvec] {warning}\n"
    assert caplog.messages == [warning]


def test_a_letter_is_not_cut_in_two():
    def cell():
        with output_guard(max_bytes=4):
            print("ああ")

    assert printed_by(cell).startswith("あ\n[mdvec] output trimmed: 7 bytes")


def test_an_exception_goes_through_and_everything_is_restored():
    before, rows = sys.stdout, pd.get_option("display.max_rows")
    config = pl.Config.save()
    with pytest.raises(ZeroDivisionError), output_guard(max_bytes=1):
        print(1 / 0)
    assert sys.stdout is before
    assert pd.get_option("display.max_rows") == rows
    assert pl.Config.save() == config


def test_frames_are_short_within_the_guard():
    with output_guard():
        assert len(str(pd.DataFrame({"n": LONG})).splitlines()) == 14
        assert "shape: (1_000, 1)" in str(pl.DataFrame({"n": LONG}))
        assert len(str(pl.DataFrame({"n": LONG})).splitlines()) == 18
        assert pd.get_option("display.max_rows") == 10


def test_guards_within_one_another_each_keep_their_limit():
    def cell():
        with output_guard(max_bytes=1000):
            with output_guard(max_bytes=5):
                print("1234567890")
            print("after")
            assert pd.get_option("display.max_rows") == 10

    out = printed_by(cell)
    assert out.startswith("12345\n[mdvec] output trimmed: 11 bytes were printed, 5 are shown")
    assert out.endswith("\nafter\n")
    assert out.count("[mdvec]") == 1


def test_a_stream_replaced_meanwhile_stays():
    theirs = io.StringIO()
    before = sys.stdout
    try:
        with output_guard():
            sys.stdout = theirs
        assert sys.stdout is theirs
    finally:
        sys.stdout = before


def test_guarded_stdout_keeps_flush_writable_and_isatty():
    def cell():
        with output_guard():
            print("x", flush=True)
            assert sys.stdout.writable()
            assert not sys.stdout.isatty()

    assert printed_by(cell) == "x\n"


def test_stderr_counts_with_stdout_and_loggers_made_within_go_on_after_it(capsys):
    logger = logging.getLogger("test_analysis_guard")
    with output_guard(max_bytes=30):
        logger.addHandler(handler := logging.StreamHandler())
        print("p" * 9)
        sys.stderr.write("e" * 10)
        logger.error("l" * 100)
    try:
        logger.error("after" * 10)
    finally:
        logger.removeHandler(handler)
    out, err = capsys.readouterr()
    assert out.startswith("p" * 9 + "\n\n[mdvec] output trimmed: 121 bytes were printed, 30 are")
    assert err == "e" * 10 + "l" * 10 + "after" * 10 + "\n"


SCRIPT = """
from mdvec.analysis import output_guard
output_guard(600).start()
print("begin")
raise ValueError("x" * 10**6)
"""


def test_a_huge_error_that_ends_a_guarded_program_is_trimmed_with_a_warning():
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, encoding="utf-8", check=False
    )
    assert done.returncode == 1
    assert done.stdout.startswith("begin\n\n[mdvec] output trimmed: 1,0")
    assert "ValueError" in done.stderr
    assert 300 < len(done.stderr) <= 1_000


def test_a_guard_starts_once():
    guard = output_guard()
    with guard:
        pass
    with pytest.raises(AnalysisError, match="started already; make another one"):
        guard.start()


def test_guards_that_end_in_the_order_in_which_they_began_restore_everything():
    before = (sys.stdout, sys.stderr, pd.get_option("display.max_rows"), pl.Config.save())
    guards = [output_guard(), output_guard(), output_guard()]
    for guard in guards:
        guard.start()
    for guard in (guards[0], guards[2], guards[1]):
        assert pd.get_option("display.max_rows") == 10
        guard.stop()
    assert (sys.stdout, sys.stderr, pd.get_option("display.max_rows"), pl.Config.save()) == before


@each("limit", ["10", -1, 1.5])
def test_a_limit_that_is_no_number_of_bytes_is_refused(limit):
    with pytest.raises(AnalysisError, match="max_bytes is a whole number from 0 on, not"):
        output_guard(max_bytes=limit)


def test_a_limit_may_be_a_whole_number_of_numpy():
    def cell():
        with output_guard(np.int64(3)):
            print("12345")

    assert printed_by(cell).startswith("123\n[mdvec] output trimmed")


def test_limits_come_from_the_settings(monkeypatch):
    monkeypatch.setenv("MDVEC_ANALYTICS_MAX_OUTPUT_ROWS", "20")
    monkeypatch.setenv("MDVEC_ANALYTICS_MAX_OUTPUT_BYTES", "2000")
    monkeypatch.setenv("MDVEC_ANALYTICS_MAX_PRINTED_BYTES", "600")
    frame = pd.DataFrame({"n": range(20)})
    table = safe_summary_table(frame)
    assert len(table.splitlines()) == 21
    assert validate_output(table) == (True, None)
    assert validate_output(table, OutputLimits())[0] is False
    assert len(safe_json_output("x" * 1900)) == 1902
    rows = pd.DataFrame({"n": LONG}).to_csv()[:500]
    assert "at most 25 are allowed" in str(validate_output(rows)[1])
    assert "more than 600 bytes" in str(validate_output("言葉。" * 100)[1])
    assert printed_by(lambda: guarded("x" * 700)).index("\n") == 600


def guarded(text):
    with output_guard():
        print(text)
