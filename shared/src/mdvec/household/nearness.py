"""Finds rows that fit the meaning of words they do not contain: by category, or by vectors.

Nothing here is in the sums of an answer; it is offered beside them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING

import apsw

from mdvec import search  # loaded when used: it needs NumPy, and a list of tools none of it
from mdvec.embedding import default_constants
from mdvec.household.core.categories import (
    AmbiguousCategory,
    Category,
    Hierarchy,
    find_by_part,
    find_category,
)
from mdvec.household.core.found import category_note, near_note
from mdvec.household.core.naming import OR
from mdvec.household.core.row_sums import RowSum, ShopOf, groups_by, totals_of
from mdvec.index import EngineUnavailable, calibrated_constants, stored_chunks
from mdvec.text import folded
from mdvec.tools import Tool, list_tools

if TYPE_CHECKING:
    from mdvec.embedding import Vectors

Embed = Callable[[Tool, str], "Vectors | None"]
"""Embeds words with a tool's model; None if the model cannot do so at once."""
_MIN_LIKENESS, _MIN_BESIDE = 2.0, 3.0
"""Standard deviations above unrelated passages: 病院 finds 内科クリニック, and hardly any noise.
Beside shops that the words name, only what is nearer is of use."""
_MAX_SUBJECTS, _MAX_SHOPS, _MAX_CHARS = 12, 5, 100


def near_rows(
    connection: apsw.Connection, tool_id: int, query: str, embed: Embed | None, *, any_named: bool
) -> Sequence[int]:
    """A row of each subject (shop, category and memo) that is near in meaning to words.

    If the words name rows themselves (``any_named``), it has to be nearer.
    There are none without ``embed``, if the vectors cannot be compared at once, or if ``query`` has
    alternatives, which the user chose from an earlier answer.
    """
    tool = next((known for known in list_tools(connection) if known.id == tool_id), None)
    if (
        embed is None
        or tool is None
        or tool.model is None
        or len(query) > _MAX_CHARS
        or OR in folded(query)
    ):
        return []
    constants = calibrated_constants(connection, str(tool.fingerprint))
    constants = constants or default_constants(tool.model)
    vector = None if constants.unrelated is None else embed(tool, query)
    if vector is None:
        return []
    least = _MIN_BESIDE if any_named else _MIN_LIKENESS
    try:
        ids = search.nearest_chunks(connection, tool.tables, vector, _MAX_SUBJECTS)
    except EngineUnavailable:
        return []
    return [
        chunk.chunk_index  # the first row of the subject
        for chunk in stored_chunks(connection, tool.tables, sorted(ids), vector)
        if (constants.likeness(chunk.cosine) or 0) >= least
    ]


def beside_notes(
    sums: Sequence[RowSum],
    shop: ShopOf,
    query: str,
    category: Category | None,
    near: Collection[tuple[str, str]],
) -> list[str]:
    """A note on the rows among ``sums`` that fit the words' meaning; or none.

    They are those of the category that has the words in its name, or else those of the shops most
    of whose rows have the descriptions and memos ``near``.
    """
    if category is not None:
        others = totals_of(row_sum for row_sum in sums if row_sum.is_of(category))
        return [category_note(str(category), others)] if others.rows else []
    if not near:
        return []
    rows: Counter[str] = Counter()
    alike: Counter[str] = Counter()
    for row_sum in sums:
        rows[shop(row_sum.description)] += row_sum.rows
        if (row_sum.description, row_sum.memo) in near:
            alike[shop(row_sum.description)] += row_sum.rows
    shops = {name for name, count in alike.items() if 2 * count >= rows[name]}
    near_sums = [row_sum for row_sum in sums if shop(row_sum.description) in shops]
    groups = groups_by(near_sums, lambda row_sum: shop(row_sum.description))[:_MAX_SHOPS]
    return [near_note(query, groups)] if groups else []


def category_named(words: str, hierarchy: Hierarchy) -> Category | None:
    """The only category with this name, or with the words in its name."""
    try:
        category = find_category(words.strip(), hierarchy)
    except AmbiguousCategory:
        return None
    parts = find_by_part(words, hierarchy)
    return category or (parts[0] if len(parts) == 1 else None)
