"""Decides which hosts are this machine."""

import ipaddress


def is_loopback(host: str) -> bool:
    """Whether a host is this machine; subdomains of ``localhost`` may be resolved elsewhere."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
