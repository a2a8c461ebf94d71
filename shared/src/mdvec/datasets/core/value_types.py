"""What kinds of values a column of text can hold, and the SQL that tells and reads them.

A column gets a kind only if every one of its values fits it, so nothing that was written is
lost: '00123' and numbers too long to be exact stay text. An empty cell is no value; nor is NA,
NaN, NULL or None in a column whose other values are of one kind.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

_NO_VALUES = ("", "NA", "N/A", "NaN", "nan", "NULL", "null", "None")
_NOTHING = str(_NO_VALUES)
_MANY_DIGITS = "length(ltrim(replace(regexp_extract({v}, '^[^eE]*'), '.', ''), '-0')) <= 17"
_DATE = r"[12]\d{3}[-/]\d{1,2}[-/]\d{1,2}"
_TIME = r"\d{1,2}:\d{2}(:\d{2}(\.\d{1,6})?)?"
_WHOLE = r"0|-?[1-9]\d{0,14}"
_FRACTION = r"-?(0|[1-9]\d*)?\.\d+([eE][-+]?\d{1,3})?"
_POWER = r"-?[1-9]\d*[eE][-+]\d{1,3}"
_YEN = r"-?[¥￥\\]?-?(0|[1-9]\d{0,2}(,\d{3}){1,4}|[1-9]\d{0,14})"
_READ_WITH_SPACES = ("BIGINT", "DOUBLE", "DATE")
_ONLY_DIGITS = "regexp_replace({v}, '[^0-9.-]', '', 'g')"


@dataclass(frozen=True, slots=True)
class ValueKind:
    """A kind of values: its type in SQL, what they look like, and how they are read.

    ``reading`` and ``also`` are SQL over ``{v}``, the trimmed text.
    """

    type: str
    pattern: str
    reading: str = "{v}"
    also: str = "true"

    def fits(self, column: str) -> str:
        """SQL: whether every value of a column fits; NULL where it has none."""
        return (
            f"bool_and(coalesce({self.holds(column)}, false)) FILTER (WHERE {self.counts(column)})"
        )

    def holds(self, column: str) -> str:
        """SQL: whether one value fits; false or NULL where it does not."""
        value = f"trim({column})"
        read = f"TRY_CAST({self.reading.format(v=value)} AS {self.type})"
        pattern = self.pattern.replace("'", "''")
        return (
            f"regexp_full_match({value}, '{pattern}') AND {read} IS NOT NULL "
            f"AND {self.also.format(v=value)}"
        )

    @staticmethod
    def counts(column: str) -> str:
        """SQL: whether there is a value."""
        return f"{column} IS NOT NULL AND trim({column}) NOT IN {_NOTHING}"

    def could_fit(self, texts: Iterable[str | None]) -> bool:
        """Whether all texts look like this kind; a quick first look at some rows."""
        looks_like = re.compile(self.pattern, re.ASCII).fullmatch
        values = (text.strip(" ") for text in texts if text is not None)
        return all(value in _NO_VALUES or looks_like(value) for value in values)

    def value(self, column: str) -> str:
        """SQL: a column's value, or NULL where it has none; of a column that fits.

        What is no value is no value of the type either, but for NaN. (A list of texts in each of
        hundreds of columns would take DuckDB gigabytes.)
        """
        value = f"nullif(nullif(trim({column}), 'NaN'), 'nan')"
        return f"TRY_CAST({self.reading.format(v=value)} AS {self.type})"

    def value_of_cell(self, cell: str) -> str:
        """SQL: the same of an element of a list, with as few functions as can be.

        With thousands of columns DuckDB's time goes by them. Of a column, DuckDB would have its
        CSV reader do a cast that stands alone, which fails where TRY_CAST gives NULL.
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
    ValueKind("BIGINT", f"{_YEN}円?", reading=_ONLY_DIGITS),
    ValueKind("DOUBLE", rf"{_YEN}(\.\d{{1,2}})?円?", reading=_ONLY_DIGITS),
    ValueKind("DATE", _DATE),
    ValueKind("TIMESTAMP", rf"{_DATE}([ T]{_TIME})?"),
    ValueKind("TIMESTAMP WITH TIME ZONE", rf"{_DATE}[ T]{_TIME} ?(Z|[-+]\d{{2}}(:?\d{{2}})?)"),
)
"""Every kind, the narrowest first: the first that a column fits is the column's."""
