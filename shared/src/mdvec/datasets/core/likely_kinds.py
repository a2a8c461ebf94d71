"""Finds the kinds of values that most texts of a column look like."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from mdvec.datasets.core.plain_cells import looks_like
from mdvec.datasets.core.value_types import BLANKS, TO_HALF_WIDTH, ValueKind, trimmed

_MAY_BE_VALUE = re.compile(r"\d|^(true|false)$", re.IGNORECASE).search
_MAX_COMPARED = 200


def likely_kinds(kinds: Iterable[ValueKind], texts: Iterable[str | None]) -> list[ValueKind]:
    """The kinds whose patterns some texts match; none unless most texts match at least one."""
    values = [text for cell in texts if cell and (text := trimmed(cell)) not in BLANKS]
    values = values[:: max(1, len(values) // _MAX_COMPARED)]
    if sum(map(bool, map(_MAY_BE_VALUE, values))) * 2 <= len(values):
        return []
    alike = _written_like((kind for kind in kinds if kind.is_date or not kind.question), values)
    readable = frozenset().union(*alike.values())
    are_most = sum(text in readable for text in values) * 2 > len(values)
    return [kind for kind, some in alike.items() if some] if are_most else []


def most_like(kinds: Iterable[ValueKind], values: Collection[str]) -> list[ValueKind]:
    """The kinds that share the pattern that most values match.

    Kinds that no value proves (``needs``) are left out if others are proved, and kinds for
    full-width digits if no value has such digits.
    """
    alike = _written_like(kinds, values)
    if not any(text.translate(TO_HALF_WIDTH) != text for text in values):
        alike = {kind: some for kind, some in alike.items() if not kind.is_full_width} or alike
    proves = {
        needs: all(any(re.search(need, text, re.ASCII) for text in values) for need in needs)
        for needs in {kind.needs for kind in alike}
    }
    proved = [kind for kind in alike if proves[kind.needs]] or list(alike)
    most = max(proved, key=lambda kind: len(alike[kind]))
    return [kind for kind in proved if kind.pattern == most.pattern]


def _written_like(
    kinds: Iterable[ValueKind], values: Collection[str]
) -> dict[ValueKind, frozenset[str]]:
    """For each kind, the values that match its pattern, even dates that do not exist."""
    half_width = {text: trimmed(text.translate(TO_HALF_WIDTH)) for text in values}
    is_wide = any(text != half for text, half in half_width.items())
    matching: dict[tuple[str, bool], frozenset[str]] = {}
    alike: dict[ValueKind, frozenset[str]] = {}
    for kind in kinds:
        key = kind.pattern, kind.is_full_width and is_wide
        if key not in matching:
            looks = looks_like(kind.pattern)
            matching[key] = frozenset(
                text for text, half in half_width.items() if looks(half if key[1] else text)
            )
        alike[kind] = matching[key]
    return alike
