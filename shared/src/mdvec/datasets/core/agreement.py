"""Whether files can be one table: the same columns, and one type for each of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence

NO_VALUES = ""
"""Stands for the type of a column without values, which fits every other."""
LONG = "BIGINT over 15 digits"
"""Stands for the type of whole numbers that a DOUBLE may not hold exactly."""
MAX_EXACT = 10**15
_INTEGERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER")
_MAX_NAMED = 3
_IN = " in "


def in_unit(kind: str, unit: str) -> str:
    """A type whose numbers count a unit, such as "$" or "%"."""
    return f"{kind}{_IN}{unit}" if unit and kind != NO_VALUES else kind


def common_columns(files: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """The columns that most files have, in the order of the first such file."""
    counted = Counter(frozenset(names) for names in files)
    best = max(counted, key=lambda names: counted[names])
    return next(tuple(names) for names in files if frozenset(names) == best)


def difference(names: Collection[str], common: Collection[str]) -> str:
    """How the columns of a file differ from those of its group, in words; "" if they agree."""
    lacks = [name for name in common if name not in names]
    more = [name for name in names if name not in common]
    said = [f"lacks {_named(lacks)}"] if lacks else []
    if more:
        said.append(f"has {_named(more)} as well")
    return " and ".join(said)


def agreed_type(types: Iterable[str]) -> str | None:
    """The type that holds every value of columns with these types, or None if only text does.

    The types are those that DuckDB names, ``NO_VALUES`` or ``LONG``; numbers that count something
    (``in_unit``) agree only with their like.
    """
    kinds = set(types) - {NO_VALUES}
    if not kinds:
        return "VARCHAR"
    if len(kinds) == 1:
        (kind,) = kinds
        return "BIGINT" if kind == LONG else kind.partition(_IN)[0]
    if kinds <= {LONG, *_INTEGERS}:
        return "BIGINT"
    if kinds <= {"FLOAT", "DOUBLE", *_INTEGERS}:
        return "DOUBLE"
    return "TIMESTAMP" if kinds == {"DATE", "TIMESTAMP"} else None


def _named(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_MAX_NAMED])
    more = len(names) - _MAX_NAMED
    return f"{shown} and {more} more" if more > 0 else shown
