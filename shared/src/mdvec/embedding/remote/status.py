"""What an HTTP status means for a request: send it again later, or never."""

from __future__ import annotations

import email.utils
import re
from collections.abc import Mapping
from datetime import UTC, datetime

from mdvec.embedding.remote.answers import EndpointFailure, EndpointRefused, TextRefused
from mdvec.embedding.remote.keys import Key
from mdvec.embedding.remote.retrying import Transient
from mdvec.text import on_one_line

TOO_MANY = 429
_TRANSIENT = {408, 409, 425, TOO_MANY, 500, 502, 503, 504, 529}
_MAX_REASON = 300
_ABOUT_CONTENT = {400, 413, 422}
_ABOUT_KEY = "api key not valid"
"""What Gemini says with status 400."""
_GO_ON = "What is embedded already is kept"
_SECONDS = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)s?")


def failure_of(
    status: int, reason: str, wait: float | None, host: str, key: Key
) -> Transient | EndpointFailure:
    """The error for an answer that is no success; ``reason`` is the endpoint's own message."""
    message = on_one_line(key.hidden_in(reason)).strip()[:_MAX_REASON] or "no reason given"
    if status == TOO_MANY and "insufficient_quota" in reason:
        return EndpointRefused(f"the quota at {host} is used up ({message}). {_GO_ON}")
    if status in _TRANSIENT:
        return Transient(f"HTTP {status}: {message}", wait)
    if status in (401, 403) or _ABOUT_KEY in reason.lower():
        return EndpointRefused(f"{host} refuses the key (HTTP {status}: {message}). {_GO_ON}")
    if 300 <= status < 400:
        return EndpointRefused(
            f"{host} redirects elsewhere (HTTP {status}), which is not followed; correct base_url"
        )
    kind = TextRefused if status in _ABOUT_CONTENT else EndpointRefused
    return kind(f"{host} refuses the request (HTTP {status}: {message}). {_GO_ON}")


def retry_after(headers: Mapping[str, str]) -> float | None:
    """The seconds in the header Retry-After, which has a number or a date; None without it."""
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
    """The seconds in a text such as ``17`` or ``17.5s``; None if it is no such text."""
    match = _SECONDS.fullmatch(text)
    return float(match[1]) if match else None
