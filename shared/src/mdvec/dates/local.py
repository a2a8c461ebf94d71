"""The date of this machine."""

from __future__ import annotations

from datetime import date


def today() -> date:
    """The local date: days in statements, in notes and in questions are local."""
    return date.today()  # noqa: DTZ011
