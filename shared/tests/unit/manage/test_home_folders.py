"""Folders within the home, for a page that lets the user pick one."""

import pytest
from table_of_cases import each

from mdvec.manage.home_folders import HomeFolder, OutsideHome, home_folder, within_home


@pytest.fixture
def home(tmp_path):
    for path in ("home/notes/2025", "home/.ssh", "home/空", "other"):
        (tmp_path / path).mkdir(parents=True)
    (tmp_path / "home" / "a.csv").touch()
    (tmp_path / "home" / "out").symlink_to(tmp_path / "other")
    (tmp_path / "home" / "in").symlink_to(tmp_path / "home" / "notes")
    return tmp_path / "home"


@each("said", ["notes", "~/notes", "{home}/notes", "in", "notes/../notes/"])
def test_a_place_in_the_home_is_found_however_it_is_named(home, said):
    assert within_home(said.format(home=home), home) == home / "notes"


@each(
    "said",
    ["", "..", "~/..", "/", "/etc", "out", "none", "notes/../../other", "{home}/../other", "a\0b",
     "x" * 5_000, "notes/" + "../" * 40, "~root", "\udcff", "file:///etc", "a.csv/b"],
)  # fmt: skip
def test_no_other_place_is(home, said):
    with pytest.raises(OutsideHome, match="within your home"):
        within_home(said.format(home=home), home)


def test_folders_are_listed_without_hidden_ones_and_links(home):
    assert home_folder("", home) == HomeFolder("", None, ("notes", "空"), is_cut=False)
    assert home_folder("notes", home) == HomeFolder("notes", "", ("2025",), is_cut=False)
    assert home_folder("notes/2025", home) == HomeFolder("notes/2025", "notes", (), is_cut=False)
    with pytest.raises(OutsideHome, match="cannot be read"):
        home_folder("a.csv", home)
