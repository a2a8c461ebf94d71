"""Sends requests to an endpoint within a time limit, with retries, and translates their errors."""

from __future__ import annotations

import email.utils
import logging
import math
import random
import re
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from datetime import UTC, datetime
from threading import Thread
from typing import TypeVar

import httpx2

from mdvec.cancelling import raise_if_cancelled
from mdvec.embedding.endpoint import EndpointFailure, EndpointRefused, Key, TextRefused
from mdvec.embedding.options import RetryOptions
from mdvec.text import on_one_line

MAX_ANSWER_BYTES = 256 * 2**20
QUESTION_SECONDS = 10.0
"""How long a question waits for its vector."""
_CONNECT_SECONDS = 10.0
_PART_BYTES = 2**20
_END = "mdvec_end"
_GZIP_OR_ZLIB = 32 + zlib.MAX_WBITS
T = TypeVar("T")
logger = logging.getLogger("mdvec")
FOR_QUESTIONS = RetryOptions(max_retries=1, base_delay=0.3, max_delay=1.0)
"""Few retries for questions: someone waits, and search also works with words alone."""
FIXED_WORD = "mdvec"
"""The text sent to test an endpoint; it is not from the user."""
_MIN_SHARE = 0.5
"""The minimum seconds of an attempt, even if less time remains."""
TOO_MANY, _OWN_FAULT = 429, 500
_TRANSIENT = {408, 409, 425, TOO_MANY, _OWN_FAULT, 502, 503, 504, 529}
_MAX_REASON = 300
_ABOUT_CONTENT = {400, 413, 422}
_ABOUT_KEY = "api key not valid"
"""Gemini's message about a wrong key, which comes with status 400."""
_GO_ON = "What is embedded already is kept"
_SECONDS = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)s?")


def http_client(timeout: float, *, is_local: bool) -> httpx2.Client:
    """A client that gives up a request after ``timeout`` seconds, or after the request's own limit.

    It follows no redirects, which would take texts and key elsewhere. For an endpoint on this
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
    """Sends each request in a thread, and waits for it only for its time limit.

    The library's own timeouts restart with every byte, and name lookups have none.
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
            message = f"no whole answer in {round(seconds, 1):g} seconds"
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
    """Limit a response's body, and decode it as UTF-8, whatever encoding it claims."""
    response.encoding = "utf-8"
    if isinstance(response.stream, httpx2.SyncByteStream):
        packing = response.headers.pop("content-encoding", "identity").strip().lower()
        response.stream = _Bounded(response.stream, response.request, packing)


class _Bounded(httpx2.SyncByteStream):
    """A decompressed response body that ends with an error if it takes too long or is too large."""

    def __init__(self, body: httpx2.SyncByteStream, request: httpx2.Request, packing: str) -> None:
        self._body = body
        self._request = request
        self._packing = packing

    def __iter__(self) -> Iterator[bytes]:
        end, size = float(self._request.extensions[_END]), 0
        for part in self._unpack():
            if time.monotonic() > end:
                raise httpx2.ReadTimeout("the answer is too slow", request=self._request)
            size += len(part)
            if size > MAX_ANSWER_BYTES:
                raise httpx2.ReadError("the answer is too large", request=self._request)
            yield part

    def _unpack(self) -> Iterator[bytes]:
        """The decompressed body in small parts, as a few compressed bytes may hold gigabytes."""
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
    """Why no complete response came, in a few words."""
    message = str(error) or type(error).__name__
    if isinstance(error, httpx2.TimeoutException):
        return f"no answer in time: {message}"
    if isinstance(error, httpx2.ConnectError):
        return f"no connection: {message}"
    return f"the answer broke off: {message}"


class Transient(Exception):
    """A failure that may pass soon.

    Args:
        wait: how many seconds the endpoint asks to wait; None if it does not say.
        may_be_of_text: whether the text may be the cause: some servers report a bad text with the
            status of an internal error.
    """

    def __init__(
        self, reason: str, wait: float | None = None, *, may_be_of_text: bool = False
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.wait = wait
        self.may_be_of_text = may_be_of_text


def with_retries(
    send: Callable[[Sequence[str], float], T],
    texts: Sequence[str],
    options: RetryOptions,
    host: str,
    seconds: float,
    total: float = math.inf,
) -> T:
    """Call ``send`` with the texts, again while it raises ``Transient``; returns its result.

    ``send`` also gets a time limit: ``seconds``, or what remains of ``total``, the limit of all
    attempts together.

    Raises:
        TextRefused: it kept failing for these texts, but not for one fixed word.
        EndpointFailure: it failed as often as allowed, or the endpoint asks for too long a wait.
    """
    end = time.monotonic() + total
    for attempt in range(options.max_retries + 1):
        raise_if_cancelled()
        left = end - time.monotonic()
        try:
            return send(texts, min(seconds, max(left, _MIN_SHARE)))
        except Transient as failure:
            refused = _why_not_again(
                failure, attempt, options, host, is_over=time.monotonic() >= end
            )
            # Of several texts, the second failure counts as lasting, since the caller then repeats
            # them in halves. A single text gets all attempts.
            is_lasting = refused is not None or (attempt > 0 and len(texts) > 1)
            if (
                is_lasting
                and failure.may_be_of_text
                and options is not FOR_QUESTIONS
                and _answers(send, seconds)
            ):
                raise TextRefused(_refusal(host, failure.reason)) from failure
            if refused is not None:
                raise EndpointFailure(refused) from failure
            wait = _wait(failure, attempt, options)
            logger.debug("[endpoint] %s: %s; again in %.1f s", host, failure.reason, wait)
        time.sleep(wait)
    raise AssertionError("the last attempt returns or raises")


def _answers(send: Callable[[Sequence[str], float], object], seconds: float) -> bool:
    """Whether the endpoint embeds one fixed word."""
    try:
        send([FIXED_WORD], seconds)
    except (Transient, EndpointFailure):
        return False
    return True


def _why_not_again(
    failure: Transient, attempt: int, options: RetryOptions, host: str, *, is_over: bool
) -> str | None:
    if failure.wait is not None and failure.wait > options.max_delay:
        return f"{host} asks to wait {failure.wait:,.0f} seconds ({failure.reason}); try again then"
    if attempt == options.max_retries or is_over:
        attempts = "1 attempt" if attempt == 0 else f"{attempt + 1} attempts"
        return (
            f"{host} did not embed in {attempts} ({failure.reason}); "
            "try again later, or check the address and the network"
        )
    return None


def _wait(failure: Transient, attempt: int, options: RetryOptions) -> float:
    """The seconds to wait: half to all of the growing delay, or more if the endpoint asks."""
    delay = options.base_delay * options.backoff_factor**attempt
    delay *= random.uniform(0.5, 1.0)  # noqa: S311 - only to spread requests
    return min(max(delay, failure.wait or 0.0), options.max_delay)


def failure_of(
    status: int, reason: str, wait: float | None, host: str, key: Key
) -> Transient | EndpointFailure:
    """The error for an unsuccessful response; ``reason`` is the endpoint's own message."""
    message = on_one_line(key.hidden_in(reason)).strip()[:_MAX_REASON] or "no reason given"
    if status == TOO_MANY and "insufficient_quota" in reason:
        return EndpointRefused(f"the quota at {host} is used up ({message}). {_GO_ON}")
    if status in _TRANSIENT:
        return Transient(f"HTTP {status}: {message}", wait, may_be_of_text=status == _OWN_FAULT)
    if status in (401, 403) or _ABOUT_KEY in reason.lower():
        return EndpointRefused(f"{host} refuses the key (HTTP {status}: {message}). {_GO_ON}")
    if 300 <= status < 400:
        return EndpointRefused(
            f"{host} redirects elsewhere (HTTP {status}), which is not followed; correct base_url"
        )
    kind = TextRefused if status in _ABOUT_CONTENT else EndpointRefused
    return kind(_refusal(host, f"HTTP {status}: {message}"))


def _refusal(host: str, reason: str) -> str:
    return f"{host} refuses the request ({reason}). {_GO_ON}"


def retry_after(headers: Mapping[str, str]) -> float | None:
    """The seconds in the header Retry-After (a number or a date); None without it."""
    value = headers.get("retry-after", "").strip()
    if seconds := seconds_in(value):
        return seconds
    try:
        until = email.utils.parsedate_to_datetime(value)
    except (ValueError, OverflowError):
        return None
    if until.tzinfo is None:
        until = until.replace(tzinfo=UTC)
    return max((until - datetime.now(UTC)).total_seconds(), 0.0)


def seconds_in(text: str) -> float | None:
    """The seconds in a text such as ``17`` or ``17.5s``; None for other texts."""
    match = _SECONDS.fullmatch(text)
    return float(match[1]) if match else None
