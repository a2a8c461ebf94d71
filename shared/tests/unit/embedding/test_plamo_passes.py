"""Where PLaMo runs, and which texts share a pass: both are decided without loading it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from table_of_cases import each

from mdvec.embedding.backends.plamo import Placement, batches_by_length, placement
from mdvec.embedding.embedder import ModelUnavailable

ON_CPU = Placement(device="cpu", dtype="float32", batch=8)
ON_MPS = Placement(device="mps", dtype="float32", batch=1)


@each(
    ("asked", "mps", "expected"),
    [
        (None, False, ON_CPU),
        (None, True, ON_MPS),
        ("cpu", False, ON_CPU),
        ("cpu", True, ON_CPU),
        ("mps", True, ON_MPS),
    ],
)
def test_it_runs_on_the_requested_device_else_on_an_available_gpu(asked, mps, expected):
    assert placement(asked, mps=mps) == expected


@each("asked", ["mps", "cuda", "CPU"])
def test_a_missing_device_is_refused(asked):
    with pytest.raises(ModelUnavailable, match=f"cannot run on '{asked}' here; choose 'cpu'"):
        placement(asked, mps=False)


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
