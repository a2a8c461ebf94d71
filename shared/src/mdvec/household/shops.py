"""A household's shops: their other spellings, their sums, and their rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from mdvec.dates import Days
from mdvec.errors import MdvecError
from mdvec.household.core.answers import AnswerText, answer_text
from mdvec.household.core.categories import Subject
from mdvec.household.core.found import RowWords
from mdvec.household.core.naming import Aliases, Naming, ShopAlias, WordsAsked, spelling_key
from mdvec.household.core.row_sums import FoundGroup, group_lines, groups_by
from mdvec.household.core.shop_names import shop_of, shops_of
from mdvec.household.core.shown import bracketed_name, shown_name
from mdvec.household.core.sums import REASONS, totals_of
from mdvec.household.core.transaction import Transaction
from mdvec.household.core.wording import totals_in_words
from mdvec.household.interfaces import ledger_sums, row_sums
from mdvec.household.interfaces.ledger import Ledger
from mdvec.household.overview import data_of, read_snapshot, refuse_empty

MAX_SHOPS = 200


@dataclass(frozen=True, slots=True)
class ShopSums:
    """The shops with the largest sums, out of ``total``."""

    shops: tuple[FoundGroup, ...]
    total: int


def shop_sums(ledger: Ledger, days: Days, subject: Subject | None, limit: int = 20) -> ShopSums:
    """The sums of the rows that count, by shop, as ``find_transactions`` groups them.

    At most ``MAX_SHOPS``. ``subject`` narrows them to a category or to all spending.
    """
    with read_snapshot(ledger.connection):
        sums = row_sums.sums_by_text(_condition(ledger, days, subject), {})
        shop = ledger_sums.shops_of_ledger(ledger)
    counted = [row_sum for row_sum in sums if row_sum.left_out is None]
    shops = groups_by(counted, lambda row_sum: shop(row_sum.description))
    return ShopSums(tuple(shops[: min(limit, MAX_SHOPS)]), len(shops))


def rows_of_shop(
    ledger: Ledger, days: Days, subject: Subject | None, shop: str, *, offset: int, limit: int
) -> tuple[tuple[Transaction, ...], int]:
    """A page of a shop's rows by date, whether they count or not, and the number of all.

    ``shop`` is the shop's name, or a description of one of its rows.
    """
    with read_snapshot(ledger.connection):
        condition = _condition(ledger, days, subject)
        sums = row_sums.sums_by_text(condition, {})
        wanted, shops = shop_of(shop), shops_of(name.description for name in sums)
        alike = [name for name in sums if shops[name.description] == wanted]
        texts = tuple({(name.description, name.memo): None for name in alike})
        chosen = row_sums.RowsChosen(condition, (None, *REASONS), texts)
        rows = row_sums.page_of(chosen, "oldest", offset=offset, limit=limit)
    return tuple(rows), sum(name.rows for name in alike)


def _condition(ledger: Ledger, days: Days, subject: Subject | None) -> row_sums.RowCondition:
    within = () if subject is None else (subject,)
    return row_sums.RowCondition(ledger, row_sums.extent_of(ledger), days, within=within)


@cache
def ready_made_aliases() -> tuple[ShopAlias, ...]:
    """The aliases that come with mdvec."""
    shops = data_of("aliases.toml")
    return tuple(
        ShopAlias(name, tuple(spellings), tuple(shops["asked"].get(name, ())))
        for name, spellings in shops["spellings"].items()
    )


def own_aliases(ledger: Ledger) -> list[tuple[str, str]]:
    """The user's pairs of a shop's name and another spelling."""
    pairs = "SELECT name, spelling FROM shop_aliases WHERE tool_id = ? ORDER BY name, spelling"
    return list(ledger.execute(pairs))


def aliases_of(ledger: Ledger) -> Aliases:
    """All aliases of a household."""
    return Aliases(ready_made_aliases(), own_aliases(ledger))


_MIN_LETTERS = 2
_MAX_SHOPS = 8


class InvalidAlias(MdvecError):
    """A spelling that cannot be used; the message says why."""


@dataclass(frozen=True, slots=True)
class AliasTrial:
    """The shops whose rows a spelling would take, with their sums."""

    shop: str
    spelling: str
    shops: tuple[FoundGroup, ...]
    text: AnswerText
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AliasList:
    """The user's pairs of a shop's name in questions and another spelling of it."""

    aliases: tuple[tuple[str, str], ...]
    text: AnswerText
    notes: tuple[str, ...] = ()


def try_alias(ledger: Ledger, *, shop: str, spelling: str) -> AliasTrial:
    """Show which counting rows a question for ``shop`` would also find with another spelling.

    Raises:
        EmptyLedger: there are no rows yet.
        InvalidAlias: a name is too short, or the shop's name finds the spelling anyway.
    """
    shop, spelling = _check_pair(shop, spelling)
    with read_snapshot(ledger.connection):
        refuse_empty(ledger)
        condition = row_sums.RowCondition(ledger, row_sums.extent_of(ledger))
        sums = [
            row_sum for row_sum in row_sums.sums_by_text(condition, {}) if row_sum.left_out is None
        ]
        name = ledger_sums.shops_of_ledger(ledger)
    words = RowWords(spelling, (), (), Aliases([ShopAlias(shop, (spelling,))]))
    words.choose(sums)
    groups = groups_by(words.named, lambda row_sum: name(row_sum.description))
    lines = [
        f"「{shown_name(shop)} = {shown_name(spelling)}」とすると、{shown_name(shop)} を探すときに"
        f"次も含めます: {totals_in_words(totals_of(words.named))}（まだ決めていません）",
        *group_lines(groups[:_MAX_SHOPS]),
    ]
    if len(groups) > _MAX_SHOPS:
        lines.append(f"- ほか {len(groups) - _MAX_SHOPS:,}店")
    return AliasTrial(shop, spelling, tuple(groups[:_MAX_SHOPS]), answer_text(lines))


def add_alias(ledger: Ledger, *, shop: str, spelling: str) -> AliasList:
    """Let questions for a shop also find another spelling of it; no row changes.

    Raises:
        InvalidAlias: as ``try_alias``.
    """
    shop, spelling = _check_pair(shop, spelling)
    with ledger.connection:
        ledger.execute(
            "INSERT OR IGNORE INTO shop_aliases (tool_id, name, spelling) VALUES (?, ?, ?)",
            (shop, spelling),
        )
    return list_aliases(ledger)


def remove_alias(ledger: Ledger, *, shop: str, spelling: str) -> AliasList:
    """Remove a spelling.

    Raises:
        InvalidAlias: there is no such pair.
    """
    with ledger.connection:
        wanted = (spelling_key(shop), spelling_key(spelling))
        pairs = own_aliases(ledger)
        matches = [pair for pair in pairs if tuple(map(spelling_key, pair)) == wanted]
        if not matches:
            raise InvalidAlias(f"その書き方は決めてありません。{_pair_list(pairs)}")
        ledger.connection.executemany(
            "DELETE FROM shop_aliases WHERE tool_id = ? AND name = ? AND spelling = ?",
            [(ledger.tool_id, *pair) for pair in matches],
        )
    return list_aliases(ledger)


def list_aliases(ledger: Ledger) -> AliasList:
    """The user's spellings."""
    pairs = own_aliases(ledger)
    return AliasList(tuple(pairs), answer_text([_pair_list(pairs)]))


def _pair_list(pairs: list[tuple[str, str]]) -> str:
    listed = "、".join(f"{shown_name(name)} = {shown_name(spelling)}" for name, spelling in pairs)
    return f"店の別の書き方: {listed}" if listed else "自分で決めた店の別の書き方はありません。"


def _check_pair(shop: str, spelling: str) -> tuple[str, str]:
    names = (" ".join(shop.split()), " ".join(spelling.split()))
    for name in names:
        if len(spelling_key(name)) < _MIN_LETTERS:
            raise InvalidAlias(f"{bracketed_name(name)}は短すぎます。2文字以上で指定してください。")
    if WordsAsked(names[0], is_name=True).naming(names[1:]) is Naming.NAMED:
        raise InvalidAlias(
            f"{bracketed_name(names[1])}は、いまも{bracketed_name(names[0])}を探すと見つかります。"
        )
    return names
