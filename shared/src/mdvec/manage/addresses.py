"""The address that a server listens on, and whether it needs a token there."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from mdvec.errors import MdvecError
from mdvec.platform import is_loopback


class AddressUnusable(MdvecError):
    """The server cannot listen on that address; the message says what to use instead."""


class TokenNeeded(MdvecError):
    """Other machines could reach the server, and it has no token."""


@dataclass(frozen=True, slots=True)
class Address:
    """A host (name or IP address) and a port; port 0 means any free port."""

    host: str
    port: int

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach the address."""
        return is_loopback(self.host)

    @property
    def url(self) -> str:
        """The URL of the MCP endpoint."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}/mcp"


def parse_address(text: str) -> Address:
    """Parse ``host:port``, or raise AddressUnusable."""
    try:
        parts = urlsplit(f"//{text}")
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
    if not host or port is None or parts.path:
        raise AddressUnusable(f"{text!r} is not an address; use host:port, such as 127.0.0.1:8765")
    return Address(host, port)


def check_token(token: str | None, *, is_reachable: bool) -> None:
    """Raise TokenNeeded if other machines can reach a server, and there is no token."""
    if token is None and is_reachable:
        raise TokenNeeded(
            "a server that other machines can reach needs a token; create one with "
            "(umask 077; openssl rand -hex 32 > mdvec.token), and name its file in [server] "
            "token_file, or for mdvec-mcp with --token-file"
        )
