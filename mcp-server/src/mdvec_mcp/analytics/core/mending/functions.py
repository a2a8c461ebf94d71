"""Functions and values that sqlglot leaves as they are, in DuckDB's words."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator

from mdvec_mcp.analytics.core.mending.draft import Draft, Mended
from mdvec_mcp.analytics.core.mending.masking import COLUMN, TEXT, mask

_SYNONYMS = {
    "nvl": "coalesce", "ifnull": "coalesce", "isnull": "coalesce", "len": "length",
    "average": "avg", "mean": "avg", "stdev": "stddev", "stddevp": "stddev_pop",
    "stdevp": "stddev_pop", "std": "stddev_pop", "variance": "var_samp", "rownumber": "row_number",
    "row_num": "row_number", "unix_timestamp": "epoch", "from_unixtime": "make_timestamp_s",
    "percentile_cont": "quantile_cont", "percentile": "quantile_cont",
    "approx_percentile": "approx_quantile", "julianday": "julian", "to_varchar": "to_char",
    "ucase": "upper", "lcase": "lower", "instr": "strpos", "regexp_like": "regexp_matches",
    "regexp_contains": "regexp_matches", "weekofyear": "week", "dayofmonth": "day",
    "rand": "random", "newid": "uuid", "countif": "count_if", "array_length": "len",
    "eomonth": "last_day", "char": "chr", "var": "var_samp", "varp": "var_pop", "vars": "var_samp",
    "day_of_week": "dayofweek", "day_of_year": "dayofyear", "explode": "unnest", "size": "len",
    "collect_list": "list", "wm_concat": "string_agg", "regexp_substr": "regexp_extract",
    "weekday_name": "dayname", "day_name": "dayname", "dayofweek_name": "dayname",
    "weekdayname": "dayname", "every": "bool_and", "covar": "covar_samp",
    "covariance": "covar_samp",
    "truncate": "trunc", "median_abs_dev": "mad", "median_absolute_deviation": "mad",
    "month_name": "monthname", "correl": "corr", "mid": "substr", "datalength": "strlen",
}  # fmt: skip
_MIN_LIKENESS = 0.8
_UNITS = {"mon": "month", "mm": "month", "yy": "year", "yyyy": "year", "dd": "day", "iw": "week"}
_PART = r"(?:YEAR|QUARTER|MONTH|WEEK|DAY|HOUR|MINUTE|SECOND|MM|YYYY|DD)S?"


def mend_functions(draft: Draft) -> Iterator[Mended]:
    """A function that DuckDB has under another name, or with its arguments in another order."""
    masked = mask(draft.sql)
    name = draft.named_by(r"Function with name (\S+) does not exist")
    if name is not None and (known := _SYNONYMS.get(name.lower())) is not None:
        changed = re.sub(rf"\b{re.escape(name)}(?=\s*\()", known, masked.code, flags=re.IGNORECASE)
        yield Mended(masked.shown(changed), f"{name[:30]}() is {known}() here")
    written = _TO_CHAR.sub(_formatted, draft.sql)
    if written != draft.sql:
        yield Mended(written, "strftime(d, '%Y-%m-%d') writes dates, format('{:,}', n) numbers")
    named = _NAMED_FORMAT.sub(_of_letters, draft.sql)
    if named != draft.sql:
        yield Mended(named, "strftime(d, '%Y-%m-%d') writes dates")
    for pattern, form, why in _FORMS:
        changed = re.sub(pattern, form, masked.code, flags=re.IGNORECASE)
        if changed != masked.code:
            yield Mended(masked.shown(changed), why)
    units = re.sub(r"'(\w+)'(?=\s*[,)])", _unit, draft.sql)
    if units != draft.sql and re.search(r"trunc|part", draft.message, re.IGNORECASE):
        yield Mended(units, "units have English names")
    suggestion = draft.named_by(r'Did you mean "(\w+)"')
    if name is not None and suggestion is not None and _alike(name, suggestion):
        changed = re.sub(
            rf"\b{re.escape(name)}(?=\s*\()", suggestion, masked.code, flags=re.IGNORECASE
        )
        yield Mended(masked.shown(changed), f"there is no {name[:30]}(), but {suggestion[:30]}()")


_CALL = r"\b\w+\s*\([^()]*\)"
_ANY = f"(?:{COLUMN}|{TEXT})"
_TYPES = {"int": "BIGINT", "integer": "BIGINT", "to_number": "DOUBLE", "float": "DOUBLE"}


def _cast(call: re.Match[str]) -> str:
    name = call[0].partition("(")[0].strip().lower()
    return f"CAST({call[1]} AS {_TYPES.get(name, 'VARCHAR')})"


def _share(call: re.Match[str]) -> str:
    return f"{call[1]}({call[2]}, {int(call[3]) / 100:g})"


def _shifted(call: re.Match[str]) -> str:
    sign = "+" if "_add" in call[0].lower() else "-"
    return f"({call[1]} {sign} {call[2]})"


_FORMS: tuple[tuple[str, str | Callable[[re.Match[str]], str], str], ...] = (
    (rf"\bSUBSTRING_INDEX\s*\(\s*({COLUMN})\s*,\s*({TEXT})\s*,\s*(-?1)\s*\)",
     r"split_part(\1, \2, \3)", "split_part(text, separator, number)"),
    (rf"\bCONVERT\s*\(\s*N?(?:VAR)?CHAR\s*\((\d+)\)\s*,\s*({COLUMN})\s*,\s*(?:120|121|23|126)\s*\)",
     r"left(CAST(\2 AS VARCHAR), \1)", "CONVERT is CAST, which cuts nothing"),
    (rf"\b(?:DATE_TRUNC|DATETRUNC|TRUNC)\s*\(\s*({COLUMN})\s*,\s*({TEXT})\s*\)",
     r"date_trunc(\2, \1)", "the unit comes first: date_trunc('month', d)"),
    (rf"\b(?:DATE_TRUNC|TRUNC)\s*\(\s*({COLUMN})\s*,\s*({_PART})\s*\)",
     r"date_trunc('\2', \1)", "the unit comes first, in quotes: date_trunc('month', d)"),
    (rf"\b(DATE_?TRUNC|DATE_?PART|DATE_?DIFF)\s*\(\s*({_PART})\s*,",
     r"\1('\2',", "the unit stands in quotes"),
    (rf"\b(SUBSTR|SUBSTRING|LEFT|RIGHT|UPPER|LOWER|TRIM|LPAD|RPAD|LENGTH|REPLACE|SPLIT_PART|STRPOS)"
     rf"\s*\(\s*({COLUMN})\s*(?=[,)])", r"\1(CAST(\2 AS VARCHAR)", "it is no text; cast it"),
    (rf"\b(QUANTILE(?:_CONT|_DISC)?|APPROX_QUANTILE)\s*\(\s*({COLUMN})\s*,\s*(\d{{1,2}})\s*\)",
     _share, "a quantile is between 0 and 1"),
    (rf"\bCOUNT\s*\(\s*DISTINCT\s+({COLUMN}(?:\s*,\s*{COLUMN})+)\s*\)", r"count(DISTINCT (\1))",
     "count(DISTINCT …) takes one value: a row in parentheses"),
    (rf"\bREGEXP_COUNT\s*\(\s*({COLUMN})\s*,\s*({TEXT})\s*\)",
     r"len(regexp_extract_all(\1, \2))", "regexp_extract_all(text, pattern) lists what it finds"),
    (rf"\bTIMESTAMPDIFF\s*\(\s*({_PART})\s*,\s*({_ANY})\s*,\s*({_ANY})\s*\)",
     r"date_sub('\1', \2, \3)", "date_sub('minute', from, to) counts whole units"),
    (rf"\bFORMAT\s*\(\s*({_CALL}|{COLUMN})\s*,\s*(\d)\s*\)",
     r"format('{:,.\2f}', CAST(\1 AS DOUBLE))", "format('{:,}', n) writes numbers"),
    (rf"\bGENERATE_SERIES\s*\(\s*({TEXT})(?:::\w+)?\s*,\s*({TEXT})(?:::\w+)?\s*,\s*({TEXT})\s*\)",
     r"generate_series(TIMESTAMP \1, TIMESTAMP \2, INTERVAL \3)",
     "a series of texts needs their type"),
    (rf"\b(?:TIMESTAMP|DATETIME)_DIFF\s*\(\s*({_ANY})\s*,\s*({_ANY})\s*,\s*({_PART})\s*\)",
     r"date_sub('\3', \2, \1)", "date_sub('minute', from, to) counts whole units"),
    (rf"\b(?:TIMESTAMP|DATETIME)_(?:ADD|SUB)\s*\(\s*({_ANY})\s*,\s*(INTERVAL\s+\d+\s+\w+)\s*\)",
     _shifted, "a span of time is added by +"),
    (rf"\bPARSE_DATE\s*\(\s*({TEXT})\s*,\s*({_ANY})\s*\)", r"CAST(strptime(\2, \1) AS DATE)",
     "strptime(text, format) reads a date"),
    (rf"\bPARSE_(?:TIMESTAMP|DATETIME)\s*\(\s*({TEXT})\s*,\s*({_ANY})\s*\)", r"strptime(\2, \1)",
     "strptime(text, format) reads a time"),
    (rf"\bFORMAT_(?:TIMESTAMP|DATETIME)\s*\(\s*({TEXT})\s*,\s*({_ANY})\s*\)", r"strftime(\2, \1)",
     "strftime(d, '%Y-%m-%d') writes dates"),
    (rf"\b(?:INT|INTEGER|TO_NUMBER|FLOAT|STR|STRING|TO_STRING|TEXT)\s*"
     rf"\(\s*({_CALL}|{_ANY})\s*\)", _cast,
     "types are changed by CAST(x AS type)"),
    (r"\bCAST\s*\(\s*(.+?)\s+AS\s+NUMBER\s*\)", r"CAST(\1 AS DECIMAL(38, 6))", "NUMBER is DECIMAL"),
)  # fmt: skip


_TO_CHAR = re.compile(
    r"\bTO_(?:VAR)?CHAR\s*\(([^()']+(?:\([^()]*\))?)\s*,\s*'([^']+)'\s*\)", re.IGNORECASE
)
_NAMED_FORMAT = re.compile(
    r"\b(?:DATE_FORMAT|FORMAT_DATE|STRFTIME|FORMAT)\s*\(([^()',]+),"
    r"\s*'([yMdHmsEa /:年月日.-]+)'\s*\)",
    re.IGNORECASE,
)
_LETTERS = {"yyyy": "%Y", "yy": "%y", "MMMM": "%B", "MMM": "%b", "MM": "%m", "dd": "%d",
            "EEEE": "%A", "EEE": "%a", "HH": "%H", "mm": "%M", "ss": "%S"}  # fmt: skip
_LETTER = re.compile("|".join(_LETTERS))


def _of_letters(call: re.Match[str]) -> str:
    """A date written by ``'yyyy-MM'``; unchanged where a letter is not known."""
    form = _LETTER.sub(lambda word: _LETTERS[word[0]], call[2])
    known = not re.search(r"(?<!%)[A-Za-z]", form)
    return f"strftime({call[1].strip()}, '{form}')" if known and "%" in form else call[0]


_DATE_WORDS = {
    "YYYY": "%Y", "YY": "%y", "MONTH": "%B", "MON": "%b", "MM": "%m", "DDD": "%j", "DD": "%d",
    "DAY": "%A", "DY": "%a", "HH24": "%H", "HH12": "%I", "HH": "%I", "MI": "%M", "SS": "%S",
    "IYYY": "%G", "IW": "%V", "MS": "%g", "AM": "%p", "PM": "%p",
}  # fmt: skip
_DATE_WORD = re.compile("FM|" + "|".join(sorted(_DATE_WORDS, key=len, reverse=True)), re.IGNORECASE)
_UNKNOWN_WORD = re.compile(r"(?<!%)[A-Za-z]{2,}|(?<!%)\bQ\b")


def _formatted(call: re.Match[str]) -> str:
    """``to_char`` of a date or a number; unchanged where a part of its format is not known."""
    value, shape = call[1].strip(), call[2]
    if re.fullmatch(r"(?:FM)?[90,.$LGD ]*[90][90,.$LGD ]*", shape):
        digits = len(shape.rpartition(".")[2]) if "." in shape else 0
        comma = "," if "," in shape or "G" in shape else ""
        kind = f".{digits}f" if digits else ""
        return f"format('{{:{comma}{kind}}}', {value})"
    form = _DATE_WORD.sub(lambda word: _DATE_WORDS.get(word[0].upper(), ""), shape)
    return call[0] if _UNKNOWN_WORD.search(form) else f"strftime({value}, '{form}')"


def _unit(text: re.Match[str]) -> str:
    unit = _UNITS.get(text[1].lower())
    return text[0] if unit is None else f"'{unit}'"


def _alike(name: str, suggestion: str) -> bool:
    bare = name.replace("_", "").lower()
    known = suggestion.replace("_", "").lower()
    return difflib.SequenceMatcher(None, bare, known).ratio() >= _MIN_LIKENESS
