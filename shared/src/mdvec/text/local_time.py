"""Formats a stored UTC time as local time for people."""

from __future__ import annotations

from datetime import UTC, datetime


def local_time(stored: str | None) -> str | None:
    """A stored UTC time as local time, such as ``2026-11-21 13:26 JST``; None stays None."""
    if stored is None:
        return None
    return f"{datetime.fromisoformat(stored).replace(tzinfo=UTC).astimezone():%Y-%m-%d %H:%M %Z}"
