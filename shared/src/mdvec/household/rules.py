"""Rules for categories: tried on the past, set, listed, taken back, and suggested."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import date

import apsw

from mdvec.errors import MdvecError
from mdvec.household.core import category_rules
from mdvec.household.core.answer_json import AnswerText, RowObject
from mdvec.household.core.answer_text import answer_text
from mdvec.household.core.categories import Category, hierarchy_of
from mdvec.household.core.category_rules import CategoryRule, Suggestion, rule_for, suggestions
from mdvec.household.core.shop_names import shop_of
from mdvec.household.core.subjects import resolve_subject
from mdvec.household.findable import follow_decisions
from mdvec.household.interfaces.ledger_sums import category_names, counted_rows, shop_totals
from mdvec.household.interfaces.plans import (
    apply_rules,
    delete_rule,
    filed_names,
    put_rule,
    rules_of,
)
from mdvec.household.overview import one_state
from mdvec.text import bracketed_name

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
        InvalidRule: the shop is too short, or the category is a total.
        UnknownCategory: no category, or several, have that name.
    """
    with one_state(connection):
        rule = _rule(connection, tool_id, shop, category)
        others = [other for other in rules_of(connection, tool_id) if other.shop != rule.shop]
        rows = counted_rows(connection, tool_id, date.min, date.max)
    moved = [
        row for row in rows
        if rule_for(row.shop, [*others, rule]) == rule
        and (row.category_major, row.category_minor)
        != (rule.category.major, rule.category.minor or "")
    ]  # fmt: skip
    sums: Counter[str] = Counter()
    counted: Counter[str] = Counter()
    for row in moved:
        name = str(Category(row.category_major, row.category_minor or None))
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


def remove_rule(connection: apsw.Connection, tool_id: int, *, shop: str) -> RuleChange:
    """Remove a shop's rule; its rows get their file's category again.

    Raises:
        InvalidRule: there is no rule for this shop.
    """
    with connection:
        if not delete_rule(connection, tool_id, shop_of(shop)):
            known = (
                "、".join(bracketed_name(rule.shop) for rule in rules_of(connection, tool_id))
                or "なし"
            )
            raise InvalidRule(f"「{shop[:60]}」の規則はありません。いまある規則: {known}")
        changed = apply_rules(connection, tool_id)
        follow_decisions(connection, tool_id)
    return RuleChange(changed, answer_text([category_rules.removed_text(shop_of(shop), changed)]))


def list_rules(connection: apsw.Connection, tool_id: int) -> RuleList:
    """The rules, and suggestions from the user's own history for rows without a category."""
    with one_state(connection):
        rules = rules_of(connection, tool_id)
        totals = shop_totals(connection, tool_id)
    suggested = suggestions(totals)
    text = answer_text(category_rules.rules_text(rules, suggested))
    return RuleList(tuple(rules), tuple(suggested), text)


def _rule(connection: apsw.Connection, tool_id: int, shop: str, category: str) -> CategoryRule:
    pattern = shop_of(shop)
    if len(pattern) < _MIN_LETTERS:
        raise InvalidRule(f"店の名前「{shop[:60]}」が短すぎます。2文字以上で指定してください。")
    names = [*category_names(connection, tool_id), *filed_names(connection, tool_id)]
    subject = resolve_subject(category, hierarchy_of(names)).subject
    if not isinstance(subject, Category):
        raise InvalidRule("規則のカテゴリには、大項目か「大項目 > 中項目」を指定してください。")
    return CategoryRule(pattern, subject)
