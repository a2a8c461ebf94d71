"""How many names a refusal lists."""

from mdvec.sql.core.refusals import named, names_that_fit

LONG = "長" * 300
SHOWN = f'"{LONG[:80]}"'


def test_a_list_has_as_many_names_as_fit_in_the_form_in_which_they_are_shown():
    assert names_that_fit([]) == []
    assert named([LONG]) == SHOWN
    assert named(["一", LONG]) == f"一, {SHOWN}"
    assert named([LONG] * 4) == f"{SHOWN}, {SHOWN} and 2 more"
    assert names_that_fit(["= " * 40] * 4) == ["= " * 40] * 2
