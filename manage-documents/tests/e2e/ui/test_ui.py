"""`mdvec ui`: starts a server that serves the page, or finds the one that runs."""

import re
import signal
import socket
import stat
import urllib.request
from http.cookiejar import CookieJar

import pytest


@pytest.fixture
def free_address():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return f"127.0.0.1:{taken.getsockname()[1]}"


def opened(address):
    """What a browser with cookies sees at an address."""
    browser = urllib.request.build_opener(
        urllib.request.ProxyHandler({}), urllib.request.HTTPCookieProcessor(CookieJar())
    )
    with browser.open(address, timeout=60) as answer:
        return answer.status, answer.read().decode()


def test_it_starts_a_server_or_finds_the_one_that_runs(mdvec, free_address):
    first = mdvec.start("ui", "--no-browser", "--http", free_address)
    address = first.stdout.readline().strip()
    assert address.startswith(f"http://{free_address}/open?code=")
    assert opened(address)[0] == 200
    assert "until Ctrl-C" in first.stderr.readline()

    # The browser is this script: what it is started with can be seen by all users.
    seen = mdvec.work / "seen"
    browser = mdvec.work / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > {seen}\n')
    browser.chmod(0o700)
    second = mdvec.process("ui", "--http", free_address, BROWSER=str(browser))
    assert (second.code, second.err) == (0, "")
    file = mdvec.work / "db.sqlite-page.html"
    assert seen.read_text() == f"{file.as_uri()}\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    (found,) = re.findall(r'url=([^"]*)"', file.read_text())
    assert second.out == f"{found}\n" != f"{address}\n"
    assert opened(found)[0] == 200

    other = mdvec.start(
        "ui", "--no-browser", "--http", free_address, "--database", mdvec.work / "other.sqlite"
    )
    elsewhere = other.stdout.readline()
    assert elsewhere.startswith("http://127.0.0.1:")
    assert free_address not in elsewhere
    at = elsewhere.partition("/open")[0]
    said = f"another server listens at {free_address}; the page is at {at}\n"
    assert other.stderr.readline() == said

    for process in (first, other):
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
    with pytest.raises(OSError, match="refused"):
        opened(f"http://{free_address}/")


def test_a_server_that_cannot_start_is_quoted(mdvec):
    done = mdvec("ui", "--no-browser", "--http", "127.0.0.1")
    assert done.code == 1
    assert "is not an address; use host:port" in done.err
