"""One-time addresses and cookies of the page."""

import stat
import time

import pytest
from mdvec.manage.page_server import CODE_SECONDS, PageKey, PageKeyUnusable, page_key
from starlette.requests import Request
from table_of_cases import each

from mdvec_mcp.web.page.access import Access, is_own

KEY = PageKey(bytes(range(32)))


def request(method="GET", cookie="", **headers):
    given = {"host": "127.0.0.1:8765", "cookie": cookie, **headers}
    raw = [(name.replace("_", "-").encode(), value.encode()) for name, value in given.items()]
    scope = {"type": "http", "method": method, "path": "/", "headers": raw, "scheme": "http"}
    return Request({**scope, "query_string": b"", "server": ("127.0.0.1", 8765)})


@pytest.fixture
def access():
    return Access(KEY, time.time_ns())


def test_a_code_is_good_once(access):
    code = KEY.one_time_code()
    cookie = access.admit(code)
    assert cookie is not None
    assert access.admit(code) is None
    seen = access.session(request(cookie=f"{access.cookie_name}={cookie}"))
    assert seen is not None
    assert access.is_csrf_token(seen, access.csrf_token(seen))
    assert not access.is_csrf_token("other", access.csrf_token(seen))


def code_of(age_seconds, key=KEY):
    text = f"0123.{time.time_ns() - age_seconds * 10**9}"
    return f"{text}.{key.sign('code', text)}"


@each(
    "code",
    ["", ".", "..", "a.1.b", "x" * 10_000, code_of(CODE_SECONDS + 1), code_of(-3600),
     code_of(1, PageKey(bytes(32))), KEY.one_time_code() + "0", KEY.one_time_code()[1:]],
)  # fmt: skip
def test_no_other_code_is(code):
    assert Access(KEY, 0).admit(code) is None


def test_a_code_from_before_the_server_began_may_have_been_used():
    assert Access(KEY, time.time_ns() + 10**9).admit(KEY.one_time_code()) is None


@each(
    "cookie",
    ["", "a", "a.b", "a.9999999999.c", f"a.1.{KEY.sign('cookie', 'a.1')}",
     f"a.9999999999.{KEY.sign('code', 'a.9999999999')}"],
)  # fmt: skip
def test_no_forged_or_old_cookie_opens_the_page(access, cookie):
    assert access.session(request(cookie=f"{access.cookie_name}={cookie}")) is None


@each(
    ("method", "headers", "expected"),
    [
        ("GET", {}, True),
        ("GET", {"sec_fetch_site": "same-origin"}, True),
        ("GET", {"origin": "http://127.0.0.1:8765"}, True),
        ("GET", {"origin": "http://127.0.0.1:3000"}, False),
        ("GET", {"sec_fetch_site": "cross-site", "sec_fetch_mode": "no-cors"}, False),
        ("GET", {"sec_fetch_site": "same-site", "sec_fetch_mode": "cors"}, False),
        ("GET", {"sec_fetch_site": "cross-site", "sec_fetch_mode": "navigate",
                 "sec_fetch_dest": "document"}, True),
        ("GET", {"sec_fetch_site": "cross-site", "sec_fetch_mode": "navigate",
                 "sec_fetch_dest": "iframe"}, False),
        ("POST", {"origin": "http://127.0.0.1:8765"}, True),
        ("POST", {"origin": "http://127.0.0.1:3000"}, False),
        ("POST", {"origin": "null"}, False),
        ("POST", {"sec_fetch_site": "same-site"}, False),
        ("POST", {"sec_fetch_site": "cross-site", "sec_fetch_mode": "navigate",
                  "sec_fetch_dest": "document"}, False),
    ],
)  # fmt: skip
def test_other_pages_may_neither_read_nor_change(method, headers, expected):
    assert is_own(request(method, **headers)) is expected


def test_the_key_is_private_and_stays(tmp_path):
    database = tmp_path / "new" / "v.sqlite"
    key = page_key(database)
    file = tmp_path / "new" / "v.sqlite-page.key"
    assert (page_key(database), stat.S_IMODE(file.stat().st_mode)) == (key, 0o600)
    assert list(file.parent.iterdir()) == [file]
    assert key.id not in file.read_text()


@each("content", ["", "zz", "00"])
def test_a_damaged_key_is_reported(tmp_path, content):
    (tmp_path / "v.sqlite-page.key").write_text(content)
    with pytest.raises(PageKeyUnusable, match="delete it"):
        page_key(tmp_path / "v.sqlite")
