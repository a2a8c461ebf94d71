"""The bridge: forwards messages between STDIO and a running server, over HTTP."""

from __future__ import annotations

import base64
import io
import itertools
import json
import os
import re
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any
from urllib.parse import urlsplit

import httpx2
from mdvec.text import on_one_line, shortened

from mdvec_mcp.envelope import error_reply, reply_to_unusable, without_lone_surrogates

VERSION = "MCP-Protocol-Version"
SESSION = "Mcp-Session-Id"
_VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
_NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
_PLAIN = re.compile(r"(?!=\?base64\?)[!-~]([ -~]*[!-~])?")
Message = dict[str, Any]
_CONNECT_SECONDS = 5.0
_LEAVE_SECONDS = 0.5
_JSON, _STREAM = "application/json", "text/event-stream"
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}
_RENEWAL = "mdvec-bridge-renewal"
_LISTS = ("tools", "resources", "prompts")
_NO_ANSWER = -32000
_END_SECONDS = 0.5
_MAX_REASON = 200
_FIRST_WAIT_SECONDS, _MAX_WAIT_SECONDS = 0.25, 5.0


def self_contained_headers(message: dict[str, Any]) -> dict[str, str] | None:
    """The headers of a message that states its protocol version (since 2026-07-28); else None."""
    params = message.get("params") or {}
    meta = params.get("_meta")
    version = meta.get(_VERSION_KEY) if isinstance(meta, dict) else None
    if not isinstance(version, str):
        return None
    method = message["method"]
    headers = {VERSION: _header_value(version), "Mcp-Method": _header_value(method)}
    name = params.get(_NAMED.get(method, ""))
    if isinstance(name, str):
        headers["Mcp-Name"] = _header_value(name)
    return headers


def _header_value(value: str) -> str:
    """A header's value, in MCP's Base64 form unless it is plain ASCII."""
    if _PLAIN.fullmatch(value):
        return value
    return f"=?base64?{base64.b64encode(value.encode()).decode()}?="


class ServerUnusable(Exception):
    """The server did not answer, or refused; the message is for the client's user."""


class SessionExpired(Exception):
    """The server no longer knows the session: the session timed out, or the server restarted."""


class Remote:
    """A server at a URL. Thread-safe."""

    def __init__(self, url: str, token: str | None) -> None:
        self.url = url
        bearer = {} if token is None else {"Authorization": f"Bearer {token}"}
        self._client = httpx2.Client(
            headers={"Accept": f"{_JSON}, {_STREAM}", **bearer},
            timeout=httpx2.Timeout(None, connect=_CONNECT_SECONDS),
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=4),
            trust_env=urlsplit(url).hostname not in _LOOPBACK,  # no proxy for a local server
        )
        self._initialize_request: Message | None = None
        self.session: dict[str, str] = {}  # its headers
        self._capabilities: dict[str, Any] = {}
        self._open: dict[object, socket.socket] = {}
        self._renewing = threading.Lock()

    @property
    def list_changes(self) -> list[str]:
        """The methods of the notifications that the server sends when its lists change."""
        return [
            _one_line({"jsonrpc": "2.0", "method": f"notifications/{name}/list_changed"})
            for name in _LISTS
            if (self._capabilities.get(name) or {}).get("listChanged")
        ]

    def begin(self, initialize_request: Message) -> str | None:
        """Send the client's `initialize`, remember the session and return the reply, if any."""
        with self._exchange("POST", {}, content=_one_line(initialize_request)) as response:
            answer = next(_texts(response), None)
            id_ = response.headers.get(SESSION)
        result = json.loads(answer or "{}").get("result", {})
        known = {SESSION: id_, VERSION: result.get("protocolVersion")}
        self._capabilities = result.get("capabilities") or {}
        self._initialize_request = initialize_request
        self.session = {name: value for name, value in known.items() if value is not None}
        return answer

    def renew(self, expired: dict[str, str]) -> None:
        """Begin a new session to replace the expired one, unless another thread already has.

        Raises:
            ServerUnusable: the server does not begin a session.
        """
        with self._renewing:
            if self.session is expired and self._initialize_request is not None:
                self.begin({**self._initialize_request, "id": _RENEWAL})
                self.notify(_INITIALIZED, self.session)

    def notify(self, message: Message, headers: dict[str, str]) -> None:
        """Send a notification or a response, which has no reply."""
        with self.responses(message, headers):
            pass

    @contextmanager
    def responses(self, message: Message, headers: dict[str, str]) -> Iterator[Iterator[str]]:
        """Send a message; yields an iterator over the messages in reply, as they arrive.

        Raises:
            ServerUnusable: there is no reply.
            SessionExpired: the session of ``headers`` has expired.
        """
        key = object() if SESSION in headers else message.get("id")
        with (
            self._exchange("POST", headers, content=_one_line(message)) as response,
            self._held_open(key, response),
        ):
            yield _texts(response)

    def hang_up(self, id_: object) -> bool:
        """Cancel a request without a session by closing its connection; returns whether it did."""
        waiting = self._open.get(id_)
        if waiting is not None:
            with suppress(OSError):  # it may already have ended
                waiting.shutdown(socket.SHUT_RDWR)
        return waiting is not None

    @contextmanager
    def notices(self, headers: dict[str, str]) -> Iterator[Iterator[str]]:
        """Yields an iterator over the messages that the server sends on its own in a session."""
        with self._exchange("GET", headers) as response, self._held_open(self, response):
            yield _texts(response)

    def leave(self) -> None:
        """End the session, if there is one, and all waiting requests."""
        if SESSION in self.session:
            with suppress(httpx2.HTTPError):  # an idle session times out anyway
                self._client.delete(self.url, headers=self.session, timeout=_LEAVE_SECONDS)
        for key in list(self._open):
            self.hang_up(key)

    def close(self) -> None:
        """Close the idle connections."""
        self._client.close()

    @contextmanager
    def _held_open(self, key: object, response: httpx2.Response) -> Iterator[None]:
        """Register the connection, so that another thread can hang up."""
        self._open[key] = response.extensions["network_stream"].get_extra_info("socket")
        try:
            yield
        finally:
            self._open.pop(key, None)

    @contextmanager
    def _exchange(
        self, method: str, headers: dict[str, str], content: str | None = None
    ) -> Iterator[httpx2.Response]:
        sent = {**headers, "Content-Type": _JSON} if content is not None else headers
        try:
            with self._client.stream(method, self.url, headers=sent, content=content) as response:
                self._check(response, headers)
                yield response
        except httpx2.ConnectError as error:
            address = httpx2.URL(self.url)
            at = f" {address.netloc.decode()}" if address.port else ""
            raise ServerUnusable(
                f"no mdvec server answers at {self.url}; start it with: mdvec-mcp --http{at}, "
                "or permanently with: mdvec service install"
            ) from error
        except httpx2.HTTPError as error:
            raise ServerUnusable(
                f"the connection to {self.url} broke ({error}); ask again"
            ) from error

    def _check(self, response: httpx2.Response, headers: dict[str, str]) -> None:
        """Raise an error unless the response is a reply, which may be an error in JSON."""
        if response.status_code == 404 and SESSION in headers:
            raise SessionExpired
        if response.status_code == 401:
            raise ServerUnusable(
                f"the server at {self.url} refuses this token; give it with --token-file, "
                "or as MDVEC_SERVER_TOKEN"
            )
        kind = response.headers.get("content-type", "")
        if response.is_error and not kind.startswith(_JSON):
            status = str(response.status_code)
            text = on_one_line(response.read().decode(errors="replace")).strip()
            if text and not text.startswith("<"):  # a page of HTML tells a person nothing
                status += f" ({shortened(text, _MAX_REASON)})"
            raise ServerUnusable(f"the server at {self.url} answers {status}; check the address")


def _texts(response: httpx2.Response) -> Iterator[str]:
    """The messages in a response, each on one line."""
    if response.headers.get("content-type", "").startswith(_STREAM):
        for event in httpx2.EventSource(response, max_event_size=None):
            if event.data:
                yield _one_line(json.loads(event.data))
    elif body := response.read():
        yield _one_line(json.loads(body))


def _one_line(message: object) -> str:
    return json.dumps(message, ensure_ascii=False, separators=(",", ":"))


def forward_stdio(
    url: str, token: str | None, source: int, target: int, say: Callable[[str], object]
) -> None:
    """Forward messages from a client on ``source``, and write the replies to ``target``.

    Both are file descriptors; returns when ``source`` ends. ``say`` tells a person what failed.
    """
    bridge = _Bridge(Remote(url, token), os.fdopen(target, "wb", closefd=False), say)
    reader = os.fdopen(source, "rb", closefd=False)
    for line in io.TextIOWrapper(reader, encoding="utf-8", errors="replace"):
        if line.strip():
            bridge.take(without_lone_surrogates(line))
    bridge.end()


class _Bridge:
    """Forwards a client's messages; each request waits for its reply in a separate thread."""

    def __init__(
        self, remote: Remote, target: io.BufferedWriter, say: Callable[[str], object]
    ) -> None:
        self._remote = remote
        self._say = say
        self._target = target
        self._writing = threading.Lock()
        self._ended = threading.Event()
        self._renewed = threading.Event()
        self._cancelled: set[str | int] = set()
        self._threads: set[threading.Thread] = set()

    def take(self, line: str) -> None:
        """Forward one line from the client."""
        reply = reply_to_unusable(line)
        if reply is not None:
            self._write(reply)
            return
        message: Message = json.loads(line)
        method = message.get("method")
        if method == "initialize":
            self._answer(message)
        elif method is not None and "id" in message:
            self._in_background(self._answer, message)
        else:
            self._notify(message)

    def end(self) -> None:
        """End the session because the client is gone."""
        self._ended.set()
        self._renewed.set()
        self._remote.leave()
        for thread in list(self._threads):
            thread.join(_END_SECONDS)
        self._remote.close()

    def _notify(self, message: Message) -> None:
        """Forward a notification or a response, which has no reply."""
        cancelled = _cancelled_by(message)
        if cancelled is not None:
            self._cancelled.add(cancelled)
            if self._remote.hang_up(cancelled):
                return
        headers = self_contained_headers(message) if "method" in message else None
        session = self._remote.session
        try:
            self._remote.notify(message, session if headers is None else headers)
        except SessionExpired:
            return  # a notification about a session that has ended can be dropped
        except ServerUnusable as error:
            self._say(str(error))
            return
        if message.get("method") == "notifications/initialized":
            self._in_background(self._relay_notices)

    def _answer(self, request: Message) -> None:
        """Forward a request, and write its replies, or an error if there are none."""
        try:
            answered = self._ask(request)
        except ServerUnusable as error:
            answered = request["id"] in self._cancelled or self._refuse(request, str(error))
        if not answered:
            self._refuse(request, f"the server at {self._remote.url} gave no answer; ask again")
        self._cancelled.discard(request["id"])

    def _refuse(self, request: Message, sentence: str) -> bool:
        self._say(sentence)
        self._write(error_reply(request["id"], _NO_ANSWER, sentence))
        return True

    def _ask(self, request: Message) -> bool:
        """Send a request and write all replies; begins a new session if the old one has expired.

        Returns whether its response is among them.
        """
        if request["method"] == "initialize":
            answer = self._remote.begin(request)
            return answer is not None and self._write_answer(answer, request["id"])
        headers = self_contained_headers(request)
        if headers is not None:
            return self._ask_with(headers, request)
        session = self._remote.session
        try:
            return self._ask_with(session, request)
        except SessionExpired:
            self._remote.renew(session)
            self._renewed.set()
        try:
            return self._ask_with(self._remote.session, request)
        except SessionExpired as error:
            raise ServerUnusable(
                f"the server at {self._remote.url} keeps no session; start it again"
            ) from error

    def _ask_with(self, headers: dict[str, str], request: Message) -> bool:
        answered = False
        with self._remote.responses(request, headers) as texts:
            for text in texts:
                answered = self._write_answer(text, request["id"]) or answered
        return answered

    def _write_answer(self, text: str, id_: str | int) -> bool:
        """Write a message, correcting a response's id; returns whether it is the response."""
        message = json.loads(text)
        if "method" in message:
            self._write(text)
            return False
        if message.get("id") != id_:
            text = json.dumps({**message, "id": id_}, ensure_ascii=False)
        self._write(text)
        return True

    def _relay_notices(self) -> None:
        """Write the messages that the server sends on its own, and reconnect after restarts.

        Notifications are lost while no stream is open, so whenever a stream opens, the client is
        told that all lists have changed.
        """
        wait = _FIRST_WAIT_SECONDS
        while not self._ended.is_set():
            self._renewed.clear()
            session = self._remote.session
            try:
                with self._remote.notices(session) as texts:
                    wait = _FIRST_WAIT_SECONDS
                    for text in itertools.chain(self._remote.list_changes, texts):
                        self._write(text)
            except SessionExpired:
                if self._renew(session):
                    continue
            except ServerUnusable:
                wait = min(2 * wait, _MAX_WAIT_SECONDS)
            self._renewed.wait(wait)

    def _renew(self, session: dict[str, str]) -> bool:
        """Begin a new session; returns whether there is one."""
        try:
            self._remote.renew(session)
        except ServerUnusable as error:
            self._say(str(error))
            return False
        return self._remote.session is not session

    def _in_background(self, work: Callable[..., None], *arguments: object) -> None:
        def run() -> None:
            work(*arguments)
            self._threads.discard(threading.current_thread())

        thread = threading.Thread(target=run, daemon=True)
        self._threads.add(thread)
        thread.start()

    def _write(self, text: str) -> None:
        with self._writing:
            self._target.write(f"{text}\n".encode())
            self._target.flush()


def _cancelled_by(message: Message) -> str | int | None:
    """The id of the request that a notification cancels, or None."""
    if message.get("method") != "notifications/cancelled":
        return None
    id_ = (message.get("params") or {}).get("requestId")
    return id_ if isinstance(id_, str | int) else None
