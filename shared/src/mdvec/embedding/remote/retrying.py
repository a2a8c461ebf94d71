"""Repeats a request that failed temporarily, with growing, randomised and bounded waits."""

from __future__ import annotations

import logging
import math
import random
import time
from collections.abc import Callable
from typing import TypeVar

from mdvec.cancelling import raise_if_cancelled
from mdvec.embedding.options import RetryOptions
from mdvec.embedding.remote.answers import EndpointFailure

T = TypeVar("T")
logger = logging.getLogger("mdvec")

FOR_QUESTIONS = RetryOptions(max_retries=1, base_delay=0.3, max_delay=1.0)
"""Someone waits for the answer, and words alone answer too."""
_MIN_SHARE = 0.5
"""The seconds that a last attempt may take, however little time is left."""


class Transient(Exception):
    """A failure that may be over soon; ``wait`` is how many seconds the endpoint asks for."""

    def __init__(self, reason: str, wait: float | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.wait = wait


def with_retries(
    send: Callable[[float], T],
    options: RetryOptions,
    host: str,
    seconds: float,
    total: float = math.inf,
) -> T:
    """What ``send`` returns, repeated while it raises ``Transient``.

    ``send`` gets how many seconds it may take: ``seconds``, or what is left of ``total``, which all
    attempts together may take.

    Raises:
        EndpointFailure: it failed as often as allowed, or the endpoint asks for too long a wait.
    """
    end = time.monotonic() + total
    for attempt in range(options.max_retries + 1):
        raise_if_cancelled()
        left = end - time.monotonic()
        try:
            return send(min(seconds, max(left, _MIN_SHARE)))
        except Transient as failure:
            refused = _why_not_again(
                failure, attempt, options, host, is_over=time.monotonic() >= end
            )
            if refused is not None:
                raise EndpointFailure(refused) from failure
            wait = _wait(failure, attempt, options)
            logger.debug("[endpoint] %s: %s; again in %.1f s", host, failure.reason, wait)
        time.sleep(wait)
    raise AssertionError("the last attempt returns or raises")


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
    """Between half and all of the growing delay, and never less than the endpoint asks for."""
    delay = options.base_delay * options.backoff_factor**attempt
    delay *= random.uniform(0.5, 1.0)  # noqa: S311 - only to spread requests
    return min(max(delay, failure.wait or 0.0), options.max_delay)
