"""What the tables of data files are called in SQL."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from mdvec.tools.names import InvalidToolName

HOUSEHOLD_TABLE = "transactions"
"""The household's rows; no dataset's table can be called that."""
_BETWEEN = "__"


def table_name(tool_name: str, *parts: str) -> str:
    """The SQL name of a tool's table: the tool alone, or with its file and table behind it.

    Letters of any script and digits stay, in lower case; every other character becomes '_'.
    """
    return _BETWEEN.join(_plain(part) for part in (tool_name, *parts))


def checked_dataset_name(name: str, others: Iterable[str]) -> str:
    """Return a dataset's ``name`` when its tables cannot be taken for those of ``others``.

    Raises:
        InvalidToolName: they can, or for those of the household.
    """
    own = table_name(name)
    if own == HOUSEHOLD_TABLE:
        raise InvalidToolName(
            f"the name {name!r} belongs to the household's table; "
            f"choose another for a dataset, such as 'my-{name}'"
        )
    for other in others:
        theirs = table_name(other)
        if own == theirs or _is_below(own, theirs) or _is_below(theirs, own):
            raise InvalidToolName(
                f"the tables of a dataset {name!r} would have the names of those of {other!r} "
                f"(in SQL: {own}); choose another name"
            )
    return name


def _plain(part: str) -> str:
    composed = unicodedata.normalize("NFC", part).lower()
    return re.sub(r"\W", "_", composed)


def _is_below(name: str, other: str) -> bool:
    return name.startswith(other + _BETWEEN)
