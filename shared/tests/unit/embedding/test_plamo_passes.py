"""Which texts share a pass of PLaMo, which is decided without loading it."""

from hypothesis import given
from hypothesis import strategies as st

from mdvec.embedding.backends.plamo import batches_by_length


def test_short_texts_of_about_one_length_share_a_pass():
    assert batches_by_length([10, 150, 12, 900, 200, 1000, 8]) == [[6, 0, 2], [1, 4], [3], [5]]
    assert batches_by_length([]) == []


@given(st.lists(st.integers(0, 5000)))
def test_every_text_is_in_one_pass_and_none_is_padded_far(lengths):
    groups = batches_by_length(lengths)
    assert sorted(position for group in groups for position in group) == list(range(len(lengths)))
    for group in groups:
        shortest, *_, longest = sorted(lengths[position] for position in [*group, group[0]])
        assert longest == shortest or longest <= min(200, shortest * 1.5 + 8)
