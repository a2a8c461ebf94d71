"""The fields of a request's address, each read with a bound on its size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from urllib.parse import urlencode

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

    def with_(self, **changes: str | int | None) -> str:
        """The query of the same address with other values; None leaves a field out."""
        kept = [(name, value) for name, value in self._fields.multi_items() if name not in changes]
        new = [(name, str(value)) for name, value in changes.items() if value is not None]
        return urlencode([*kept, *new])


def address_fields(fields: Mapping[str, object], **several: Sequence[str]) -> str:
    """Fields as the query of an address, some with several values; None leaves a field out."""
    given = [(name, str(value)) for name, value in fields.items() if value is not None]
    return urlencode([*given, *((name, one) for name, all_ in several.items() for one in all_)])
