"""Detects unusable JSON-RPC messages, and builds the error replies to them."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import anyio.to_thread
from mcp_types import ContentBlock, ToolAnnotations
from mdvec.cancelling import cancelled_by

from mdvec_mcp.database_trouble import Wording, errors_for_the_model, trouble_in_english

_PARSE_ERROR, _INVALID_REQUEST = -32700, -32600
_BYTE_ORDER_MARK = "\ufeff"
_SURROGATES = re.compile(
    r"(?<!\\)((?:\\\\)*)"  # an even number of backslashes, which are literal
    r"(?:(\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2})|\\u[dD][89a-fA-F][\da-fA-F]{2})"
)


def without_lone_surrogates(text: str) -> str:
    """The JSON text with U+FFFD in place of each escaped half of a surrogate pair.

    JavaScript clients send such a half when they cut an emoji in two. The SDK's JSON parser would
    then reject the whole message, and the client would wait for a reply forever.
    """
    return _SURROGATES.sub(_without_lone_half, text)


def reply_to_unusable(text: str) -> str | None:
    """The error reply to a message that the SDK would drop; None if it can be handled.

    The reply repeats the request's id if it can be determined, as JSON-RPC requires.
    """
    if text.startswith(_BYTE_ORDER_MARK):
        return error_reply(None, _PARSE_ERROR, "JSON may not begin with a byte order mark (U+FEFF)")
    try:
        message = json.loads(text)
    except (ValueError, RecursionError) as error:
        return error_reply(None, _PARSE_ERROR, f"this is not JSON: {error}")
    if isinstance(message, list):
        return _invalid(None, "batches are not part of MCP; send each message by itself")
    if not isinstance(message, dict):
        return _invalid(None, "a message must be a JSON object")
    wrong = _wrong_with(message)
    return None if wrong is None else _invalid(_usable_id(message), wrong)


def error_reply(id_: str | int | None, code: int, message: str) -> str:
    """A JSON-RPC error on one line."""
    error = {"code": code, "message": message}
    return json.dumps({"jsonrpc": "2.0", "id": id_, "error": error}, ensure_ascii=False)


def _wrong_with(message: dict[str, Any]) -> str | None:
    if message.get("jsonrpc") != "2.0":
        return 'a message must have "jsonrpc": "2.0"'
    if "method" not in message:
        is_response = "id" in message and ("result" in message or "error" in message)
        return None if is_response else "a request must have a method"
    if not isinstance(message["method"], str):
        return "the method must be a string"
    if "id" in message and _usable_id(message) is None:
        return "the id must be a string or an integer"
    if not isinstance(message.get("params", {}), dict | None):
        return "params must be an object"
    return None


def _usable_id(message: dict[str, Any]) -> str | int | None:
    id_ = message.get("id")
    return id_ if isinstance(id_, str | int) and not isinstance(id_, bool) else None


def _invalid(id_: str | int | None, message: str) -> str:
    return error_reply(id_, _INVALID_REQUEST, message)


def _without_lone_half(match: re.Match[str]) -> str:
    backslashes, pair = match.groups()
    return match[0] if pair else f"{backslashes}\\ufffd"


T = TypeVar("T")
Data = Callable[[], dict[str, Any]]
"""Makes an answer's data, which only programs ask for, as JSON."""

READ_ONLY = ToolAnnotations(read_only_hint=True, open_world_hint=False)
"""For tools that change nothing."""
WRITES = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
"""For tools that record what the user decided."""


@dataclass(frozen=True, slots=True)
class ToolReply:
    """A tool's answer.

    Attributes:
        text: all that the model reads.
        data: makes the same as JSON.
        blocks: what follows the text, such as a picture.
    """

    text: str
    data: Data | None = None
    blocks: tuple[ContentBlock, ...] = ()


async def in_thread(
    work: Callable[[], T],
    wording: Wording = trouble_in_english,
    *,
    limiter: anyio.CapacityLimiter | None = None,
    max_error_bytes: int | None = None,
) -> T:
    """Run blocking work in a thread; if the call is cancelled, the work ends at its next step.

    Errors about the database get the ``wording``; other messages are cut at ``max_error_bytes``.
    Without a ``limiter``, anyio's default says how many threads run at once.

    Raises:
        ToolError: the work raised an MdvecError; the text is for the model.
    """
    cancellation = threading.Event()

    def call() -> T:
        with cancelled_by(cancellation), errors_for_the_model(wording, max_error_bytes):
            return work()

    try:
        return await anyio.to_thread.run_sync(call, abandon_on_cancel=True, limiter=limiter)
    finally:
        cancellation.set()
