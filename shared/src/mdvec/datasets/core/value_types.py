"""The kinds of values that a text column can hold, and the SQL that recognizes and reads them.

A column gets a kind only if all of its values fit it, so nothing is lost: '00123', and numbers too
long to be exact, stay text. An empty cell is not a value; neither is NA, NaN, NULL, None or a dash
in a column whose other values are all of one kind.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

_NO_VALUES = ("", "NA", "N/A", "NaN", "nan", "NULL", "null", "None", "-", "－", "—")
_NO_VALUES_SQL = str(_NO_VALUES)
_MANY_DIGITS = "length(ltrim(replace(regexp_extract({v}, '^[^eE]*'), '.', ''), '-0')) <= 17"
_DATE = r"[12]\d{3}[-/]\d{1,2}[-/]\d{1,2}"
_TIME = r"\d{1,2}:\d{2}(:\d{2}(\.\d{1,6})?)?"
_WHOLE = r"0|-?[1-9]\d{0,14}"
_FRACTION = r"-?(0|[1-9]\d*)?\.\d+([eE][-+]?\d{1,3})?"
_POWER = r"-?[1-9]\d*[eE][-+]\d{1,3}"
_GROUPED = r"(0|[1-9]\d{0,2}(,\d{3}){1,4}|[1-9]\d{0,14})"
# A number in brackets is negative, but (1), (2), (3) more likely count something.
_BRACKETED = r"([1-9]\d{0,2}(,\d{3}){1,4}|[1-9]\d{2,14})"
_MINUS = "[-▲△−－]"
_DECIMALS = r"(\.\d{1,2})?"
_JAPANESE_DATE = r"(\d{4}|(明治|大正|昭和|平成|令和)(\d{1,2}|元))年\d{1,2}月\d{1,2}日"
_READ_WITH_SPACES = ("BIGINT", "DOUBLE", "DATE")
_SIGNED_DIGITS = (
    f"if(regexp_matches({{v}}, '{_MINUS}|[(]'), '-', '') || "
    "regexp_replace({v}, '[^0-9.]', '', 'g')"
)
_YEAR = (
    "CASE substr({v}, 1, 2) WHEN '令和' THEN 2018 WHEN '平成' THEN 1988 WHEN '昭和' THEN 1925 "
    "WHEN '大正' THEN 1911 WHEN '明治' THEN 1867 ELSE 0 END "
    "+ TRY_CAST(replace(regexp_extract({v}, '([0-9]+|元)年', 1), '元', '1') AS INTEGER)"
)
_ISO_DATE = (
    f"({_YEAR})::VARCHAR || '-' || regexp_extract({{v}}, '年([0-9]+)月', 1) || '-' || "
    "regexp_extract({v}, '月([0-9]+)日', 1)"
)


def _amount(currency: str, suffix: str, decimals: str) -> str:
    """The pattern of amounts in one currency, whose sign may stand on either side of the minus."""
    plain = f"{_MINUS}?{currency}?{_MINUS}?{_GROUPED}{decimals}{suffix}"
    return f"{plain}|[(]{currency}?{_BRACKETED}{decimals}{suffix}[)]"


@dataclass(frozen=True, slots=True)
class ValueKind:
    """A kind of values.

    Attributes:
        type: its SQL type.
        pattern: a regular expression that its values match.
        reading: SQL that turns ``{v}``, the trimmed text, into a text that casts to the type.
        also: SQL over ``{v}``: a further condition on a value.
        unit: what its numbers count, where that is not part of the type: "$" or "%".
    """

    type: str
    pattern: str
    reading: str = "{v}"
    also: str = "true"
    unit: str = ""

    def fits(self, column: str) -> str:
        """SQL: whether every value of a column fits; NULL if it has no values."""
        fits = f"bool_and(coalesce({self.holds(column)}, false))"
        return f"{fits} FILTER (WHERE {self.is_value(column)})"

    def holds(self, column: str) -> str:
        """SQL: whether one value fits; false or NULL if not."""
        value = f"trim({column})"
        read = f"TRY_CAST({self.reading.format(v=value)} AS {self.type})"
        pattern = self.pattern.replace("'", "''")
        return (
            f"regexp_full_match({value}, '{pattern}') AND {read} IS NOT NULL "
            f"AND {self.also.format(v=value)}"
        )

    @staticmethod
    def is_value(column: str) -> str:
        """SQL: whether a cell holds a value."""
        return f"{column} IS NOT NULL AND trim({column}) NOT IN {_NO_VALUES_SQL}"

    def could_fit(self, texts: Iterable[str | None]) -> bool:
        """Whether all texts match the pattern; a quick check of a sample."""
        looks_like = re.compile(self.pattern, re.ASCII).fullmatch
        values = (text.strip(" ") for text in texts if text is not None)
        return all(value in _NO_VALUES or looks_like(value) for value in values)

    def value(self, column: str) -> str:
        """SQL: a cell of a fitting column as a value, or NULL.

        Every text that is not a value fails the cast, except NaN. (A list of texts in each of
        hundreds of columns would cost DuckDB gigabytes.)
        """
        value = f"nullif(nullif(trim({column}), 'NaN'), 'nan')"
        return f"TRY_CAST({self.reading.format(v=value)} AS {self.type})"

    def value_of_cell(self, cell: str) -> str:
        """SQL: the same for an element of a list, with as few function calls as possible.

        Their number decides DuckDB's time on thousands of columns. ``value`` cannot be as short:
        DuckDB would move a lone cast into its CSV reader, which fails where TRY_CAST gives NULL.
        """
        value = cell if self.type in _READ_WITH_SPACES else f"trim({cell})"
        read = f"TRY_CAST({self.reading.format(v=value)} AS {self.type})"
        return f"nullif({read}, 'NaN'::DOUBLE)" if self.type == "DOUBLE" else read


VALUE_KINDS = (
    ValueKind("BOOLEAN", "(?i)true|false"),
    ValueKind("BIGINT", r"0|-?[1-9]\d{0,17}"),
    ValueKind(
        "DOUBLE",
        f"{_WHOLE}|{_FRACTION}|{_POWER}",
        also=f"isfinite(TRY_CAST({{v}} AS DOUBLE)) AND {_MANY_DIGITS}",
    ),
    ValueKind("BIGINT", _amount(r"[¥￥\\]", "円?", ""), reading=_SIGNED_DIGITS),
    ValueKind("DOUBLE", _amount(r"[¥￥\\]", "円?", _DECIMALS), reading=_SIGNED_DIGITS),
    ValueKind("DOUBLE", _amount(r"\$", "", _DECIMALS), reading=_SIGNED_DIGITS, unit="$"),
    ValueKind(
        "DOUBLE",
        rf"{_MINUS}?{_GROUPED}(\.\d{{1,6}})? ?[%％]",
        reading=_SIGNED_DIGITS,
        unit="%",
    ),
    ValueKind("DATE", _DATE),
    ValueKind("DATE", _JAPANESE_DATE, reading=_ISO_DATE),
    ValueKind("TIMESTAMP", rf"{_DATE}([ T]{_TIME})?"),
    ValueKind("TIMESTAMP WITH TIME ZONE", rf"{_DATE}[ T]{_TIME} ?(Z|[-+]\d{{2}}(:?\d{{2}})?)"),
)
"""Every kind, the narrowest first: a column gets the first one that it fits."""
