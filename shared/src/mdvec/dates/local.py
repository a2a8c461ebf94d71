"""Today's date in this machine's time zone."""

from __future__ import annotations

from datetime import date


def today() -> date:
    """The local date: days in statements, in notes and in questions are local."""
    return date.today()  # noqa: DTZ011
