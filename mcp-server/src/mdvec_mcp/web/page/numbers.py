"""Numbers and times as the page shows them."""

from __future__ import annotations

from mdvec.text.local_time import local_time

MINUS = "\N{MINUS SIGN}"


def number(value: float) -> str:
    """A number with separators of thousands."""
    return f"{value:,}".replace("-", MINUS)


def percent(share: float) -> str:
    """A share of one, in percent."""
    return f"{share:.0%}".replace("-", MINUS)


def local(utc: str | None) -> str:
    """A time of the database where the user is; "" if there is none."""
    return local_time(utc) or ""
