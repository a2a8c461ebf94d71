"""Puts the lines of an answer together: how old its data are, its figures, notes and rows."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, timedelta

from mdvec.text import on_one_line

MAX_AGE = timedelta(days=45)
"""Data that end longer ago than this are old: a statement of every month has arrived by then."""


def answer_text(
    lines: Iterable[str], notes: Iterable[str] = (), rows: Iterable[str] = (), *, age: str = ""
) -> str:
    """The text of an answer: ``age`` first, then its lines, its notes and its rows.

    Every line of an answer goes through here, so that no cell of a statement, whatever it
    contains, ends its line and begins another.
    """
    first = [age] if age else []
    return "\n".join(map(safe_line, (*first, *lines, *(f"※ {note}。" for note in notes), *rows)))


def safe_line(line: str) -> str:
    """The line without line breaks, and with control and direction characters escaped."""
    text = line.lstrip(" ")
    return line[: len(line) - len(text)] + on_one_line(text)


def age_line(last_day: date, today: date, until: date | None = None, what: str = "明細") -> str:
    """Says that the data end long before today; "" if they do not, or not before ``until``.

    ``until`` is the last day of the period asked for, None for whatever is the latest.
    """
    if today - last_day <= MAX_AGE or (until is not None and until <= last_day):
        return ""
    months = (today.year - last_day.year) * 12 + today.month - last_day.month
    return f"{what}は{last_day}までです（{months}か月前）。"
