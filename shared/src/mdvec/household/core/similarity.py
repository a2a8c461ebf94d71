"""Scores how likely two transactions are the same purchase, from 0 to 1.

The score is a weighted sum of five values, each from 0 to 1. None depends on the tolerances of a
search, so scores of different searches are comparable.

    value        weight  1                      falls to
    date          0.15   the same day           1 / (1 + days / 7)
    amount        0.20   equal                  1 / (1 + 10 * difference / larger amount)
    description   0.30   the same letters       shared pairs of letters (Dice); 0.5 if one is empty
    source        0.25   all but the next case  0 for two IDs of one account
    category      0.10   the same               0.7 same major, 0.5 one is 未分類 or empty, 0 else

Two IDs of one account are two lines of one statement: even with the same shop and day they are
most likely two purchases, and score at most 0.75. One purchase that came in through two accounts
can score 1; if the categories differ, the descriptions must be nearly equal to score high.
"""

from __future__ import annotations

import unicodedata
from datetime import date
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from mdvec.household.core.transaction import Transaction

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DATE, AMOUNT, DESCRIPTION, SOURCE, CATEGORY = 0.15, 0.20, 0.30, 0.25, 0.10
_HALF_DAYS = 7
_AMOUNT_STEEPNESS = 10
_NEUTRAL = 0.5  # the value of what cannot be compared
_SAME_MAJOR = 0.7
_UNCATEGORISED = "未分類"

Value = TypeVar("Value", float, "NDArray[np.float64]")


class ComparedRow(NamedTuple):
    """The compared columns of a row that counts; half as expensive to read as a Transaction."""

    id: int
    date: date
    amount: int
    description: str
    category_major: str
    category_minor: str
    account: str
    mf_id: str

    @property
    def counts(self) -> bool:
        """Always true: rows that do not count are not read."""
        return True


Entry = Transaction | ComparedRow
"""A row to compare: whole, or only its compared columns."""


def weighted(
    days: Value, relative_difference: Value, description: Value, source: Value, category: Value
) -> Value:
    """The score of one pair, or of arrays of pairs, by the same arithmetic."""
    date = 1 / (1 + days / _HALF_DAYS)
    amount = 1 / (1 + _AMOUNT_STEEPNESS * relative_difference)
    return (
        DATE * date
        + AMOUNT * amount
        + DESCRIPTION * description
        + SOURCE * source
        + CATEGORY * category
    )


def letter_pairs(description: str) -> frozenset[str]:
    """The pairs of adjacent letters (bigrams) in a shop's name.

    Width, case, spaces, wave dashes, hyphens and dots are ignored.
    """
    text = unicodedata.normalize("NFKC", description).casefold()
    letters = "".join(char for char in text if char.isalnum()) or text.strip()
    if len(letters) < 2:
        return frozenset(letters)
    return frozenset(map(str.__add__, letters, letters[1:]))


def shared_letters(one: frozenset[str], other: frozenset[str]) -> float:
    """The Dice coefficient of two sets of letter pairs; 0.5 if one is empty."""
    if not one or not other:
        return _NEUTRAL
    return 2 * len(one & other) / (len(one) + len(other))


def category_closeness(one: tuple[str, str], other: tuple[str, str]) -> float:
    """The closeness of two categories (major, minor), from 0 to 1."""
    if one == other:
        return 1.0
    if one[0] == other[0]:
        return _SAME_MAJOR
    return _NEUTRAL if {one[0], other[0]} & {_UNCATEGORISED, ""} else 0.0
