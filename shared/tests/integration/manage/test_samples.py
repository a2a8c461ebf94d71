"""What a failed demo leaves in a folder, and which folders it does not begin in."""

from contextlib import suppress

import pytest

from mdvec.manage import FolderNotWritten, undone_unless_whole

NAMES = ("samples", "config.toml", "demo.sqlite*")


@pytest.mark.parametrize("name", ["config.toml", "demo.sqlite-wal"])
def test_a_link_of_the_user_that_leads_nowhere_is_not_written_through(tmp_path, name):
    own = tmp_path / name
    own.symlink_to("nowhere")
    with pytest.raises(FolderNotWritten) as refused, undone_unless_whole(tmp_path, NAMES):
        pytest.fail("the block began")
    assert str(refused.value) == f"{own} exists already; choose another folder"
    assert own.is_symlink()


def test_links_that_lead_nowhere_are_removed_with_all_else_that_a_failed_block_made(tmp_path):
    (tmp_path / "own.md").write_text("# The user's own")
    with suppress(KeyboardInterrupt), undone_unless_whole(tmp_path, NAMES):
        (tmp_path / "samples").mkdir()
        (tmp_path / "config.toml").symlink_to("nowhere")
        (tmp_path / "demo.sqlite").symlink_to("nowhere")
        raise KeyboardInterrupt
    assert [each.name for each in tmp_path.iterdir()] == ["own.md"]
