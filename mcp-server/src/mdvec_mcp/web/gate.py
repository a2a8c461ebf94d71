"""Access control: checks a request's Host, Origin and token before anything else."""

from __future__ import annotations

import hmac
import ipaddress
import re
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from mdvec.manage import Address, AddressUnusable, check_token
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
_BACKLOG = 512
PATH = "/mcp"
_HOST = re.compile(r"[^/?#@\\\s]+")
"""A Host header with only a host and a port, as addresses are built from it."""


def listen(address: Address) -> tuple[socket.socket, Address]:
    """A socket that listens on ``address``, and the address with its actual port.

    Raises:
        AddressUnusable: the port is taken, or the address is not this machine's.
    """
    try:
        resolved = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)[0]
        bound = socket.create_server(resolved[4][:2], family=resolved[0], backlog=_BACKLOG)
    except OSError as error:
        why = str(error.strerror).partition(" (while ")[0]  # what the socket module adds
        raise AddressUnusable(
            f"the server cannot listen on {address.host}:{address.port} ({why}); if "
            "another mdvec-mcp runs there, use that one; otherwise choose another address with "
            "--http"
        ) from error
    # asyncio sets TCP_NODELAY only if the socket names its protocol; without it, each response in
    # two parts waits 40 ms for the client's acknowledgement.
    listening = socket.socket(resolved[0], resolved[1], socket.IPPROTO_TCP, fileno=bound.detach())
    return listening, Address(address.host, int(listening.getsockname()[1]))


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules for requests: the server's host names in lower case, and the token for ``/mcp``."""

    names: frozenset[str]
    token: str | None = None


def rules_for(address: Address, names: Sequence[str], token: str | None) -> Rules:
    """The rules of a server at ``address`` with additional host ``names``.

    Raises:
        TokenNeeded: other machines can reach it, and there is no token.
    """
    check_token(token, is_reachable=bool(names) or not address.is_loopback)
    known = LOOPBACK_NAMES | {address.host.lower()} | {name.lower() for name in names}
    return Rules(known, token)


def refusal(headers: Headers, path: str, rules: Rules) -> Response | None:
    """The refusal of a request; None if it meets the rules."""
    hosts = headers.getlist("host")
    if len(hosts) != 1 or not _HOST.fullmatch(hosts[0]) or not _is_ours(hosts[0], rules):
        return PlainTextResponse(
            "this server is not known by that Host; allow it with --allow-host\n", 421
        )
    if any(name_in(origin) not in rules.names for origin in headers.getlist("origin")):
        return PlainTextResponse("web pages of that Origin may not speak to this server\n", 403)
    if path == PATH and rules.token is not None and not _bears(headers, rules.token):
        return PlainTextResponse(
            "this server needs its token: Authorization: Bearer …\n", 401,
            {"WWW-Authenticate": "Bearer"},
        )  # fmt: skip
    return None


class Gate:
    """Middleware that refuses requests that violate the rules, and passes other requests on."""

    def __init__(self, app: ASGIApp, rules: Rules) -> None:
        self._app = app
        self._rules = rules

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check one request."""
        refused = None
        if scope["type"] == "http":
            refused = refusal(Headers(scope=scope), scope["path"], self._rules)
        await (refused or self._app)(scope, receive, send)


def name_in(url: str) -> str | None:
    """The name of the host in an address; None if there is none."""
    try:
        return urlsplit(url).hostname
    except ValueError:
        return None


def _is_ours(host: str, rules: Rules) -> bool:
    """Whether a host is this server: a known name, or any IP address.

    DNS rebinding attacks use a domain name of the attacker, never an IP address.
    """
    name = name_in(f"//{host}")
    if name is None or name in rules.names:
        return name is not None
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _bears(headers: Headers, token: str) -> bool:
    kind, _, credentials = headers.get("authorization", "").partition(" ")
    return kind.lower() == "bearer" and hmac.compare_digest(
        credentials.strip().encode(), token.encode()
    )
