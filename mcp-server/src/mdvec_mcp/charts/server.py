"""Serves charts to this machine only, at ``http://127.0.0.1:8080/api/charts/{id}``."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
import re
import secrets
import socket
import threading
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from email.utils import formatdate
from typing import Any

import uvicorn
from cachetools import TTLCache
from mdvec.charts import Picture
from mdvec.errors import MdvecError
from mdvec.settings import ChartSettings
from mdvec.sizes import MEGABYTE
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

MAX_CACHE_BYTES = 64 * MEGABYTE
_ID_BYTES = 24  # random, so that an id cannot be guessed


@dataclass(frozen=True, slots=True)
class StoredChart:
    """A chart, and the seconds until it expires."""

    picture: Picture
    seconds: float


class ChartStore:
    """Charts by random ids; when it is full, the least recently used chart is dropped.

    Thread-safe.

    Args:
        entries: the number of charts.
        ttl_seconds: how long each is stored.
        max_bytes: the size of all charts together; a larger chart is not stored.
        clock: the time in seconds.
    """

    def __init__(
        self,
        *,
        entries: int,
        ttl_seconds: float,
        max_bytes: int = MAX_CACHE_BYTES,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._entries = entries
        self._clock = clock
        self._charts: TTLCache[str, tuple[Picture, float]] = TTLCache(
            max_bytes, ttl_seconds, timer=clock, getsizeof=lambda stored: len(stored[0].data)
        )
        self._lock = threading.Lock()

    def put(self, picture: Picture) -> str:
        """Store a chart; return its id."""
        chart_id = secrets.token_urlsafe(_ID_BYTES)
        with self._lock:
            self._charts.expire()
            while len(self._charts) >= self._entries:
                self._charts.popitem()
            if len(picture.data) <= self._charts.maxsize:
                self._charts[chart_id] = picture, self._clock() + self._charts.ttl
        return chart_id

    def get(self, chart_id: str) -> Picture | None:
        """The chart of an id; None if it is unknown or has expired."""
        stored = self.find(chart_id)
        return None if stored is None else stored.picture

    def find(self, chart_id: str) -> StoredChart | None:
        """The chart of an id with its remaining time; None if it is unknown or has expired."""
        with self._lock:
            stored = self._charts.get(chart_id)
            now = self._clock()
        return None if stored is None else StoredChart(stored[0], max(stored[1] - now, 0.0))

    def clear(self) -> None:
        """Drop all charts."""
        with self._lock:
            self._charts.clear()

    def __len__(self) -> int:
        with self._lock:
            self._charts.expire()
            return len(self._charts)


_ENDINGS = {"image/png": "png", "image/jpeg": "jpg", "image/svg+xml": "svg"}
_SVG_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
_OUTSIDE = "グラフにその範囲のバイトはありません。"
_ETAG_DIGITS = 32
_RANGE = re.compile(r"bytes=([0-9]{0,18})-([0-9]{0,18})", re.IGNORECASE)


def chart_response(request: Request, stored: StoredChart, chunk_size: int) -> Response:
    """A chart, in chunks; the part that a Range header asks for; or 304 for what the client has."""
    data = stored.picture.data
    etag = f'"{hashlib.sha256(data).hexdigest()[:_ETAG_DIGITS]}"'
    headers = _headers(stored, etag)
    if _names(request, "if-none-match", etag):
        return Response(status_code=304, headers=headers)
    part = None if request.method == "HEAD" else _part(request, etag, len(data))
    if part is None:
        headers["Content-Length"] = str(len(data))
        if request.method == "HEAD":
            return Response(headers=headers)
        return StreamingResponse(_chunks(data, chunk_size), headers=headers)
    if not part:
        return refusal_response(416, _OUTSIDE, {"Content-Range": f"bytes */{len(data)}"})
    headers["Content-Length"] = str(len(part))
    headers["Content-Range"] = f"bytes {part[0]}-{part[-1]}/{len(data)}"
    body = _chunks(data[part.start : part.stop], chunk_size)
    return StreamingResponse(body, 206, headers)


def refusal_response(status: int, sentence: str, headers: dict[str, str] | None = None) -> Response:
    """A sentence instead of a chart, which no client may keep."""
    fixed = {"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store"}
    return PlainTextResponse(sentence + "\n", status, {**fixed, **(headers or {})})


def _part(request: Request, etag: str, length: int) -> range | None:
    """The part that is asked for; None if it is the whole, or of another version."""
    ranges = request.headers.getlist("range")
    condition = request.headers.get("if-range")
    if len(ranges) != 1 or condition not in (None, etag):
        return None
    return part_of(ranges[0], length)


def _names(request: Request, header: str, etag: str) -> bool:
    """Whether a header names this version, or any."""
    named = {tag.strip().removeprefix("W/") for tag in request.headers.get(header, "").split(",")}
    return bool(named & {etag, "*"})


def _headers(stored: StoredChart, etag: str) -> dict[str, str]:
    picture, seconds = stored.picture, int(stored.seconds)
    headers = {
        "Content-Type": picture.media_type,
        "Content-Disposition": f'inline; filename="chart.{_ENDINGS[picture.media_type]}"',
        "Accept-Ranges": "bytes",
        "ETag": etag,
        # No copy outlives the chart: both say its remaining time.
        "Cache-Control": f"private, max-age={seconds}",
        "Expires": formatdate(time.time() + seconds, usegmt=True),
        "X-Content-Type-Options": "nosniff",
        "Cross-Origin-Resource-Policy": "same-origin",
    }
    if picture.media_type == "image/svg+xml":
        headers["Content-Security-Policy"] = _SVG_POLICY
    return headers


async def _chunks(data: bytes, size: int) -> AsyncIterator[bytes]:
    for start in range(0, len(data), size):
        yield data[start : start + size]


def part_of(header: str, length: int) -> range | None:
    """The bytes that a Range header asks for, of ``length``; an empty range if there are none.

    None is the whole: of several ranges, of other units, and of what is not a range. The standard
    allows that, and no reader of pictures asks for several.
    """
    match = _RANGE.fullmatch(header.strip())
    if match is None or match[1] == match[2] == "":
        return None
    if not match[1]:
        return range(max(length - int(match[2]), 0), length)
    first, last = int(match[1]), int(match[2] or length)
    if match[2] and last < first:
        return None
    return range(first, min(last + 1, length)) if first < length else range(0)


MAX_CONNECTIONS = 100
REQUEST_SECONDS = 10.0
"""A connection is closed if it has no request after this long."""
_MAX_ROUNDS = 3  # how often that is checked of a connection with requests before it is closed


class TimedConnection(H11Protocol):
    """An HTTP/1.1 connection that is closed when it is idle, or when there are too many.

    A connection beyond MAX_CONNECTIONS closes the oldest idle one, or the oldest of all if none
    is idle. So a client that opens many sockets and sends nothing loses its own.
    """

    timeout_seconds = REQUEST_SECONDS

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept the connection, and close another if there are too many."""
        super().connection_made(transport)
        self.since = self.loop.time()
        self._rounds = 0
        self._start_timer()
        if len(self.connections) > MAX_CONNECTIONS:
            # All are of this class: web sockets are not served.
            others: Any = self.connections - {self}
            min(others, key=lambda other: (other.is_answering, other.since)).abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer."""
        self._timer.cancel()
        super().connection_lost(exc)

    @property
    def is_answering(self) -> bool:
        """Whether a request is being answered."""
        cycle: RequestResponseCycle | None = self.cycle
        return cycle is not None and not cycle.response_complete

    def abort(self) -> None:
        """Close the connection at once, without sending what is left."""
        self.connections.discard(self)
        self.transport.abort()

    def _start_timer(self) -> None:
        self._timer = self.loop.call_later(self.timeout_seconds, self._check)

    def _check(self) -> None:
        self._rounds += 1
        if self.is_answering and self._rounds < _MAX_ROUNDS:
            self._start_timer()
        else:
            self.abort()


logger = logging.getLogger("mdvec")

_PATH = "/api/charts/"
_MAX_NEXT_PORTS = 20
_MAX_PORT = 65535
_BACKLOG = 128
_START_SECONDS = 10.0
_STOP_SECONDS = 2
_KEEP_ALIVE_SECONDS = 5
_GONE = "グラフが見つかりません。期限切れの場合は、もう一度作成してください。"
_NOT_LOCAL = "このサーバーには 127.0.0.1 または localhost で接続してください。"
_LOCAL_NAMES = ("127.0.0.1", "localhost", "[::1]")
_ADDRESSES = {"localhost": "127.0.0.1"}


class ChartServerUnavailable(MdvecError):
    """The chart server cannot start; the message says why, in Japanese."""


class ChartServer:
    """An HTTP server in its own thread, which starts with the first chart.

    Thread-safe. It prints nothing: STDOUT belongs to the MCP protocol.

    Args:
        settings: the address, and the limits of the cache.
        connection: the class of its connections.
    """

    def __init__(
        self, settings: ChartSettings, connection: type[TimedConnection] = TimedConnection
    ) -> None:
        self.store = ChartStore(
            entries=settings.cache_entries, ttl_seconds=settings.cache_ttl_seconds
        )
        self._settings = settings
        self._connection = connection
        self._lock = threading.Lock()
        self._running: _Running | None = None

    def publish(self, picture: Picture) -> str:
        """Store a chart and return its address for a browser on this machine.

        Raises:
            ChartServerUnavailable: no port is free.
        """
        self._started()
        return self.url_for(self.store.put(picture))

    def url_for(self, chart_id: str) -> str:
        """The address of a chart; starts the server if it is not running."""
        return f"http://{_in_url(self._settings.host)}:{self._started().port}{_PATH}{chart_id}"

    def close(self) -> None:
        """Stop serving, free the port and drop the charts; the next chart starts it again."""
        with self._lock:
            running, self._running = self._running, None
        if running is not None:
            running.stop()
        self.store.clear()

    def _started(self) -> _Running:
        with self._lock:
            if self._running is None or not self._running.alive:
                listening = _listen(self._settings.host, self._settings.port)
                port = int(listening.getsockname()[1])
                app = chart_app(self.store, port, self._settings.chunk_size)
                self._running = _Running(app, listening, port, self._connection)
                logger.info("charts are served on port %d", port)
            return self._running


class _Running:
    """A running server: its thread, event loop and port."""

    def __init__(
        self, app: ASGIApp, listening: socket.socket, port: int, connection: type[TimedConnection]
    ) -> None:
        self.port = port
        self._listening = listening
        self._ready = threading.Event()
        config = uvicorn.Config(
            app, log_config=None, access_log=False, lifespan="off", ws="none",
            server_header=False, timeout_graceful_shutdown=_STOP_SECONDS,
            timeout_keep_alive=_KEEP_ALIVE_SECONDS, http=connection,
        )  # fmt: skip
        self._server = _SignallingServer(config, self._ready)
        # Outside the main thread uvicorn installs no signal handlers.
        self._thread = threading.Thread(target=self._run, name="mdvec-charts", daemon=True)
        self._thread.start()
        if not self._ready.wait(_START_SECONDS) or not self._server.started:
            self.stop()
            raise ChartServerUnavailable("グラフ配信サーバーを起動できませんでした。")

    @property
    def alive(self) -> bool:
        """Whether its thread is still running."""
        return self._thread.is_alive()

    def stop(self) -> None:
        """End the thread and free the port."""
        self._server.should_exit = True
        self._thread.join(_STOP_SECONDS * 2)
        self._listening.close()

    def _run(self) -> None:
        try:
            asyncio.run(self._server.serve(sockets=[self._listening]))
        except OSError:
            logger.exception("the chart server ended")
        finally:
            self._ready.set()


class _SignallingServer(uvicorn.Server):
    """Sets an event once it listens."""

    def __init__(self, config: uvicorn.Config, ready: threading.Event) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._ready.set()


def chart_app(store: ChartStore, port: int, chunk_size: int) -> ASGIApp:
    """The web application: serves charts by id, to requests addressed to this machine."""

    async def chart(request: Request) -> Response:
        stored = store.find(request.path_params["chart_id"])
        if stored is None:
            return refusal_response(404, _GONE)
        return chart_response(request, stored, chunk_size)

    async def missing(_request: Request, _error: Exception) -> Response:
        return refusal_response(404, "このアドレスには何もありません。")

    async def not_allowed(_request: Request, _error: Exception) -> Response:
        return refusal_response(405, "グラフは GET で取得してください。", {"Allow": "GET, HEAD"})

    app = Starlette(
        routes=[Route(_PATH + "{chart_id}", chart, methods=["GET"])],
        exception_handlers={404: missing, 405: not_allowed},
    )
    app.router.redirect_slashes = False
    return _LocalOnly(app, port)


class _LocalOnly:
    """Refuses requests whose Host is not this machine.

    Otherwise a web page could read charts by pointing its own domain at it (DNS rebinding).
    """

    def __init__(self, app: ASGIApp, port: int) -> None:
        self._app = app
        self._hosts = frozenset(f"{name}:{port}".encode() for name in _LOCAL_NAMES)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        named = [value.lower() for name, value in scope.get("headers", ()) if name == b"host"]
        if len(named) == 1 and named[0] in self._hosts:
            await self._app(scope, receive, send)
        else:
            await refusal_response(421, _NOT_LOCAL)(scope, receive, send)


def _listen(host: str, port: int) -> socket.socket:
    """A socket on the port, or on one of the next ports, or on any free port."""
    last = min(port + _MAX_NEXT_PORTS, _MAX_PORT)
    tried = range(port, last + 1) if port else ()
    for candidate in [*tried, 0]:
        listening = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
        if os.name == "posix":  # elsewhere it would let two servers have one port
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((_ADDRESSES.get(host, host), candidate))
            listening.listen(_BACKLOG)
        except OSError as error:
            listening.close()
            failure = error
        else:
            return listening
    raise ChartServerUnavailable(
        f"グラフ配信サーバーのポートを確保できません（{failure.strerror}）。"
    ) from failure


def _in_url(host: str) -> str:
    return f"[{host}]" if ":" in host else host
