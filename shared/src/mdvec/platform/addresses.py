"""Tells which hosts are this machine."""

import ipaddress


def is_loopback(host: str) -> bool:
    """Whether a host means this machine; names below ``localhost`` may be looked up elsewhere."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
