"""Finds rows that fit the meaning of words they do not contain: by category, or by vectors.

Nothing here is in the sums of an answer; it is offered beside them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import apsw

from mdvec.embedding import default_constants
from mdvec.household.core.categories import (
    AmbiguousCategory,
    Category,
    find_by_part,
    find_category,
    hierarchy_of,
)
from mdvec.household.core.found import category_note, near_note
from mdvec.household.core.naming import OR
from mdvec.household.found_sums import sums_by, totals_of
from mdvec.household.interfaces.columns import LedgerColumns
from mdvec.index import EngineUnavailable, calibrated_constants, stored_chunks
from mdvec.search import nearest_chunks
from mdvec.text import folded
from mdvec.tools import Tool, list_tools

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from mdvec.embedding import Vectors

    Mask = NDArray[np.bool_]

Embed = Callable[[Tool, str], "Vectors | None"]
"""Embeds words with a tool's model; None if the model cannot do so at once."""
_MIN_LIKENESS, _MIN_BESIDE = 2.0, 3.0
"""Standard deviations above unrelated passages: 病院 finds 内科クリニック, and hardly any noise.
Beside shops that the words name, only what is nearer is of use."""
_MAX_SUBJECTS, _MAX_SHOPS, _MAX_CHARS = 12, 5, 100


def near_rows(
    connection: apsw.Connection, tool_id: int, query: str, embed: Embed, *, any_named: bool
) -> Sequence[int]:
    """A row of each subject (shop, category and memo) that is near in meaning to words.

    If the words name rows themselves (``any_named``), it has to be nearer.
    There are none if the vectors cannot be compared at once, or if ``query`` has alternatives,
    which the user chose from an earlier answer.
    """
    tool = next((known for known in list_tools(connection) if known.id == tool_id), None)
    if tool is None or tool.model is None or len(query) > _MAX_CHARS or OR in folded(query):
        return []
    constants = calibrated_constants(connection, str(tool.fingerprint))
    constants = constants or default_constants(tool.model)
    vector = None if constants.unrelated is None else embed(tool, query)
    if vector is None:
        return []
    least = _MIN_BESIDE if any_named else _MIN_LIKENESS
    try:
        ids = nearest_chunks(connection, tool.tables, vector, _MAX_SUBJECTS)
    except EngineUnavailable:
        return []
    return [
        chunk.chunk_index  # the first row of the subject
        for chunk in stored_chunks(connection, tool.tables, sorted(ids), vector)
        if (constants.likeness(chunk.cosine) or 0) >= least
    ]


def beside_notes(
    columns: LedgerColumns, query: str, unnamed: Mask, near: Sequence[int]
) -> list[str]:
    """A note on the rows among ``unnamed`` that fit the words' meaning; or none.

    They are those of the category that has the words in its name, or else those of the shops most
    of whose rows are like the rows ``near``.
    """
    category = _category(columns, query)
    if category is not None:
        others = totals_of(columns, unnamed & _are_of(columns, category))
        return [category_note(str(category), others)] if others.rows else []
    shops = _shops_like(columns, unnamed, near)
    if not shops.any():
        return []
    groups, _ = sums_by(columns, shops, columns.shops, str, _MAX_SHOPS)
    return [near_note(query, groups)]


def _category(columns: LedgerColumns, words: str) -> Category | None:
    """The only category with this name, or with the words in its name."""
    hierarchy = hierarchy_of(columns.categories.values)
    try:
        category = find_category(words.strip(), hierarchy)
    except AmbiguousCategory:
        return None
    parts = find_by_part(words, hierarchy)
    return category or (parts[0] if len(parts) == 1 else None)


def _are_of(columns: LedgerColumns, category: Category) -> Mask:
    import numpy as np

    are_of = [
        major == category.major and category.minor in (None, minor)
        for major, minor in columns.categories.values
    ]
    mask: Mask = np.array(are_of, np.bool_)[columns.categories.places]
    return mask


def _shops_like(columns: LedgerColumns, rows: Mask, near: Sequence[int]) -> Mask:
    """The rows of the shops most of whose rows have the texts of the rows ``near``."""
    import numpy as np

    is_near = np.zeros(len(columns.texts.values), np.bool_)
    is_near[columns.texts.places[np.isin(columns.ids, near)]] = True
    shops, size = columns.shops.places, len(columns.shops.values)
    alike = np.bincount(shops[rows & is_near[columns.texts.places]], minlength=size)
    is_shop = (alike > 0) & (2 * alike >= np.bincount(shops[rows], minlength=size))
    mask: Mask = rows & is_shop[shops]
    return mask
