"""Numbers and times as the page shows them."""

from __future__ import annotations

from mdvec.text.local_time import local_time

MINUS = "\N{MINUS SIGN}"


def number(value: float) -> str:
    """A number with separators of thousands."""
    return f"{value:,}".replace("-", MINUS)


def figure(value: object, name: str) -> object:
    """A figure of a column by its name; what is no number stays as it is."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    if name == "null_rate":
        return f"{value:.1%}"
    return number(value if isinstance(value, int) else round(value, 3))


def percent(share: float) -> str:
    """A share of one, in percent."""
    return f"{share:.0%}".replace("-", MINUS)


def tenths(value: float) -> str:
    """A number with one decimal, so that those of a column stand below one another."""
    return f"{value:,.1f}".replace("-", MINUS)


def local(utc: str | None) -> str:
    """A time of the database where the user is; "" if there is none."""
    return local_time(utc) or ""
