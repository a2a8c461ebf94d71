"""Who may speak to the server: checks a request's Host, Origin and token before all else."""

from __future__ import annotations

import hmac
import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from mdvec.errors import MdvecError
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from mdvec_mcp.web.address import LOOPBACK_NAMES, Address

PATH = "/mcp"


@dataclass(frozen=True, slots=True)
class Rules:
    """Which requests pass.

    Attributes:
        names: the names that a request may address the server by, in lower case.
        token: what a request to ``/mcp`` must bear; None if nothing.
    """

    names: frozenset[str]
    token: str | None = None


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request does not pass."""

    status: int
    sentence: str


class TokenNeeded(MdvecError):
    """Others than this machine would reach the server, and nothing would keep them out."""


def rules_for(address: Address, names: Sequence[str], token: str | None) -> Rules:
    """The rules of a server at ``address`` that is also known by ``names``.

    Raises:
        TokenNeeded: others than this machine reach it, and there is no token.
    """
    if token is None and (names or not address.is_loopback):
        raise TokenNeeded(
            "a server that others than this machine reach needs a token; make one with "
            "openssl rand -hex 32 > mdvec.token, and add --token-file mdvec.token"
        )
    known = LOOPBACK_NAMES | {address.host.lower()} | {name.lower() for name in names}
    return Rules(known, token)


def refusal(headers: Headers, path: str, rules: Rules) -> Refusal | None:
    """Why a request does not pass; None if it does."""
    hosts = headers.getlist("host")
    if len(hosts) != 1 or not _is_ours(_name_in(f"//{hosts[0]}"), rules):
        return Refusal(421, "this server is not known by that Host; allow it with --allow-host")
    if any(_name_in(origin) not in rules.names for origin in headers.getlist("origin")):
        return Refusal(403, "web pages of that Origin may not speak to this server")
    if path == PATH and rules.token is not None and not _bears(headers, rules.token):
        return Refusal(401, "this server wants its token: Authorization: Bearer …")
    return None


class Gate:
    """Answers the requests that do not pass, and hands on the others."""

    def __init__(self, app: ASGIApp, rules: Rules) -> None:
        self._app = app
        self._rules = rules

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check one request."""
        refused = None
        if scope["type"] == "http":
            refused = refusal(Headers(scope=scope), scope["path"], self._rules)
        if refused is None:
            await self._app(scope, receive, send)
            return
        asked = {"WWW-Authenticate": "Bearer"} if refused.status == 401 else None
        response = PlainTextResponse(f"{refused.sentence}\n", refused.status, asked)
        await response(scope, receive, send)


def _name_in(url: str) -> str | None:
    try:
        return urlsplit(url).hostname
    except ValueError:
        return None


def _is_ours(name: str | None, rules: Rules) -> bool:
    """Whether a Host is ours: a known name, or a number.

    A web page reaches this machine under a domain of its own (DNS rebinding), never under a
    number.
    """
    if name is None or name in rules.names:
        return name is not None
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _bears(headers: Headers, token: str) -> bool:
    kind, _, given = headers.get("authorization", "").partition(" ")
    return kind.lower() == "bearer" and hmac.compare_digest(given.strip().encode(), token.encode())
