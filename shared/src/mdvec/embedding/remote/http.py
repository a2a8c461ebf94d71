"""An HTTP client whose answers must be complete within a time, however slowly they arrive."""

from __future__ import annotations

import time
import zlib
from collections.abc import Iterator
from concurrent.futures import Future
from threading import Thread

import httpx2

from mdvec.embedding.remote.answers import EndpointFailure

MAX_ANSWER_BYTES = 256 * 2**20
QUESTION_SECONDS = 10.0
"""How long a question waits for its vector."""
_CONNECT_SECONDS = 10.0
_PART_BYTES = 2**20
_END = "mdvec_end"
_GZIP_OR_ZLIB = 32 + zlib.MAX_WBITS


def http_client(timeout: float, *, is_local: bool) -> httpx2.Client:
    """A client that gives a request up after ``timeout`` seconds, or after the request's own.

    It follows no redirect, which would take texts and key elsewhere. For an endpoint on this
    machine it ignores the proxies in the environment.

    Raises:
        EndpointFailure: the environment names a proxy or certificates that cannot be used.
    """
    try:
        return _Client(
            headers={"Accept-Encoding": "identity"},
            timeout=httpx2.Timeout(timeout, connect=min(timeout, _CONNECT_SECONDS)),
            trust_env=not is_local,
            follow_redirects=False,
            event_hooks={"response": [_bound]},
        )
    # The library's messages may quote a proxy's password.
    except (ImportError, OSError, ValueError, httpx2.InvalidURL) as error:
        raise EndpointFailure(
            f"no connection to an endpoint can be prepared ({type(error).__name__}); check the "
            "variables HTTPS_PROXY, HTTP_PROXY, ALL_PROXY, NO_PROXY, SSL_CERT_FILE and SSL_CERT_DIR"
        ) from None


class _Client(httpx2.Client):
    """Sends each request in a thread, and waits for it no longer than it may take.

    The library's own timeouts begin anew with every byte, and looking up a name has none.
    """

    def send(self, request: httpx2.Request, *args: object, **options: object) -> httpx2.Response:
        limits = request.extensions["timeout"]
        seconds = float(limits["read"])
        request.extensions[_END] = time.monotonic() + seconds
        answer: Future[httpx2.Response] = Future()
        Thread(target=self._answer, args=(answer, request, args, options), daemon=True).start()
        try:
            return answer.result(seconds)
        except TimeoutError:
            message = f"no whole answer in {seconds:g} seconds"
            raise httpx2.ReadTimeout(message, request=request) from None

    def _answer(
        self,
        answer: Future[httpx2.Response],
        request: httpx2.Request,
        args: tuple[object, ...],
        options: dict[str, object],
    ) -> None:
        try:
            answer.set_result(super().send(request, *args, **options))  # type: ignore[arg-type]
        except BaseException as error:  # noqa: BLE001 - raised where it is waited for
            answer.set_exception(error)


def _bound(response: httpx2.Response) -> None:
    """Bound an answer's body; its text is read as UTF-8, whatever encoding it claims to have."""
    response.encoding = "utf-8"
    if isinstance(response.stream, httpx2.SyncByteStream):
        packing = response.headers.pop("content-encoding", "identity").strip().lower()
        response.stream = _Bounded(response.stream, response.request, packing)


class _Bounded(httpx2.SyncByteStream):
    """An answer's body, unpacked, until the request's time is over or the body is too large."""

    def __init__(self, body: httpx2.SyncByteStream, request: httpx2.Request, packing: str) -> None:
        self._body = body
        self._request = request
        self._packing = packing

    def __iter__(self) -> Iterator[bytes]:
        end, size = float(self._request.extensions[_END]), 0
        for part in self._unpacked():
            if time.monotonic() > end:
                raise httpx2.ReadTimeout("the answer is too slow", request=self._request)
            size += len(part)
            if size > MAX_ANSWER_BYTES:
                raise httpx2.ReadError("the answer is too large", request=self._request)
            yield part

    def _unpacked(self) -> Iterator[bytes]:
        """The body's parts; packed ones in small pieces, as a small one may hold gigabytes."""
        if self._packing in ("identity", ""):
            yield from self._body
            return
        if self._packing not in ("gzip", "deflate"):
            raise httpx2.DecodingError("its encoding is not known", request=self._request)
        unpacking = zlib.decompressobj(_GZIP_OR_ZLIB)
        try:
            for part in self._body:
                rest = part
                while rest:
                    yield unpacking.decompress(rest, _PART_BYTES)
                    rest = unpacking.unconsumed_tail
        except zlib.error:
            raise httpx2.DecodingError("it cannot be unpacked", request=self._request) from None

    def close(self) -> None:
        self._body.close()


def transport_reason(error: httpx2.RequestError) -> str:
    """Why no whole answer came, in a few words."""
    said = str(error) or type(error).__name__
    if isinstance(error, httpx2.TimeoutException):
        return f"no answer in time: {said}"
    if isinstance(error, httpx2.ConnectError):
        return f"no connection: {said}"
    return f"the answer broke off: {said}"
