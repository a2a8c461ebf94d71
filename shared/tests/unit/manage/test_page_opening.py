"""The private file that leads a browser to the local page."""

import stat

import pytest

from mdvec.manage.page_server import OpeningFileUnwritable, opening_file, write_opening


def test_the_file_is_private_even_in_place_of_another_or_of_a_link(tmp_path):
    file, other = tmp_path / "page.html", tmp_path / "other"
    other.write_text("theirs")
    file.symlink_to(other)
    write_opening(file, 'http://127.0.0.1:1/open?code="a"&b')
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert 'url=http://127.0.0.1:1/open?code=&quot;a&quot;&amp;b"' in file.read_text()
    assert other.read_text() == "theirs"
    assert sorted(tmp_path.iterdir()) == [other, file]


def test_a_folder_that_is_none_is_reported(tmp_path):
    with pytest.raises(OpeningFileUnwritable, match="open the printed address"):
        write_opening(tmp_path / "none" / "page.html", "http://127.0.0.1:1/")


def test_what_cannot_take_the_place_of_the_file_does_not_stay(tmp_path):
    file = tmp_path / "page.html"
    file.mkdir()
    with pytest.raises(OpeningFileUnwritable, match="open the printed address"):
        write_opening(file, "http://127.0.0.1:1/open?code=a")
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize(
    ("browser", "expected"),
    [("firefox_firefox.desktop", "snap/firefox/common"), ("firefox-esr.desktop", "data"),
     ("gone_gone.desktop", "data"), ("", "data"), ("../_x", "data")],
)  # fmt: skip
def test_a_browser_in_a_snap_gets_it_where_it_can_read(tmp_path, monkeypatch, browser, expected):
    (tmp_path / "snap" / "firefox" / "common").mkdir(parents=True)
    settings = tmp_path / "xdg-settings"
    settings.write_text(f"#!/bin/sh\necho '{browser}'\n")
    settings.chmod(0o700)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    found = opening_file(tmp_path / "data" / "v.sqlite")
    assert found == tmp_path / expected / "v.sqlite-page.html"
