"""The fields of a request's address, with bounds, and the periods that a view links to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from mdvec.dates import MonthRange
from starlette.requests import Request

_MAX_CHARS = 20_000
_MAX_VALUES = 200
_MAX_DIGITS = 12


class Query:
    """The fields of an address."""

    def __init__(self, request: Request) -> None:
        self._fields = request.query_params

    def __contains__(self, name: str) -> bool:
        """Whether a field is given and not empty."""
        return bool(self._fields.get(name))

    def text(self, name: str) -> str:
        """A field's value; "" if it is not given."""
        return self._fields.get(name, "")[:_MAX_CHARS]

    def all(self, name: str) -> list[str]:
        """All values of a field."""
        return self._fields.getlist(name)[:_MAX_VALUES]

    def number(self, name: str, default: int, least: int, most: int) -> int:
        """A field's value as a whole number within bounds; the default if it is none."""
        text = self.text(name).strip()
        if not text.isdecimal() or len(text) > _MAX_DIGITS:
            return default
        return min(max(int(text), least), most)

    def others(self, *names: str) -> list[tuple[str, str]]:
        """The other fields of the same address, with their values."""
        return [(name, value) for name, value in self._fields.multi_items() if name not in names]

    def with_(self, **changes: str | int | None) -> str:
        """The query of the same address with other values; None leaves a field out."""
        new = [(name, str(value)) for name, value in changes.items() if value is not None]
        return urlencode([*self.others(*changes), *new])


def address_fields(fields: Mapping[str, object], **several: Sequence[str]) -> str:
    """Fields as the query of an address, some with several values; None leaves a field out."""
    given = [(name, str(value)) for name, value in fields.items() if value is not None]
    return urlencode(
        [*given, *((name, choice) for name, all_ in several.items() for choice in all_)]
    )


_MAX_YEARS = 6


@dataclass(frozen=True, slots=True)
class Periods:
    """Periods in words that the tools understand; "" where the ledger has no months any more."""

    before: str
    after: str
    offered: tuple[str, ...]


def periods_around(shown: MonthRange, known: MonthRange) -> Periods:
    """The periods of the same length beside those shown, and the latest months and years.

    Args:
        shown: the months of a view.
        known: those of the ledger.
    """
    years = range(known.last.year, max(known.first.year, known.last.year - _MAX_YEARS) - 1, -1)
    months = [known.last, *([known.last.plus(-1)] if len(known) > 1 else [])]
    return Periods(
        before=_moved(shown, -len(shown)) if shown.first > known.first else "",
        after=_moved(shown, len(shown)) if shown.last < known.last else "",
        offered=(*map(str, months), *(f"{year}年" for year in years)),
    )


def _moved(months: MonthRange, by: int) -> str:
    first, last = months.first.plus(by), months.last.plus(by)
    return str(first) if first == last else f"{first}〜{last}"
