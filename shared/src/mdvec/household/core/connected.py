"""Groups numbers that pairs connect."""

from __future__ import annotations

from collections.abc import Iterable


def connected(pairs: Iterable[tuple[int, int]]) -> dict[int, int]:
    """For each number in the pairs, the smallest number connected with it, perhaps via others."""
    above: dict[int, int] = {}

    def root(number: int) -> int:
        while (up := above.setdefault(number, number)) != number:
            above[number] = above.get(up, up)
            number = up
        return number

    for pair in pairs:
        low, high = sorted(map(root, pair))
        above[high] = low
    return {number: root(number) for number in above}
