"""A mapping: where a bank's or card's CSV has the cells of a transaction, and what they mean.

Its open questions and the evidence for it are sentences in both languages.
"""

from __future__ import annotations

import itertools
import json
import re
import tomllib
import unicodedata
from collections.abc import Mapping as Pairs
from collections.abc import Sequence
from dataclasses import MISSING, dataclass, field, fields
from fnmatch import fnmatchcase
from functools import cache, lru_cache
from importlib import resources
from typing import Any, Literal

from mdvec.errors import MdvecError
from mdvec.household.core.categories import INCOME, UNCATEGORISED
from mdvec.text import cited, shown_name

MappedColumn = str | int
"""A column by its name in the header, or by its number, from 1."""

Conditions = Pairs[MappedColumn, tuple[str, ...]]
"""Which rows are meant: patterns for cells by column (``*`` for any text), of which any may fit."""

Meaning = Literal["spending", "income"]
"""What a positive amount is."""

DATE_FORMATS = ("auto", "yy/mm/dd", "令和", "平成", "昭和", "dd/mm/yyyy", "mm/dd/yyyy")
"""``auto`` reads years of four digits or with an era, and names of months; the other formats say
what a short year means, or whether the day or the month comes first."""

_SPACING = re.compile("[\\s\u200b\u2060\ufeff\"']")
_BRACKETS = str.maketrans("[]{}〔〕〈〉", "()()()()")


class InvalidMapping(MdvecError):
    """A mapping lacks a key, or a key has a wrong value; the message names the key."""


@dataclass(frozen=True, slots=True)
class Mapping:
    """How a kind of file is recognised, and read.

    ``header`` are column names that such a file has, ``title`` is a pattern (a regular expression)
    for a line above the rows of a file without a header. ``files`` limits the mapping to file names
    (``*`` for any text). ``encoding`` is for files whose encoding cannot be detected. ``date`` is
    one column, or three: year, month, day. Texts of several columns are joined. ``amount`` is a
    single column: ``positive`` says whether its positive numbers are spent or received, unless
    ``outgoing`` says in which rows they are spent. Otherwise, ``paid_out`` and ``paid_in`` have the
    amounts. ``balance`` is the account's balance after the row. ``account`` is the account's name
    where ``account_column`` has none. ``skipped`` rows are no transactions; ``reversals`` undo a
    transaction, so their sign is flipped; ``refunds`` are money that comes in, which lowers
    spending and is no income; ``counted`` rows are plain transactions, as the user has declared.
    ``fees`` are paid in addition, ``points`` lower the price. ``currency`` is the column of the
    currency: only rows in yen are read. ``unit`` is how many yen a 1 stands for, 0 if not stated;
    ``ignored`` columns change nothing. ``kinds`` are columns of the description or the memo whose
    words say what a row is; the user is asked about new words.
    """

    name: str
    date: tuple[MappedColumn, ...]
    description: tuple[MappedColumn, ...]
    header: tuple[str, ...] = ()
    title: str = ""
    files: str = ""
    encoding: str = ""
    date_format: str = "auto"
    amount: MappedColumn | None = None
    positive: Meaning = "income"
    outgoing: Conditions = field(default_factory=dict)
    paid_out: tuple[MappedColumn, ...] = ()
    paid_in: tuple[MappedColumn, ...] = ()
    balance: MappedColumn | None = None
    memo: tuple[MappedColumn, ...] = ()
    category: MappedColumn | None = None
    subcategory: MappedColumn | None = None
    account: str = ""
    account_column: tuple[MappedColumn, ...] = ()
    id: MappedColumn | None = None
    spending_category: str = UNCATEGORISED
    income_category: str = ""
    transfers: Conditions = field(default_factory=dict)
    not_counted: Conditions = field(default_factory=dict)
    skipped: Conditions = field(default_factory=dict)
    reversals: Conditions = field(default_factory=dict)
    refunds: Conditions = field(default_factory=dict)
    counted: Conditions = field(default_factory=dict)
    fees: tuple[MappedColumn, ...] = ()
    points: tuple[MappedColumn, ...] = ()
    currency: MappedColumn | None = None
    unit: int = 0
    ignored: tuple[MappedColumn, ...] = ()
    kinds: tuple[MappedColumn, ...] = ()

    @property
    def category_of_income(self) -> str:
        """The 大項目 of money that comes in; on a card, such money is a refund and no income."""
        if self.income_category:
            return self.income_category
        return self.spending_category if self.positive == "spending" else INCOME

    def states_category(self, *, is_income: bool) -> bool:
        """Whether it gives such rows a category of its own, rather than the usual one."""
        if is_income and (self.income_category or self.positive == "income"):
            return bool(self.income_category)
        return self.spending_category != UNCATEGORISED

    def decisions_beside(self, conditions: Conditions) -> Conditions:
        """All of its patterns for the columns of these conditions: a cell that fits is decided."""
        return {
            column: tuple(
                pattern
                for each in self.conditions
                for other, patterns in each.items()
                if one_spelling(str(other)) == one_spelling(str(column))
                for pattern in patterns
            )
            for column in conditions
        }

    @property
    def conditions(self) -> tuple[Conditions, ...]:
        """Its conditions on cells, one for each key in ``CONDITIONS``."""
        return tuple(getattr(self, name) for name in CONDITIONS)

    def columns(self) -> list[MappedColumn]:
        """All columns that the mapping reads, for values or for conditions."""
        return [*self.valued_columns(), *itertools.chain.from_iterable(self.conditions)]

    def valued_columns(self) -> list[MappedColumn]:
        """The columns from which the mapping takes a row's values."""
        single = (getattr(self, key) for key in _SINGLE)
        return [
            *self.date, *self.description, *self.paid_out, *self.paid_in, *self.memo,
            *self.account_column, *self.fees, *self.points,
            *(column for column in single if column is not None),
        ]  # fmt: skip

    def amount_columns(self) -> list[MappedColumn]:
        """The columns that make up a row's amount."""
        one = [] if self.amount is None else [self.amount]
        return [*one, *self.paid_out, *self.paid_in, *self.fees, *self.points]

    def telling_columns(self) -> list[str]:
        """The columns that a header must have: ``header``, and those that every row needs.

        Others may be missing: some banks let their customers choose the columns.
        """
        needed = [
            *self.date, self.description[0], *self.paid_out, *self.paid_in, self.amount,
            *self.outgoing,
        ]  # fmt: skip
        return [*self.header, *(column for column in needed if isinstance(column, str))]

    def takes(self, path: str) -> bool:
        """Whether the mapping's ``files`` allow a file at this path."""
        return not self.files or fits_pattern(path, self.files)


_SINGLE = tuple(each.name for each in fields(Mapping) if each.type == "MappedColumn | None")
TEXTS = frozenset(each.name for each in fields(Mapping) if each.type in ("str", "Meaning"))
"""The keys whose values are texts, not columns."""
CONDITIONS = tuple(each.name for each in fields(Mapping) if each.type == "Conditions")
"""The keys whose values are conditions on cells."""
_KEYS = frozenset(each.name for each in fields(Mapping))


def mapping_of(values: Pairs[str, Any]) -> Mapping:
    """The mapping that a TOML file describes.

    Raises:
        InvalidMapping: a key is missing, unknown, or has a value that it cannot have.
    """
    return checked(Mapping(**{"name": "", "date": (), "description": ()} | typed_values(values)))


def typed_values(values: Pairs[str, Any]) -> dict[str, Any]:
    """The fields of a mapping that values of TOML describe.

    Raises:
        InvalidMapping: a key is unknown, or has a value of a wrong type.
    """
    unknown = sorted(set(values) - _KEYS)
    if unknown:
        raise InvalidMapping(
            f"it has no key {cited(unknown[0])}; there are: {', '.join(sorted(_KEYS))}"
        )
    return {key: _value(key, value) for key, value in values.items()}


def _value(key: str, value: object) -> Any:  # noqa: ANN401 - as many types as keys
    if key in TEXTS:
        if not isinstance(value, str):
            raise InvalidMapping(f"{key!r} must be a text")
        return value
    if key == "unit":
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise InvalidMapping("'unit' is how many yen 1 is, for example 1000")
        return value
    if key in CONDITIONS:
        return _conditions(key, value)
    listed = value if isinstance(value, list) else [value]
    allowed = str if key == "header" else (str, int)
    if not (listed or key == "kinds") or not all(
        isinstance(each, allowed) and not isinstance(each, bool) and each for each in listed
    ):
        raise InvalidMapping(f"{key!r} must name columns of the header, or number them from 1")
    if key in _SINGLE and isinstance(value, list):
        raise InvalidMapping(f"{key!r} is a single column")
    return value if key in _SINGLE else tuple(listed)


def _conditions(key: str, value: object) -> Conditions:
    if not isinstance(value, dict):
        raise InvalidMapping(f"{key!r} must be a table of columns and the texts in them")
    patterns: dict[MappedColumn, tuple[str, ...]] = {}
    for column, texts in zip(columns_in(value), value.values(), strict=True):
        listed = [texts] if isinstance(texts, str) else texts
        if not isinstance(listed, list) or not all(isinstance(text, str) for text in listed):
            raise InvalidMapping(f"{key!r} must list texts for the column {cited(column)}")
        patterns[column] = tuple(listed)
    return patterns


def checked(mapping: Mapping) -> Mapping:
    """The mapping itself.

    Raises:
        InvalidMapping: it lacks a key, or two of its values do not go together.
    """
    for key in ("name", "date", "description"):
        if not getattr(mapping, key):
            raise InvalidMapping(f"{key!r} is missing")
    try:
        re.compile(mapping.title)
        b"name".decode(mapping.encoding or "utf-8", "replace")
    except re.error as error:
        raise InvalidMapping(f"'title' is not a regular expression ({error})") from error
    except LookupError as error:
        raise InvalidMapping(f"there is no encoding {mapping.encoding!r} of text") from error
    has_two_ways = bool(mapping.paid_out or mapping.paid_in)
    names_columns = any(isinstance(column, str) for column in mapping.columns())
    single = mapping.amount is not None
    formats = ", ".join(DATE_FORMATS)
    for is_wrong, why in (
        (len(mapping.date) not in (1, 3), "'date' is one column, or three: year, month and day"),
        (mapping.date_format not in DATE_FORMATS, f"'date_format' is one of {formats}"),
        (single == has_two_ways, "it needs either 'amount', or 'paid_out' and 'paid_in'"),
        (mapping.outgoing and not single, "'outgoing' needs the single column 'amount'"),
        (mapping.positive not in ("spending", "income"), "'positive' is spending or income"),
        (
            not (mapping.header or mapping.title or mapping.files),
            "'header' is missing (columns that identify the kind of file)",
        ),
        (not mapping.header and names_columns, "without 'header', columns are numbers from 1"),
    ):
        if is_wrong:
            raise InvalidMapping(why)
    return mapping


def columns_in(value: Any) -> list[MappedColumn]:  # noqa: ANN401 - any value of TOML
    """The columns that a key's value names: one column, a list of them, conditions, or None."""
    if isinstance(value, dict):
        return [int(column) if str(column).isdecimal() else column for column in value]
    return list(value) if isinstance(value, list | tuple) else [] if value is None else [value]


def fits_pattern(text: str, pattern: str) -> bool:
    """Whether a text fits a pattern, in which ``*`` is any text and ``?`` any character."""
    return fnmatchcase(one_spelling(text), one_spelling(pattern))


@lru_cache(maxsize=4096)
def one_spelling(text: str) -> str:
    """A column's name or a cell in one spelling: NFKC, round brackets, no spacing or quotes."""
    return _SPACING.sub("", unicodedata.normalize("NFKC", text)).translate(_BRACKETS)


def plain_names(cells: Sequence[str]) -> list[str]:
    """The normalised names of a header."""
    return [one_spelling(cell) for cell in cells]


_HEAD = "How this kind of statement is read (docs/household.md, 'Any bank's CSV')."
_COMMENTS = {
    "header": "columns that identify a file of this kind",
    "title": "a line above the rows that identifies a file of this kind (a regular expression)",
    "files": "only files of these names; * stands for any text",
    "date_format": "yy/mm/dd, 令和, 平成, 昭和, dd/mm/yyyy or mm/dd/yyyy",
    "positive": "what a positive amount is: spending or income",
    "account": "the account's name in answers",
    "outgoing": "rows whose amount is money that goes out",
    "transfers": "rows that are 振替, between your own accounts: they do not count",
    "skipped": "rows that are no transactions",
    "reversals": "rows that undo a transaction: their sign is turned",
    "refunds": "rows whose money comes back: they lower spending and are no income",
    "counted": "rows that are plain transactions",
    "fees": "paid in addition to the amount",
    "points": "what lowers the price",
    "currency": "only rows in yen are read",
    "unit": "how many yen 1 is",
    "ignored": "columns that change nothing",
    "kinds": "descriptions and memos whose words say what rows are; new ones are asked about",
    "not_counted": "rows that are no transactions of yours: 計算対象 0",
}


def toml_of(mapping: Mapping, notes: tuple[str, ...] = ()) -> str:
    """The TOML of a mapping without defaults, with ``notes`` as comments above."""
    # Imported here so that a server starts faster: only writing a mapping needs it.
    import tomlkit

    document = tomlkit.document()
    for note in (_HEAD, *notes):
        document.add(tomlkit.comment(note))
    for each in fields(mapping):
        value = getattr(mapping, each.name)
        default = each.default if each.default is not MISSING else None
        if value in (default, ()) or each.name in CONDITIONS:
            continue
        if isinstance(value, tuple):
            value = value[0] if len(value) == 1 else list(value)
        item = tomlkit.item(value)
        if each.name in _COMMENTS:
            item.comment(_COMMENTS[each.name])
        document.add(each.name, item)
    for name in CONDITIONS:
        conditions: Conditions = getattr(mapping, name)
        if conditions:
            table = tomlkit.table()
            table.comment(_COMMENTS[name])
            for column, patterns in conditions.items():
                table.add(str(column), list(patterns))
            document.add(name, table)
    return tomlkit.dumps(document)


Language = Literal["en", "ja"]
_QUOTED = re.compile(r'"[^"]*"')


@dataclass(frozen=True, slots=True)
class MappingSentence:
    """A sentence of ``mapping_sentences.toml``: its kind, the column, and the texts to show."""

    kind: str
    column: str = ""
    shown: str = ""

    def text(self, language: Language = "en") -> str:
        """The sentence in a language."""
        return _sentences()[self.kind][language].format(
            column=shown_name(self.column), shown=self.shown,
            quoted=json.dumps(self.column, ensure_ascii=False),
        )  # fmt: skip


@cache
def _sentences() -> dict[str, dict[Language, str]]:
    file = resources.files("mdvec.household") / "mapping_sentences.toml"
    return tomllib.loads(file.read_text("utf-8"))


def sentence_pairs() -> list[tuple[str, str]]:
    """Each sentence in Japanese and English, with placeholders named as in ``english.toml``."""
    places = {"column": "{any}", "shown": "{values}", "quoted": "{any2}"}
    pairs = []
    for each in _sentences().values():
        japanese, english = each["ja"].format(**places), each["en"].format(**places)
        # The translation treats quoted texts as names, which are the same in both languages.
        for at, quoted in enumerate(dict.fromkeys(_QUOTED.findall(japanese)), 3):
            japanese, english = (
                text.replace(quoted, f"{{any{at}}}") for text in (japanese, english)
            )
        pairs.append((japanese, english))
    return pairs
