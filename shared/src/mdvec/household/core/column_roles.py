"""Recognises what columns hold: by the names that banks in Japan give them, else by their cells.

Only a name tells a balance from a running total of what was spent, or money out from money in: both
have the same cells. What is taken from cells alone is therefore asked about, or proven.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping as Pairs
from collections.abc import Sequence

from mdvec.household.core.cells import is_date, number_in
from mdvec.household.core.mapping import MappedColumn, Mapping, one_spelling


def any_of(*words: str) -> re.Pattern[str]:
    """A pattern for any of the words, whatever their case."""
    return re.compile("|".join(words), re.IGNORECASE)


_CURRENCY = any_of("通貨", "外貨", "現地", "currency", "ドル", "ユーロ")
_CODE = re.compile(
    r"(?<![A-Z])(?:AED|AFN|ALL|AMD|ANG|AOA|ARS|AUD|AWG|AZN|BAM|BBD|BDT|BGN|BHD|BIF|BMD|BND|BOB|BRL|"
    "BSD|BTN|BWP|BYN|BZD|CAD|CDF|CHF|CLP|CNY|COP|CRC|CUP|CVE|CZK|DJF|DKK|DOP|DZD|EGP|ERN|ETB|EUR|"
    "FJD|FKP|GBP|GEL|GHS|GIP|GMD|GNF|GTQ|GYD|HKD|HNL|HTG|HUF|IDR|ILS|INR|IQD|IRR|ISK|JMD|JOD|JPY|"
    "KES|KGS|KHR|KMF|KPW|KRW|KWD|KYD|KZT|LAK|LBP|LKR|LRD|LSL|LYD|MAD|MDL|MGA|MKD|MMK|MNT|MOP|MRU|"
    "MUR|MVR|MWK|MXN|MYR|MZN|NAD|NGN|NIO|NOK|NPR|NZD|OMR|PAB|PEN|PGK|PHP|PKR|PLN|PYG|QAR|RON|RSD|"
    "RUB|RWF|SAR|SBD|SCR|SDG|SEK|SGD|SHP|SLE|SOS|SRD|SSP|STN|SVC|SYP|SZL|THB|TJS|TMT|TND|TOP|TRY|"
    "TTD|TWD|TZS|UAH|UGX|USD|UYU|UZS|VED|VES|VND|VUV|WST|XAF|XCD|XOF|XPF|YER|ZAR|ZMW)(?![A-Z])"
)
"""The ISO 4217 codes of the currencies of countries, in capitals."""
_DATE = any_of(
    "日付", "年月日", "利用日", "取引日", "取り引き日", "取扱日", "勘定日", "決済日", "発生日",
    "購入日", "計上日", "^日$", "^日時$", "date",
)  # fmt: skip
_DAY_OF_BILL = any_of("支払日", "引落", "更新", "締", "due", "update")
_NOT_DATE = any_of(_DAY_OF_BILL.pattern, "起算")
_DAY_OF_USE = any_of("利用(年月)?日", "購入日", "取り?引き?(年月)?日", "発生日", "started")
_PARTS_OF_DATE = re.compile(r"(.*?)\(?([年月日])\)?")
"""操作日(年), 操作日(月), 操作日(日); 利用年, 利用月, 利用日; 年, 月, 日."""
BOTH_WAYS = any_of("入出金", "出入金", "受払")
_PAID_OUT = any_of(
    "出金", "引き?出し?", "払い?出し?", "^お?支払い?金?額", "支出", "withdraw", "debit", "outgo",
    "借方",
)  # fmt: skip
_PAID_IN = any_of(
    "入金", "預け?入れ?", "預か?り", "受入", "受取", "収入", "deposit", "credit", "incom", "貸方",
)  # fmt: skip
_AMOUNT = any_of("金額", "利用額", "^額", "代金", "価格", "amount", "price")
_NOT_AMOUNT = any_of(
    "手数料", "税", "残", "外貨", "現地", "海外", "繰越", "請求", "支払", "レート", "区分", "日",
    "fee", "tax", "rate",
)  # fmt: skip
_SPENT = any_of("利用", "購入", "買")
_ABOUT_MONEY = any_of("先$", "元$", "者$", "区分", "方法", "回数", "番号", "調整", "ID$", "繰越")
"""Columns whose names have a word for amounts, but that hold no amounts."""
_BOOKS = any_of("借方?", "貸方?", "debit", "credit", r"\b[dc]r\b")
_BALANCE = any_of("残高", "現在高", r"\(貸付\)高", "balance")
_DESCRIPTION = any_of(
    "摘要", "内容", "店", "利用先", "利用箇所", "利用場所", "取引先", "商品", "品名", "品目",
    "支払先", "相手", "詳細", "明細", "名目", "説明", "payee", "description", "merchant", "detail",
    "product",
)  # fmt: skip
_NOT_DESCRIPTION = any_of("区分", "番", "ID", "コード", "code", "支店", "本店")
_MEMO = any_of("メモ", "備考", "コメント", "memo", "note", "comment")
_CATEGORY = any_of("^大項目$", "^大分類$", "^カテゴリー?$", "^分類$", "^費目$", "^category$")
_SUBCATEGORY = any_of(
    "^中項目$", "^中分類$", "^カテゴリー?の内訳$", "^内訳$", "^サブカテゴリー?$", "^subcategory$"
)
_ACCOUNT = any_of("^口座名?$", "^照会口座$", "^(保有)?金融機関$", "^支払元$", "^財布$", "^account$")
OUTGOING = (
    "出金", "払出", "払出し", "支払", "支払い", "お支払い", "引出", "引出し", "お引出し", "支出",
    "出", "expense", "payment", "debit", "withdrawal",
)  # fmt: skip
INCOMING = (
    "入金", "預入", "預入れ", "お預入れ", "預り", "お預り", "受入", "受入れ", "受取", "収入", "入",
    "income", "deposit", "credit",
)  # fmt: skip
"""The words in a column for money that goes out and that comes in. A mapping gets all of them,
since the next file may use other words than this file."""
_TRANSFERS = ("振替", "transfer")
_MAX_DESCRIPTIONS = 3


_MIN_SHARE = 0.8
_SMALL = 100
"""A column whose numbers are all smaller holds counts of payments rather than amounts."""


def mapping_of_columns(
    columns: Pairs[MappedColumn, Sequence[str]], day: MappedColumn | None = None
) -> Mapping | None:
    """A mapping (without a name) for columns and their cells; None if they are no statement's.

    Amounts are in one column, or in one for money out and one for money in. Without ``day``, names
    alone tell; with it, cells tell as well, and ``day`` has the days if no name says so.
    """
    names = [
        name for name in columns
        if not _names(name, _NOT_DATE) or (day is not None and not any(map(is_date, columns[name])))
    ]  # fmt: skip
    date = next(iter(dates_named(names)), () if day is None else (day,))
    left = [name for name in names if name not in date]
    money = [name for name in left if not _names(name, _ABOUT_MONEY)]
    balance = _first_named(money, _BALANCE)
    left = [name for name in left if not _names(name, _BALANCE)]
    sides = _amounts([name for name in money if name in left])
    if day is not None:
        sides, running = _amounts_by_cells({name: columns[name] for name in left}, sides)
        balance = running if balance is None else balance
    amount, paid_out, paid_in = sides
    if not date or (amount is None and paid_out is None):
        return None
    texts = [name for name in left if name not in (*sides, balance)]
    memo = [name for name in texts if _names(name, _MEMO)]
    description = [
        name for name in texts
        if name not in memo and _names(name, _DESCRIPTION)
        if not _names(name, _NOT_DESCRIPTION) and not _names(name, _SUBCATEGORY)
    ]  # fmt: skip
    # A column with an unknown name (種別, Narration): the user is asked about its values.
    if not description and day is not None:
        description = _most_varied({name: columns[name] for name in texts})
    if not description:
        description = memo[:1] or texts[:1]
    memo = [name for name in memo if name not in description]
    if not description:
        return None
    account = _first_named(texts, _ACCOUNT)
    return Mapping(
        name="",
        date=date,
        description=tuple(description[:_MAX_DESCRIPTIONS]),
        amount=amount,
        paid_out=() if paid_out is None else (paid_out,),
        paid_in=() if paid_in is None else (paid_in,),
        balance=balance,
        memo=tuple(memo),
        category=_first_named(texts, _CATEGORY),
        subcategory=_first_named(texts, _SUBCATEGORY),
        account_column=() if account is None else (account,),
    )


def is_known(name: str) -> bool:
    """Whether a column's name says what the column holds."""
    known = (_DATE, _BALANCE, _DESCRIPTION, _MEMO, _AMOUNT, _PAID_OUT, _PAID_IN)
    return any(_names(name, each) for each in known)


_Sides = tuple[MappedColumn | None, MappedColumn | None, MappedColumn | None]
"""The column for both directions, for money out, and for money in; None for a missing one."""


def _amounts_by_cells(
    columns: Pairs[MappedColumn, Sequence[str]], sides: _Sides
) -> tuple[_Sides, MappedColumn | None]:
    """The columns of amounts, and behind two of them the one of their running sum.

    ``sides`` are those that names tell. Two are neighbours, of which each row fills just one; a
    single one has whole yen in nearly every row, and not only small numbers.
    """
    numbers = {name: [*map(number_in, cells)] for name, cells in columns.items()}
    pairs = [(out, in_) for _, out, in_ in [sides] if out is not None and in_ is not None]
    for pair in itertools.pairwise(columns):
        rows = list(zip(*(numbers[name] for name in pair), strict=True))
        has_texts = any(
            cell and number is None
            for name in pair for cell, number in zip(columns[name], numbers[name], strict=True)
        )  # fmt: skip
        is_filled = {tuple(number is not None for number in row) for row in rows}
        pairs += [pair] if is_filled == {(True, False), (False, True)} and not has_texts else []
    if pairs:
        out, in_ = (numbers[name] for name in pairs[0])
        net = [(more or 0) - (less or 0) for less, more in zip(out, in_, strict=True)]
        sums = (name for name in columns if name not in pairs[0] and _runs(numbers[name], net))
        return (None, *pairs[0]), next(sums, None)
    for name, amounts in numbers.items():
        known = [amount for amount in amounts if amount is not None]
        is_full = (
            len(known) >= _MIN_SHARE * len(amounts) and max(map(abs, known), default=0) >= _SMALL
        )
        if sides == (None, None, None) and is_full:
            sides = name, None, None
    return sides, None


def _runs(balances: Sequence[int | None], amounts: Sequence[int]) -> bool:
    """Whether most numbers follow from the one beside them and a row's amount, of either sign."""
    pairs = itertools.pairwise(zip(balances, amounts, strict=True))
    steps = [(b - a, of, to) for (a, of), (b, to) in pairs if a is not None and b is not None]
    ways = ([step == sign * each[k] for step, *each in steps] for k in (0, 1) for sign in (1, -1))
    return 2 * max(map(sum, ways)) > len(steps)


def _most_varied(columns: Pairs[MappedColumn, Sequence[str]]) -> list[MappedColumn]:
    """The column with the most distinct texts other than numbers and days."""
    texts = {
        name: {cell for cell in cells if cell and not is_date(cell) and number_in(cell) is None}
        for name, cells in columns.items()
    }
    best = max(texts, key=lambda name: len(texts[name]), default=None)
    return [] if best is None or not texts[best] else [best]


def names_spending(header: Sequence[str]) -> bool:
    """Whether a column's name says that its numbers are money spent."""
    return any(_names(name, _SPENT) for name in header)


def ways_of(
    header: Sequence[str], rows: Sequence[Sequence[str]]
) -> tuple[str, tuple[str, ...]] | None:
    """The column that says if money goes out or in (収支, 受払区分), and its words for transfers.

    None without such a column.
    """
    for index, name in enumerate(header):
        words = {one_spelling(row[index]) for row in rows if index < len(row)} - {""}
        if not words.isdisjoint(OUTGOING) and words.issubset((*OUTGOING, *INCOMING, *_TRANSFERS)):
            return name.strip(), tuple(word for word in _TRANSFERS if word in words)
    return None


def dates_named(names: Sequence[MappedColumn]) -> list[tuple[MappedColumn, ...]]:
    """The columns of days by their names, each one or three; not those of a bill's payment."""
    parts: dict[str, dict[str, MappedColumn]] = {}
    for name in names:
        if match := _PARTS_OF_DATE.fullmatch(one_spelling(str(name))):
            parts.setdefault(match[1], {})[match[2]] = name
    whole = [
        (of_date["年"], of_date["月"], of_date["日"])
        for prefix, of_date in parts.items()
        if set(of_date) == set("年月日") and not is_day_of_bill(f"{prefix}日")
    ]
    with_both = {name for each in whole for name in each}
    dates = (name for name in names if _names(name, _DATE) and name not in with_both)
    return [*((name,) for name in dates if not is_day_of_bill(name)), *whole]


def is_day_of_bill(name: MappedColumn) -> bool:
    """Whether a column of days, by its name, has the day on which a bill is due."""
    return _names(name, _DAY_OF_BILL)


def is_day_of_use(columns: Sequence[MappedColumn]) -> bool:
    """Whether columns of days, by their names, have the day of the payment itself."""
    return _names(columns[-1], _DAY_OF_USE)


def are_sides(paid_out: MappedColumn, paid_in: MappedColumn) -> bool:
    """Whether the names of two columns say which is money out, and not from a bank's own side."""
    of_books = _names(paid_out, _BOOKS) or _names(paid_in, _BOOKS)
    return _names(paid_out, _PAID_OUT) and _names(paid_in, _PAID_IN) and not of_books


def _amounts(names: Sequence[MappedColumn]) -> _Sides:
    both = _first_named(names, BOTH_WAYS)
    if both is not None:
        return both, None, None
    paid_out, paid_in = _first_named(names, _PAID_OUT), _first_named(names, _PAID_IN)
    if paid_out is not None and paid_in is not None and paid_out != paid_in:
        return None, paid_out, paid_in
    amounts = [name for name in names if _names(name, _AMOUNT)]
    plain_amounts = [name for name in amounts if not _names(name, _NOT_AMOUNT)]
    return next(iter([*plain_amounts, *amounts]), paid_out), None, None


def _names(column: MappedColumn, shape: re.Pattern[str]) -> bool:
    return shape.search(one_spelling(str(column))) is not None


def _first_named(names: Sequence[MappedColumn], shape: re.Pattern[str]) -> MappedColumn | None:
    return next((name for name in names if _names(name, shape)), None)


def is_foreign(name: str, words: Sequence[str] = ()) -> bool:
    """Whether a column is about currencies other than yen, by its name or its texts."""
    named = _CURRENCY.search(name) or any(code != "JPY" for code in _CODE.findall(name))
    return bool(named) or any(map(_CODE.fullmatch, words))
