"""The page of a real process, attacked from within its data and from without."""

import csv
import html
import io
import re
import signal
from collections import Counter, deque
from urllib.parse import parse_qs, urlsplit

import pytest
from hostile import harm_in
from hostile_folder import NAMES, hostile_database
from page_process import RUN, page_process
from page_site import page_site, post, token_of, wait_until
from table_of_cases import each

STARTS = (
    "/", "/?q=水の備え&k=50", "/money?period=2025年5月〜7月", "/money/trend?period=2025年",
    "/money/plan?all=1", "/review?decided=1", "/review/categories", "/data?all=1", "/tools",
    "/tools/folders", "/tools/health?check=1", "/data/table?name=transactions",
)  # fmt: skip
CARRIED = {"household", "period"}
FORMULA = re.compile(r"[=+\-@\t\r\n＝＋－＠]")
FILE = re.compile(r'attachment; filename="mdvec-[a-z-]+\.(csv|png|svg)"')


@pytest.fixture(scope="module")
def attacked(tmp_path_factory, kept_caches):
    folder = tmp_path_factory.mktemp("attacked")
    log = folder / "mdvec.log"
    log.write_text("\n".join(NAMES))
    settings = folder / "mdvec.toml"
    settings.write_text(f'[log]\nfile = "{log}"\n[analytics]\nfolder = "{folder / "exports"}"\n')
    home = folder / "home"
    for name in NAMES:
        (home / name.replace("/", "_")).mkdir(parents=True)
    (home / "out").symlink_to(folder / "notes")
    kept_caches(home)
    with page_process(hostile_database(folder), home, "--config", str(settings)) as one:
        yield one


@pytest.fixture(scope="module")
def client(attacked):
    with attacked.site.client() as client:
        yield client


def cookie_of(client):
    return "; ".join(f"{name}={value}" for name, value in client.cookies.items())


def watching_request(client):
    head = f"GET /tools/events HTTP/1.1\r\nhost: 127.0.0.1\r\ncookie: {cookie_of(client)}"
    return f"{head}\r\n\r\n".encode()


def leads(text):
    """The addresses of the page to which a view leads."""
    found = re.findall(r'\s(?:href|data-part)="(/[^"#]*)', text)
    return [html.unescape(one) for one in found if not one.startswith("/static/")]


def reached(client, most):
    """Every view that can be reached by links, and its answer; so many at most of each kind.

    A kind is a path and its fields, but for those that links only carry along: there are as many
    pages of some kinds as shops.
    """
    seen, waiting = set(STARTS), deque(STARTS)
    kinds: Counter[tuple[str, ...]] = Counter()
    while waiting:
        address = waiting.popleft()
        parts = urlsplit(address)
        kind = (parts.path, *sorted(parse_qs(parts.query).keys() - CARRIED))
        kinds[kind] += 1
        if kinds[kind] > most:
            continue
        answer = client.get(address)
        yield address, answer
        if answer.headers["content-type"].startswith("text/html"):
            new = [one for one in leads(answer.text) if one not in seen]
            seen.update(new)
            waiting.extend(new)


def harm_of(answer):
    """What could act in an answer: in a view, a part of one, or a table for a spreadsheet."""
    kind = answer.headers["content-type"]
    if kind.startswith("text/html"):
        is_part = "<html" not in answer.text
        return harm_in(answer.text + ('<script src="/static/">' if is_part else ""))
    wrong = [] if FILE.fullmatch(answer.headers["content-disposition"]) else ["its name"]
    if kind.startswith("text/csv"):
        cells = [cell for row in csv.reader(io.StringIO(answer.text[1:])) for cell in row]
        is_number = re.compile(r"-?[\d.]+")
        wrong += [one for one in cells if FORMULA.match(one) and not is_number.fullmatch(one)]
    if kind.startswith("image/svg"):
        wrong += [one for one in ("<script", "javascript:", "onload=") if one in answer.text]
    return wrong


@pytest.mark.parametrize("most", [1, pytest.param(4, marks=pytest.mark.soak)])
def test_no_view_that_can_be_reached_acts_or_fails(attacked, client, most):
    paths, wrong = set(), []
    for address, answer in reached(client, most):
        paths.add(urlsplit(address).path)
        wrong += [(address, one) for one in harm_of(answer)]
        if answer.status_code >= 500:
            wrong.append((address, answer.status_code))
    assert wrong == []
    assert paths >= {
        "/document", "/money/categories.csv", "/money/matrix.csv", "/money/chart", "/money/trend",
        "/money/plan/table", "/money/plan/chart", "/review/categories", "/data/table",
        "/tools/folders", "/tools/health",
    }  # fmt: skip
    assert "Traceback" not in attacked.log.read_text()


HOSTS = {
    "127.0.0.1": 200, "LOCALHOST": 200, "[::1]": 200, "localhost.": 421, "127.1": 421,
    "2130706433": 421, "127.0.0.1.": 421, "null": 421, "evil.example": 421, "0.0.0.0": 403,
    "[::ffff:127.0.0.1]": 403, "127.0.0.1/static/?": 421, "127.0.0.1#": 421,
    "a@127.0.0.1": 421, "127.0.0.1\\a": 421, "": 421,
}  # fmt: skip


@each(("host", "expected"), HOSTS.items())
def test_only_a_name_of_this_machine_opens_the_page(attacked, client, host, expected):
    seen = attacked.status(f"GET /money HTTP/1.1\nhost: {host}", cookie=cookie_of(client))
    assert seen == expected
    assert attacked.status(f"GET /money HTTP/1.1\nhost: {host}") in (403, 421)


@each(
    "origin",
    ["null", "http://127.0.0.1:1", "https://127.0.0.1:{}", "http://localhost:{}", "http://[::1]:{}",
     "http://127.0.0.1:{}.", "HTTP://127.0.0.1:{}", "http://127.0.0.1", "http://evil.example", ""],
)  # fmt: skip
@each("method", ["GET", "POST"])
def test_no_other_origin_reads_or_changes(attacked, client, method, origin):
    body = f"csrf={token_of(client)}&theme=dark".encode()
    head = f"{method} {'/look' if method == 'POST' else '/'} HTTP/1.1\nhost: 127.0.0.1:"
    head += f"{attacked.port}\norigin: {origin.format(attacked.port)}"
    assert attacked.status(head, body, cookie_of(client)) == 403


CHANGES = (
    "/look", "/tools/add", "/tools/active", "/tools/reindex", "/tools/stop", "/review/decide",
    "/review/detect", "/review/categories/decide", "/money/plan/budget", "/money/rows/change",
    "/data/export",
)  # fmt: skip


def test_nothing_changes_without_the_token_of_this_session(attacked, client):
    with attacked.site.client() as other:
        others = token_of(other)
    for path in CHANGES:
        for token in ({}, {"csrf": ""}, {"csrf": others}, {"csrf": token_of(client)[:-1]}):
            assert client.post(path, data=token).status_code == 403
        led = {"sec-fetch-site": "same-site"}
        own = {"csrf": token_of(client)}
        assert client.post(path, data=own, headers=led).status_code == 403
        assert client.get(path).status_code in (404, 405)
        without = attacked.status(
            f"POST {path} HTTP/1.1\nhost: 127.0.0.1", f"csrf={others}".encode()
        )
        assert without == 403


def test_every_change_that_is_nonsense_is_refused_in_a_page(client):
    fields = ("path", "name", "kind", "title", "description", "tool", "active", "check", "decision",
              "keep", "days", "shop", "category", "subject", "amount", "per", "period", "sql",
              "household", "here", "language", "undo", "alike", "part")  # fmt: skip
    for path in CHANGES:
        for name in NAMES[::8]:
            answer = post(client, path, **dict.fromkeys(fields, name))
            assert (path, answer.status_code) in ((path, 400), ("/look", 404), ("/look", 200),
                                                  ("/tools/stop", 200))  # fmt: skip


@each(
    "path",
    ["/etc", "out", "~/out", "../", "notes/../..", "a/../../..", "\0", "~root", "//etc", "",
     "x" * 5_000, "／etc"],
)  # fmt: skip
def test_no_folder_outside_the_home_is_added_or_listed(client, path):
    added = post(client, "/tools/add", path=path, name="stolen")
    assert added.status_code == 400
    listed = client.get("/tools/folders", params={"at": path or "/"})
    assert listed.status_code == 400
    assert 'id="tool-stolen"' not in client.get("/tools").text


@each(
    "target",
    ["//money", "/static/../money", "/static/..%2f..%2fapp.py", "/%2e%2e/etc/passwd", "/money%00",
     "http://127.0.0.1/money", "*", "/document?tool=notes&path=../../data/v.sqlite-page.key",
     "/document?tool=days&path=evil.csv", "/document?tool=notes&path=%00",
     "/data/table?name=/etc/passwd",
     "/data?sql=SELECT+*+FROM+read_csv('/etc/passwd')", "/money?period=%ED%A0%80"],
)  # fmt: skip
def test_no_path_or_field_reaches_a_file(attacked, client, target):
    head = f"GET {target} HTTP/1.1\nhost: 127.0.0.1"
    assert attacked.status(head, cookie=cookie_of(client)) in (400, 404)


def test_what_is_too_large_or_no_request_of_a_page_is_refused(attacked, client):
    cookie = cookie_of(client)
    head = "POST /look HTTP/1.1\nhost: 127.0.0.1\n"
    assert attacked.status(f"{head}x: 1", b"a" * (2**20 + 1), cookie) == 413
    for body in (b"a=1&" * 501, b"\xff\xfe"):
        assert attacked.status(f"{head}x: 1", body, cookie) == 400
    for method in ("OPTIONS", "PUT", "DELETE", "PATCH", "TRACE", "CONNECT", "get"):
        assert attacked.status(f"{method} / HTTP/1.1\nhost: 127.0.0.1", cookie=cookie) == 405
    for path in ("/", "/money", "/tools/events"):
        assert attacked.status(f"HEAD {path} HTTP/1.1\nhost: 127.0.0.1", cookie=cookie) == 200


def test_the_cookie_of_another_server_opens_nothing(client, tmp_path):
    (cookie,) = client.cookies.values()
    with page_site(tmp_path / "other" / "v.sqlite") as other, other.client(is_open=False) as there:
        name = f"mdvec_{other.key.id}"
        for sent in (cookie_of(client), f"{name}={cookie}", f"{name}={cookie}; {name}="):
            assert there.get("/tools", headers={"cookie": sent}).status_code == 403


def test_codes_and_cookies_stay_out_of_the_log_and_of_addresses(attacked):
    code = attacked.site.key.one_time_code()
    with attacked.site.client(is_open=False) as client:
        opened = client.get(f"/open?code={code}")
        assert (opened.status_code, code in opened.text) == (200, False)
        assert opened.headers["referrer-policy"] == "same-origin"
        client.get("/nothing")
        cookie = cookie_of(client)
        shown = client.get("/tools/health").text
    assert attacked.status(f"GET /open?code={code} HTTP/1.1\nhost: 127.0.0.1") == 403
    for secret in (code, cookie.partition("=")[2]):
        assert secret not in attacked.log.read_text()
        assert secret not in shown


def test_a_hundred_windows_that_watch_imports_leave_the_page_to_others(attacked, client):
    request = watching_request(client)
    windows = [attacked.connect(request) for _ in range(100)]
    answers = Counter(one.recv(12)[9:] for one in windows)
    assert answers == {b"200": 16, b"503": 84}
    assert client.get("/tools").status_code == 200
    for one in windows:
        one.close()

    def is_free():
        with attacked.connect(request) as one:
            return one.recv(12)[9:] == b"200"

    wait_until(is_free)


def test_half_requests_give_their_places_back_and_a_watching_window_stops_no_server(tmp_path):
    quick = (
        "from mdvec_mcp.whole_requests import WholeRequests as it; it.arrival_seconds = 3; "
        "from mdvec_mcp.web import serve; serve.MAX_CONNECTIONS = 40; "
    )
    with page_process(tmp_path / "v.sqlite", tmp_path / "home", code=quick + RUN) as one:
        # Not half a form: the page refuses it at once, as there is no cookie.
        held = [one.connect(b"GET / HT"[: 8 * (number % 2)]) for number in range(44)]
        whole = "GET /health HTTP/1.1\nhost: 127.0.0.1"
        assert one.status(whole) == 503
        wait_until(lambda: one.status(whole) == 200)
        for connection in held:
            connection.close()
        with one.site.client() as client:
            watching = one.connect(watching_request(client))
            assert watching.recv(12).endswith(b"200")
        one.process.send_signal(signal.SIGTERM)
        assert one.process.wait(30) == 0
        watching.close()
