"""An endpoint: where texts go, and whether that is this machine."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from urllib.parse import urlsplit


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a model's texts go; ``terms`` is a sentence on what happens to them there."""

    url: str
    terms: str = ""

    @property
    def host(self) -> str:
        """Its host, with the port if it has one."""
        return urlsplit(self.url).netloc.rpartition("@")[2]

    @property
    def origin(self) -> str:
        """Its scheme, host and port: what a user allows texts to go to."""
        return f"{urlsplit(self.url).scheme}://{self.host}"

    @property
    def is_local(self) -> bool:
        """Whether texts stay on this machine."""
        return is_loopback(urlsplit(self.url).hostname or "")

    @property
    def is_encrypted(self) -> bool:
        """Whether texts are encrypted on their way."""
        return urlsplit(self.url).scheme == "https"


@dataclass(frozen=True, slots=True)
class Sending:
    """What the user is asked to allow: a tool's texts and questions go to an endpoint."""

    tool: str
    model: str
    endpoint: Endpoint

    def sentence(self) -> str:
        """What goes where, and what happens to it there."""
        where = self.endpoint
        safety = "" if where.is_encrypted else ", unencrypted"
        terms = f" {where.terms}" if where.terms else ""
        return (
            f"{self.tool}: its texts, and later questions about them, go to {where.host} "
            f"({self.model}{safety}).{terms}"
        )


def is_loopback(host: str) -> bool:
    """Whether a host means this machine; names below ``localhost`` may be looked up elsewhere."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
