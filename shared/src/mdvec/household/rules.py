"""Rules for categories: tried on the past, set, listed, taken back, and suggested."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

import apsw

from mdvec.errors import MdvecError
from mdvec.household.core import category_rules
from mdvec.household.core.answer_json import AnswerText, RowObject
from mdvec.household.core.answer_text import answer_text
from mdvec.household.core.categories import (
    Category,
    Hierarchy,
    find_category,
    folded_category,
    hierarchy_of,
)
from mdvec.household.core.category_rules import (
    CategoryRule,
    Suggestion,
    renamed,
    rule_for,
    suggestions,
)
from mdvec.household.core.shop_names import shop_of
from mdvec.household.core.transaction import CountedRow
from mdvec.household.findable import follow_decisions
from mdvec.household.interfaces.ledger_sums import category_names, counted_rows, shop_totals
from mdvec.household.interfaces.plans import (
    apply_rules,
    delete_rule,
    filed_names,
    put_rule,
    rules_of,
)
from mdvec.household.overview import one_state, resolved_name
from mdvec.text import bracketed_name, shown_name

_MIN_LETTERS = 2


class InvalidRule(MdvecError):
    """A rule that cannot be set; the message says why."""


@dataclass(frozen=True, slots=True)
class RuleTrial:
    """What a rule would change: rows that count, and their sum in yen by former category."""

    rule: CategoryRule
    rows: tuple[RowObject, ...]
    by_category: tuple[tuple[str, int, int], ...]
    text: AnswerText
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RuleChange:
    """What a rule that was set or removed changed, in rows of the ledger."""

    changed: int
    text: AnswerText


@dataclass(frozen=True, slots=True)
class RuleList:
    """The rules that hold, and the suggestions for rows without a category."""

    rules: tuple[CategoryRule, ...]
    suggestions: tuple[Suggestion, ...]
    text: AnswerText
    notes: tuple[str, ...] = ()


def try_rule(connection: apsw.Connection, tool_id: int, *, shop: str, category: str) -> RuleTrial:
    """What a rule would change in the past; nothing is written.

    Raises:
        InvalidRule: the shop is too short, or the category is a total. Without a shop, the
            category is not two categories with = between them, a former and a present name.
        UnknownCategory: no category, or several, have that name.
    """
    with one_state(connection):
        rule = _rule(connection, tool_id, shop, category)
        others = [other for other in rules_of(connection, tool_id) if not _is_same(other, rule)]
        rows = counted_rows(connection, tool_id, date.min, date.max)
    moved = [row for row in rows if _moves(row, rule, others)]
    sums: Counter[str] = Counter()
    counted: Counter[str] = Counter()
    for row in moved:
        name = str(row.full_category)
        sums[name] += row.yen
        counted[name] += 1
    by_category = tuple((name, counted[name], sums[name]) for name in sorted(sums))
    return RuleTrial(
        rule, tuple(moved), by_category,
        answer_text(category_rules.trial_text(rule, moved, by_category)),
    )  # fmt: skip


def set_rule(connection: apsw.Connection, tool_id: int, *, shop: str, category: str) -> RuleChange:
    """Set a rule and apply it to every row; later imports keep to it.

    Raises:
        InvalidRule, UnknownCategory: as ``try_rule``.
    """
    with connection:
        rule = _rule(connection, tool_id, shop, category)
        put_rule(connection, tool_id, rule)
        changed = apply_rules(connection, tool_id)
        follow_decisions(connection, tool_id)
    return RuleChange(changed, answer_text([category_rules.rule_set_text(rule, changed)]))


def remove_rule(
    connection: apsw.Connection, tool_id: int, *, shop: str = "", category: str = ""
) -> RuleChange:
    """Remove the rule of a shop, or of a renamed category; the file's category holds again.

    Raises:
        InvalidRule: there is no such rule.
    """
    wanted = shop_of(shop) if shop.strip() else folded_category(category)
    with connection:
        rules = rules_of(connection, tool_id)
        key = str if shop.strip() else folded_category
        matching = [rule for rule in rules if key(_name(rule)) == wanted]
        if not matching:
            there = "、".join(bracketed_name(_name(rule)) for rule in rules) or "なし"
            name = shop.strip() or category
            raise InvalidRule(f"「{name[:60]}」の規則はありません。いまある規則: {there}")
        delete_rule(connection, tool_id, matching[0])
        changed = apply_rules(connection, tool_id)
        follow_decisions(connection, tool_id)
    return RuleChange(
        changed, answer_text([category_rules.removed_text(_name(matching[0]), changed)])
    )


def _name(rule: CategoryRule) -> str:
    return rule.shop if rule.renamed is None else f"{rule.renamed} = {rule.category}"


def _is_same(rule: CategoryRule, other: CategoryRule) -> bool:
    """Whether two rules are for the same rows."""
    return (rule.shop, rule.renamed) == (other.shop, other.renamed)


def _moves(row: CountedRow, rule: CategoryRule, others: Sequence[CategoryRule]) -> bool:
    """Whether a rule would give a row another category, beside the others."""
    category, ruled = row.full_category, rule_for(row.shop, [*others, rule])
    if rule.renamed is None:
        return ruled == rule and category != rule.category
    return ruled is None and category != renamed(category, [rule])


def list_rules(connection: apsw.Connection, tool_id: int) -> RuleList:
    """The rules, and suggestions from the user's own history for rows without a category."""
    with one_state(connection):
        rules = rules_of(connection, tool_id)
        totals = shop_totals(connection, tool_id)
    suggested = suggestions(totals)
    text = answer_text(category_rules.rules_text(rules, suggested))
    return RuleList(tuple(rules), tuple(suggested), text)


def _rule(connection: apsw.Connection, tool_id: int, shop: str, category: str) -> CategoryRule:
    names = [*category_names(connection, tool_id), *filed_names(connection, tool_id)]
    known = hierarchy_of(names)
    if not shop.strip():
        return _renaming(category, known, rules_of(connection, tool_id))
    pattern = shop_of(shop)
    if len(pattern) < _MIN_LETTERS:
        raise InvalidRule(f"店の名前「{shop[:60]}」が短すぎます。2文字以上で指定してください。")
    subject = resolved_name(connection, tool_id, category, known).subject
    if not isinstance(subject, Category):
        raise InvalidRule("規則のカテゴリには、大項目か「大項目 > 中項目」を指定してください。")
    return CategoryRule(pattern, subject)


def _renaming(said: str, known: Hierarchy, rules: Sequence[CategoryRule]) -> CategoryRule:
    """The rule of 「食料品 = 食費」: rows of the first category belong to the second."""
    for mark in re.finditer("[=＝]", said):
        before, after = said[: mark.start()].strip(), said[mark.end() :].strip()
        pair = find_category(before, known), find_category(after, known)
        if pair[0] is None or pair[1] is None:
            continue
        rule = CategoryRule("", pair[1], pair[0])
        others = [other for other in rules if not _is_same(other, rule)]
        if pair[0] in (pair[1], renamed(pair[1], others)):
            raise InvalidRule(f"「{said[:60]}」は、同じカテゴリに戻ってしまいます。")
        return rule
    raise InvalidRule(
        "shop（店の名前）か、category に「前の名前 = いまの名前」を、あるカテゴリの名前で"
        "指定してください。"
        f"選べる大項目: {'、'.join(map(shown_name, known)) or 'なし'}"
    )
