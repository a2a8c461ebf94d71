"""Neighbouring windows of one section as one hit."""

from hypothesis import given
from hypothesis import strategies as st

from mdvec.search.core.neighbours import TextSpan, Window, joined_windows


def window(
    number: int, heading: str = "水", *, document: str = "a", begins: bool = False, overlap: int = 0
) -> Window:
    """The window of this number, 10 characters each, its start in the one before."""
    return Window(
        document, heading, number, TextSpan(10 * number - overlap, 10 * number + 10), begins
    )


def spans(windows: list[Window], k: int = 5) -> list[tuple[int, int]]:
    return [(run.span.start, run.span.end) for run in joined_windows(windows, k)]


def test_neighbours_become_one_hit_in_the_place_of_the_better():
    found = [window(3), window(7), window(4), window(2)]
    assert spans(found) == [(20, 50), (70, 80)]
    assert [run.best for run in joined_windows(found, 5)] == [0, 1]


def test_a_neighbour_that_is_no_hit_itself_neither_widens_nor_shows():
    assert spans([window(3), window(7), window(4)], k=2) == [(30, 40), (70, 80)]
    assert spans([window(3), window(4), window(7)], k=2) == [(30, 50), (70, 80)]


def test_a_window_between_two_hits_joins_them():
    assert spans([window(3), window(5), window(4)]) == [(30, 60)]


def test_sections_stay_apart():
    assert len(spans([window(3), window(4, begins=True)])) == 2
    assert len(spans([window(4, begins=True), window(3)])) == 2
    assert len(spans([window(3), window(4, "米")])) == 2
    assert len(spans([window(3), window(4, document="b")])) == 2
    # Without headings nothing says that they belong together.
    assert len(spans([window(3, ""), window(4, "")])) == 2


def test_windows_that_overlap_are_one_hit_whatever_their_heading():
    assert spans([window(3, ""), window(4, "米", overlap=2)]) == [(30, 50)]


@given(
    st.lists(
        st.tuples(st.integers(0, 12), st.integers(0, 9), st.sampled_from(["", "水"])),
        max_size=12,
        unique_by=lambda drawn: drawn[0],
    ),
    st.integers(1, 12),
)
def test_no_two_hits_overlap_and_every_window_among_the_first_is_shown(drawn, k):
    windows = [window(number, heading, overlap=overlap) for number, overlap, heading in drawn]
    found = spans(windows, k)
    assert len(found) <= k
    for start, end in found:
        others = [span for span in found if span != (start, end)]
        assert not any(first < end and start < last for first, last in others)
    for one in windows[:k]:
        assert any(start <= one.span.start and one.span.end <= end for start, end in found)
