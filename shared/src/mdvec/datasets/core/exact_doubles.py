"""Whether a DOUBLE keeps every digit of a number as it is written.

It does if the number has 15 significant digits or fewer and is not next to 0 (1e-320), is the
shortest text of the DOUBLE, or is the DOUBLE rounded to as many digits. The last two differ for a
DOUBLE midway between two texts.
"""

from __future__ import annotations

from decimal import Decimal

ALWAYS_KEPT = 15
_MAX_DIGITS = 767
"""The most significant digits that a DOUBLE can have in decimal notation."""

_DIGITS = "rtrim(ltrim(replace(regexp_extract({v}, '^[^eE]*'), '.', ''), '-+0'), '0')"
_SHORTEST = _DIGITS.replace("{v}", "CAST(TRY_CAST({v} AS DOUBLE) AS VARCHAR)")
_ROUNDED = (
    f"replace(regexp_extract(printf('%.*e', length({_DIGITS})::INTEGER - 1, "
    "abs(TRY_CAST({v} AS DOUBLE))), '^[^e]*'), '.', '')"
)
IS_KEPT_SQL = (  # by CASE, as OR would run each test on every value
    f"CASE WHEN length({_DIGITS}) <= {ALWAYS_KEPT} OR {_DIGITS} = {_SHORTEST} THEN true "
    f"WHEN length({_DIGITS}) <= {_MAX_DIGITS} THEN {_DIGITS} = {_ROUNDED} ELSE false END"
)
"""SQL: whether a DOUBLE keeps the number in the text ``{v}``."""


def is_shortest(text: str, double: str) -> str:
    """SQL: whether a text is what DuckDB writes for a DOUBLE, as digits with a point; quick."""
    return rf"CAST({double} AS VARCHAR) = {text} AND regexp_full_match({text}, '-?\d+\.\d+')"


def kept_double(digits: str) -> float | None:
    """The number as a float; None if a float does not keep all of its digits."""
    number = float(digits)
    if len(digits) <= ALWAYS_KEPT + 1 and "e" not in digits.lower():  # the point is no digit
        return number
    try:
        exact = Decimal(digits)
    except ArithmeticError:  # the exponent is too large
        return None
    length = len("".join(map(str, exact.as_tuple().digits)).rstrip("0")) or 1
    is_rounded = length <= _MAX_DIGITS and exact == Decimal(f"{number:.{length - 1}e}")
    return number if is_rounded or exact == Decimal(repr(number)) else None
