"""The page, attacked from within its data and from without."""

import csv
import html
import io
import re
import signal
from collections import Counter, deque
from urllib.parse import parse_qs, urlsplit

import pytest
from hostile import harm_in, text_in
from hostile_folder import NAMES, hostile_database
from mdvec.manage.page_server import page_key
from page_site import Site, page_site, post, token_of, wait_until
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
def attacked(tmp_path_factory, kept_caches, model_use):
    """A site over a hostile database, for a user whose home is full of hostile names."""
    folder = tmp_path_factory.mktemp("attacked")
    log = folder / "mdvec.log"
    log.write_text("\n".join(NAMES))
    home = folder / "home"
    for name in NAMES:
        (home / name.replace("/", "_")).mkdir(parents=True)
    (home / "out").symlink_to(folder / "notes")
    kept_caches(home)
    settings = {"log": {"file": str(log)}, "analytics": {"folder": str(folder / "exports")}}
    with pytest.MonkeyPatch.context() as patch:
        for name in ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
            patch.setenv(name, str(home))
        with page_site(hostile_database(folder), lambda _: model_use, **settings) as site:
            yield site


@pytest.fixture(scope="module")
def client(attacked):
    with attacked.client() as client:
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
def test_no_view_that_can_be_reached_acts_or_fails(client, most):
    paths, wrong, seen = set(), [], ""
    for address, answer in reached(client, most):
        paths.add(urlsplit(address).path)
        wrong += [(address, one) for one in harm_of(answer)]
        if answer.status_code >= 500:
            wrong.append((address, answer.status_code))
        if answer.headers["content-type"].startswith("text/html"):
            seen += text_in(answer.text)
    assert wrong == []
    assert [one for one in NAMES if one not in seen] == []
    assert paths >= {
        "/document", "/money/categories.csv", "/money/matrix.csv", "/money/chart", "/money/trend",
        "/money/plan/table", "/money/plan/chart", "/review/categories", "/data/table",
        "/tools/folders", "/tools/health",
    }  # fmt: skip


HOSTS = {
    "127.0.0.1": 200, "LOCALHOST": 200, "[::1]": 200, "localhost.": 421, "127.1": 421,
    "2130706433": 421, "127.0.0.1.": 421, "null": 421, "evil.example": 421, "0.0.0.0": 403,
    "[::ffff:127.0.0.1]": 403, "127.0.0.1/static/?": 421, "127.0.0.1#": 421,
    "a@127.0.0.1": 421, "127.0.0.1\\a": 421, "": 421, "127.8.8.8": 200, "192.168.0.2": 403,
    "[": 421,
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


HALVES = [" ".join(NAMES[at::2]) for at in range(2)]
"""All hostile names in two texts, each with a way out of every element and attribute."""
FIELDS = {
    "/": ("q path tags since until where links_to", "tool sort k"),
    "/document": ("", "tool path start"),
    "/money": ("period shop", "category household page"),
    "/money/trend": ("period category", ""),
    "/money/rows": ("q period account category sort edit rule ruled", ""),
    "/money/plan": ("subject", "worth per amount before"),
    "/money/accounts": ("year", "period"),
    "/review/categories": ("set again", "category"),
    "/data": ("sql p.x", "chart"),
    "/data/table": ("", "name column"),
    "/tools": ("folder", ""),
    "/tools/folders": ("", "at"),
}
"""The fields of each view's address: those whose text is whole in the answer, and the others."""
ASKED = [
    (path, field, is_whole)
    for path, (whole, others) in FIELDS.items()
    for fields, is_whole in ((whole, True), (others, False))
    for field in fields.split()
]


@each(("path", "field", "is_whole"), ASKED)
def test_no_word_in_an_address_acts_or_fails(client, path, field, is_whole):
    for part in HALVES:
        beside = {"again": {"category": part}, "p.x": {"sql": "SELECT $x"}}.get(field, {})
        answer = client.get(path, params={field: part, **beside})
        assert (answer.status_code < 500, harm_of(answer)) == (True, [])
        assert (part in html.unescape(answer.text)) == is_whole
        if field == "sql":
            quoted = part.replace("'", "''")
            sql = f"SELECT '{quoted}' AS a, 1 AS \"{quoted.replace(chr(34), '')}\""
            shown = client.get(path, params={"sql": sql})
            assert (shown.status_code, harm_of(shown)) == (200, [])


CHANGES = (
    "/look", "/tools/add", "/tools/active", "/tools/reindex", "/tools/stop", "/review/decide",
    "/review/detect", "/review/categories/decide", "/money/plan/budget", "/money/rows/change",
    "/data/export",
)  # fmt: skip


def test_nothing_changes_without_the_token_of_this_session(attacked, client):
    with attacked.client() as other:
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
        for part in HALVES:
            answer = post(client, path, **dict.fromkeys(fields, part))
            assert harm_of(answer) == [], (path, part)
            assert (path, answer.status_code) in ((path, 400), ("/look", 404), ("/look", 200),
                                                  ("/tools/stop", 200))  # fmt: skip


@each(
    "path",
    ["/etc", "out", "~/out", "../", "notes/../..", "a/../../..", "\0", "~root", "//etc", "",
     "x" * 5_000, "／etc"],
)  # fmt: skip
def test_no_folder_outside_the_home_is_added_or_listed(client, path):
    added = post(client, "/tools/add", path=path, name="stolen")
    assert (added.status_code, "within your home" in added.text) == (400, True)
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


def test_codes_and_cookies_stay_out_of_views_and_a_code_is_good_once(attacked):
    code = attacked.key.one_time_code()
    with attacked.client(is_open=False) as client:
        opened = client.get(f"/open?code={code}")
        assert (opened.status_code, code in opened.text) == (200, False)
        assert opened.headers["referrer-policy"] == "same-origin"
        client.get("/nothing")
        shown = client.get("/tools/health").text
        (cookie,) = client.cookies.jar
    assert attacked.status(f"GET /open?code={code} HTTP/1.1\nhost: 127.0.0.1") == 403
    assert code not in shown
    assert cookie.value not in shown
    assert cookie.has_nonstandard_attr("HttpOnly")
    assert cookie.get_nonstandard_attr("SameSite") == "lax"


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


FEW_AND_QUICK = """
from mdvec_mcp.whole_requests import WholeRequests
from mdvec_mcp.web import serve
WholeRequests.arrival_seconds, serve.MAX_CONNECTIONS = 3, 40
from mdvec_mcp.entry import main
main()
"""


def test_half_requests_give_their_places_back_a_window_stops_no_server_and_no_secret_is_logged(
    tmp_path, web
):
    database = tmp_path / "v.sqlite"
    one, url = web(database, code=FEW_AND_QUICK)
    site = Site(url.removesuffix("/mcp"), page_key(database))
    # Not half a form: the page refuses it at once, as there is no cookie.
    held = [site.connect(b"GET / HT"[: 8 * (number % 2)]) for number in range(44)]
    whole = "GET /health HTTP/1.1\nhost: 127.0.0.1"
    assert site.status(whole) == 503
    wait_until(lambda: site.status(whole) == 200)
    for connection in held:
        connection.close()
    with site.client() as client:
        watching = site.connect(watching_request(client))
        assert watching.recv(12).endswith(b"200")
        (cookie,) = client.cookies.values()
    one.process.send_signal(signal.SIGTERM)
    assert one.process.wait(30) == 0
    watching.close()
    one.close()
    assert [one.count(text) for text in ("code=", cookie, "Traceback", "running task")] == [0] * 4
