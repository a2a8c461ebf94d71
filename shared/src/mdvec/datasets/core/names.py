"""The SQL names of a dataset's tables."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from mdvec.tools.names import InvalidToolName

HOUSEHOLD_TABLE = "transactions"
"""The SQL name of the household's rows, which no dataset may take."""
_SEPARATOR = "__"


def table_name(tool_name: str, *parts: str) -> str:
    """The SQL name of a table: the tool's name, then its file and inner table if there are any.

    Letters of any script and digits are kept, in lower case; other characters become '_'.
    """
    return _SEPARATOR.join(_plain(part) for part in (tool_name, *parts))


def checked_dataset_name(name: str, others: Iterable[str]) -> str:
    """Return a dataset's ``name`` if its tables' names cannot clash with those of ``others``.

    Raises:
        InvalidToolName: they can clash, with those or with the household's table.
    """
    own = table_name(name)
    if own == HOUSEHOLD_TABLE:
        raise InvalidToolName(
            f"the name {name!r} belongs to the household's table; "
            f"choose another for a dataset, such as 'my-{name}'"
        )
    for other in others:
        theirs = table_name(other)
        if own == theirs or _is_prefixed_by(own, theirs) or _is_prefixed_by(theirs, own):
            raise InvalidToolName(
                f"the tables of a dataset {name!r} would have the names of those of {other!r} "
                f"(in SQL: {own}); choose another name"
            )
    return name


def _plain(part: str) -> str:
    composed = unicodedata.normalize("NFC", part).lower()
    return re.sub(r"\W", "_", composed)


def _is_prefixed_by(name: str, other: str) -> bool:
    return name.startswith(other + _SEPARATOR)
