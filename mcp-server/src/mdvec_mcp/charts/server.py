"""Draws charts, as images for the client, and serves them to this machine at local addresses."""

from __future__ import annotations

import asyncio
import base64
import logging
import os
import secrets
import socket
import threading
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from email.utils import formatdate

import uvicorn
from cachetools import TTLCache
from mcp_types import ContentBlock, ImageContent
from mdvec import charts
from mdvec.charts import ImageFormat, Picture, Plot, chosen_size
from mdvec.errors import MdvecError
from mdvec.settings import ChartSettings
from mdvec.sizes import MEGABYTE
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from mdvec_mcp.whole_requests import WholeRequests

logger = logging.getLogger("mdvec")

MAX_CACHE_BYTES = 64 * MEGABYTE
_ID_BYTES = 24  # random, so that an id cannot be guessed
_ENDINGS = {"image/png": "png", "image/jpeg": "jpg", "image/svg+xml": "svg"}
_SVG_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
_PATH = "/api/charts/"
_MAX_NEXT_PORTS = 20
_MAX_PORT = 65535
_BACKLOG = 128
_STOP_SECONDS = 2
_KEEP_ALIVE_SECONDS = 5
_GONE = "グラフが見つかりません。期限切れの場合は、もう一度作成してください。"
_NOT_LOCAL = "このサーバーには 127.0.0.1 または localhost で接続してください。"
_LOCAL_NAMES = ("127.0.0.1", "localhost", "[::1]")
_ADDRESSES = {"localhost": "127.0.0.1"}


class ChartStore:
    """Charts by random ids; when full, it drops the least recently used chart. Thread-safe.

    A chart larger than ``max_bytes``, the limit for all charts together, is not stored.
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

    def get(self, chart_id: str) -> tuple[Picture, float] | None:
        """The chart with this id and its remaining seconds; None if it is unknown or expired."""
        with self._lock:
            stored = self._charts.get(chart_id)
            now = self._clock()
        return None if stored is None else (stored[0], max(stored[1] - now, 0.0))

    def clear(self) -> None:
        """Drop all charts."""
        with self._lock:
            self._charts.clear()

    def __len__(self) -> int:
        with self._lock:
            self._charts.expire()
            return len(self._charts)


@dataclass(frozen=True, slots=True)
class Published:
    """A drawn chart's content blocks and address; if it was not drawn, the reason."""

    blocks: list[ContentBlock]
    url: str | None
    trouble: str = ""


class ChartServerUnavailable(MdvecError):
    """The chart server cannot start; the message says why, in Japanese."""


class ChartServer:
    """An HTTP server in its own thread, which starts with the first chart. Thread-safe.

    It prints nothing: STDOUT belongs to the MCP protocol.
    """

    def __init__(self, settings: ChartSettings) -> None:
        self.store = ChartStore(
            entries=settings.cache_entries, ttl_seconds=settings.cache_ttl_seconds
        )
        self._settings = settings
        self._lock = threading.Lock()
        self._running: _Running | None = None

    def draw(
        self,
        chart: Plot,
        *,
        size: str | None = None,
        image_format: ImageFormat | None = None,
        words: Callable[[str], str] | None = None,
    ) -> Published:
        """Draw and serve a chart, by default in the configured format and size.

        Raises:
            ChartError: the size is out of bounds.
        """
        settings = self._settings
        pixels = chosen_size(size, settings.max_size)
        image_format = image_format or settings.default_format
        try:
            picture = charts.draw(
                chart, pixels, image_format, font_path=settings.font_path, words=words
            )
        except MdvecError as error:
            logger.warning("a chart could not be drawn: %s", error)
            return Published([], None, str(error))
        except Exception as error:  # noqa: BLE001 - the text answers without it
            # The message may contain shops and amounts, so only the type is logged.
            logger.error("a chart could not be drawn (%s)", type(error).__name__)  # noqa: TRY400
            return Published([], None, type(error).__name__)
        blocks: list[ContentBlock] = []
        if image_format != "svg":
            data = base64.b64encode(picture.data).decode("ascii")
            blocks.append(ImageContent(type="image", data=data, mime_type=picture.media_type))
        try:
            return Published(blocks, self.publish(picture))
        except MdvecError as error:
            logger.warning("a chart could not be served: %s", error)
            return Published(blocks, None, "" if blocks else str(error))

    def publish(self, picture: Picture) -> str:
        """Store a chart and return its address for a browser on this machine.

        Raises:
            ChartServerUnavailable: no port is free.
        """
        host, port = self._settings.host, self._start().port
        in_url = f"[{host}]" if ":" in host else host
        return f"http://{in_url}:{port}{_PATH}{self.store.put(picture)}"

    def close(self) -> None:
        """Stop serving, free the port and drop the charts; the next chart restarts the server."""
        with self._lock:
            running, self._running = self._running, None
        if running is not None:
            running.stop()
        self.store.clear()

    def _start(self) -> _Running:
        with self._lock:
            if self._running is None or not self._running.alive:
                listening = _listen(self._settings.host, self._settings.port)
                port = int(listening.getsockname()[1])
                app = chart_app(self.store, port, self._settings.chunk_size)
                self._running = _Running(app, listening, port)
                logger.info("charts are served on port %d", port)
            return self._running


class _Running:
    """A running server: its thread, event loop and port."""

    def __init__(self, app: ASGIApp, listening: socket.socket, port: int) -> None:
        self.port = port
        self._listening = listening  # early clients wait in its queue
        config = uvicorn.Config(
            app, log_config=None, access_log=False, lifespan="off", ws="none",
            server_header=False, timeout_graceful_shutdown=_STOP_SECONDS,
            timeout_keep_alive=_KEEP_ALIVE_SECONDS, http=WholeRequests,
        )  # fmt: skip
        self._server = uvicorn.Server(config)
        # Outside the main thread uvicorn installs no signal handlers.
        self._thread = threading.Thread(target=self._run, name="mdvec-charts", daemon=True)
        self._thread.start()

    @property
    def alive(self) -> bool:
        """Whether its thread is still running."""
        return self._thread.is_alive()

    def stop(self) -> None:
        """End the thread, which frees the port; a busy machine may need longer than this waits."""
        self._server.should_exit = True
        self._thread.join(_STOP_SECONDS * 2)

    def _run(self) -> None:
        with self._listening:
            try:
                asyncio.run(self._server.serve(sockets=[self._listening]))
            except OSError:
                logger.exception("the chart server ended")


def chart_app(store: ChartStore, port: int, chunk_size: int) -> ASGIApp:
    """The web application: serves charts by id, to requests addressed to this machine."""

    async def chart(request: Request) -> Response:
        stored = store.get(request.path_params["chart_id"])
        if stored is None:
            return _refusal(404, _GONE)
        picture, seconds = stored
        headers = _headers(picture, int(seconds))
        if request.method == "HEAD":
            return Response(headers=headers)
        return StreamingResponse(_chunks(picture.data, chunk_size), headers=headers)

    async def missing(_request: Request, _error: Exception) -> Response:
        return _refusal(404, "このアドレスには何もありません。")

    async def not_allowed(_request: Request, _error: Exception) -> Response:
        return _refusal(405, "グラフは GET で取得してください。", {"Allow": "GET, HEAD"})

    app = Starlette(
        routes=[Route(_PATH + "{chart_id}", chart, methods=["GET"])],
        exception_handlers={404: missing, 405: not_allowed},
    )
    app.router.redirect_slashes = False
    return _LocalOnly(app, port)


def _headers(picture: Picture, seconds: int) -> dict[str, str]:
    headers = {
        "Content-Type": picture.media_type,
        "Content-Length": str(len(picture.data)),
        "Content-Disposition": f'inline; filename="chart.{_ENDINGS[picture.media_type]}"',
        # Both headers limit cached copies to the remaining time of the chart.
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


def _refusal(status: int, sentence: str, headers: dict[str, str] | None = None) -> Response:
    """A sentence instead of a chart; clients must not cache it."""
    fixed = {"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store"}
    return PlainTextResponse(sentence + "\n", status, {**fixed, **(headers or {})})


class _LocalOnly:
    """Refuses requests whose Host is not this machine.

    Otherwise a web page could read charts by pointing its own domain here (DNS rebinding).
    """

    def __init__(self, app: ASGIApp, port: int) -> None:
        self._app = app
        self._hosts = frozenset(f"{name}:{port}".encode() for name in _LOCAL_NAMES)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        named = [value.lower() for name, value in scope.get("headers", ()) if name == b"host"]
        if len(named) == 1 and named[0] in self._hosts:
            await self._app(scope, receive, send)
        else:
            await _refusal(421, _NOT_LOCAL)(scope, receive, send)


def _listen(host: str, port: int) -> socket.socket:
    """A socket on the port, or on one of the next ports, or on any free port."""
    last = min(port + _MAX_NEXT_PORTS, _MAX_PORT)
    tried = range(port, last + 1) if port else ()
    for candidate in [*tried, 0]:
        listening = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
        if os.name == "posix":  # on Windows it would let two servers share a port
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
