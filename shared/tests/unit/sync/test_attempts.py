"""A difference that an import left is tried again, but not all the time."""

from mdvec.sync.imports import Attempts


def test_the_same_difference_is_tried_again_after_growing_pauses():
    attempts = Attempts()
    begun = [second for second in range(0, 4_000, 10) if attempts.begin("notes", 1, second)]
    assert begun == [0, 30, 90, 210, 450, 930, 1530, 2130, 2730, 3330, 3930]


def test_another_difference_and_another_tool_are_tried_at_once():
    attempts = Attempts()
    assert attempts.begin("notes", 1, 0)
    assert attempts.begin("other", 1, 0)
    assert attempts.begin("notes", 2, 1)
    assert not attempts.begin("notes", 2, 2)
    assert attempts.begin("notes", 2, 31)
