"""The HTTP headers that a message needs in the protocol versions without sessions."""

from __future__ import annotations

import base64
import re
from typing import Any

VERSION = "MCP-Protocol-Version"
SESSION = "Mcp-Session-Id"
_VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
_NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
_PLAIN = re.compile(r"(?!=\?base64\?)[!-~]([ -~]*[!-~])?")


def self_contained_headers(message: dict[str, Any]) -> dict[str, str] | None:
    """The headers of a message that carries its protocol version (from 2026-07-28), else None."""
    params = message.get("params") or {}
    meta = params.get("_meta")
    version = meta.get(_VERSION_KEY) if isinstance(meta, dict) else None
    if not isinstance(version, str):
        return None
    method = message["method"]
    headers = {VERSION: _encoded(version), "Mcp-Method": _encoded(method)}
    name = params.get(_NAMED.get(method, ""))
    if isinstance(name, str):
        headers["Mcp-Name"] = _encoded(name)
    return headers


def _encoded(value: str) -> str:
    """A header's value; in MCP's Base64 form unless it is plain ASCII."""
    if _PLAIN.fullmatch(value):
        return value
    return f"=?base64?{base64.b64encode(value.encode()).decode()}?="
