"""Puts numbers, sizes and times into words for people."""

from __future__ import annotations

from datetime import UTC, datetime


def counted(number: int, noun: str) -> str:
    """The number with its noun: 1 file, 1,200 files."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def file_size(size: int) -> str:
    """A number of bytes as text such as 8.0 kB; 1 kB is 1,024 bytes, as in settings and limits."""
    amount = float(size)
    for unit in ("B", "kB", "MB"):
        if amount < 1024:
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1024
    return f"{amount:.1f} GB"


def local_time(stored: str | None) -> str | None:
    """A stored UTC time as local time, such as ``2026-11-21 13:26 JST``; None stays None."""
    if stored is None:
        return None
    return f"{datetime.fromisoformat(stored).replace(tzinfo=UTC).astimezone():%Y-%m-%d %H:%M %Z}"
