"""The address on which the server listens, and whether other machines can reach it."""

from __future__ import annotations

import ipaddress
import socket
from dataclasses import dataclass
from urllib.parse import urlsplit

from mdvec.errors import MdvecError

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
_BACKLOG = 512


class AddressUnusable(MdvecError):
    """The server cannot listen on that address; the message says what to use instead."""


@dataclass(frozen=True, slots=True)
class Address:
    """A host (name or IP address) and a port; port 0 means any free port."""

    host: str
    port: int

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach it."""
        if self.host in LOOPBACK_NAMES:
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def url(self) -> str:
        """The URL of the MCP endpoint."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}/mcp"


def parse_address(text: str) -> Address:
    """Parse ``host:port``.

    Raises:
        AddressUnusable: it is not an address.
    """
    try:
        parts = urlsplit(f"//{text}")
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
    if not host or port is None or parts.path:
        raise AddressUnusable(f"{text!r} is not an address; use host:port, such as 127.0.0.1:8765")
    return Address(host, port)


def listen(address: Address) -> tuple[socket.socket, Address]:
    """A socket that listens on ``address``, and the address with its actual port.

    Raises:
        AddressUnusable: the port is taken, or the address is not this machine's.
    """
    try:
        found = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)[0]
        bound = socket.create_server(found[4][:2], family=found[0], backlog=_BACKLOG)
    except OSError as error:
        raise AddressUnusable(
            f"the server cannot listen on {address.host}:{address.port} ({error.strerror}); if "
            "another mdvec-mcp runs there, use that one; otherwise choose another address with "
            "--http"
        ) from error
    # asyncio sets TCP_NODELAY only if the socket names its protocol; without it, each response in
    # two parts waits 40 ms for the client's acknowledgement.
    listening = socket.socket(found[0], found[1], socket.IPPROTO_TCP, fileno=bound.detach())
    return listening, Address(address.host, int(listening.getsockname()[1]))
