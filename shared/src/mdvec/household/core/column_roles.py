"""Recognises what columns hold by the names that banks and cards in Japan give them."""

from __future__ import annotations

import re
from collections.abc import Sequence

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
_BOTH_WAYS = any_of("入出金", "出入金", "受払")
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
_MIN_COLUMNS = 3


def mapping_of_header(header: Sequence[str]) -> Mapping | None:
    """A mapping (without a name) by the names of columns; None if it is no statement's header.

    Amounts are in one column, or in one for money out and one for money in.
    """
    names = [name.strip() for name in header if name.strip()]
    if len(names) < _MIN_COLUMNS or len(set(names)) < len(names):
        return None
    left = [name for name in names if not _NOT_DATE.search(one_spelling(name))]
    date = next(iter(dates_named(left)), ())
    left = [name for name in left if name not in date]
    money = [name for name in left if not _ABOUT_MONEY.search(one_spelling(name))]
    balance = _first_matching(money, _BALANCE)
    left = [name for name in left if not _BALANCE.search(one_spelling(name))]
    amount, paid_out, paid_in = _amounts([name for name in money if name in left])
    if not date or (amount is None and paid_out is None):
        return None
    used = {amount, paid_out, paid_in}
    texts = [name for name in left if name not in used]
    memo = [name for name in texts if _MEMO.search(one_spelling(name))]
    description = [
        name
        for name in texts
        if name not in memo and _DESCRIPTION.search(one_spelling(name))
        if not _NOT_DESCRIPTION.search(one_spelling(name))
        and not _SUBCATEGORY.search(one_spelling(name))
    ]
    if not description:
        description, memo = memo[:1], memo[1:]
    # A column with an unknown name (種別, Narration): the user is asked about its values.
    description = description or texts[:1]
    if not description:
        return None
    account = _first_matching(texts, _ACCOUNT)
    return Mapping(
        name="",
        date=date,
        description=tuple(description[:_MAX_DESCRIPTIONS]),
        amount=amount,
        paid_out=(paid_out,) if paid_out else (),
        paid_in=(paid_in,) if paid_in else (),
        balance=balance,
        memo=tuple(memo),
        category=_first_matching(texts, _CATEGORY),
        subcategory=_first_matching(texts, _SUBCATEGORY),
        account_column=(account,) if account else (),
    )


def names_spending(header: Sequence[str]) -> bool:
    """Whether a column's name says that its numbers are money spent."""
    return any(_SPENT.search(one_spelling(name)) for name in header)


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


def dates_named(names: Sequence[str]) -> list[tuple[str, ...]]:
    """The columns of days by their names, each one or three; not those of a bill's payment."""
    parts: dict[str, dict[str, str]] = {}
    for name in names:
        if match := _PARTS_OF_DATE.fullmatch(one_spelling(name)):
            parts.setdefault(match[1], {})[match[2]] = name
    whole = [
        (of_date["年"], of_date["月"], of_date["日"])
        for prefix, of_date in parts.items()
        if set(of_date) == set("年月日") and not is_day_of_bill(f"{prefix}日")
    ]
    with_both = {name for each in whole for name in each}
    dates = (name for name in names if _DATE.search(one_spelling(name)) and name not in with_both)
    return [*((name,) for name in dates if not is_day_of_bill(name)), *whole]


def is_day_of_bill(name: str) -> bool:
    """Whether a column of days, by its name, has the day on which a bill is due."""
    return _DAY_OF_BILL.search(one_spelling(name)) is not None


def is_day_of_use(columns: Sequence[MappedColumn]) -> bool:
    """Whether columns of days, by their names, have the day of the payment itself."""
    return _DAY_OF_USE.search(one_spelling(str(columns[-1]))) is not None


def _amounts(names: Sequence[str]) -> tuple[str | None, str | None, str | None]:
    """The column for both directions, for money out, and for money in; None for a missing one."""
    both = _first_matching(names, _BOTH_WAYS)
    if both is not None:
        return both, None, None
    paid_out, paid_in = _first_matching(names, _PAID_OUT), _first_matching(names, _PAID_IN)
    if paid_out is not None and paid_in is not None and paid_out != paid_in:
        return None, paid_out, paid_in
    amounts = [name for name in names if _AMOUNT.search(one_spelling(name))]
    plain_amounts = [name for name in amounts if not _NOT_AMOUNT.search(one_spelling(name))]
    chosen = next(iter([*plain_amounts, *amounts]), paid_out)
    return chosen, None, None


def _first_matching(names: Sequence[str], shape: re.Pattern[str]) -> str | None:
    return next((name for name in names if shape.search(one_spelling(name))), None)


def is_foreign(name: str, words: Sequence[str] = ()) -> bool:
    """Whether a column is about currencies other than yen, by its name or its texts."""
    named = _CURRENCY.search(name) or any(code != "JPY" for code in _CODE.findall(name))
    return bool(named) or any(map(_CODE.fullmatch, words))
