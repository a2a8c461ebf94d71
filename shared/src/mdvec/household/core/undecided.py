"""What a mapping leaves undecided in a file: columns and rows that would change a figure.

Nothing of it is guessed: a running balance that only one reading fits decides, or the person who
states it in the mapping. ``ignored`` are the columns that they say change nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from mdvec.household.core.balances import check_balances
from mdvec.household.core.cells import BadCell, parse_amount
from mdvec.household.core.csv_text import CsvRecord
from mdvec.household.core.mapped_rows import read_mapped
from mdvec.household.core.mapping import Conditions, MappedColumn, Mapping, one_spelling
from mdvec.text import shown_name

Records = Sequence[tuple[int, CsvRecord]]


def _any_of(*words: str) -> re.Pattern[str]:
    return re.compile("|".join(words), re.IGNORECASE)


_STATE = _any_of("訂正", "取消", "取り消し", "キャンセル", "状態", "ステータス", "状況", "結果",
                 "status", "state$", "revers", "cancel")  # fmt: skip
_UNDONE = _any_of("取消", "取り消し", "訂正", "返品", "キャンセル", "revert", "cancel", "declined",
                  "failed", "pending", "refund", "reversal")  # fmt: skip
_UNIT = re.compile("[百千万億]円|thousands|millions", re.IGNORECASE)
_CURRENCY = _any_of("通貨", "外貨", "現地", "currency", "ドル", "ユーロ")
_CODE = re.compile(
    r"(?<![A-Z])(?:AED|AFN|ALL|AMD|ANG|AOA|ARS|AUD|AWG|AZN|BAM|BBD|BDT|BGN|BHD|BIF|BMD|BND|BOB|BRL|"
    "BSD|BTN|BWP|BYN|BZD|CAD|CDF|CHF|CLP|CNY|COP|CRC|CUP|CVE|CZK|DJF|DKK|DOP|DZD|EGP|ERN|ETB|EUR|"
    "FJD|FKP|GBP|GEL|GHS|GIP|GMD|GNF|GTQ|GYD|HKD|HNL|HTG|HUF|IDR|ILS|INR|IQD|IRR|ISK|JMD|JOD|JPY|"
    "KES|KGS|KHR|KMF|KPW|KRW|KWD|KYD|KZT|LAK|LBP|LKR|LRD|LSL|LYD|MAD|MDL|MGA|MKD|MMK|MNT|MOP|MRU|"
    "MUR|MVR|MWK|MXN|MYR|MZN|NAD|NGN|NIO|NOK|NPR|NZD|OMR|PAB|PEN|PGK|PHP|PKR|PLN|PYG|QAR|RON|RSD|"
    "RUB|RWF|SAR|SBD|SCR|SDG|SEK|SGD|SHP|SLE|SOS|SRD|SSP|STN|SVC|SYP|SZL|THB|TJS|TMT|TND|TOP|TRY|"
    "TTD|TWD|TZS|UAH|UGX|USD|UYU|UZS|VED|VES|VND|VUV|WST|XAF|XCD|XOF|XPF|YER|ZAR|ZMW)(?![A-Z])"
)
"""The codes of ISO 4217 for the money of countries, in capitals."""
_EXTRA = _any_of("手数料", "fee", "ポイント", "point", "割引", "値引", "クーポン", "discount",
                 "充当", "税", "tax", "shipping", "送料", "refund", "返金")  # fmt: skip
_NO_TRANSACTION = _any_of("繰越", "小計", "合計", "総計", "請求額", "請求金額", "前回分口座振替",
                          "前回お?支払", "^残高$", "total", "(brought|carried)forward",
                          "(opening|closing)balance", "paymentreceived")  # fmt: skip
_NEUTRAL = _any_of("番号?$", "ID$", r"^no\.?$", "回数", "コード", "code", "年", "月$", "日$",
                   "日付", "時刻", "レート", "rate$", "枚数", "数量", "quantity", "件数", "残高",
                   "現在高", "balance")  # fmt: skip
_WAY = _any_of("^(お)?(入金|出金|支払い?|受取|収入|支出|借方?|貸方?|入|出|引出し?|預入れ?)$",
               "^(dr|cr|d|c|debit|credit|in|out|charge|payment|deposit|withdrawal|income|expense)$",
               "(カード|現金|振込)(出金|入金)", "返金|チャージ", "^neutral$")  # fmt: skip
_BOOKS = _any_of("借方?", "貸方?", "debit", "credit", r"\b[dc]r\b")
_SPENT = _any_of("利用", "購入", "買", "支払", "出金", "spent", "paid")
_SIGNED = _any_of("入出金", "出入金", "受払")
_MAX_WORDS = 6


@dataclass(frozen=True, slots=True)
class Undecided:
    """A column that changes a figure; ``readings`` are what it may mean, as mappings."""

    column: str
    question: str
    readings: tuple[tuple[str, Mapping], ...] = ()


@dataclass(frozen=True, slots=True)
class Decided:
    """A mapping after the running balance has decided what it can, how, and what is left."""

    mapping: Mapping
    evidence: tuple[str, ...]
    undecided: tuple[Undecided, ...]


def decide(mapping: Mapping, records: Records, stated: frozenset[str] = frozenset()) -> Decided:
    """Decide by the balance what a proposal leaves open; ``stated`` are keys that a person gave."""
    evidence: list[str] = []
    tried: set[str] = set()
    while True:
        left = [each for each in _questions(mapping, records, stated) if each.column not in tried]
        if not left:
            break
        first = left[0]
        tried.add(first.column)
        fitting = [(what, each) for what, each in first.readings if _fits(each, records)]
        if len(fitting) == 1 and len(first.readings) > 1:
            what, mapping = fitting[0]
            evidence.append(f"{first.column}: {what}, the only reading that fits the balance")
    settled = {line.partition(":")[0] for line in evidence}
    open_ = [each for each in _questions(mapping, records, stated) if each.column not in settled]
    return Decided(mapping, tuple(evidence), tuple(open_))


def _fits(mapping: Mapping, records: Records) -> bool:
    """Whether each balance follows from the one before, in a file that has at least two."""
    checks = [check_balances(block) for block in read_mapped(mapping, records).balances]
    return sum(each.compared for each in checks) > 0 and not any(each.misfits for each in checks)


@dataclass(frozen=True, slots=True)
class _Column:
    name: str
    key: MappedColumn
    cells: tuple[str, ...]

    @property
    def texts(self) -> list[str]:
        return list(dict.fromkeys(cell for cell in self.cells if cell))

    @property
    def numbers(self) -> list[int]:
        amounts = []
        for cell in self.cells:
            try:
                amounts.append(parse_amount(cell))
            except BadCell:
                return []
        return [number for number in amounts if number]


def _questions(mapping: Mapping, records: Records, stated: frozenset[str]) -> Iterator[Undecided]:
    read = read_mapped(mapping, records)
    lines = {row.line for row in read.rows}
    rows = [(line, cells) for line, cells in records if line in lines and isinstance(cells, list)]
    header = _header(mapping, records)
    columns = _columns(header, [cells for _, cells in rows])
    amounts = [abs(row.amount or 0) for row in read.rows]
    used = set(mapping.columns()) | set(mapping.ignored)
    above = [
        " ".join(cells)
        for line, cells in records
        if line not in lines and not isinstance(cells, str)
    ]
    if mapping.unit == 1 and "unit" not in stated and (match := _UNIT.search(" ".join(above))):
        yield Undecided("unit", f"the file speaks of {match[0]}: say unit = 1000, or what it is")
    yield from _about_the_amount(mapping, columns, records, stated)
    for column in columns:
        if column.key in used:
            continue
        yield from _about(column, mapping, amounts)
    yield from _about_rows(mapping, columns)


def _header(mapping: Mapping, records: Records) -> list[str]:
    for _, cells in records:
        if not isinstance(cells, str) and mapping.header:
            names = {one_spelling(cell) for cell in cells}
            if all(one_spelling(name) in names for name in mapping.telling_columns()):
                return [cell.strip() for cell in cells]
    return []


def _columns(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[_Column]:
    width = max(map(len, [header, *rows]), default=0)
    columns = []
    for index in range(width):
        name = header[index] if index < len(header) else ""
        cells = tuple(row[index].strip() if index < len(row) else "" for row in rows)
        columns.append(_Column(name or str(index + 1), name or index + 1, cells))
    return columns


def _about(column: _Column, mapping: Mapping, amounts: Sequence[int]) -> Iterator[Undecided]:
    name = one_spelling(column.name)
    words = [one_spelling(text) for text in column.texts]
    ignored = ("changes nothing", replace(mapping, ignored=(*mapping.ignored, column.key)))
    shown = "、".join(shown_name(text)[:12] for text in column.texts[:4]) or "nothing yet"
    if _STATE.search(name) or (len(words) <= _MAX_WORDS and any(map(_UNDONE.search, words))):
        readings = [
            ("its rows are undone", _with_rows(mapping, "reversals", column, column.texts)),
            ("its rows are none", _with_rows(mapping, "skipped", column, column.texts)),
        ]
        yield Undecided(
            column.name,
            f"column {column.name} says {shown}: which of these rows are undone (reversals), "
            "which are no transactions (skipped)? Or add it to ignored",
            (*readings, ignored),
        )
    elif _is_foreign(name) or any(map(_CODE.fullmatch, words)):
        yield Undecided(
            column.name,
            f"column {column.name} may speak of other currencies ({shown}): currency = "
            f'"{column.name}" takes its yen rows alone; ignored, if all amounts are yen',
        )
    elif mapping.amount is not None and not mapping.outgoing and _is_way(words):
        readings = [
            (f"{text} is money that goes out", _with_rows(mapping, "outgoing", column, [text]))
            for text in column.texts
        ]
        yield Undecided(
            column.name,
            f"column {column.name} says {shown}: which rows are money that goes out (outgoing)? "
            "Or add it to ignored",
            (*readings, ignored),
        )
    elif _EXTRA.search(name) and (column.numbers or not words):
        readings = [
            ("fees, paid in addition", replace(mapping, fees=(*mapping.fees, column.key))),
            (
                "points, which lower the price",
                replace(mapping, points=(*mapping.points, column.key)),
            ),
            ignored,
        ]
        yield Undecided(
            column.name,
            f"column {column.name} may change the amount: is it fees, points, or ignored?",
            tuple(readings),
        )
    elif not _NEUTRAL.search(name) and _differs(column, amounts):
        yield Undecided(
            column.name,
            f"column {column.name} has other numbers than the amounts: is it the amount, fees, "
            "points, or ignored?",
        )


def _is_foreign(name: str) -> bool:
    """Whether a column's name speaks of another currency than yen, or of several."""
    return bool(_CURRENCY.search(name)) or any(code != "JPY" for code in _CODE.findall(name))


def _differs(column: _Column, amounts: Sequence[int]) -> bool:
    numbers = sorted(map(abs, column.numbers))
    return bool(numbers) and numbers != sorted(each for each in amounts if each)


def _is_way(words: Sequence[str]) -> bool:
    return 0 < len(words) <= _MAX_WORDS and any(map(_WAY.search, words))


def _with_rows(mapping: Mapping, key: str, column: _Column, texts: Sequence[str]) -> Mapping:
    rows: dict[str, Conditions] = {
        "skipped": mapping.skipped, "reversals": mapping.reversals, "outgoing": mapping.outgoing,
    }  # fmt: skip
    rows[key] = Conditions({**rows[key].patterns, column.key: tuple(texts)})
    return replace(
        mapping, skipped=rows["skipped"], reversals=rows["reversals"], outgoing=rows["outgoing"]
    )


def _about_the_amount(
    mapping: Mapping, columns: Sequence[_Column], records: Records, stated: frozenset[str]
) -> Iterator[Undecided]:
    """The sign of a single amount, which of two columns is money out, and short dates."""
    named = [*mapping.paid_out, *mapping.paid_in, *([mapping.amount] if mapping.amount else [])]
    for key in named:
        name = str(key)
        foreign = _is_foreign(one_spelling(name)) and "円" not in name
        if foreign and not mapping.currency and key not in mapping.ignored:
            yield Undecided(name, f"column {name} is not in yen, and only yen can be summed")
    if mapping.paid_out and mapping.paid_in:
        names = [str(each) for each in (*mapping.paid_out, *mapping.paid_in)]
        swapped = replace(mapping, paid_out=mapping.paid_in, paid_in=mapping.paid_out)
        in_doubt = any(_BOOKS.search(one_spelling(name)) for name in names) or not mapping.header
        if in_doubt and "paid_out" not in stated and not _decides(mapping, swapped, records):
            what = names[0] if mapping.header else f"column {names[0]}"
            yield Undecided(
                names[0],
                f"column {names[0]} or {names[1]}: which is money that goes out? "
                f'Say paid_out = "{what}" or the other, and paid_in',
            )
    amount = mapping.amount
    if amount is None or mapping.outgoing or "positive" in stated:
        return
    other = replace(mapping, positive="income" if mapping.positive == "spending" else "spending")
    name = one_spelling(str(amount))
    numbers = next((each.numbers for each in columns if each.key == amount), [])
    is_card = _SPENT.search(name) and mapping.positive == "spending"
    negative = sum(number < 0 for number in numbers)
    is_signed = mapping.positive == "income" and (
        2 * negative > len(numbers) or (negative > 0 and _SIGNED.search(name))
    )
    if not (is_card or is_signed) and not _decides(mapping, other, records):
        yield Undecided(
            str(amount),
            f'column {amount}: is a positive amount money spent (positive = "spending") or money '
            'that comes in (positive = "income")?',
        )


def _decides(mapping: Mapping, other: Mapping, records: Records) -> bool:
    """Whether the balance fits one of two readings and not the other."""
    return _fits(mapping, records) and not _fits(other, records)


def _about_rows(mapping: Mapping, columns: Sequence[_Column]) -> Iterator[Undecided]:
    settled = {*mapping.skipped.patterns, *mapping.reversals.patterns, *mapping.ignored}
    settled |= {*mapping.not_counted.patterns, *mapping.transfers.patterns}
    for column in columns:
        if column.key not in (*mapping.description, *mapping.memo) or column.key in settled:
            continue
        texts = [
            text for text in column.texts
            if _NO_TRANSACTION.search(one_spelling(text)) or _UNDONE.search(one_spelling(text))
        ]  # fmt: skip
        if texts:
            yield Undecided(
                column.name,
                f"column {column.name} has rows like {shown_name(texts[0])[:20]}: are they "
                "transactions (ignored), none (skipped), or undone ones (reversals)?",
                (
                    ("no transactions", _with_rows(mapping, "skipped", column, texts)),
                    ("undone", _with_rows(mapping, "reversals", column, texts)),
                    ("transactions", replace(mapping, ignored=(*mapping.ignored, column.key))),
                ),
            )
