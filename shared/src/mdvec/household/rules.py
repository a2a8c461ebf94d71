"""Rules for categories: tries them on past rows, sets, lists, removes and suggests them."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, replace
from datetime import date
from functools import partial

from mdvec.errors import MdvecError
from mdvec.household.core import category_rules
from mdvec.household.core.answers import AnswerText, answer_text
from mdvec.household.core.budgets import covers
from mdvec.household.core.categories import (
    AmbiguousCategory,
    Category,
    Hierarchy,
    Subject,
    UnknownCategory,
    find_category,
    hierarchy_of,
    stated_category,
)
from mdvec.household.core.category_rules import CategoryRule, Suggestion
from mdvec.household.core.shop_names import as_written, shop_of, shops_of
from mdvec.household.core.shown import bracketed_name, shown_name
from mdvec.household.core.transaction import CountedRow
from mdvec.household.interfaces import plans
from mdvec.household.interfaces.ledger import Ledger
from mdvec.household.interfaces.ledger_sums import (
    category_names,
    counted_rows,
    descriptions,
    shop_totals,
)
from mdvec.household.interfaces.subjects import follow_decisions
from mdvec.household.overview import read_snapshot, resolved_name

_MIN_LETTERS = 2
_MAY_BE_NEW = "。新しいカテゴリは「大項目 > 中項目」の形なら作れます"
_STRING = r'"(?:[^"\\]|\\.)*"'


class InvalidRule(MdvecError):
    """A rule that cannot be set; the message says why."""


@dataclass(frozen=True, slots=True)
class RuleTrial:
    """A rule's effect: the latest counting rows to change; former category, rows and yen of all."""

    rule: CategoryRule
    rows: tuple[CountedRow, ...]
    by_category: tuple[tuple[str, int, int], ...]
    text: AnswerText
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RuleChange:
    """How many rows of the ledger changed when a rule was set or removed."""

    changed: int
    text: AnswerText


@dataclass(frozen=True, slots=True)
class RuleList:
    """The rules in force, and the suggestions for rows without a category."""

    rules: tuple[CategoryRule, ...]
    suggestions: tuple[Suggestion, ...]
    text: AnswerText
    notes: tuple[str, ...] = ()


def try_rule(ledger: Ledger, *, shop: str, category: str) -> RuleTrial:
    """The changes that a rule would make to past rows; writes nothing.

    Raises:
        InvalidRule: the shop is too short, or the category is a total; or, without a shop, the
            category does not have the form "old name=new name".
        UnknownCategory: no category, or several, have that name.
    """
    with read_snapshot(ledger.connection):
        rule = _rule(ledger, shop, category)
        moved = _moved_by(ledger, rule)
        others = len(_moved_by(ledger, rule, others=True))
        (shown,) = _as_shown(ledger, [rule], shop)
        warned = _warnings(ledger, rule, shown, moved)
    amounts: dict[str, list[int]] = defaultdict(list)
    for row in moved:
        amounts[str(row.full_category)].append(row.yen)
    by_category = tuple((name, len(yen), sum(yen)) for name, yen in sorted(amounts.items()))
    return RuleTrial(
        rule, tuple(moved[-category_rules.MAX_ROWS:]), by_category,
        answer_text(category_rules.trial_text(shown, moved, by_category, others, warned)),
    )  # fmt: skip


def _moved_by(ledger: Ledger, rule: CategoryRule, *, others: bool = False) -> list[CountedRow]:
    """The rows to which a rule would give another category: those that count, or the ``others``."""
    rules = [other for other in plans.rules_of(ledger) if not _is_same(other, rule)]
    rows = counted_rows(ledger, date.min, date.max, others=others)
    own, shops = plans.own_categories(ledger), shops_of(row.shop for row in rows)
    return [row for row in rows if row.id not in own and _moves(row, shops[row.shop], rule, rules)]


def set_rule(ledger: Ledger, *, shop: str, category: str) -> RuleChange:
    """Set a rule and apply it to every row; later imports apply it, too.

    Raises:
        InvalidRule, UnknownCategory: as ``try_rule``.
    """
    with ledger.connection:
        rule = _rule(ledger, shop, category)
        moved = _moved_by(ledger, rule)
        others = len(_moved_by(ledger, rule, others=True))
        (shown,) = _as_shown(ledger, [rule], shop)
        warned = _warnings(ledger, rule, shown, moved)
        plans.put_rule(ledger, rule)
        changed = plans.apply_rules(ledger)
        follow_decisions(ledger)
    text = (
        f"{category_rules.rule_line(shown)} と決めました。"
        f"{changed:,}件のカテゴリが変わりました。"
        "ファイルのカテゴリは残してあり、action=remove で元に戻ります。"
    )
    left_out = [f"うち集計外は {others:,}件です。"] if others else []
    return RuleChange(changed, answer_text([text, *left_out, *warned, *_budgets_of(ledger, rule)]))


def _unmatched(ledger: Ledger, rule: CategoryRule, shown: CategoryRule) -> list[str]:
    """A line if no row's shop has the name of the rule; else empty."""
    shops = shops_of(descriptions(ledger))
    if rule.renamed is not None or any(rule.shop in shop for shop in shops.values()):
        return []
    written = {shop: text for text, shop in shops.items()}
    near = category_rules.like_names(rule.shop, written)
    return [category_rules.unmatched_text(shown.shop, [written[shop] for shop in near])]


def warnings(ledger: Ledger, category: Category, counted: Sequence[tuple[bool, int]]) -> list[str]:
    """What may not be meant by giving a category to the ``counted`` rows; call before it is given.

    Each is whether the row is income, and its signed amount in yen.
    """
    minors = known_categories(ledger).get(category.major)
    is_new = minors is None or category.minor not in (None, *minors)
    told = [category_rules.new_text(category)] if is_new else []
    told += category_rules.against_text(category, counted)
    if counted and plans.is_filed_uncounted(ledger, category):
        told.append(category_rules.counted_text(category, len(counted)))
    return told


def _warnings(
    ledger: Ledger, rule: CategoryRule, shown: CategoryRule, moved: Iterable[CountedRow]
) -> list[str]:
    counted = [(row.is_income, row.amount) for row in moved]
    return [*_unmatched(ledger, rule, shown), *warnings(ledger, rule.category, counted)]


def _budgets_of(ledger: Ledger, rule: CategoryRule) -> list[str]:
    """Lines on the budgets that still have the former name of a renamed category."""
    names = dict.fromkeys(
        shown_name(each.subject)
        for each in plans.budgets_of(ledger)
        if rule.renamed and isinstance(each.subject, Category)
        if covers(rule.renamed, each.subject)
    )
    return [
        f"{name}の予算は前の名前のままで、移った明細を数えません。"
        "いまのカテゴリで決め直してください。"
        for name in names
    ]


def remove_rule(ledger: Ledger, *, shop: str = "", category: str = "") -> RuleChange:
    """Remove the rule of a shop, or of a renamed category; the file's category applies again.

    Raises:
        InvalidRule: there is no such rule, or several are meant.
    """
    with ledger.connection:
        rules = plans.rules_of(ledger)
        if shop.strip():
            named = [rule for rule in rules if (rule.shop, rule.renamed) == (shop_of(shop), None)]
        else:
            named = [rule for rule in rules if _is_meant(rule, category)]
        removed = _the_only(named)
        if removed is None:
            known = map(_name, _as_shown(ledger, rules))
            there = "、".join(map(bracketed_name, known)) or "なし"
            name = shop.strip() or category
            raise InvalidRule(f"「{name[:60]}」の規則はありません。いまある規則: {there}")
        (shown,) = _as_shown(ledger, [removed], shop)
        what = bracketed_name(_name(shown))
        plans.delete_rule(ledger, removed)
        changed = plans.apply_rules(ledger)
        follow_decisions(ledger)
    text = f"{what}の規則をやめました。{changed:,}件がファイルのカテゴリに戻りました。"
    return RuleChange(changed, answer_text([text]))


def _is_meant(rule: CategoryRule, phrase: str) -> bool:
    """Whether 「食料品 = 食費」 names the two categories of a rule."""
    if rule.renamed is None:
        return False
    pair = (rule.renamed, rule.category)
    own = hierarchy_of([(each.major, each.minor or "") for each in pair])
    return pair in _read_pairs(phrase, own)


def _name(rule: CategoryRule) -> str:
    return rule.shop if rule.renamed is None else f"{rule.renamed} = {rule.category}"


def _as_shown(ledger: Ledger, rules: Iterable[CategoryRule], asked: str = "") -> list[CategoryRule]:
    """The rules with their shops capitalised as in a description, or else as in ``asked``."""
    shops = shops_of([*descriptions(ledger), asked])
    return [
        replace(rule, shop=as_written(rule.shop, text))
        for rule in rules
        for text in [next((text for text, shop in shops.items() if rule.shop in shop), "")]
    ]


def _is_same(rule: CategoryRule, other: CategoryRule) -> bool:
    """Whether two rules are for the same rows."""
    return (rule.shop, rule.renamed) == (other.shop, other.renamed)


def _moves(row: CountedRow, shop: str, rule: CategoryRule, others: Sequence[CategoryRule]) -> bool:
    """Whether a rule, beside the ``others``, would give a row of ``shop`` another category."""
    category, ruled = row.full_category, category_rules.rule_for(shop, [*others, rule])
    if rule.renamed is None:
        return ruled == rule and category != rule.category
    return ruled is None and category != category_rules.renamed(category, [rule])


def list_rules(ledger: Ledger, most: int | None = category_rules.MAX_SUGGESTIONS) -> RuleList:
    """The rules, and suggestions from the user's own history for rows without a category.

    ``suggestions`` has at most ``most`` of them, None for all; the text has up to twenty.
    """
    with read_snapshot(ledger.connection):
        rules = plans.rules_of(ledger)
        totals = shop_totals(ledger)
        shown = _as_shown(ledger, rules)
    suggested = category_rules.suggestions(totals)
    text = answer_text(category_rules.rules_text(shown, suggested))
    return RuleList(tuple(rules), tuple(suggested[:most]), text)


def _rule(ledger: Ledger, shop: str, category: str) -> CategoryRule:
    if not shop.strip():
        known = known_categories(ledger)
        return _renaming(category, known, plans.rules_of(ledger))
    pattern = shop_of(shop)
    if len(pattern) < _MIN_LETTERS:
        raise InvalidRule(f"店の名前「{shop[:60]}」が短すぎます。2文字以上で指定してください。")
    return CategoryRule(pattern, chosen_category(ledger, category))


def chosen_category(ledger: Ledger, name: str) -> Category:
    """The category that rows are to have, by its full name.

    「大項目 > 中項目」 may be new: no row of the ledger has to have it.

    Raises:
        UnknownCategory: no category, or several, have that name.
        InvalidRule: it is a total, or empty.
    """
    known = known_categories(ledger)
    subject: Subject | None = None
    try:
        if name.strip():
            subject, _ = resolved_name(ledger, name, known, is_exact=True)
    except AmbiguousCategory:
        raise
    except UnknownCategory as unknown:
        subject = stated_category(name)
        if subject is None:
            hint = f"{unknown.hint}{_MAY_BE_NEW}"
            raise UnknownCategory(name, unknown.nearest, unknown.choices, hint) from None
    if not isinstance(subject, Category):
        raise InvalidRule("カテゴリには、大項目か「大項目 > 中項目」を指定してください。")
    return subject


def known_categories(ledger: Ledger) -> Hierarchy:
    """The categories that rows have, and those that their files gave them."""
    names = [*category_names(ledger), *plans.filed_names(ledger)]
    return hierarchy_of((major, minor) for major, minor in names if major)


def _renaming(phrase: str, known: Hierarchy, rules: Sequence[CategoryRule]) -> CategoryRule:
    """The rule of 「食料品 = 食費」: rows of the first category belong to the second.

    The second may be new if it is written as 「大項目 > 中項目」.
    """
    pairs = _read_pairs(phrase, known) or _read_pairs(phrase, known, may_be_new=True)
    rule = _the_only([CategoryRule("", now, before) for before, now in pairs])
    if rule is None:
        raise InvalidRule(
            "shop（店の名前）か、category に「前の名前 = いまの名前」を指定してください。前の名前は"
            f"あるカテゴリのものです{_MAY_BE_NEW}。"
            f"選べる大項目: {'、'.join(map(shown_name, known)) or 'なし'}"
        )
    others = [other for other in rules if not _is_same(other, rule)]
    if rule.renamed in (rule.category, category_rules.renamed(rule.category, others)):
        raise InvalidRule(f"「{phrase[:60]}」は、同じカテゴリに戻ってしまいます。")
    return rule


def _the_only(rules: Sequence[CategoryRule]) -> CategoryRule | None:
    """The only rule, or None; refuses several, which are possible as names may contain = and >."""
    if len(rules) > 1:
        raise InvalidRule(
            "何通りにも読めます。次のどれかのように、名前を二重引用符で囲んで指定してください: "
            f"{'、'.join(map(quoted, rules))}"
        )
    return rules[0] if rules else None


def quoted(rule: CategoryRule) -> str:
    """A renaming in an unambiguous form: each name as a JSON string."""
    pair = [category for category in (rule.renamed, rule.category) if category is not None]
    in_quotes = partial(json.dumps, ensure_ascii=False)
    return " = ".join(" > ".join(map(in_quotes, filter(None, astuple(each)))) for each in pair)


def _read_pairs(
    phrase: str, known: Hierarchy, *, may_be_new: bool = False
) -> list[tuple[Category, Category]]:
    """The former and present categories that 「食料品 = 食費」 may name, split at each ``=``.

    The present one is known, or else (``may_be_new``) stated as 「大項目 > 中項目」.
    """
    pairs = []
    for mark in re.finditer("[=＝]", phrase):
        before = _categories_named(phrase[: mark.start()].strip(), known)
        after = _categories_named(phrase[mark.end() :].strip(), known, may_be_new=may_be_new)
        pairs += [(former, now) for former in before for now in after]
    return list(dict.fromkeys(pairs))


def _categories_named(name: str, known: Hierarchy, *, may_be_new: bool = False) -> list[Category]:
    """The categories that a name may mean; a JSON string, also after >, is an exact name."""
    quoted = re.fullmatch(rf"({_STRING})(?:\s*[>＞]\s*({_STRING}))?", name)
    if quoted is not None:
        exact = Category(*(json.loads(each) for each in quoted.groups() if each))
        minors = known.get(exact.major)
        is_known = minors is not None and exact.minor in (None, *minors)
        return [exact] if is_known or (may_be_new and exact.minor) else []
    if may_be_new and (stated := stated_category(name)):
        return [stated]
    try:
        category = find_category(name, known)
    except AmbiguousCategory:
        return [
            each
            for major, minors in known.items()
            for each in (Category(major), *(Category(major, minor) for minor in minors))
            if find_category(name, hierarchy_of([(each.major, each.minor or "")])) == each
        ]
    return [] if category is None else [category]
