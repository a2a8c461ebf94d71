"""Detects unusable JSON-RPC messages, and builds the error replies to them."""

from __future__ import annotations

import json
import re
from typing import Any

_PARSE_ERROR, _INVALID_REQUEST = -32700, -32600
_BYTE_ORDER_MARK = "\ufeff"
_SURROGATES = re.compile(
    r"(?<!\\)((?:\\\\)*)"  # an even number of backslashes, which are literal
    r"(?:(\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2})|\\u[dD][89a-fA-F][\da-fA-F]{2})"
)


def without_lone_surrogates(text: str) -> str:
    """The JSON text with U+FFFD instead of each escaped lone surrogate.

    JavaScript clients send one when they cut an emoji in two. The SDK's JSON parser would reject
    the whole message, and the client would wait for a reply forever.
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
    except ValueError as error:
        return error_reply(None, _PARSE_ERROR, f"this is not JSON: {error}")
    except RecursionError:
        return error_reply(None, _PARSE_ERROR, "the message is nested too deeply")
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
