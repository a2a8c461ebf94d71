"""The files of services, for systemd and launchd."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdvec.manage.clients.clients import Machine
from mdvec.manage.service import (
    ServiceError,
    command_in,
    launchd_plist,
    option_value,
    service_of,
    systemd_unit,
)

PRINTABLE = st.text(st.characters(min_codepoint=32, exclude_categories=["C", "Z"]), min_size=1)
COMMAND = ["/home/me/my tools/mdvec-mcp", "--http", "127.0.0.1:8765"]


def test_a_unit_starts_the_command_and_starts_it_again_after_a_failure():
    unit = systemd_unit(COMMAND)
    assert 'ExecStart="/home/me/my tools/mdvec-mcp" "--http" "127.0.0.1:8765"' in unit
    assert "Restart=on-failure" in unit


def test_neither_specifiers_nor_variables_of_systemd_are_expanded():
    assert '"/100%%/$$HOME/\\"a\\\\b\\""' in systemd_unit(['/100%/$HOME/"a\\b"'])


@given(st.lists(PRINTABLE, min_size=1))
def test_the_command_is_read_back_from_both_kinds_of_file(command):
    plain = [part.replace("$", "").replace("%", "") or "-" for part in command]
    assert command_in(systemd_unit(plain)) == plain
    assert command_in(launchd_plist(command)) == command


def test_each_platform_has_its_file_and_others_are_told_what_to_do():
    home = Path("/home/me")
    linux = service_of(Machine("linux", home, {}), COMMAND)
    assert linux.path == home / ".config/systemd/user/mdvec.service"
    mac = service_of(Machine("darwin", home, {}), COMMAND)
    assert mac.path == home / "Library/LaunchAgents/mdvec.server.plist"
    with pytest.raises(ServiceError, match=r"mdvec-mcp --http$"):
        service_of(Machine("win32", home, {}), COMMAND)


def test_the_value_of_an_option_is_its_next_word_or_behind_its_equals_sign():
    assert option_value(["--http", "a:1", "--database", "/x=y"], "--database") == "/x=y"
    assert option_value(["--database=/x=y", "--http", "a:1"], "--database") == "/x=y"
    assert option_value(["--database", "/a", "--database=/b"], "--database") == "/b"
    assert option_value(["--database-of=/a", "--data"], "--database") is None
