"""The private folders of processes: what dead ones left is found, and removed whole."""

import shutil
from pathlib import Path

import pytest

from mdvec.platform import folders_left
from mdvec.platform.own_folders import remove_folders_left


@pytest.fixture
def left(tmp_path):
    folder = tmp_path / "own-1"
    (folder / "parts").mkdir(parents=True)
    (folder / "lock").touch()
    (folder / "copy").write_text("水", encoding="utf-8")
    return folder


def test_a_folder_whose_removal_fails_midway_is_still_found(left, monkeypatch):
    def killed(folder: Path) -> None:
        (folder / "lock").unlink(missing_ok=True)  # the first that the folder happens to list
        raise OSError("killed")

    with monkeypatch.context() as patch:
        patch.setattr(shutil, "rmtree", killed)
        with pytest.raises(OSError, match="killed"):
            remove_folders_left(left.parent, "own-")
    assert folders_left(left.parent, "own-") == [left]
    remove_folders_left(left.parent, "own-")
    assert not left.exists()


def test_a_link_to_a_folder_is_none_of_them(left, tmp_path):
    other = tmp_path / "links"
    other.mkdir()
    (other / "own-2").symlink_to(left)
    assert folders_left(other, "own-") == []
