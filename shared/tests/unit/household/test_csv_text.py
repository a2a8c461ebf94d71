"""Where a record of a CSV text stands."""

from hypothesis import given
from hypothesis import strategies as st

from mdvec.household.core.cells import CsvText, span_at

CELL = st.sampled_from(["a", "店", '"b,c"', '"two\nlines"', '"x\r\ny"', "", '"it""s"'])
LINE = st.lists(CELL, min_size=2, max_size=4).map(",".join)


@given(st.lists(LINE, min_size=1, max_size=8), st.sampled_from(["\n", "\r\n"]))
def test_the_place_of_one_record_is_that_in_the_whole_text(lines, end):
    text = end.join(["one,two", *lines, ""])
    for line, span in CsvText.of(text).spans().items():
        assert span_at(text, line) == span


def test_a_line_that_the_text_does_not_have_is_empty():
    assert span_at("a,b\n", 7) == (0, 0, 7)
    assert span_at("", 1) == (0, 0, 1)
