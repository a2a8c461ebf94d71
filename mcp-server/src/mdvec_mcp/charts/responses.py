"""The answer to a request for a chart: whole, in part, or that the client's copy is still good.

Parts are byte ranges (RFC 9110, section 14).
"""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import AsyncIterator
from email.utils import formatdate

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse

from mdvec_mcp.charts.store import StoredChart

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
    asked = request.headers.getlist("range")
    condition = request.headers.get("if-range")
    if len(asked) != 1 or condition not in (None, etag):
        return None
    return part_of(asked[0], length)


def _names(request: Request, header: str, etag: str) -> bool:
    """Whether a header names this version, or any."""
    named = {one.strip().removeprefix("W/") for one in request.headers.get(header, "").split(",")}
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
    asked = _RANGE.fullmatch(header.strip())
    if asked is None or asked[1] == asked[2] == "":
        return None
    if not asked[1]:
        return range(max(length - int(asked[2]), 0), length)
    first, last = int(asked[1]), int(asked[2] or length)
    if asked[2] and last < first:
        return None
    return range(first, min(last + 1, length)) if first < length else range(0)
