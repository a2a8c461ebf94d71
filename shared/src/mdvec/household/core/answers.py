"""Builds answers: the types of their fields in JSON, and the lines of their texts.

Yen stay integers, percentages become numbers, and days and months texts: 2025-06-30, 2025-06.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import Annotated, TypedDict

from pydantic import Field, PlainSerializer

from mdvec.dates import Days, Month, MonthRange
from mdvec.household.core.categories import Category, Total
from mdvec.text import on_one_line


def _ends(span: MonthRange | Days) -> list[str]:
    return [str(span.first), str(span.last)]


MonthText = Annotated[Month, PlainSerializer(str)]
MonthEnds = Annotated[MonthRange, PlainSerializer(_ends)]
"""The first and the last month."""
DayEnds = Annotated[Days, PlainSerializer(_ends)]
"""The first and the last day."""
Percentage = Annotated[Decimal, PlainSerializer(float)]
CategoryText = Annotated[Category, PlainSerializer(str)]
SubjectText = Annotated[Category | Total, PlainSerializer(str)]
AnswerText = Annotated[str, Field(exclude=True)]
"""The text of an answer, which is sent beside its JSON."""


@dataclass(frozen=True, kw_only=True)
class LedgerAnswer:
    """The fields that accompany the figures of every answer.

    ``notes`` qualify the figures, ``age`` says that the ledger ends long before today, or is "",
    and ``text`` is the whole answer in words.
    """

    notes: tuple[str, ...]
    age: str
    text: AnswerText


MAX_AGE = timedelta(days=45)
"""Data that end longer ago than this are called old: the statement of a later month would have
arrived by now."""


def answer_text(
    lines: Iterable[str], notes: Iterable[str] = (), rows: Iterable[str] = (), *, age: str = ""
) -> str:
    """The text of an answer: ``age`` first, then its lines, its notes and its rows.

    Every line of an answer goes through here, so that no cell of a statement, whatever it
    contains, ends its line and begins another.
    """
    first = [age] if age else []
    return "\n".join(
        map(safe_line, (*first, *lines, *(f"※ {note}。" for note in notes if note), *rows))
    )


MAX_LISTED = 100
"""How many rows of a list an answer shows by default."""
ListLines = list[str | tuple[str, ...]]
"""A list's headings (texts) and rows (each a tuple of its lines), in order."""


def first_rows(lines: ListLines, limit: int | None) -> list[str]:
    """All headings of a list, its first ``limit`` rows, and how to see the others."""
    most, rows, shown = MAX_LISTED if limit is None else max(limit, 0), 0, list[str]()
    for line in lines:
        if isinstance(line, str):
            shown.append(line)
        elif (rows := rows + 1) <= most:
            shown += line
    more = f"ほか {rows - most:,}件は limit={rows} で示します。"
    return [*shown, *([more] if rows > most else [])]


class AnswerWords(TypedDict):
    """The fields of a ``LedgerAnswer``."""

    notes: tuple[str, ...]
    age: str
    text: AnswerText


def answer_words(
    lines: Iterable[str], notes: Sequence[str], age: str, *, only_told: Iterable[str] = ()
) -> AnswerWords:
    """The notes, age and text of an answer; ``only_told`` are notes that only its text has.

    Notes that are "" are left out.
    """
    text = answer_text(lines, [*notes, *only_told], age=age)
    return AnswerWords(notes=tuple(filter(None, notes)), age=age, text=text)


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
    months = Month.of(today).since(Month.of(last_day))
    return f"{what}は{last_day}までです（{months}か月前）。"
