"""The Japanese texts about rules for categories."""

from __future__ import annotations

from collections.abc import Sequence

from mdvec.household.core.category_rules import CategoryRule, Suggestion
from mdvec.household.core.counted_row import CountedRow
from mdvec.household.core.wording import format_currency
from mdvec.text.one_line import bracketed_name, shown_name

MAX_ROWS = 5
"""How many of a trial's rows the text names: the latest."""
MAX_SUGGESTIONS = 20


def rule_line(rule: CategoryRule) -> str:
    """A rule in words: 「りんりん」を含む店 → 交通費 > 自転車."""
    return f"{bracketed_name(rule.shop)}を含む店 → {shown_name(rule.category)}"


def trial_text(
    rule: CategoryRule,
    rows: Sequence[CountedRow],
    by_category: Sequence[tuple[str, int, int]],
) -> list[str]:
    """What a rule would change, with its first rows."""
    if not rows:
        return [f"{rule_line(rule)}: これまでの明細で変わるものはありません。"]
    total = format_currency(sum(row.yen for row in rows))
    lines = [
        f"{rule_line(rule)}: 試すと {len(rows):,}件（{total}）が移ります（まだ変えていません）。"
    ]
    lines += [
        f"- {shown_name(name)} から {count:,}件 {format_currency(yen)}"
        for name, count, yen in by_category
    ]
    shown = rows[-MAX_ROWS:]
    lines += [
        f"  {row.day} {shown_name(row.name)} {format_currency(row.yen)} [{row.id}]" for row in shown
    ]
    if len(rows) > MAX_ROWS:
        lines.append(f"  ほか {len(rows) - MAX_ROWS:,}件（find_transactions で探せます）")
    return lines


def rule_set_text(rule: CategoryRule, changed: int) -> str:
    """Says that a rule applies now, and how to remove it."""
    return (
        f"{rule_line(rule)} と決めました。{changed:,}件のカテゴリが変わりました。"
        "ファイルのカテゴリは残してあり、action=remove で元に戻ります。"
    )


def removed_text(shop: str, changed: int) -> str:
    """Says that a rule no longer applies."""
    return (
        f"{bracketed_name(shop)}の規則をやめました。{changed:,}件がファイルのカテゴリに戻りました。"
    )


def rules_text(rules: Sequence[CategoryRule], found: Sequence[Suggestion]) -> list[str]:
    """The rules and the suggestions."""
    lines = [f"カテゴリの規則は {len(rules)}件です。", *(f"- {rule_line(one)}" for one in rules)]
    if found:
        lines.append("未分類の明細への提案（決めるまで何も変わりません）:")
        lines += [
            f"- {shown_name(one.shop)}（{one.rows:,}件 {format_currency(one.yen)}）"
            f"→ {shown_name(one.category)}（確かさ {round(one.confidence * 100)} %、"
            f"{bracketed_name(one.like)}のこれまでから）"
            for one in found[:MAX_SUGGESTIONS]
        ]
        if len(found) > MAX_SUGGESTIONS:
            lines.append(f"ほか {len(found) - MAX_SUGGESTIONS:,}件（決めると次を示します）")
    return lines
