"""The web application over a real port: sessions, limits, unusable messages, health."""

import json
import time
from contextlib import contextmanager

import anyio
import anyio.from_thread
import httpx2
import pytest
from fixed_offer import FixedOffer
from mcp.server.subscriptions import PromptsListChanged, ResourcesListChanged, ToolsListChanged
from mdvec import __version__
from starlette.responses import PlainTextResponse
from table_of_cases import each
from web_server import NO_LIMITS, EchoServer, web_server

from mdvec_mcp.web.serve import GracefulShutdown, HttpLimits

SECONDS = 30
BOTH = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


@contextmanager
def serving(limits=NO_LIMITS, token=None):
    """A client of a server that has a tool which echoes its text."""
    with (
        web_server(None, limits, token) as url,
        httpx2.Client(base_url=url.removesuffix("/mcp"), trust_env=False) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def client():
    with serving() as client:
        yield client


def post(client, body, **headers):
    content = body if isinstance(body, str | bytes) else None
    json = None if content is not None else body
    return client.post("/mcp", content=content, json=json, headers=BOTH | headers)


def test_health_tells_that_it_is_mdvec(client):
    answer = client.get("/health")
    expected = {"status": "ok", "server": "mdvec", "version": __version__}
    assert (answer.status_code, answer.json()) == (200, expected)


def test_a_session_answers_in_order_of_its_requests(client):
    hello = post(client, HELLO)
    session = {"mcp-session-id": hello.headers["mcp-session-id"]}
    call = {"name": "echo", "arguments": {"text": r"HALF"}}
    body = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}
    text = httpx2.Request("POST", client.base_url, json=body).content.decode()
    answer = post(client, text.replace("HALF", r"\ud83c"), **session)
    assert (hello.status_code, answer.status_code) == (200, 200)
    assert "\ufffd" in answer.text


@each(
    ("body", "code", "id_"),
    [
        ("{", -32700, None),
        (b"\xef\xbb\xbf{}", -32700, None),
        (b"\xff\xfe", -32700, None),
        ([HELLO], -32600, None),
        (HELLO | {"jsonrpc": "1.0"}, -32600, 1),
        (HELLO | {"params": [1]}, -32600, 1),
        (HELLO | {"id": 1.5}, -32600, None),
    ],
)
@each("version", ["2025-06-18", "2026-07-28"])
def test_an_unusable_message_gets_400_and_its_error(client, body, code, id_, version):
    answer = post(client, body, **{"mcp-protocol-version": version})
    assert answer.status_code == 400
    assert (answer.json()["error"]["code"], answer.json()["id"]) == (code, id_)


def test_a_request_that_is_too_long_is_refused_before_it_is_read(client):
    assert post(client, b" " * (NO_LIMITS.max_request_bytes + 1)).status_code == 413


def test_the_gate_stands_before_everything(client):
    assert client.get("/health", headers={"host": "evil.example"}).status_code == 421
    assert post(client, HELLO, origin="https://evil.example").status_code == 403
    with serving(token="0123456789abcdef") as guarded:
        refused = post(guarded, HELLO)
        assert (refused.status_code, refused.headers["www-authenticate"]) == (401, "Bearer")
        assert post(guarded, HELLO, authorization="Bearer 0123456789abcdef").status_code == 200
        assert guarded.get("/health").status_code == 200
        assert guarded.get("/.well-known/oauth-protected-resource").status_code == 404


def test_a_refusal_is_one_line_of_the_log_without_anything_of_the_request(caplog):
    caplog.set_level("INFO", "mdvec")
    with serving(token="0123456789abcdef") as guarded:
        for origin in ("https://evil.example", "null"):
            post(guarded, HELLO, origin=origin)
        post(guarded, HELLO, authorization="Bearer secret")
        guarded.get("/health")
    said = [line for line in caplog.messages if line.startswith("refusal")]
    assert said == [f"refusal program=mdvec-mcp status={status}" for status in (403, 403, 401)]


def test_a_stream_begins_with_what_changed_while_it_was_not_open():
    server = EchoServer()
    offer = FixedOffer(server.offer)
    server.follow(offer)

    def change(*events):
        offer.changes.extend(events)
        deadline = time.monotonic() + SECONDS
        while offer.changes:
            assert time.monotonic() < deadline
            time.sleep(0.01)

    def told(client, session, number):
        with client.stream("GET", "/mcp", headers=BOTH | session, timeout=SECONDS) as stream:
            lines = (line for line in stream.iter_lines() if line.startswith("data: "))
            found = [json.loads(next(lines)[6:])["method"] for _ in range(number)]
        return sorted(found)

    with web_server(server) as url, httpx2.Client(base_url=url.removesuffix("/mcp")) as client:
        hello = post(client, HELLO)
        session = {"mcp-session-id": hello.headers["mcp-session-id"]}
        post(client, {"jsonrpc": "2.0", "method": "notifications/initialized"}, **session)
        change(ToolsListChanged(), ToolsListChanged(), PromptsListChanged())
        expected = ["notifications/prompts/list_changed", "notifications/tools/list_changed"]
        assert told(client, session, 2) == expected
        change(ResourcesListChanged())
        assert told(client, session, 1) == ["notifications/resources/list_changed"]


def test_sessions_are_limited_and_expire_when_nobody_asks():
    with serving(HttpLimits(max_sessions=1)) as client:
        refused = [
            client.post("/mcp", json=HELLO, headers=BOTH | {"accept": "text/html"}),
            client.put("/mcp", json=HELLO, headers=BOTH),
            client.get("/mcp", headers=BOTH),
        ]
        assert [answer.status_code for answer in refused] == [406, 405, 400]  # and take no session
        assert [post(client, HELLO).status_code for _ in range(2)] == [200, 503]
    with serving(HttpLimits(max_sessions=1, session_seconds=0.3)) as client:
        first = post(client, HELLO)
        deadline = time.monotonic() + SECONDS
        while post(client, HELLO).status_code != 200:
            assert time.monotonic() < deadline
        session = {"mcp-session-id": first.headers["mcp-session-id"]}
        ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
        assert post(client, ping, **session).status_code == 404


def test_a_server_that_stops_answers_what_it_has_begun_and_refuses_the_rest():
    async def run():
        begun, go_on = anyio.Event(), anyio.Event()

        async def slow(scope, receive, send):
            begun.set()
            await go_on.wait()
            await PlainTextResponse("done")(scope, receive, send)

        app = GracefulShutdown(slow)
        transport = httpx2.ASGITransport(app=app)
        async with (
            httpx2.AsyncClient(transport=transport, base_url="http://test") as client,
            anyio.create_task_group() as tasks,
        ):
            statuses = []

            async def ask():
                statuses.append((await client.post("/mcp")).status_code)

            tasks.start_soon(ask)
            await begun.wait()
            tasks.start_soon(app.finish, 60)
            await anyio.wait_all_tasks_blocked()
            await ask()
            go_on.set()
        return statuses

    with anyio.from_thread.start_blocking_portal() as portal:
        assert portal.call(run) == [503, 200]
