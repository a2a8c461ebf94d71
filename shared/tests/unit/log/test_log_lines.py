"""The lines of the log: one each, with the facts and without what nobody asked it to tell."""

import json
import logging
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdvec.log.opening import MAX_FACT_CHARS, LogLines, record

TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}[+-]\d\d:\d\d"


class Kept(logging.Handler):
    """Keeps records as they are."""

    def __init__(self) -> None:
        super().__init__()
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)


@pytest.fixture
def recorded():
    """The records that the library's logger makes."""
    logger, kept = logging.getLogger("mdvec"), Kept()
    before = logger.level
    logger.addHandler(kept)
    logger.setLevel("DEBUG")
    yield kept.records
    logger.removeHandler(kept)
    logger.setLevel(before)


def test_an_event_is_a_line_of_named_facts(recorded):
    record("search", query="食費", tools=("a", "b c"), k=5, hits=0, ms=1.5, empty=None, sure=True)
    text = LogLines("text", queries=False).format(recorded[0])
    assert re.fullmatch(TIME + r' INFO \d+ search tools="a,b c" k=5 hits=0 ms=1\.5 sure=true', text)
    fields = json.loads(LogLines("json", queries=False).format(recorded[0]))
    assert re.fullmatch(TIME, fields.pop("time"))
    assert fields.pop("pid")
    assert fields == {
        "level": "INFO", "event": "search", "tools": ["a", "b c"], "k": 5, "hits": 0, "ms": 1.5,
        "sure": True,
    }  # fmt: skip


def test_what_was_asked_stands_there_only_where_the_settings_say_so(recorded):
    record("search", query="水 はどこ", k=5)
    assert "水" not in LogLines("text", queries=False).format(recorded[0])
    assert "水" not in LogLines("json", queries=False).format(recorded[0])
    assert "水" not in recorded[0].getMessage()
    assert LogLines("text", queries=True).format(recorded[0]).endswith(' k=5 query="水 はどこ"')
    assert json.loads(LogLines("json", queries=True).format(recorded[0]))["query"] == "水 はどこ"


def test_a_message_that_may_quote_data_is_for_stderr_and_its_event_for_the_log(recorded):
    extra = {"event": "query_process_failed"}
    logging.getLogger("mdvec").warning("it failed: %s", "コンビニ", extra=extra)
    assert LogLines("text", queries=True).format(recorded[0]).endswith(" query_process_failed")
    assert "コンビニ" not in LogLines("json", queries=True).format(recorded[0])


def test_a_traceback_tells_the_place_and_not_the_message(recorded):
    try:
        int("コンビニ 1,280円")
    except ValueError:
        logging.getLogger("mdvec").debug("unexpected", exc_info=True)
    for lines in (LogLines("text", queries=True), LogLines("json", queries=True)):
        line = lines.format(recorded[0])
        assert "ValueError at " in line
        assert "test_log_lines.py" in line
        assert "コンビニ" not in line


@given(st.text())
def test_whatever_a_fact_holds_a_record_is_one_line(text):
    made = logging.makeLogRecord({"msg": "%s", "args": (text,), "levelname": "INFO"})
    made.facts, made.event, made.asked = {"name": text}, "refusal", text
    assert len(LogLines("text", queries=True).format(made).splitlines()) == 1
    line = LogLines("json", queries=True).format(made)
    assert "\n" not in line
    assert json.loads(line)["name"] == text


def test_a_long_fact_is_cut(recorded):
    record("refusal", tool="x" * 10_000)
    assert len(recorded[0].getMessage()) == len("refusal tool=") + MAX_FACT_CHARS
