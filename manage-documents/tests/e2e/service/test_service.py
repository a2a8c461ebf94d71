"""`mdvec service`: the file that it writes starts a server that answers and stops in order."""

import os
import signal
import socket
import subprocess
import time

import pytest
from mdvec.manage.service import command_in
from table_of_cases import each

MANAGER = """#!/bin/sh
echo "$*" >> "$HOME/asked"
[ ! -e "$HOME/refuses" ] || { echo "no session here" >&2; exit 1; }
"""


@pytest.fixture
def session(mdvec):
    """A stand-in for the session manager, which writes down what it was asked."""
    program = mdvec.home / "bin" / "systemctl"
    program.parent.mkdir()
    program.write_text(MANAGER)
    program.chmod(0o755)
    mdvec.environment["PATH"] = f"{program.parent}:{os.environ['PATH']}"
    return mdvec


def free_address():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return f"127.0.0.1:{taken.getsockname()[1]}"


def asked(mdvec):
    return (mdvec.home / "asked").read_text().splitlines()


def test_the_installed_service_starts_and_stops_cleanly(session):
    address = free_address()
    printed = session("service", "install", "--http", address, "--print")
    assert session("service", "status", "--format", "json").json["installed"] is False
    done = session("service", "install", "--http", address)
    unit = session.home / "config/systemd/user/mdvec.service"
    assert (done.code, done.err) == (
        0, f"installed {unit}; clients reach the server at http://{address}/mcp\n"
    )  # fmt: skip
    assert unit.read_text() == printed.out
    assert asked(session) == ["--user daemon-reload", "--user enable --now mdvec.service"]
    server = subprocess.Popen(
        command_in(unit.read_text()), env=session.environment, stderr=subprocess.PIPE, text=True
    )
    try:
        assert server.stderr.readline().startswith("WARNING mdvec: there is no database")
        assert server.stderr.readline() == f"mdvec-mcp: serving http://{address}/mcp\n"
        while not (found := session("service", "status", "--format", "json").json)["answers"]:
            assert server.poll() is None
            time.sleep(0.02)
        assert (found["installed"], found["address"]) == (True, f"http://{address}")
        server.send_signal(signal.SIGTERM)
        assert server.wait(60) == 0
    finally:
        server.kill()
        server.wait()
        server.stderr.close()
    assert session("service", "status", "--format", "json").json["answers"] is False
    assert session("service", "uninstall").err == f"removed {unit}\n"
    assert not unit.exists()
    assert asked(session)[2:] == ["--user disable --now mdvec.service", "--user daemon-reload"]
    assert session("service", "uninstall").err == f"there is no service at {unit}\n"


def test_a_session_manager_that_refuses_is_quoted_with_the_way_out(session):
    (session.home / "refuses").touch()
    done = session("service", "install")
    assert done.code == 1
    assert done.err.endswith(
        "mdvec.service is written, but the service was not started (no session here); "
        "start it later with: systemctl --user enable --now mdvec.service\n"
    )


def test_a_token_file_that_others_can_open_is_refused_before_anything_is_installed(session):
    token = session.work / "token"
    token.write_text("0123456789abcdef")
    token.chmod(0o644)
    settings = session.work / "mdvec.toml"
    sentence = f"error: other users can open the token file {token} (0644); make it yours alone "
    refused = session("service", "install", "--token-file", "token")
    assert refused.code == 1
    assert "can open the token file token (0644)" in refused.err
    settings.write_text('[server]\ntoken_file = "token"\n')
    assert session("service", "install", "--config", "mdvec.toml").err.startswith(sentence)
    assert not (session.home / "asked").exists()
    token.chmod(0o600)
    assert session("service", "install", "--http", free_address()).code == 0


@each(
    ("options", "told"),
    [
        (("--http", "foo"), "'foo' is not an address; use host:port, such as 127.0.0.1:8765"),
        (("--http", "127.0.0.1:99999"), "'127.0.0.1:99999' is not an address"),
        (("--http", "0.0.0.0:8799"), "a server that other machines can reach needs a token"),
        (("--http", "0.0.0.0:8799", "--print"), "a server that other machines can reach needs a"),
    ],
)
def test_a_server_that_could_never_start_is_not_installed(session, options, told):
    done = session("service", "install", *options)
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith(f"error: {told}")
    assert not (session.home / "asked").exists()


def test_only_a_token_that_the_service_will_have_opens_it_to_other_machines(session):
    token = "0123456789abcdef"
    at = ("service", "install", "--print", "--http", "0.0.0.0:8799")
    kept = session.work / "tok"
    kept.write_text(token)
    kept.chmod(0o600)
    assert session(*at, MDVEC_SERVER_TOKEN=token).code == 1
    assert session(*at, MDVEC_SERVER_TOKEN_FILE="tok").code == 1
    (session.work / "mdvec.toml").write_text(f'[server]\ntoken = "{token}"\n')
    assert session(*at).code == 1  # which only commands read, in this folder
    assert session(*at, "--config", "mdvec.toml", MDVEC_SERVER_TOKEN=token).code == 0
