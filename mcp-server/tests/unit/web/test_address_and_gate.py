"""Where a server listens, and which requests pass its gate."""

import pytest
from mdvec.errors import MdvecError
from mdvec.manage.addresses import Address, AddressUnusable, TokenNeeded, parse_address
from mdvec.manage.page_server import TokenUnusable, read_token
from starlette.datastructures import Headers
from table_of_cases import each

from mdvec_mcp.web.gate import Rules, listen, refusal, rules_for

TOKEN = "0123456789abcdef"


@each(
    ("text", "address", "loopback", "url"),
    [
        ("127.0.0.1:8765", Address("127.0.0.1", 8765), True, "http://127.0.0.1:8765/mcp"),
        ("localhost:0", Address("localhost", 0), True, "http://localhost:0/mcp"),
        ("[::1]:80", Address("::1", 80), True, "http://[::1]:80/mcp"),
        ("127.0.0.2:1", Address("127.0.0.2", 1), True, "http://127.0.0.2:1/mcp"),
        ("0.0.0.0:8765", Address("0.0.0.0", 8765), False, "http://0.0.0.0:8765/mcp"),
        ("home.lan:8765", Address("home.lan", 8765), False, "http://home.lan:8765/mcp"),
    ],
)
def test_an_address_is_a_host_and_a_port(text, address, loopback, url):
    assert parse_address(text) == address
    assert (address.is_loopback, address.url) == (loopback, url)


@each("text", ["", "8765", ":8765", "home.lan", "a:99999", "a:b", "a:1/mcp"])
def test_what_is_no_address_is_refused_with_an_example(text):
    with pytest.raises(AddressUnusable, match=r"use host:port, such as 127\.0\.0\.1:8765"):
        parse_address(text)


def test_a_taken_port_is_refused_with_what_to_do():
    listening, address = listen(Address("127.0.0.1", 0))
    with listening, pytest.raises(AddressUnusable, match=r"choose another address with --http$"):
        listen(address)


@each(("host", "names"), [("0.0.0.0", ()), ("home.lan", ()), ("127.0.0.1", ("mdvec.home.lan",))])
def test_a_server_that_others_reach_needs_a_token(host, names):
    with pytest.raises(TokenNeeded, match="--token-file"):
        rules_for(Address(host, 1), names, None)
    assert rules_for(Address(host, 1), names, TOKEN).token == TOKEN


def status(headers: dict[str, str], path: str = "/mcp", token: str | None = None) -> int | None:
    rules = Rules(frozenset({"127.0.0.1", "localhost", "::1", "mdvec.home.lan"}), token)
    refused = refusal(Headers(headers), path, rules)
    return None if refused is None else refused.status_code


@each(
    ("host", "expected"),
    [
        ("127.0.0.1:8765", None), ("localhost", None), ("[::1]:8765", None),
        ("MDVEC.home.lan", None), ("192.168.1.10:8765", None), ("evil.example:8765", 421),
        ("127.0.0.1.evil.example", 421), ("", 421), ("[::1", 421), ("localhost@evil.example", 421),
        ("127.0.0.1/static/?", 421), ("127.0.0.1#", 421), ("localhost\\a", 421),
    ],
)  # fmt: skip
def test_only_names_of_the_server_and_numbers_are_hosts(host, expected):
    assert status({"host": host}) == expected


def test_a_request_has_one_host():
    rules = Rules(frozenset({"localhost"}))
    assert refusal(Headers(), "/mcp", rules).status_code == 421
    two = Headers(raw=[(b"host", b"localhost"), (b"host", b"localhost")])
    assert refusal(two, "/mcp", rules).status_code == 421


@each(
    ("origin", "expected"),
    [
        ("http://localhost:6274", None), ("https://mdvec.home.lan", None),
        ("http://192.168.1.10:8765", 403), ("https://evil.example", 403), ("null", 403),
    ],
)  # fmt: skip
def test_web_pages_of_other_origins_are_kept_out(origin, expected):
    assert status({"host": "localhost", "origin": origin}) == expected


@each(
    ("authorization", "expected"),
    [
        (f"Bearer {TOKEN}", None), (f"bearer  {TOKEN}", None), (f"Bearer {TOKEN}x", 401),
        (TOKEN, 401), (f"Basic {TOKEN}", 401), ("", 401), ("Bearer é", 401),
    ],
)  # fmt: skip
def test_the_token_is_wanted_at_mcp_and_only_there(authorization, expected):
    headers = {"host": "localhost", "authorization": authorization}
    assert status(headers, token=TOKEN) == expected
    assert status(headers, "/health", token=TOKEN) is None


def test_a_token_is_read_from_its_file_and_a_bad_one_is_refused_without_being_shown(tmp_path):
    (tmp_path / "token").write_text(f"{TOKEN}\n")
    (tmp_path / "token").chmod(0o600)
    assert read_token(None, tmp_path / "token") == TOKEN
    assert read_token(TOKEN, tmp_path / "nowhere") == TOKEN
    assert read_token(None, None) is None
    for bad in ("short", f"{TOKEN} {TOKEN}", TOKEN + "é"):
        with pytest.raises(TokenUnusable, match="openssl rand -hex 32") as refused:
            read_token(bad, None)
        assert bad not in str(refused.value)
    with pytest.raises(MdvecError, match="cannot be read"):
        read_token(None, tmp_path / "nowhere")


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o644])
def test_a_token_file_that_others_can_open_is_refused(tmp_path, mode):
    file = tmp_path / "a token"
    file.write_text(TOKEN)
    file.chmod(mode)
    with pytest.raises(TokenUnusable) as refused:
        read_token(None, file)
    assert str(refused.value) == (
        f"other users can open the token file {file} ({mode:04o}); make it yours alone with: "
        f"chmod 600 '{file}'"
    )
