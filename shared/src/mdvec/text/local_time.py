"""A stored time, which is UTC, as people read it: local, with its zone."""

from __future__ import annotations

from datetime import UTC, datetime


def local_time(stored: str | None) -> str | None:
    """For instance ``2026-11-21 13:26 JST``; None stays None."""
    if stored is None:
        return None
    return f"{datetime.fromisoformat(stored).replace(tzinfo=UTC).astimezone():%Y-%m-%d %H:%M %Z}"
