"""Forms that DuckDB does not read, each with the form that it does: patterns over bare code."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator

from mdvec_mcp.analytics.core.mending.draft import Draft, Mended
from mdvec_mcp.analytics.core.mending.fragments import FRAGMENTS
from mdvec_mcp.analytics.core.mending.masking import COLUMN, NAME, TEXT, VALUE, mask
from mdvec_mcp.analytics.core.mending.rule import Rule, rule
from mdvec_mcp.analytics.core.mending.values import between_months, kanji_number, within_month

_TEXTS = f"{TEXT}(?:\\s*,\\s*{TEXT})*"
_LISTED = rf"(?:ARRAY)?\s*\[?({_TEXTS})\]?"


def _any_of(operator: str) -> Callable[[re.Match[str]], str]:
    def joined(part: re.Match[str]) -> str:
        tests = (f"{part[1]} {operator} {text}" for text in re.findall(TEXT, part[2]))
        return f"({' OR '.join(tests)})"

    return joined


def _cases(part: re.Match[str]) -> str:
    return f"{part[1]}{part[2]} END{part[3]}"


def _spelt_before_by(part: re.Match[str]) -> str:
    if part[0].upper() == "SORT":
        return "ORDER"
    near = difflib.get_close_matches(part[0].upper(), _BEFORE_BY, 1, 0.6)
    return near[0] if near else part[0]


def _searched_case(part: re.Match[str]) -> str:
    """``CASE x WHEN > 1 THEN … WHEN > 2`` with x before each comparison."""
    return re.sub(
        r"\bWHEN\s*(?=[<>=!])", f"WHEN {part[1]} ", f"CASE {part[2]}", flags=re.IGNORECASE
    )


def _without_commas(part: re.Match[str]) -> str:
    return part[0].replace(",", "")


def _day(part: re.Match[str]) -> str:
    return f"'{part[1]}-{int(part[2]):02d}-{int(part[3]):02d}'"


_BARE_MONTH = r"(\d{4})年(\d{1,2})月"
_BEFORE_BY = ("GROUP", "ORDER", "PARTITION")
_SYNTAX = (
    rule(r"\bLIMIT\s+(\d+)\s*,\s*(\d+)", r"LIMIT \2 OFFSET \1", "LIMIT skip, count is MySQL's"),
    rule(r"==", "=", "equality is ="),
    rule(r"=>(?=\s*[\w(])", ">=", "'at least' is >="),
    rule(r"=<", "<=", "'at most' is <="),
    rule(r"&&", " AND ", "&& is AND"),
    rule(r"#(?![>-])", "--", "a comment begins with --"),
    rule(r"//(?=[^\n]*[a-z]{2,} [a-z])", "--", "a comment begins with --"),
    rule(r"`([^`\n]+)`", r'"\1"', "a name stands in double quotes, not in backticks"),
    rule(
        r"(?<![\w\])])\[([^\W\d][\w ]*)\]", r'"\1"', "a name stands in double quotes, not in [ ]"
    ),
    rule(r"\bELSE\s*IF\b|\bELSIF\b", "WHEN", "CASE has WHEN for every condition"),
    rule(rf"(\bCASE\b(?:(?!\bEND\b).)*?)((?:ELSE|THEN)\s+{VALUE})(\s+AS\b|\s*,|\s+FROM\b)", _cases,
          "CASE needs END"),
    rule(rf"({COLUMN})\s+NOT\s*=\s*", r"\1 <> ", "'not equal' is <>"),
    rule(rf"({COLUMN})\s+IS\s+(NOT\s+)?EMPTY\b", r"\1 IS \2NULL", "an empty value is NULL"),
    rule(rf"\bBETWEEN\s+({VALUE})\s*,\s*({VALUE})", r"BETWEEN \1 AND \2", "BETWEEN a AND b"),
    rule(rf"\bBETWEEN\s+({VALUE})\s+TO\s+({VALUE})", r"BETWEEN \1 AND \2", "BETWEEN a AND b"),
    rule(r"([+-])\s*(\d+)\s+(DAY|WEEK|MONTH|YEAR|HOUR|MINUTE|SECOND)S?\b", r"\1 INTERVAL \2 \3",
          "a span of time is INTERVAL 1 DAY"),
    rule(r"\bMINUS(?=\s+SELECT\b)", "EXCEPT", "MINUS is EXCEPT"),
    rule(rf"\bIN\s+({_TEXTS})(?!\s*\))", r"IN (\1)", "IN needs parentheses"),
    rule(r"\bIN\s+\[([^\]]*)\]", r"IN (\1)", "IN needs parentheses"),
    rule(rf"({COLUMN})\s+LIKE\s+(?:IN|ANY|SOME)\s*\({_LISTED}\)", _any_of("LIKE"),
          "LIKE takes one pattern"),
    rule(rf"({COLUMN})\s+ILIKE\s+(?:IN|ANY|SOME)\s*\({_LISTED}\)", _any_of("ILIKE"),
          "ILIKE takes one pattern"),
    rule(rf"({COLUMN})\s+CONTAINS\s+({TEXT})", r"contains(\1, \2)",
          "contains(x, 'a') is a function"),
    rule(rf"({COLUMN})\s+(?:REGEXP|RLIKE)\s+({TEXT})", r"regexp_matches(\1, \2)",
          "a regular expression is tested by regexp_matches()"),
    rule(rf"\br(?={TEXT})", "", "a text has no prefix r"),
    rule(rf"({VALUE})\s+MOD\s+({VALUE})", r"\1 % \2", "the remainder is %"),
    rule(rf"({VALUE})\s+DIV\s+({VALUE})", r"\1 // \2", "integer division is //"),
    rule(r"\bWITH\s*\(\s*NOLOCK\s*\)", "", "tables have no hints"),
    rule(r"\bCROSS\s+APPLY\b", "CROSS JOIN LATERAL", "APPLY is JOIN LATERAL"),
    rule(r"\bOUTER\s+APPLY\b", "LEFT JOIN LATERAL", "APPLY is JOIN LATERAL"),
    rule(rf"({COLUMN})\s+INTERVAL\s+({NAME})\s+(\w+)", r"\1 + INTERVAL (\2) \3",
          "an interval of a column needs parentheses"),
    rule(rf"\bINTERVAL\s+(?!\()({COLUMN})\s+(SECOND|MINUTE|HOUR|DAY|WEEK|MONTH|YEAR)S?\b",
          r"INTERVAL (\1) \2", "an interval of a column needs parentheses"),
    rule(r"\bEXTRACT\s*\(\s*(\w+)\s*,", r"EXTRACT(\1 FROM", "EXTRACT(part FROM date)"),
    rule(r"\bAS\s+(\d\w*)", r'AS "\1"', "an alias that begins with a digit needs double quotes"),
    rule(r"\bAS\s+(\w+(?: +(?!FROM\b|AS\b)\w+)+)(?=\s*(?:,|\bFROM\b))", r'AS "\1"',
          "an alias with spaces needs double quotes"),
    rule(r",\s*(?=,)", "", "there is a comma too many"),
    rule(r",(?=\s*(?:FROM|WHERE|GROUP|ORDER|LIMIT|HAVING)\b|\s*\))", "",
          "there is a comma too many"),
    rule(r"\b(?:AND|OR|WHERE|,)\s*$", "", "the condition does not end"),
    rule(r"\bSHOW\s+(?:FULL\s+)?(?:COLUMNS|FIELDS)\s+(?:FROM|IN)\s+", "DESCRIBE ",
          "DESCRIBE shows the columns"),
    rule(rf"\bPRAGMA\s+table_info\s*\(\s*({TEXT}|{NAME})\s*\)",
          lambda part: f"DESCRIBE {part[1]}", "DESCRIBE shows the columns"),
    rule(r"\bINTO\s+#?\w+(?=\s+FROM\b)", "", "a SELECT writes no table"),
    rule(r"\bLIMIT\s+(\d+)\s+ROWS?(?:\s+ONLY)?\b", r"LIMIT \1", "LIMIT takes a number"),
    rule(rf"\bIS\s+NOT\s+({TEXT}|\d+)", r"<> \1", "IS NOT is for NULL; 'not equal' is <>"),
    rule(rf"\bIS\s+({TEXT}|\d+)", r"= \1", "IS is for NULL; equality is ="),
    rule(rf"\|\|(?=\s*{COLUMN}\s*(?:=|<|>|!=|LIKE\b|IN\b))", "OR", "|| joins texts; OR is OR"),
    rule(r"\)\s*WITH\s+(\w+)\s+AS\s*\(", r"), \1 AS (", "one WITH holds all parts"),
    rule(r"\b(\d{1,2})%(?=\s*\))", lambda part: f"{int(part[1]) / 100:g}", "50% is 0.5"),
    rule(rf"\bBETWEEN\s*\(\s*({VALUE})\s*(?:,|AND)\s*({VALUE})\s*\)", r"BETWEEN \1 AND \2",
          "BETWEEN a AND b"),
    rule(r"[<>=]\s*-?\d{1,3}(?:,\d{3})+(?![\d.]|\s*[,(])", _without_commas,
          "a number has no thousands separators"),
    rule(r"(?<![\w.])(\d{4})年(\d{1,2})月(\d{1,2})日(?!\w)", _day,
          "a date is written 'YYYY-MM-DD'"),
    rule(rf"({COLUMN})\s+BETWEEN\s+{_BARE_MONTH}\s+AND\s+{_BARE_MONTH}", between_months,
          "a month is a range of days"),
    rule(rf"({COLUMN})\s*=\s*{_BARE_MONTH}", within_month, "a month is a range of days"),
    rule(r"(?<![\w.])(\d+(?:\.\d+)?)(?:円|年|月|日|ドル|件|個|回|人|本|分|秒|時間|km)(?!\w)",
          r"\1", "a number stands without its unit"),
    rule(r"\bCASE\s+(?!WHEN\b)((?:(?!\b(?:WHEN|THEN|END)\b).)+\bTHEN\b)", r"CASE WHEN \1",
          "CASE has WHEN before each condition"),
    rule(r"\b(WITH\s+\w+\s+AS)\s+(SELECT\b(?:(?!\bSELECT\b).)+?)\s*\b(SELECT\b)", r"\1 (\2) \3",
          "a part of WITH stands in parentheses"),
    rule(r"(\bWITH\b.+\))\s*;\s*(?=SELECT\b)", r"\1 ", "WITH and its SELECT are one statement"),
    rule(r"\b(?:GROUP|ORDER)\s+BY\s*;?\s*$", "", "the clause does not end"),
    rule(r"\bNULLS(?!\s+(?:FIRST|LAST)\b)", "", "NULLS takes FIRST or LAST"),
    rule(rf"\bDISTINCT\s+ON\s+(?!\()({COLUMN})\s*,?", r"DISTINCT ON (\1) ",
          "DISTINCT ON needs parentheses"),
    rule(r"\b(?:DECS|DSEC|DSC|DECR?|DESCENDING)\b(?=\s*(?:$|[,;)]|LIMIT\b|NULLS\b))", "DESC",
          "descending is DESC"),
    rule(r"\bASCENDING\b(?=\s*(?:$|[,;)]|LIMIT\b))", "ASC", "ascending is ASC"),
    rule(r"\b(?!(?:GROUP|ORDER|PARTITION)\b)[a-z]{3,10}(?=\s+BY\b)", _spelt_before_by,
          "BY follows GROUP, ORDER or PARTITION"),
    rule(rf"\bOVER\s+((?:PARTITION|ORDER)\s+BY\s+{COLUMN}(?:\s+ORDER\s+BY\s+{COLUMN})?(?:\s+DESC)?)",
          r"OVER (\1)", "OVER needs parentheses"),
    rule(r"\b(ROWS|RANGE)\s+((?:\w+)\s+(?:PRECEDING|FOLLOWING)\s+AND)\b", r"\1 BETWEEN \2",
          "a frame is ROWS BETWEEN a AND b"),
    rule(r"\b(AND|OR)\s+\1\b", r"\1", "a word stands twice"),
    rule(rf"(\bWHERE\b(?:(?!\b(?:GROUP|ORDER|LIMIT|SELECT|IN)\b)[^(),])*),"
          rf"(?=\s*{COLUMN}\s*(?:=|<|>|!=|LIKE\b|IN\b|IS\b))", r"\1 AND",
          "conditions are joined by AND"),
    rule(rf"(\b(?:WHERE|AND|OR)\s+{COLUMN})\s+ANY\s*\(", r"\1 IN (", "IN takes a list"),
    rule(r"(?<!LEFT)(?<!RIGHT)(?<!FULL)\s+OUTER\s+JOIN\b", " FULL OUTER JOIN",
          "an outer join is LEFT, RIGHT or FULL"),
    rule(rf"\bCASE\s+({COLUMN})\s+(WHEN\s*[<>=!](?:(?!\bEND\b).)*)", _searched_case,
          "CASE WHEN x > 1 compares"),
    rule(r"\b(SELECT|\()\s*UNIQUE\b", r"\1 DISTINCT", "DISTINCT gives each value once"),
    rule(r"\(\s*UNIQUE\b", "(DISTINCT", "DISTINCT gives each value once"),
    rule(r"\s(?:TOP|FIRST)\s*\(?(\d+)\)?\s*;?\s*$", r" LIMIT \1", "LIMIT ends the query"),
    rule(r"(?<!USING)\s+(?:TABLE)?SAMPLE\s+(\d+)(?!\s*[%\w(])", r" USING SAMPLE \1",
          "a sample is USING SAMPLE"),
    rule(r"\bLIMIT\s*[=:]\s*(\d+)", r"LIMIT \1", "LIMIT takes a number"),
    rule(r"\bOFFSET\s*;?\s*$", "", "OFFSET takes a number"),
    rule(r"\bAS\s+(\w+(?:-\w+)+|\w+\([\w*]*\))(?=\s*(?:,|\bFROM\b))", r'AS "\1"',
          "an alias with other signs needs double quotes"),
    rule(r"\)(\s*,\s*\d+\s*\))(?=\s*(?:,|\bFROM\b|\bAS\b))", r"\1", "a ) stands too early"),
    rule(rf"({VALUE})\s*([<>]=?)\s*({COLUMN})\s*([<>]=?)\s*({VALUE})", r"\1 \2 \3 AND \3 \4 \5",
          "two comparisons are joined by AND"),
    rule(rf"({COLUMN})\s+MATCH(?:ES)?\s+({TEXT})", r"regexp_matches(\1, \2)",
          "a regular expression is tested by regexp_matches()"),
    rule(rf"\bEXISTS\s+({COLUMN})(?!\s*\()", r"\1 IS NOT NULL", "x IS NOT NULL tests for values"),
    rule(r"\b(TRUE|FALSE)\s*\(\s*\)", r"\1", "TRUE has no parentheses"),
    rule(r"\s+かつ\s+", " AND ", "かつ is AND"),
    rule(r"\s+または\s+", " OR ", "または is OR"),
    rule(rf"({COLUMN})\s+(NOT\s+)?BETWEEN\s+({VALUE})\s*[~〜～]\s*({VALUE})",
          r"\1 \2BETWEEN \3 AND \4", "BETWEEN a AND b"),
    *FRAGMENTS,
    rule(r"\s(WHERE\s[^()]+?)\s(FROM\s+\w+)", r" \2 \1", "FROM comes before WHERE"),
)  # fmt: skip


def _filtered(part: re.Match[str]) -> str:
    name = "avg" if part[1].upper() == "AVERAGE" else part[1]
    return f"{name}({part[2]}) FILTER (WHERE {part[3]})"


_FUNCTIONS = {
    "合計": "sum",
    "平均": "avg",
    "件数": "count",
    "最大": "max",
    "最小": "min",
    "中央": "median",
}
_CALLED = "AVG|SUM|COUNT|MIN|MAX|MEDIAN|YEAR|MONTH|DAY|HOUR|UPPER|LOWER|ROUND|LENGTH|ABS"
_PARTS = "year|month|day|hour|minute|second|quarter|week|dayofweek|dayofyear|date"
_AGGREGATES = {"mean": "avg", "std": "stddev"}
_BOUND = (
    rule(r"\b(?:SYSDATE|GETDATE|SYSDATETIME|GETUTCDATE)\b(?:\s*\(\s*\))?", "current_timestamp",
          "the time now is current_timestamp"),
    rule(r"\bCURDATE\s*\(\s*\)", "current_date", "today is current_date"),
    rule(rf"\bDATEADD\s*\(\s*(\w+)\s*,\s*DATEDIFF\s*\(\s*\1\s*,\s*0\s*,\s*({COLUMN})\s*\)"
          r"\s*,\s*0\s*\)", r"date_trunc('\1', \2)", "date_trunc('month', d) begins a month"),
    rule(r"\s*(?:!=|<>|\bIS\s+NOT)\s*(?:None|nil)\b", " IS NOT NULL", "no value is NULL"),
    rule(r"\s*(?:==?|\bIS)\s*(?:None|nil)\b", " IS NULL", "no value is NULL"),
    rule(rf"(\bSELECT\s+|,\s*)({_CALLED})\s+(?!AS\b|FROM\b)({COLUMN})"
          r"(?=\s*(?:,|\bFROM\b|\bAS\b))", r"\1\2(\3)", "a function has parentheses"),
    rule(rf"({COLUMN})\.(?:dt\.)?({_PARTS})\b(?:\(\s*\))?(?!\s*\()", r"\2(\1)",
          "a part of a date is a function: year(d)"),
    rule(rf"({COLUMN})\.(?:isnull|isna)\(\s*\)", r"\1 IS NULL", "x IS NULL tests for NULL"),
    rule(rf"({COLUMN})\.(?:notnull|notna)\(\s*\)", r"\1 IS NOT NULL",
          "x IS NOT NULL tests for values"),
    rule(rf"\bisna\s*\(\s*({COLUMN})\s*\)", r"\1 IS NULL", "x IS NULL tests for NULL"),
    rule(rf"\b(?:notna|notnull|isnotnull)\s*\(\s*({COLUMN})\s*\)", r"\1 IS NOT NULL",
          "x IS NOT NULL tests for values"),
    rule(rf"!\s*(?==?)(?!=)|!(?=\s*(?:{COLUMN}|\())", "NOT ", "! is NOT"),
    rule("><", "<>", "'not equal' is <>"),
    rule(rf"({COLUMN})::({_PARTS})\b", r"\2(\1)", "a part of a date is a function: year(d)"),
    rule(rf"\bTIMESTAMPADD\s*\(\s*(\w+)\s*,\s*(-?\d+)\s*,\s*({COLUMN})\s*\)",
          r"(\3 + INTERVAL (\2) \1)", "a span of time is added by +"),
    rule(rf"({COLUMN})\.str\.contains\(\s*({TEXT})\s*\)", r"contains(\1, \2)",
          "contains(x, 'a') is a function"),
    rule(r"([<>=]\s*)([一二三四五六七八九十]{1,2})(?!\w)",
          lambda part: part[1] + kanji_number(part[2]), "a number is written in figures"),
    rule(r"(?<!\w)(合計|平均|件数|最大値?|最小値?|中央値)\s*(?=\()",
          lambda part: _FUNCTIONS[part[1][:2]], "functions have English names"),
    rule(rf"\bTIMEDIFF\s*\(\s*({COLUMN})\s*,\s*({COLUMN})\s*\)", r"(\1 - \2)",
          "times are subtracted by -"),
    rule(rf"\bCOUNT_?DISTINCT\s*\(\s*({COLUMN})\s*\)", r"count(DISTINCT \1)",
          "count(DISTINCT x) counts different values"),
    rule(r"\b(SUM|AVG|AVERAGE)_?IFS?\s*\(\s*([^,()]+)\s*,\s*([^,()]+)\)", _filtered,
          "sum(x) FILTER (WHERE …) sums some rows"),
    rule(rf"\bREPLACE\s*\(\s*({COLUMN})\s*,\s*({TEXT})\s*\)", r"replace(\1, \2, '')",
          "replace(text, from, to)"),
    rule(rf"\bnunique\s*\(\s*({COLUMN})\s*\)", r"count(DISTINCT \1)",
          "count(DISTINCT x) counts different values"),
    rule(rf"\bEXTRACT\s*\(\s*YEAR_MONTH\s+FROM\s+({COLUMN})\s*\)", r"(year(\1) * 100 + month(\1))",
          "a year and its month are two parts"),
    rule(r"\bAS\s+FLOAT64\b", "AS DOUBLE", "FLOAT64 is DOUBLE"),
    rule(r"\bAS\s+(?:NVARCHAR2?|VARCHAR2|NCHAR|STRING|LONGTEXT)\b(?:\s*\(\s*\w+\s*\))?(?=\s*\))",
          "AS VARCHAR", "a text is VARCHAR"),
    rule(r"\bAS\s+UNSIGNED\b", "AS UBIGINT", "UNSIGNED is UBIGINT"),
    rule(r"\s+COLLATE\s+(?:utf8\w*|latin1\w*|SQL_\w+|Japanese\w*)", "", "no such collation"),
    rule(r"\bCURTIME\s*\(\s*\)", "current_time", "the time of day is current_time"),
    rule(rf"\bISNULL\s*\(\s*({COLUMN})\s*\)", r"\1 IS NULL", "x IS NULL tests for NULL"),
    rule(rf"\bILIKE\s*\(\s*({COLUMN})\s*,\s*({TEXT})\s*\)", r"\1 ILIKE \2",
          "ILIKE stands between its operands"),
    rule(rf"\bLIKE\s*\(\s*({COLUMN})\s*,\s*({TEXT})\s*\)", r"\1 LIKE \2",
          "LIKE stands between its operands"),
    rule(r"\bFROM\s+dual\b", "", "a SELECT without a table has no FROM"),
    rule(r"(?<!['\d-])\b(\d{4})-(\d{1,2})-(\d{1,2})\b", r"DATE '\1-\2-\3'",
          "a date stands in quotes"),
    rule(r"(?<![\w.])(\w+)\.(mean|avg|sum|min|max|median|count|std)\(\s*\)",
          lambda part: f"{_AGGREGATES.get(part[2].lower(), part[2].lower())}({part[1]})",
          "a function stands before its column"),
)  # fmt: skip
_FOREIGN = re.compile(r"[#`]|==|&&|=<|\[\w+\]|SHOW|PRAGMA|not a SELECT|\bIN \[|name => does")
"""What DuckDB reads, too, but not as it is meant."""


def mend_syntax(draft: Draft) -> Iterator[Mended]:
    """Every known foreign form in a query that cannot be read, all at once and one by one."""
    if draft.is_unreadable or _FOREIGN.search(f"{draft.sql} {draft.message}"):
        yield from _applied(_SYNTAX, draft.sql)


def mend_forms(draft: Draft) -> Iterator[Mended]:
    """Foreign names of values and tests, in a query that could be read."""
    yield from _applied(_BOUND, draft.sql)


def _applied(rules: tuple[Rule, ...], sql: str) -> Iterator[Mended]:
    masked = mask(sql)
    whys: list[str] = []
    code = masked.code
    for one in rules:
        changed = one.pattern.sub(one.form, code)
        if changed != code:
            whys.append(one.why)
            code = changed
    if not whys:
        return
    yield Mended(masked.shown(code), "; ".join(dict.fromkeys(whys)))
    for one in rules:  # one may have taken another's place
        if (changed := one.pattern.sub(one.form, masked.code)) != masked.code:
            yield Mended(masked.shown(changed), one.why)
