"""Judges whether two rows are one purchase: the evidence for and against, and its weights.

The evidence is added up on a logistic scale: 0 is as likely as not, each point is worth a factor
of e. The weights were chosen by hand on the tuning half of the invented ledgers in
bench/duplicates; its other half measures them.
"""

from __future__ import annotations

import math
import re
import unicodedata
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache, partial
from typing import TYPE_CHECKING, Final, NamedTuple

from mdvec.household.core.categories import UNCATEGORISED
from mdvec.household.core.pair import ALWAYS, ComparedRow, Pair, source_of
from mdvec.household.core.shop_names import ShopName, closeness, is_named_in, shop_name

if TYPE_CHECKING:
    from mdvec.household.core.pairs import Mirrors, ShoppingHabits

MIN_MIRROR: Final = 0.3
"""If at least this share of two accounts' rows agree, they are taken to show the same purchases."""
PairEvidence = tuple[float, str]
"""Points (positive if the rows may be one purchase, else negative), and a reason's code or ""."""
_BY_HAND: Final = re.compile("財布|現金|レシート|手入力|手動|^なし$|cash|wallet", re.IGNORECASE)
_INSTRUMENT: Final = re.compile("カード|銀行|バンク|信用金庫|信金|card|bank", re.IGNORECASE)
_BETWEEN_WORDS: Final = re.compile(r"[* ()/]")
_ACCOUNT_NOTE: Final = re.compile("[(（].*?[)）]")

_TWO_ACCOUNTS, _ONE_ACCOUNT = -3.0, -5.0
_NAME, _NO_NAME = 5.0, -0.8
_NAMED_ACCOUNT, _HAND, _MIRROR = 5.0, 1.5, 4.0
_NEITHER: Final = -4.2
_DAY: Final = -0.3
_CHANGED, _ROUNDED, _CHANGED_PER_SHARE, _POINTS = -3.5, -1.0, -30.0, -0.7
_OFTEN_VISITED, _HOPELESS = -2.5, -8.0
_SURPRISE, _USUAL_SURPRISE = 0.6, 4.0
_CHARGED_TWICE, _FINAL_AMOUNT = 7.0, 7.0
_LINKED_AGAIN: Final = 1.0
_ONE_BOOK: Final = -_TWO_ACCOUNTS
"""Added if two lists of one account have an equal row on one day: they agree on each day's rows,
however common the amount is."""
_SAME_MAJOR, _NEUTRAL = 0.7, 0.5
_CATEGORY: Final = {1.0: 1.2, _SAME_MAJOR: 0.5, _NEUTRAL: 0.0, 0.0: -0.8}
_LEAST_NAME, _LIKE, _SURE_NAME = 0.3, 0.6, 0.8
_COMMON: Final = 3.0
NEAR_DAYS: Final = 45
FINAL_DAYS: Final = 5
"""How many days after a charge its final amount may be booked."""
_FINAL_SHARE, _OFTEN = 0.06, 4
HALF_A_YEAR: Final = 183
"""Only visits within so many days tell how a shop charges, as prices and contracts change."""
_CHARGED_DAYS: Final = 5


@dataclass
class Judge:
    """Judges pairs of rows of one ledger."""

    habits: ShoppingHabits
    mirrors: Mirrors
    separate_accounts: Collection[frozenset[str]] = ()
    """Pairs of accounts at one bank that have separate rows."""
    linked_again: Collection[frozenset[int]] = ()
    """Pairs of rows, by id, that may be a single row with two Money Forward IDs."""
    booked: Mapping[int, tuple[int, int]] = field(default_factory=dict)
    """For each row, by id, that the balances of its statement show to be booked: the statement's
    id, and the balance after the row."""
    lists: Collection[int | str] = ()
    """The statements of which each line is a purchase of its own, as far as they tell."""

    def __post_init__(self) -> None:
        name = cache(shop_name)
        self._name = name
        self._closeness = cache(lambda text, other: closeness(name(text), name(other)))
        self.is_named = cache(partial(_is_named, name))

    def judge(self, row: ComparedRow, other: ComparedRow) -> Pair:
        """The pair of two rows: how likely they are one purchase, 0 to 1, and the reasons."""
        if (
            self.separate_accounts
            and frozenset((row.account, other.account)) in self.separate_accounts
        ):
            points, reasons = _ONE_ACCOUNT, ["one_bank"]
        elif self.linked_again and frozenset((row.id, other.id)) in self.linked_again:
            points, reasons = _LINKED_AGAIN, ["linked_again"]
        elif row.account and row.account == other.account and self._are_two_lines(row, other):
            points, reasons = self._one_account(row, other)
        else:
            points, reasons = self._two_accounts(row, other)
        first, second = (row, other) if row.id < other.id else (other, row)
        return Pair(first, second, round(1 / (1 + math.exp(-points)), 4), tuple(reasons))

    def _are_two_lines(self, row: ComparedRow, other: ComparedRow) -> bool:
        """Whether an account's rows are two lines: by IDs, a bank's own list, or balances."""
        if row.mf_id and other.mf_id and row.mf_id != other.mf_id:
            return True
        if (
            self.lists
            and row.statement in self.lists
            and row.statement == other.statement
            and (row.date, row.amount, row.description, row.mf_id)
            == (other.date, other.amount, other.description, other.mf_id)
            and not is_by_hand(row.account)
        ):
            return True
        first, second = self.booked.get(row.id), self.booked.get(other.id)
        if first is None or second is None:
            return False
        return first[0] == second[0] and first[1] != second[1]

    def _one_account(self, row: ComparedRow, other: ComparedRow) -> tuple[float, list[str]]:
        """Judge two lines of one account: two purchases, unless the shop charged in a known way."""
        days, share = _days(row, other), _share(row, other)
        name = self.name(row, other)
        visits = self._visits(row, other)
        reasons = ["one_account"]
        points = _ONE_ACCOUNT + _DAY * days
        if share == 0 and name == 1.0:
            if days <= _CHARGED_DAYS and self.habits.is_paid_by_the_month(row, other):
                return points + _CHARGED_TWICE, ["charged_twice"]
            if visits > 2:
                reasons.append(f"visits:{visits}")
        elif (
            row.description == other.description
            and 1 <= days <= FINAL_DAYS
            and share <= _FINAL_SHARE
            and not is_by_hand(row.account)
            and not any(map(self._is_charged_often, (row, other)))
        ):
            return points + _FINAL_AMOUNT, ["final_amount"]
        return points, reasons

    def _two_accounts(self, row: ComparedRow, other: ComparedRow) -> tuple[float, list[str]]:
        """Judge rows of two accounts, or rows that lack an account or ID."""
        share, name = _share(row, other), self.name(row, other)
        is_named = self.is_named(row.account, other.description) or (
            self.is_named(other.account, row.description)
        )
        if share and name < _SURE_NAME and not is_named:
            return _HOPELESS, ["other_name", "other_amount"]
        by_hand = is_by_hand(row.account) != is_by_hand(other.account)
        seen = _Comparison(row, other, share, name, is_named, by_hand)
        evidence = [
            *_by_name(seen), *self._by_accounts(seen), *_by_category(seen), *self._by_amount(seen),
        ]  # fmt: skip
        points = _TWO_ACCOUNTS + _DAY * seen.days + sum(points for points, _ in evidence)
        return points, [reason for _, reason in evidence if reason]

    def _by_accounts(self, seen: _Comparison) -> Iterator[PairEvidence]:
        """Evidence from the accounts, such as an app and its card, or a card connected twice."""
        if seen.is_named:
            yield _NAMED_ACCOUNT, "named_account"
        if seen.by_hand:
            yield _HAND, "by_hand"
        sources = source_of(seen.row), source_of(seen.other)
        if sources[0] == sources[1]:
            return
        mirror = self.mirrors.share(*sources)
        if mirror >= MIN_MIRROR:
            is_one_day = seen.row.account == seen.other.account and not (seen.days or seen.share)
            yield _MIRROR * mirror + (_ONE_BOOK if is_one_day else 0.0), "mirror"
        elif seen.row.account != seen.other.account and not seen.is_named and not seen.by_hand:
            yield _NEITHER, "two_payers"

    def _by_amount(self, seen: _Comparison) -> Iterator[PairEvidence]:
        """Equal amounts count for one purchase, rare ones more; different ones count against it."""
        amount = seen.row.amount
        if not seen.share:
            surprise = self.habits.surprise(amount, seen.days)
            common = "common_amount" if surprise < _COMMON else ""
            yield _SURPRISE * (surprise - _USUAL_SURPRISE), common
        elif seen.is_named and (amount - seen.other.amount) % 10 == 0:
            yield _POINTS, "points"
        else:
            often = self._visits(seen.row, seen.other) >= _OFTEN
            noted = seen.row if is_by_hand(seen.row.account) else seen.other
            points = _ROUNDED if seen.by_hand and noted.amount % 100 == 0 else _CHANGED
            points += _CHANGED_PER_SHARE * seen.share
            yield points + (_OFTEN_VISITED if often else 0.0), "other_amount"

    def _visits(self, row: ComparedRow, other: ComparedRow) -> int:
        return max(self.habits.visits_near(each, NEAR_DAYS) for each in (row, other))

    def _is_charged_often(self, row: ComparedRow) -> bool:
        """Whether the shop, under any spelling, often charged the account within half a year."""
        shops = self.habits.shops_near(row, HALF_A_YEAR)
        charges = shops.pop(self.habits.shop_of(row))
        for shop, times in shops.items():
            if charges >= _OFTEN:
                break
            if self._closeness(row.description, shop) >= _SURE_NAME:
                charges += times
        return charges >= _OFTEN

    def name(self, row: ComparedRow, other: ComparedRow) -> float:
        """How close the shops' names are, 0 to 1."""
        if row.description == other.description:
            return 1.0
        return self._closeness(row.description, other.description)

    def are_close(self, description: str, other: str) -> bool:
        """Whether names are close enough for one purchase whose two amounts differ."""
        return self._closeness(description, other) >= _SURE_NAME

    def marks(self, description: str, words: int) -> list[list[int]]:
        """The pairs of letters in each spelling of a shop's name, as bit sets of 64-bit words."""
        return [_bit_set(pairs, words) for pairs in self._name(description).spellings]


def _bit_set(texts: Iterable[str], words: int) -> list[int]:
    marks = [0] * words
    for text in texts:
        bit = zlib.crc32(text.encode()) % (64 * words)
        marks[bit // 64] |= 1 << bit % 64
    return marks


def is_nameable(account: str) -> bool:
    """Whether an account is with a shop or service: no bank, no card, and not kept by hand."""
    name = _ACCOUNT_NOTE.sub("", account)
    return bool(name) and not (is_instrument(name) or is_by_hand(name))


def is_instrument(name: str) -> bool:
    """Whether a name has a word for a bank or a card."""
    return _INSTRUMENT.search(name) is not None


def _is_named(name_of: Callable[[str], ShopName], account: str, description: str) -> bool:
    """Whether a description names an account, which has to be with a shop or service."""
    if not is_nameable(account):
        return False
    name = name_of(_ACCOUNT_NOTE.sub("", account))
    whole = unicodedata.normalize("NFKC", description)
    words = {whole, *_BETWEEN_WORDS.split(whole)} - {""}
    return any(is_named_in(name, name_of(word)) >= _SURE_NAME for word in words)


class _Comparison(NamedTuple):
    """How two rows compare; ``is_named``: one row names the other's account."""

    row: ComparedRow
    other: ComparedRow
    share: float
    name: float
    is_named: bool
    by_hand: bool

    @property
    def days(self) -> int:
        return _days(self.row, self.other)


def _by_name(seen: _Comparison) -> Iterator[PairEvidence]:
    if seen.name >= _LIKE:
        yield _NAME * seen.name, "same_name" if seen.name == 1.0 else "like_name"
    else:
        points = _NAME * seen.name if seen.name >= _LEAST_NAME else _NO_NAME
        yield points, "" if seen.is_named else "other_name"


def _by_category(seen: _Comparison) -> Iterator[PairEvidence]:
    """Evidence from categories, where names differ, such as 晩ごはん and a restaurant's name."""
    if seen.is_named or seen.name >= _SURE_NAME:
        return
    closeness = _category_closeness(
        (seen.row.category_major, seen.row.category_minor),
        (seen.other.category_major, seen.other.category_minor),
    )
    tells = closeness == 1.0 and seen.by_hand and seen.name < _LIKE
    yield _CATEGORY[closeness], "same_category" if tells else ""


@lru_cache(maxsize=1_024)
def is_by_hand(account: str) -> bool:
    """Whether an account's rows are noted by people: cash, receipts, no account at all."""
    return not account or bool(_BY_HAND.search(account))


def _days(row: ComparedRow, other: ComparedRow) -> int:
    return abs((row.date - other.date).days)


def _share(row: ComparedRow, other: ComparedRow) -> float:
    first, second = abs(row.amount), abs(other.amount)
    return abs(first - second) / max(first, second, 1)


def _category_closeness(category: tuple[str, str], other: tuple[str, str]) -> float:
    """The closeness of two categories (major, minor), from 0 to 1."""
    if category == other:
        return 1.0
    if category[0] == other[0]:
        return _SAME_MAJOR
    return _NEUTRAL if {category[0], other[0]} & {UNCATEGORISED, ""} else 0.0


_REASONS = {
    "names_card": "支払い先の名前がカードを指している",
    ALWAYS: "このカードの請求は、いつも集計から外すと判定されている",
    "moved": "同じ金額が一方の口座から出て、もう一方の口座に入っている",
    "moved_before": "見つけたときは同じ金額だったが、今は金額が違う",
    "moving_words": "振替、振込、チャージなど、口座間の移動を表すことばがある",
    "each_named": "どちらの内容も、もう一方の口座の名前そのものである",
    "refund": "入ったほうは返金か収入らしい",
    "same_account": "同じ口座の同じ明細が、両方の家計簿にある",
    "linked_again": "連携し直した口座らしい（同じ日と金額の明細が、別の ID で別のファイルにある）",
    "charged_twice": "毎月1回の支払いが、ここだけ2回ある",
    "final_amount": "同じ店が数日後に少し違う金額で請求している（仮の金額と確定額らしい）",
    "named_account": "内容がもう一方の口座の店や決済サービスを指している",
    "mirror": "ほかの買い物も、両方の口座（または同じ口座の両方の明細）に記録されている",
    "same_name": "店名が同じ",
    "like_name": "店名が似ている（読み・略称・支店名を除いて）",
    "by_hand": "一方は手入力かレシート",
    "same_category": "カテゴリが同じ",
    "points": "金額の差はポイントや値引きらしい",
    "same_group": "同じ候補のほかの行と合う",
    "one_account": "同じ口座の明細に別の行としてある",
    "one_bank": "同じ銀行の別々の口座にある",
    "two_payers": (
        "どちらも支払いの口座で、互いの買い物を記録していない（割り勘や二人分かもしれない）"
    ),
    "matched_otherwise": "もっとよく合う別の行がある",
    "other_name": "店名が違う",
    "other_amount": "金額が違う",
    "common_amount": "よくある金額で、偶然同じになりやすい",
}
"""The text of each reason's code; those for one purchase come first."""


def reasons_in_words(codes: Iterable[str]) -> tuple[str, ...]:
    """The reasons in Japanese, each once, those for one purchase first."""
    present = set(codes)
    words = [words for code, words in _REASONS.items() if code in present]
    visits = max((int(code[7:]) for code in present if code.startswith("visits:")), default=0)
    if visits:
        words.append(f"この店は前後{NEAR_DAYS}日で{visits}回ある")
    return tuple(words)
