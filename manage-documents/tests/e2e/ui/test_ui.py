"""`mdvec ui`: starts a server that serves the page, or finds the one that runs."""

import signal
import socket
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

    second = mdvec("ui", "--no-browser", "--http", free_address)
    assert (second.code, second.err) == (0, "")
    assert second.out != f"{address}\n"
    assert opened(second.out.strip())[0] == 200

    other = mdvec.start(
        "ui", "--no-browser", "--http", free_address, "--database", mdvec.work / "other.sqlite"
    )
    elsewhere = other.stdout.readline()
    assert elsewhere.startswith("http://127.0.0.1:")
    assert free_address not in elsewhere

    for process in (first, other):
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
    with pytest.raises(OSError, match="refused"):
        opened(f"http://{free_address}/")


def test_a_server_that_cannot_start_is_quoted(mdvec):
    done = mdvec("ui", "--no-browser", "--http", "127.0.0.1")
    assert done.code == 1
    assert "is not an address; use host:port" in done.err
