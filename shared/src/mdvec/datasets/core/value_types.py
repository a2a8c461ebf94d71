"""The kinds of values that a text column can hold, and the SQL that recognizes and reads them.

A column gets a kind only if all of its values fit it, so nothing is lost: '00123', and numbers too
long to be exact, stay text. Values that can be read in two ways, such as 01/02/2025, stay text too,
and the import asks which is meant. An empty cell is not a value; nor is NA, NaN, NULL, None or a
dash in a column whose other values are all of one kind.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from mdvec.datasets.core.exact_doubles import IS_KEPT_SQL
from mdvec.datasets.core.japanese_dates import (
    ERA_LETTER,
    ERA_LETTER_DATE,
    ISO_DATE,
    ISO_MOMENT,
    JAPANESE_DATE,
    JAPANESE_MOMENT,
    PAST_ERA,
    PAST_ERA_RULE,
    TIME,
)
from mdvec.datasets.core.plain_cells import IN_USUAL_YEARS, PlainCells, looks_like

WRITTEN_BLANKS = (
    "NA", "N/A", "n/a", "<NA>", "NaN", "nan", "NULL", "null", "None",
    "-", "－", "—", "―", "–", "─", "ー",
    "#N/A", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!",
)  # fmt: skip
"""Cells that mean no value unless the column is text; spreadsheets write their errors into CSV."""
BLANKS = frozenset(("", *WRITTEN_BLANKS))
SPACES = " \u00a0\u1680" + "".join(map(chr, range(0x2000, 0x200B))) + "\u202f\u205f\u3000"
"""The spaces, of any width, that DuckDB's ``trim`` removes."""
_BLANKS_SQL = str(("", *WRITTEN_BLANKS))
_YEARS = r"([12]\d{3}|9999)"  # 9999-12-31 means no end
_DATE = rf"{_YEARS}[-/]\d{{1,2}}[-/]\d{{1,2}}"
_WHOLE = r"0|-?[1-9]\d{0,14}"
_FRACTION = r"-?(0|[1-9]\d*)?\.\d+([eE][-+]?\d{1,3})?"
_POWER = r"-?[1-9]\d*[eE][-+]\d{1,3}"
_INTEGER = r"0|-?[1-9]\d{0,17}"
_FULL_DATE = rf"{_YEARS}[-/]\d{{2}}[-/]\d{{2}}"
_FULL_TIMESTAMP = rf"{_FULL_DATE}[ T]\d{{2}}:\d{{2}}:\d{{2}}"
_PLAIN_BOOLEANS = PlainCells("true|false|True|False", "true")
_PLAIN_INTEGERS = PlainCells(_INTEGER, "strlen({v}) <= 18")
_PLAIN_DECIMALS = PlainCells(rf"{_WHOLE}|-?(0|[1-9]\d*)?\.\d+", "strlen({v}) <= 16", length=16)
_PLAIN_DATES = PlainCells(_FULL_DATE, IN_USUAL_YEARS.format(10))
_PLAIN_MOMENTS = PlainCells(_FULL_TIMESTAMP, IN_USUAL_YEARS.format(19))
_GROUPED = r"(0|[1-9]\d{0,2}(,\d{3}){1,4}|[1-9]\d{0,14})"
_MINUS = "([-−－]|[▲△] ?)"
_DECIMALS = r"(\.\d{1,2})?"
_SIGNED_DIGITS = (
    f"if(regexp_matches({{v}}, '{_MINUS}'), '-', '') || regexp_replace({{v}}, '[^0-9.]', '', 'g')"
)
_BRACKET_DIGITS = _SIGNED_DIGITS.replace(_MINUS, f"{_MINUS}|[(]")
_WEEKDAY = r" ?[(（][月火水木金土日][)）]"
_BEFORE_WEEKDAY = "regexp_replace({v}, ' ?[(（].*', '')"
_USUAL_TIME = re.compile(r"(?<![\d:])(?!24)\d\d?(:|時)\d")
_PLAIN_NUMBER = re.compile(r"-?[0-9.]+([eE][-+]?[0-9]+)?")
_FULL_WIDTH = ("０１２３４５６７８９，．－＋／：％（）\u3000\u00a0", "0123456789,.-+/:%()  ")
TO_HALF_WIDTH = str.maketrans(*_FULL_WIDTH)
"""Turns full-width digits, their signs and spaces into the usual ones."""
_WITH_COMMA = r"(0|[1-9]\d{0,2}(\.\d{3}){1,4}|[1-9]\d{0,14})(,\d{1,2})?"
_COMMA_DIGITS = (
    f"if(regexp_matches({{v}}, '{_MINUS}'), '-', '') || "
    "replace(regexp_replace({v}, '[^0-9,]', '', 'g'), ',', '.')"
)
_SLASHED = r"\d{1,2}[/.-]\d{1,2}[/.-][12]\d{3}"
_SLASHED_MOMENT = rf"{_SLASHED}( {TIME})?"
_OVER_12 = r"(1[3-9]|2\d|3[01])"
_DAY_FIRST, _MONTH_FIRST = rf"^{_OVER_12}[/.-]", rf"^\d{{1,2}}[/.-]{_OVER_12}[/.-]"
"""Dates in which a number over 12 proves that the day, or the month, is first."""
_MONTH_NAMED = r"(?i)[a-z]{3,9} \d{1,2},? [12]\d{3}|\d{1,2}[- ][a-z]{3,9}[- ][12]\d{3}"
_MONTH_FORMATS = tuple(
    order.replace("month", name)
    for order in ("month %d %Y", "month %d, %Y", "%d month %Y", "%d-month-%Y")
    for name in ("%b", "%B")
)
_LOCAL = rf"{_MINUS}?(0|[1-9]\d{{0,2}}(\.\d{{3}}){{1,4}}|[1-9]\d{{0,14}})(,\d{{1,9}})?"
_LOCAL_PROOF = r",(\d{1,2}|\d{4,})$|^\W?0,"
_GROUPING_PROOF = r"[¥￥\\円▲△()$£%％]|,\d{3}[,.]"
_COMMAS = "the comma is the decimal sign"


def _strptime_sql(formats: Iterable[str]) -> str:
    """SQL that parses {v} by the first of some strptime formats that fits."""
    return f"try_strptime({{v}}, {list(formats)!s})"


def _slash_date_sql(order: Iterable[str]) -> str:
    """SQL that reads a date with its parts in this order, with or without a time."""
    parts = tuple(order)
    days = [sign.join(parts) for sign in ("/", ".", "-")]
    return _strptime_sql(
        day + time for day in days for time in ("", " %H:%M", " %H:%M:%S", " %H:%M:%S.%f")
    )


_DMY, _MDY = _slash_date_sql(("%d", "%m", "%Y")), _slash_date_sql(("%m", "%d", "%Y"))


def has_usual_time(text: str) -> bool:
    """Whether a text has a time that belongs to its date; 24:00 belongs to the next day."""
    return _USUAL_TIME.search(text) is not None


def _euro(number: str) -> str:
    """The pattern of amounts in euros, whose sign stands before or after the number."""
    return rf"{_MINUS}?(€ ?)?{_MINUS}?{number}( ?€)?"


def trimmed(cell: str) -> str:
    """A cell without spaces of any width at its ends, as DuckDB's ``trim`` returns it."""
    return cell.strip(SPACES)


@dataclass(frozen=True, slots=True)
class ValueKind:
    """A kind of values.

    Attributes:
        type: its SQL type.
        pattern: a regular expression that its values match.
        reading: SQL that turns ``{v}``, the trimmed text, into a text that casts to the type.
        also: SQL over ``{v}``: a further condition on a value.
        unit: the unit of its numbers, such as "$" or "%", which is not part of the type.
        needs: regular expressions; a column has this kind only if each matches within some value,
            which proves that its values do not mean something else.
        is_full_width: whether full-width digits, signs and spaces are allowed.
        rule: a note on how the values of a column are read; "" if it is obvious.
        question: the question to the user if the values can be read in two ways; the column stays
            text.
        quick: the cells that a plain cast reads, as it does most; None if it reads none.
    """

    type: str
    pattern: str
    reading: str = "{v}"
    also: str = "true"
    unit: str = ""
    needs: tuple[str, ...] = ()
    is_full_width: bool = False
    rule: str = ""
    question: str = ""
    quick: PlainCells | None = None

    def holds(self, column: str) -> str:
        """SQL: whether a value is of this kind; false or NULL if not."""
        value = self._trim(column)
        read = self.reading.format(v=value)
        pattern = self.pattern.replace("'", "''")
        exact = "true"
        if self.type == "DOUBLE":  # with OR, DuckDB would run the slow test on short values, too
            is_kept = IS_KEPT_SQL.format(v=f"({read})")
            exact = f"CASE WHEN length({value}) <= 15 THEN true ELSE {is_kept} END"
        return (
            f"regexp_full_match({value}, '{pattern}') AND TRY_CAST({read} AS {self.type}) "
            f"IS NOT NULL AND {self.also.format(v=value)} AND {exact}"
        )

    def proves(self, column: str, at: int) -> str:
        """SQL: whether a value contains the pattern ``needs[at]``; true if there is none."""
        if at >= len(self.needs):
            return "true"
        pattern = self.needs[at].replace("'", "''")
        return f"regexp_matches({self._trim(column)}, '{pattern}')"

    def _trim(self, cell: str) -> str:
        full, half = _FULL_WIDTH
        return (
            f"trim(translate({cell}, '{full}', '{half}'))"
            if self.is_full_width
            else f"trim({cell})"
        )

    @staticmethod
    def is_value(column: str) -> str:
        """SQL: whether a cell holds a value."""
        return f"{column} IS NOT NULL AND trim({column}) NOT IN {_BLANKS_SQL}"

    @staticmethod
    def nulls(column: str) -> str:
        """SQL: the number of cells in a column, such as NA and "-", that mean no value."""
        return f"count(*) FILTER (WHERE trim({column}) IN {WRITTEN_BLANKS})"

    @property
    def is_date(self) -> bool:
        """Whether its values are dates or times, or are once the user answers its question."""
        is_asked = self.pattern in (_SLASHED_MOMENT, ERA_LETTER)
        return is_asked or self.type.startswith(("DATE", "TIMESTAMP"))

    @property
    def has_decimal_commas(self) -> bool:
        """Whether a column of this kind proves that the comma is a file's decimal sign."""
        return self.reading == _COMMA_DIGITS

    def is_plain(self, text: str) -> bool:
        """Whether a value of this kind looks the same in the file and in the table."""
        if self.type == "DATE":
            return text[4:5] == "-"
        if self.type == "TIMESTAMP":
            return text[4:5] == "-" and has_usual_time(text)
        return self.type not in ("BIGINT", "DOUBLE") or _PLAIN_NUMBER.fullmatch(text) is not None

    def value(self, cell: str) -> str:
        """SQL: a cell as a value, or NULL; all values of the column must fit this kind.

        Cells that are no values fail the cast, except NaN.
        """
        if self.question:
            return cell
        read = f"TRY_CAST({self.reading.format(v=self._trim(cell))} AS {self.type})"
        return f"nullif({read}, 'NaN'::DOUBLE)" if self.type == "DOUBLE" else read


def _of_eras(kind: ValueKind) -> tuple[ValueKind, ValueKind]:
    """The kind, after the same one for columns with years that their era never had."""
    rule = ", ".join(filter(None, (kind.rule, PAST_ERA_RULE)))
    return replace(kind, needs=(*kind.needs, PAST_ERA), rule=rule), kind


def _with_weekday(pattern: str, reading: str) -> ValueKind:
    """The kind of dates with a day of the week, which must be the right one for each date."""
    read = reading.replace("{v}", _BEFORE_WEEKDAY)
    return ValueKind(
        "DATE",
        f"({pattern}){_WEEKDAY}",
        reading=read,
        also=f"substr('日月火水木金土', dayofweek(TRY_CAST({read} AS DATE)) + 1, 1) = "
        "regexp_extract({v}, '[(（](.)', 1)",
    )


def _amounts(
    type_: str, currency: str, suffix: str, decimals: str, unit: str = ""
) -> tuple[ValueKind, ValueKind]:
    """The kinds of amounts in one currency, without and with brackets around negative ones.

    The currency sign may be on either side of the minus. Amounts in brackets are negative only if
    the column also has amounts without: otherwise they may be parts of another column (内数), last
    year's numbers, or the numbers 1, 2, 3.
    """
    sign, digits = f"({currency} ?)?", f"{_GROUPED}{decimals}{suffix}"
    plain = f"{_MINUS}?{sign}{_MINUS}?{digits}"
    return (
        ValueKind(type_, plain, reading=_SIGNED_DIGITS, unit=unit),
        ValueKind(
            type_,
            f"{plain}|[(]{sign}{digits}[)]",
            reading=_BRACKET_DIGITS,
            unit=unit,
            needs=("^[^(]*[1-9][^(]*$", "[(]"),
            rule="numbers in brackets are negative",
        ),
    )


_KINDS = (
    ValueKind("BOOLEAN", "(?i)true|false", quick=_PLAIN_BOOLEANS),
    ValueKind("BIGINT", _INTEGER, quick=_PLAIN_INTEGERS),
    ValueKind(
        "DOUBLE",
        f"{_WHOLE}|{_FRACTION}|{_POWER}",
        also="isfinite(TRY_CAST({v} AS DOUBLE))",
        quick=_PLAIN_DECIMALS,
    ),
    # Telephone numbers begin with a plus, too; it is a sign if other values have a minus or point.
    ValueKind("BIGINT", r"0|[-+]?[1-9]\d{0,14}", needs=("^(-|0$)",)),
    ValueKind("DOUBLE", r"0|[-+]?(0|[1-9]\d{0,14})(\.\d+)?", needs=(r"^(-|0$)|\.",)),
    *(
        ValueKind(
            type_,
            rf"({_MINUS}|[+])?(0|[1-9]\d{{0,14}}){decimals}",
            reading=_SIGNED_DIGITS,
            needs=("[+]", f"^{_MINUS}"),
        )
        for type_, decimals in (("BIGINT", ""), ("DOUBLE", r"(\.\d+)?"))
    ),
    *_amounts("BIGINT", r"[¥￥\\]", "( ?円)?", ""),
    *_amounts("DOUBLE", r"[¥￥\\]", "( ?円)?", _DECIMALS),
    *_amounts("DOUBLE", r"\$", "", _DECIMALS, "$"),
    ValueKind(
        "DOUBLE",
        rf"([+]|{_MINUS})?{_GROUPED}(\.\d{{1,6}})? ?[%％]",
        reading=_SIGNED_DIGITS,
        unit="%",
    ),
    *_amounts("DOUBLE", "£", "", _DECIMALS, "£"),
    ValueKind("DOUBLE", _euro("(0|[1-9][0-9]{0,14})"), reading=_SIGNED_DIGITS, unit="€"),
    ValueKind(
        "DOUBLE",
        _euro(_WITH_COMMA),
        reading=_COMMA_DIGITS,
        unit="€",
        needs=(r"€.*,\d{1,2}$|,\d{1,2} ?€$",),
    ),
    ValueKind(
        "DOUBLE",
        _euro(_GROUPED + _DECIMALS),
        reading=_SIGNED_DIGITS,
        unit="€",
        needs=(r"€.*\.\d{1,2}$|\.\d{1,2} ?€$|,\d{3},\d{3}",),
    ),
    ValueKind(
        "DOUBLE",
        f"{_MINUS}?{_WITH_COMMA}",
        reading=_COMMA_DIGITS,
        needs=(r"\.\d{3},\d{1,2}$",),
        rule=_COMMAS,
    ),
    ValueKind("DATE", _DATE, quick=_PLAIN_DATES),
    *_of_eras(ValueKind("DATE", JAPANESE_DATE, reading=ISO_DATE)),
    _with_weekday(_DATE, "{v}"),
    *_of_eras(_with_weekday(JAPANESE_DATE, ISO_DATE)),
    *_of_eras(
        ValueKind(
            "DATE",
            JAPANESE_DATE.removesuffix(r"\d{1,2}日"),
            reading=ISO_DATE.replace("regexp_extract({v}, '月([0-9]+)日', 1)", "'1'"),
            rule="the first day of the month",
        )
    ),
    ValueKind("DATE", _MONTH_NAMED, reading=_strptime_sql(_MONTH_FORMATS)),
    ValueKind("DATE", _SLASHED, reading=_DMY, needs=(_DAY_FIRST,), rule="the day comes first"),
    ValueKind("DATE", _SLASHED, reading=_MDY, needs=(_MONTH_FIRST,), rule="the month comes first"),
    ValueKind("TIMESTAMP", rf"{_DATE}([ T]{TIME})?", quick=_PLAIN_MOMENTS),
    *_of_eras(ValueKind("TIMESTAMP", JAPANESE_MOMENT, reading=ISO_MOMENT)),
    ValueKind(
        "TIMESTAMP", _SLASHED_MOMENT, reading=_DMY, needs=(_DAY_FIRST,), rule="the day comes first"
    ),
    ValueKind(
        "TIMESTAMP",
        _SLASHED_MOMENT,
        reading=_MDY,
        needs=(_MONTH_FIRST,),
        rule="the month comes first",
    ),
    ValueKind(
        "VARCHAR",
        _SLASHED_MOMENT,
        also=f"{_DMY} IS NOT NULL AND {_MDY} IS NOT NULL",
        question="the day or the month may come first; it stays text until --read "
        "'{name}=date:dmy' or '{name}=date:mdy'",
    ),
    ValueKind(
        "VARCHAR",
        _LOCAL,
        needs=(_LOCAL_PROOF,),
        question="the comma may be a decimal sign; it stays text unless --read '{name}=comma'",
    ),
    ValueKind(
        "VARCHAR",
        rf"[(]([¥￥$£\\] ?)?{_GROUPED}{_DECIMALS}( ?円)?[)]",
        question="it may be negative, or not; it stays text until --read '{name}=number' or "
        "'{name}=number:plus'",
    ),
    ValueKind(
        "VARCHAR",
        ERA_LETTER,
        also=f"TRY_CAST({ERA_LETTER_DATE} AS DATE) IS NOT NULL",
        question="the letter may be an era's, R for 令和; it stays text until --read '{name}=date'",
    ),
    ValueKind("TIMESTAMP WITH TIME ZONE", rf"{_DATE}[ T]{TIME} ?(Z|[-+]\d{{2}}(:?\d{{2}})?)"),
)
VALUE_KINDS = (*_KINDS, *(replace(kind, is_full_width=True) for kind in _KINDS))
"""Every kind, the narrowest first: a column gets the first one that it fits."""


def _among_semicolons(kind: ValueKind) -> ValueKind:
    """The kind for files with semicolons between cells, where commas may be decimal signs."""
    is_proved = kind.needs or _GROUPED not in kind.pattern
    return kind if is_proved else replace(kind, needs=(_GROUPING_PROOF,))


_LOCAL_KINDS = (
    ValueKind("DOUBLE", _LOCAL, reading=_COMMA_DIGITS, needs=(_LOCAL_PROOF,), rule=_COMMAS),
    ValueKind(
        "VARCHAR",
        _LOCAL,
        needs=(",",),
        question="1,234 may be 1234 or 1.234; it stays text until --read '{name}=number' or "
        "'{name}=comma'",
    ),
)
_SEMICOLON_KINDS = (
    *(_among_semicolons(kind) for kind in VALUE_KINDS if not kind.question),
    *_LOCAL_KINDS,
    *(kind for kind in VALUE_KINDS if kind.question),
)

DOTTED = ValueKind(
    "VARCHAR",
    rf"{_MINUS}?(0|[1-9]\d{{0,2}}(\.\d{{3}}){{1,4}}|[1-9]\d{{0,14}})",
    needs=(r"\.",),
    is_full_width=True,
    question="1.234 may be 1234 or 1.234, as the comma is the decimal sign of another column; it "
    "stays text until --read '{name}=comma' or '{name}=number'",
)
"""Numbers whose points may separate thousands, because the file also has decimal commas."""


def may_be_dotted(kind: ValueKind | None) -> bool:
    """Whether a column of this kind, or of text (None), may also be ``DOTTED``."""
    return kind is None or (kind.type, kind.unit, kind.reading) == ("DOUBLE", "", "{v}")


def _with_type(*types: str) -> tuple[ValueKind, ...]:
    return tuple(kind for kind in VALUE_KINDS if kind.type.startswith(types))


def _in_order(reading: str) -> tuple[ValueKind, ...]:
    return tuple(replace(kind, needs=()) for kind in VALUE_KINDS if kind.reading == reading)


DATE_KINDS = tuple(kind for kind in VALUE_KINDS if kind.is_date)
"""The kinds that texts may have in files whose numbers are typed."""
_ANY_DIGITS = ValueKind("BIGINT", r"[-+]?\d{1,18}")
_ANY_NUMBER = ValueKind(
    "DOUBLE",
    r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d{1,3})?",
    also="isfinite(TRY_CAST({v} AS DOUBLE))",
)
_NUMBERS = tuple(
    replace(kind, needs=())
    for kind in _with_type("BIGINT", "DOUBLE")
    if kind.reading != _COMMA_DIGITS
)
CHOICES = {
    "text": (),
    "integer": (*(kind for kind in _NUMBERS if kind.type == "BIGINT"), _ANY_DIGITS),
    "number": (*_NUMBERS, _ANY_DIGITS, _ANY_NUMBER),
    "number:plus": tuple(
        replace(kind, reading=_SIGNED_DIGITS, rule="") if kind.reading == _BRACKET_DIGITS else kind
        for kind in _NUMBERS
    ),
    "comma": tuple(
        replace(kind, pattern=_euro(r"(\d{1,3}(\.\d{3})*|\d+)(,\d{1,9})?"), needs=())
        for kind in VALUE_KINDS
        if kind.reading == _COMMA_DIGITS and kind.unit
    ),
    "date": (
        *_with_type("DATE"),
        *_of_eras(ValueKind("DATE", ERA_LETTER, reading=ERA_LETTER_DATE)),
    ),
    "date:dmy": _in_order(_DMY),
    "date:mdy": _in_order(_MDY),
    "timestamp": _with_type("TIMESTAMP"),
    "boolean": _with_type("BOOLEAN"),
}
"""By the user's choice for a column, the kinds that it allows; "comma" is for 1.234,5."""


def possible_kinds(kinds: Iterable[ValueKind], texts: Iterable[str | None]) -> Iterator[ValueKind]:
    """The kinds whose patterns all texts match: a fast check of a sample, which excludes most.

    It is lazy, as callers often need only the first kind.
    """
    values = {trimmed(text) for text in texts if text is not None}.difference(BLANKS)
    half_width = {trimmed(value.translate(TO_HALF_WIDTH)) for value in values}
    matches: dict[tuple[str, bool], bool] = {}
    for kind in kinds:
        key = kind.pattern, kind.is_full_width and half_width != values
        if key not in matches:
            matches[key] = all(map(looks_like(kind.pattern), half_width if key[1] else values))
        if matches[key]:
            yield kind


def kinds_of(choice: str, delimiter: str = "") -> tuple[ValueKind, ...]:
    """The kinds that the user's choice allows for a column; without a choice, all kinds.

    ``delimiter`` is what separates the cells of its file.
    """
    if choice:
        return CHOICES[choice]
    return _SEMICOLON_KINDS if delimiter == ";" else VALUE_KINDS
