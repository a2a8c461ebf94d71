"""Rules that give a shop's rows a category, suggestions for other rows, and both in Japanese."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from mdvec.household.core.answers import CategoryText
from mdvec.household.core.categories import INCOME, UNCATEGORISED, Category
from mdvec.household.core.shop_names import letter_pairs
from mdvec.household.core.shown import bracketed_name, shown_name
from mdvec.household.core.sums import totals_of_rows
from mdvec.household.core.transaction import CountedRow
from mdvec.household.core.wording import format_currency, sums_in_words

_MIN_LIKENESS = 0.6
_MIN_CONFIDENCE = 0.3
_MAX_SHOPS = 100
_MAX_NEAR = 3


@dataclass(frozen=True, slots=True)
class CategoryRule:
    """Rows whose normalised shop contains ``shop`` belong to ``category``.

    A rule for a ``renamed`` category has no shop: rows of that category belong to ``category``,
    unless a rule for their shop says otherwise.
    """

    shop: str
    category: CategoryText
    renamed: CategoryText | None = None


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A category for the rows of a shop that have none, from the user's own history.

    ``confidence`` is from 0 to 1. ``like`` is the shop whose categories suggest it: the same one,
    or one with a similar name.
    """

    shop: str
    rows: int
    yen: int
    category: CategoryText
    confidence: float
    like: str


def rule_for(shop: str, rules: Iterable[CategoryRule]) -> CategoryRule | None:
    """The rule for a normalised shop; of several, the one with the longest name."""
    matching = [rule for rule in rules if rule.renamed is None and rule.shop in shop]
    return max(matching, key=lambda rule: (len(rule.shop), rule.shop), default=None)


def renamed(category: Category, rules: Sequence[CategoryRule]) -> Category:
    """A file's category as the rules rename it; a rule for its 大項目 alone leaves the 中項目."""
    for _ in rules:  # more steps than there are rules would mean a cycle
        names = (category, Category(category.major))
        rule = next((rule for name in names for rule in rules if rule.renamed == name), None)
        if rule is None:
            break
        minor = category.minor if rule.renamed == names[1] else None
        category = Category(rule.category.major, rule.category.minor or minor)
    return category


@dataclass(frozen=True, slots=True)
class ShopTotal:
    """The rows of a shop in one category: its name in answers, how many, and their yen."""

    shop: str
    name: str
    category_major: str
    category_minor: str
    rows: int
    yen: int


def suggestions(totals: Sequence[ShopTotal]) -> list[Suggestion]:
    """Categories for the hundred largest shops without one, the largest sum first."""
    known: dict[str, Counter[Category]] = defaultdict(Counter)
    open_: dict[str, list[ShopTotal]] = defaultdict(list)
    for total in totals:
        if total.category_major in ("", UNCATEGORISED):
            open_[total.shop].append(total)
        else:
            known[total.shop][Category(total.category_major, total.category_minor or None)] += (
                total.rows
            )
    names = {total.shop: total.name for total in totals}
    likeness_to = _likeness_to(known)
    largest = sorted(open_, key=lambda shop: -abs(sum(total.yen for total in open_[shop])))
    suggested = [
        _suggest(open_[shop], known, likeness_to(shop), names) for shop in largest[:_MAX_SHOPS]
    ]
    return sorted(
        (suggestion for suggestion in suggested if suggestion is not None),
        key=lambda suggestion: (-abs(suggestion.yen), suggestion.shop),
    )


def like_names(shop: str, known: Iterable[str]) -> list[str]:
    """The known normalised shops whose names are most like ``shop``, at most three."""
    likeness = _likeness_to(known)(shop)
    near = [other for other in likeness if likeness[other] >= _MIN_LIKENESS]
    return sorted(near, key=lambda other: (-likeness[other], other))[:_MAX_NEAR]


def _likeness_to(known: Iterable[str]) -> Callable[[str], dict[str, float]]:
    """The likeness of a name to each known one that shares letters: the Dice coefficient of pairs.

    It is 1 for the name itself.
    """

    def pairs_in(shop: str) -> frozenset[str]:
        return letter_pairs("".join(filter(str.isalnum, shop)) or shop)

    pairs_of = {shop: pairs_in(shop) for shop in known}
    holders: dict[str, list[str]] = defaultdict(list)
    for shop, pairs in pairs_of.items():
        for pair in pairs:
            holders[pair].append(shop)

    def likeness_to(shop: str) -> dict[str, float]:
        own = pairs_in(shop)
        shared = Counter(other for pair in own for other in holders.get(pair, ()))
        likeness = {
            other: 2 * number / (len(own) + len(pairs_of[other]))
            for other, number in shared.items()
        }
        return likeness | ({shop: 1.0} if shop in pairs_of else {})

    return likeness_to


def _suggest(
    totals: Sequence[ShopTotal],
    known: Mapping[str, Counter[Category]],
    likeness: Mapping[str, float],
    names: Mapping[str, str],
) -> Suggestion | None:
    like = max(
        likeness, key=lambda other: (likeness[other], known[other].total(), other), default=None
    )
    if like is None or likeness[like] < _MIN_LIKENESS:
        return None
    counts = known[like]
    category, times = counts.most_common(1)[0]
    confidence = likeness[like] * times / (counts.total() + 1)  # the next row may differ
    if confidence < _MIN_CONFIDENCE:
        return None
    return Suggestion(
        shop=totals[0].name,
        rows=sum(total.rows for total in totals),
        yen=sum(total.yen for total in totals),
        category=category,
        confidence=round(confidence, 2),
        like=names[like],
    )


MAX_ROWS = 5
"""How many rows the text of a trial shows: the latest ones."""
MAX_SUGGESTIONS = 20


def rule_line(rule: CategoryRule) -> str:
    """A rule in words: 「りんりん」を含む店 → 交通費 > 自転車, or カテゴリ「食料」 → 食費."""
    if rule.renamed is not None:
        return f"カテゴリ{bracketed_name(rule.renamed)} → {shown_name(rule.category)}"
    return f"{bracketed_name(rule.shop)}を含む店 → {shown_name(rule.category)}"


def new_text(category: Category) -> str:
    """Says that no row had a category before, and which sums its rows are in."""
    kind = "収入" if category.is_income else "支出"
    return f"{bracketed_name(category)}は、新しい{kind}のカテゴリです。"


def counted_text(category: Category, rows: int) -> str:
    """Says that ``rows`` still count, in a category whose rows the files leave out of all sums."""
    return (
        f"ファイルで{bracketed_name(category)}の明細はどれも集計外ですが、この {rows:,}件は集計に"
        "入ったままです。外すには、家計簿アプリで振替か計算対象外にして、その期間のファイルを取り込み"
        "直してください（自分で対応付けた CSV なら transfers か not_counted）。"
    )


def unmatched_text(shop: str, near: Sequence[str]) -> str:
    """Says that no row's shop has the name of a rule, and which shops have names like it."""
    others = f"名前の近い店: {'、'.join(map(shown_name, near))}" if near else ""
    return f"いま、{bracketed_name(shop)}を含む店の明細は 1件もありません。{others}"


def against_text(category: Category, rows: Iterable[tuple[bool, int]]) -> list[str]:
    """A warning if payments would then reduce income, or receipts reduce spending; else empty.

    ``rows`` has, for each row, whether it was income before it got the category, and its signed
    amount in yen.
    """
    to_income = category.major == INCOME
    against = [
        abs(amount)
        for was_income, amount in rows
        if was_income != to_income and (amount < 0) == to_income
    ]
    was, now = ("支出", "収入") if to_income else ("収入", "支出")
    yen = format_currency(sum(against))
    if not against:
        return []
    return [f"{was}だった {len(against):,}件 {yen}は、{now}を減らす明細になります。"]


def trial_text(
    rule: CategoryRule,
    rows: Sequence[CountedRow],
    by_category: Sequence[tuple[str, int, int]],
    others: int = 0,
    warnings: Sequence[str] = (),
) -> list[str]:
    """What a rule would change, with its latest rows; ``others`` counts rows outside the sums."""
    left_out = [f"ほかに集計外の {others:,}件も移ります。"] if others else []
    if not rows:
        nothing = f"{rule_line(rule)}: これまでの明細で変わるものはありません。"
        return [nothing, *left_out, *warnings]
    totals = totals_of_rows((row.category_major, row.amount) for row in rows)
    total = sums_in_words(totals.spending, totals.income) or "0円"
    lines = [
        f"{rule_line(rule)}: 試すと {len(rows):,}件（{total}）が移ります（まだ変えていません）。"
    ]
    lines += [
        f"- {shown_name(name)} から {count:,}件 {format_currency(yen)}"
        for name, count, yen in by_category
    ]
    lines += [*left_out, *warnings]
    shown = rows[-MAX_ROWS:]
    lines += [
        f"  {row.day} {shown_name(row.description)} {format_currency(row.amount)} [{row.id}]"
        for row in shown
    ]
    if len(rows) > MAX_ROWS:
        lines.append(f"  ほか {len(rows) - MAX_ROWS:,}件（find_transactions で探せます）")
    return lines


def rules_text(rules: Sequence[CategoryRule], suggested: Sequence[Suggestion]) -> list[str]:
    """The rules and the suggestions."""
    lines = [f"カテゴリの規則は {len(rules)}件です。", *(f"- {rule_line(rule)}" for rule in rules)]
    if suggested:
        lines.append("未分類の明細への提案（決めるまで何も変わりません）:")
        lines += [
            f"- {shown_name(suggestion.shop)}"
            f"（{suggestion.rows:,}件 {format_currency(suggestion.yen)}）"
            f"→ {shown_name(suggestion.category)}（確かさ {round(suggestion.confidence * 100)} %、"
            f"{bracketed_name(suggestion.like)}のこれまでから）"
            for suggestion in suggested[:MAX_SUGGESTIONS]
        ]
        if len(suggested) > MAX_SUGGESTIONS:
            lines.append(f"ほか {len(suggested) - MAX_SUGGESTIONS:,}件（決めると次を示します）")
    return lines
