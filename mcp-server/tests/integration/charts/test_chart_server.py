"""The charts over HTTP: fetched by real clients from a real server on this machine."""

import http.client
import logging
import socket
import threading
from contextlib import ExitStack, closing
from email.utils import parsedate_to_datetime
from urllib.parse import urlsplit

import pytest
from mdvec.charts.plot import Picture
from mdvec.settings import ChartSettings
from table_of_cases import each

from mdvec_mcp.charts.server import ChartServer, ChartStore

PNG = Picture(b"\x89PNG" + bytes(range(256)) * 400, "image/png")
SVG = Picture(b"<svg xmlns='http://www.w3.org/2000/svg'/>", "image/svg+xml")


@pytest.fixture
def serving():
    servers = []

    def start(**settings):
        servers.append(ChartServer(ChartSettings(**{"port": 0, **settings})))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


def fetch(url, method="GET", host=None, path=None):
    """Status, headers and body, as a client gets them that names ``host``."""
    address = urlsplit(url)
    with closing(http.client.HTTPConnection(address.hostname, address.port, timeout=10)) as client:
        client.putrequest(method, path or address.path, skip_host=True)
        for name in [host or address.netloc] if not isinstance(host, list) else host:
            client.putheader("Host", name)
        client.endheaders()
        answer = client.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def test_a_chart_is_fetched_at_its_address_to_the_byte(serving):
    url = serving().publish(PNG)
    status, headers, body = fetch(url)
    assert (status, body) == (200, PNG.data)
    assert urlsplit(url).hostname == "127.0.0.1"
    assert headers["content-type"] == "image/png"
    assert headers["content-length"] == str(len(PNG.data))
    assert headers["content-disposition"] == 'inline; filename="chart.png"'
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"].startswith("private")
    assert "content-security-policy" not in headers
    assert "server" not in headers


def test_an_svg_may_load_and_run_nothing(serving):
    status, headers, body = fetch(serving().publish(SVG))
    assert (status, body) == (200, SVG.data)
    assert headers["content-type"] == "image/svg+xml"
    assert headers["content-disposition"] == 'inline; filename="chart.svg"'
    assert headers["content-security-policy"] == (
        "default-src 'none'; style-src 'unsafe-inline'; sandbox"
    )


def test_head_gives_the_headers_of_a_chart_in_chunks_of_any_size(serving):
    url = serving(chunk_size=512).publish(PNG)
    assert fetch(url)[2] == PNG.data
    status, headers, body = fetch(url, "HEAD")
    assert (status, headers["content-length"], body) == (200, str(len(PNG.data)), b"")


@each("method", ["POST", "PUT", "DELETE", "OPTIONS"])
def test_a_chart_can_only_be_read(serving, method):
    status, headers, _ = fetch(serving().publish(PNG), method)
    assert (status, headers["allow"]) == (405, "GET, HEAD")


@each("name", ["127.0.0.1", "localhost", "LOCALHOST", "[::1]"])
def test_every_name_of_this_machine_is_accepted(serving, name):
    url = serving().publish(PNG)
    assert fetch(url, host=f"{name}:{urlsplit(url).port}")[0] == 200


@each(
    "host",
    ["attacker.example", "127.0.0.1", "127.0.0.1:1", "attacker.example:{port}",
     "127.0.0.1:{port}.attacker.example", "0.0.0.0:{port}", ["127.0.0.1:{port}", "evil:{port}"]],
)  # fmt: skip
def test_another_name_is_refused_even_with_the_right_id(serving, host):
    url = serving().publish(PNG)
    port = urlsplit(url).port
    named = [one.format(port=port) for one in ([host] if isinstance(host, str) else host)]
    status, _, body = fetch(url, host=named)
    assert status in (400, 421)
    assert PNG.data[:100] not in body


@each(
    "path",
    ["/", "/api/charts", "/api/charts/", "/api/charts/unknown", "/docs", "/openapi.json",
     "/api/charts/../../etc/passwd", "/api/charts/%2e%2e%2f%2e%2e%2fetc%2fpasswd",
     "/api/charts/a/b", "/api/charts/%00", "/api/charts/" + "a" * 5000],
)  # fmt: skip
def test_other_paths_are_not_found(serving, path):
    status, headers, body = fetch(serving().publish(PNG), path=path)
    assert (status, headers["content-type"]) == (404, "text/plain; charset=utf-8")
    assert body.decode().strip() in {
        "グラフが見つかりません。期限切れの場合は、もう一度作成してください。",
        "このアドレスには何もありません。",
    }


def test_if_the_port_is_taken_the_next_is_used(serving):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        taken = other.getsockname()[1]
        url = serving(port=taken).publish(PNG)
        assert taken < urlsplit(url).port <= taken + 20 or taken > 65500
        assert fetch(url)[0] == 200


def test_two_servers_on_one_port_each_serve_their_own(serving):
    port = free_port()
    first, second = serving(port=port), serving(port=port)
    urls = first.publish(PNG), second.publish(SVG)
    assert [fetch(url)[2] for url in urls] == [PNG.data, SVG.data]


def test_many_threads_share_one_server(serving):
    server = serving()
    start = threading.Barrier(8)
    urls = []

    def publish():
        start.wait()
        urls.append(server.publish(PNG))

    threads = [threading.Thread(target=publish) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({urlsplit(url).port for url in urls}) == 1
    assert len(set(urls)) == 8
    assert [fetch(url)[0] for url in urls] == [200] * 8


def test_closing_frees_the_port_and_drops_the_charts(serving):
    server = serving()
    url = server.publish(PNG)
    server.close()
    with socket.socket() as again:
        again.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        again.bind(("127.0.0.1", urlsplit(url).port))
    assert len(server.store) == 0
    assert not [thread for thread in threading.enumerate() if thread.name == "mdvec-charts"]
    server.close()


def test_a_closed_server_starts_again_with_the_next_chart(serving):
    server = serving()
    server.publish(PNG)
    server.close()
    assert fetch(server.publish(PNG))[2] == PNG.data


def test_a_hanging_client_does_not_delay_closing(serving):
    server = serving()
    address = urlsplit(server.publish(PNG))
    with socket.create_connection((address.hostname, address.port)) as client:
        client.sendall(b"GET /api/charts/x HTTP/1.1\r\n")
        server.close()
    assert not [thread for thread in threading.enumerate() if thread.name == "mdvec-charts"]


@pytest.mark.parametrize(
    "said",
    [b"", b"G", b"GET /api/charts/x HTTP/1.1\r\nHost: 127.0.0.1\r\n",
     b"POST /x HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n\r\n"],
)  # fmt: skip
def test_idle_sockets_do_not_block_others(serving, said):
    url = serving().publish(PNG)
    address = urlsplit(url)
    with ExitStack() as open_ones:
        for _ in range(150):
            client = socket.create_connection((address.hostname, address.port), timeout=10)
            open_ones.enter_context(client)
            if said:
                client.sendall(said)
        for _ in range(3):
            status, _, body = fetch(url)
            assert (status, body) == (200, PNG.data)


def test_clients_that_never_read_do_not_block_others(serving):
    large = Picture(bytes(8 * 2**20), "image/png")
    url = serving(chunk_size=2**20).publish(large)
    address = urlsplit(url)
    request = f"GET {address.path} HTTP/1.1\r\nHost: {address.netloc}\r\n\r\n".encode()
    with ExitStack() as open_ones:
        for _ in range(150):
            client = socket.create_connection((address.hostname, address.port), timeout=10)
            open_ones.enter_context(client)
            client.sendall(request)
        status, headers, _ = fetch(url, "HEAD")
        assert (status, headers["content-length"]) == (200, str(len(large.data)))


def test_a_browser_keeps_a_chart_no_longer_than_the_server(serving):
    server = serving(cache_ttl_seconds=60)
    assert max_age(server.publish(PNG)) in (59, 60)
    clock = Clock()
    server = serving()
    server.store = ChartStore(entries=5, ttl_seconds=7200, clock=clock)
    url = server.publish(PNG)
    assert max_age(url) == 7200
    clock.now = 7000.5
    assert max_age(url) == 199


def max_age(url):
    """The seconds that a browser may keep a chart, which its Expires says too."""
    headers = fetch(url)[1]
    seconds = int(headers["cache-control"].removeprefix("private, max-age="))
    moments = [parsedate_to_datetime(headers[name]) for name in ("date", "expires")]
    assert abs((moments[1] - moments[0]).total_seconds() - seconds) <= 2
    return seconds


def test_serving_prints_nothing_and_logs_no_ids(serving, capfd, caplog):
    caplog.set_level(logging.INFO, "mdvec")
    url = serving().publish(PNG)
    fetch(url)
    fetch(url, path="/api/charts/unknown")
    assert capfd.readouterr() == ("", "")
    assert url.rsplit("/", 1)[1] not in caplog.text


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def test_a_chart_expires(serving):
    server, clock = serving(), Clock()
    server.store = ChartStore(entries=5, ttl_seconds=10, clock=clock)
    url = server.publish(PNG)
    clock.now = 9.9
    assert fetch(url)[0] == 200
    clock.now = 10
    status, headers, _ = fetch(url)
    assert (status, headers["cache-control"]) == (404, "no-store")
    assert len(server.store) == 0


def test_the_least_recently_used_chart_is_dropped():
    store = ChartStore(entries=2, ttl_seconds=3600)
    first, second = store.put(PNG), store.put(SVG)
    store.get(first)
    third = store.put(PNG)
    assert [store.get(one) is not None for one in (first, second, third)] == [True, False, True]


def test_charts_stay_within_the_byte_limit():
    store = ChartStore(entries=50, ttl_seconds=3600, max_bytes=25)
    kept = [store.put(Picture(bytes(10), "image/png")) for _ in range(5)]
    assert [store.get(one) is not None for one in kept] == [False, False, False, True, True]
    assert store.get(store.put(Picture(bytes(26), "image/png"))) is None
    assert len(store) == 2


def test_ids_are_long_and_unique():
    store = ChartStore(entries=1000, ttl_seconds=3600)
    ids = {store.put(SVG) for _ in range(500)}
    assert len(ids) == 500
    assert min(map(len, ids)) >= 22
