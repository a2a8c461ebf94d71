"""Today's date in this machine's time zone."""

from __future__ import annotations

from datetime import date


def today() -> date:
    """The local date, as days in statements, notes and questions are local too."""
    return date.today()  # noqa: DTZ011
