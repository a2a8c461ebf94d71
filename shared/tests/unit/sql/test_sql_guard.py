"""The output guard: an answer stays within its limit and says what was left out."""

from hypothesis import given
from hypothesis import strategies as st

from mdvec.sql.core.guard import AnswerGuard, as_json, size

GUARD = AnswerGuard(1_024, 10)


def left_out(gone: int) -> str:
    return f"{gone} left out"


@given(st.lists(st.text(max_size=80), max_size=60), st.integers(0, 5))
def test_any_answer_fits_and_says_what_was_left_out(values, missing):
    answer = GUARD.trim({"rows": values}, ("rows",), left_out, missing)
    assert size(answer) <= 1_024
    gone = len(values) - len(answer["rows"]) + missing
    assert answer.get("warnings") == ([f"{gone} left out"] if gone else None)
    assert answer["rows"] == values[: len(answer["rows"])]


def test_trimming_keeps_as_many_entries_as_fit():
    answer = GUARD.trim({"rows": ["あ" * 20] * 50}, ("rows",), left_out)
    more = {**answer, "rows": [*answer["rows"], "あ" * 20]}
    assert size(more) > 1_024 - 40


@given(st.lists(st.text(max_size=80), min_size=20, max_size=60), st.integers(1, 5))
def test_what_comes_later_does_not_push_out_what_an_answer_leaves_out(values, notes):
    answer = GUARD.trim({"rows": values, "warnings": ["shortened"]}, ("rows",), left_out, 1)
    said = answer["warnings"]
    later = GUARD.fit_warnings({**answer, "warnings": [*said, *["x" * 1_024] * notes]})
    assert size(later) <= 1_024
    assert later["warnings"][: len(said)] == said
    shown = len(later["warnings"]) - len(said)
    assert shown == notes or later["warnings"][-1] == f"and {notes - shown + 1} more warnings"


def test_the_last_key_is_cut_first():
    guard = AnswerGuard(120, 10)
    answer = guard.trim(
        {"tables": ["runs", "transactions"], "exports": ["x" * 40] * 5},
        ("tables", "exports"),
        left_out,
    )
    assert answer["tables"] == ["runs", "transactions"]
    assert len(answer["exports"]) == 0 or len(answer["exports"]) < 5
    assert answer["warnings"] == [f"{5 - len(answer['exports'])} left out"]


def test_columns_are_cut_from_the_end():
    columns = {f"column {n}": {"min": 0, "max": n} for n in range(100)}
    answer = GUARD.trim({"columns": columns}, ("columns",), left_out)
    assert list(answer["columns"]) == list(columns)[: len(answer["columns"])]


def test_japanese_is_not_escaped():
    assert as_json({"大項目": "食費"}) == '{"大項目":"食費"}'


@given(st.lists(st.text(max_size=500), max_size=40), st.integers(0, 30))
def test_as_many_warnings_as_fit_are_kept(warnings, entries):
    answer = GUARD.fit_warnings({"bins": list(range(entries)), "warnings": warnings})
    assert size(answer) <= 1_024
    assert answer["bins"] == list(range(entries))
    if len(answer["warnings"]) < len(warnings):
        assert answer["warnings"][-1].endswith("more warnings")
