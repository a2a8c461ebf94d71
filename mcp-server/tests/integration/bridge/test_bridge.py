"""The bridge hands one client on to a server over HTTP, whatever becomes of that server."""

import json
import os
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from web_server import EchoServer, web_server

from mdvec_mcp.bridge.bridge import forward_stdio, self_contained_headers

META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
}
HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}
TOKEN = "0123456789abcdef"


class Wire:
    """The client's end of a bridge."""

    def __init__(self, url, token):
        source, write = os.pipe()
        read, target = os.pipe()
        self._out = os.fdopen(write, "w", encoding="utf-8")
        self._in = os.fdopen(read, encoding="utf-8")
        self._ends = source, target
        self._thread = threading.Thread(
            target=forward_stdio, args=(url, token, source, target, print)
        )
        self._thread.start()

    def send(self, method=None, id_=None, params=None, **more):
        message = {"jsonrpc": "2.0", "method": method, "id": id_, "params": params, **more}
        line = json.dumps({key: value for key, value in message.items() if value is not None})
        self.write(line)

    def write(self, line):
        self._out.write(line + "\n")
        self._out.flush()

    def next(self, *, notices=False):
        """The next message; a notice that a list changed only if asked for."""
        message = json.loads(self._in.readline())
        changed = message.get("method", "").endswith("/list_changed")
        return message if notices or not changed else self.next()

    def call(self, id_, text, meta=None):
        params = {"name": "echo", "arguments": {"text": text}}
        self.send("tools/call", id_, params | ({"_meta": meta} if meta else {}))
        return self.next()

    def greet(self):
        self.send("initialize", 0, HELLO)
        hello = self.next()
        self.send("notifications/initialized")
        return hello

    def close(self):
        self._out.close()
        self._thread.join()
        self._in.close()
        for end in self._ends:
            os.close(end)


@contextmanager
def bridge(url, token=None):
    wire = Wire(url, token)
    try:
        yield wire
    finally:
        wire.close()


def said(answer):
    return answer["id"], answer["result"]["content"][0]["text"]


def test_a_client_of_each_generation_is_answered():
    with web_server(token=TOKEN) as url, bridge(url, TOKEN) as wire:
        assert wire.greet()["result"]["protocolVersion"] == "2025-11-25"
        assert said(wire.call(1, "水\u2028道")) == (1, "水\u2028道")
        assert said(wire.call("b", "水", META)) == ("b", "水")
        wire.write("{")
        assert wire.next()["error"]["code"] == -32700


def test_a_client_is_asked_to_read_the_lists_when_its_stream_opens_as_nobody_told_it_before():
    with web_server() as url, bridge(url) as wire:
        wire.greet()
        assert wire.next(notices=True)["method"] == "notifications/tools/list_changed"


def test_a_restarted_server_gets_a_new_session_without_the_clients_help():
    with web_server() as url, bridge(url) as wire:
        first = url
        wire.greet()
        assert said(wire.call(1, "a")) == (1, "a")
    port = int(first.rpartition(":")[2].removesuffix("/mcp"))
    with bridge(first) as wire:
        with web_server(port=port):
            wire.greet()
        answer = wire.call(1, "a")
        assert (answer["id"], answer["error"]["code"]) == (1, -32000)
        assert answer["error"]["message"].startswith(f"no mdvec server answers at {first}; start")
        with web_server(port=port):
            assert said(wire.call(2, "b")) == (2, "b")


@pytest.mark.parametrize("meta", [None, META])
def test_progress_comes_through_and_a_cancelled_call_ends_on_the_server(meta):
    server = EchoServer()
    with web_server(server) as url, bridge(url) as wire:
        wire.greet()
        params = {"name": "wait", "arguments": {}, "_meta": {"progressToken": 5, **(meta or {})}}
        wire.send("tools/call", 7, params)
        assert wire.next()["params"]["progressToken"] == 5
        wire.send("notifications/cancelled", None, {"requestId": 7})
        assert server.cancelled.wait(30)


def test_a_wrong_token_is_explained():
    with web_server(token=TOKEN) as url, bridge(url) as wire:
        wire.send("initialize", 0, HELLO)
        assert "refuses this token; give it with --token-file" in wire.next()["error"]["message"]


class Page(BaseHTTPRequestHandler):
    """Answers with a long page, or a long text, as a server that is not mdvec's does."""

    def do_POST(self):
        if self.path == "/page":
            self.send_error(403, explain="<p>\n" * 1_000)
            return
        self.send_response(421)
        self.send_header("Content-Type", "text/plain")
        self.end_headers()
        self.wfile.write(b"Not\nhere. " * 1_000)

    def log_message(self, *_):
        """Print nothing."""


@pytest.mark.parametrize(("path", "status"), [("page", "403"), ("text", "421 (Not here. Not")])
def test_an_address_that_is_not_mdvecs_is_told_in_one_short_line(path, status):
    with HTTPServer(("127.0.0.1", 0), Page) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}/{path}"
        with bridge(url) as wire:
            wire.send("initialize", 0, HELLO)
            told = wire.next()["error"]["message"]
        server.shutdown()
    assert told.startswith(f"the server at {url} answers {status}")
    assert told.endswith("; check the address")
    assert "<" not in told
    assert ("\n" in told, len(told) < 400) == (False, True)


def test_headers_repeat_what_a_message_carries():
    message = {"method": "tools/call", "params": {"name": "水", "_meta": META}}
    assert self_contained_headers(message) == {
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "tools/call",
        "Mcp-Name": "=?base64?5rC0?=",
    }
    assert self_contained_headers({"method": "tools/call", "params": {"name": "水"}}) is None
