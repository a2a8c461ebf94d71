"""An HTTP client whose answers must be whole within a time, however slowly they drip in."""

from __future__ import annotations

import time
from collections.abc import Iterator

import httpx2

MAX_ANSWER_BYTES = 256 * 2**20
QUESTION_SECONDS = 10.0
"""How long a question waits for its vector."""
_CONNECT_SECONDS = 10.0
_END = "mdvec_end"


def http_client(timeout: float, *, is_local: bool) -> httpx2.Client:
    """A client that gives a request up after ``timeout`` seconds, or after the request's own.

    It follows no redirect, which would take texts and key elsewhere. For an endpoint on this
    machine it ignores the proxies in the environment.
    """

    def begin(request: httpx2.Request) -> None:
        seconds = request.extensions["timeout"]["read"] or timeout
        request.extensions[_END] = time.monotonic() + seconds

    def bound(response: httpx2.Response) -> None:
        if isinstance(response.stream, httpx2.SyncByteStream):
            response.stream = _Bounded(response.stream, response.request)

    return httpx2.Client(
        timeout=httpx2.Timeout(timeout, connect=min(timeout, _CONNECT_SECONDS)),
        trust_env=not is_local,
        follow_redirects=False,
        event_hooks={"request": [begin], "response": [bound]},
    )


class _Bounded(httpx2.SyncByteStream):
    """An answer's body, until the request's time is over or the body is too large."""

    def __init__(self, body: httpx2.SyncByteStream, request: httpx2.Request) -> None:
        self._body = body
        self._request = request

    def __iter__(self) -> Iterator[bytes]:
        end, size = float(self._request.extensions[_END]), 0
        for part in self._body:
            if time.monotonic() > end:
                raise httpx2.ReadTimeout("the answer is too slow", request=self._request)
            size += len(part)
            if size > MAX_ANSWER_BYTES:
                raise httpx2.ReadError("the answer is too large", request=self._request)
            yield part

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
