"""The questions about what a mapping leaves undecided: for the command line, and for answers."""

from __future__ import annotations

from typing import Literal

Language = Literal["en", "ja"]

Kind = Literal[
    "unit", "foreign", "currency", "sides", "sign", "words", "numbers", "rows", "incoming", "days"
]

QUESTIONS: dict[Kind, tuple[str, str]] = {
    "unit": (
        "the file speaks of {shown}: say unit = 1000, or what 1 is in yen",
        "ファイルに {shown} とあります。1 が何円かを unit = 1000 のように指定してください",
    ),
    "foreign": (
        "column {column} is not in yen, and only yen can be summed",
        "列 {column} は円ではありません。合計できるのは円だけです",
    ),
    "currency": (
        "column {column} speaks of other currencies ({shown}): currency = {quoted} takes its yen "
        "rows alone; ignored, if all amounts are yen",
        "列 {column} は外貨のようです（{shown}）。currency = {quoted} なら円の行だけを読みます。"
        "金額がすべて円なら ignored に加えてください",
    ),
    "sides": (
        "column {column} or {shown}: which is money that goes out? Say paid_out and paid_in",
        "列 {column} と {shown} のどちらが出金ですか。paid_out と paid_in を指定してください",
    ),
    "sign": (
        'column {column}: is a positive amount money spent (positive = "spending") or money that '
        'comes in (positive = "income")?',
        '列 {column} の正の金額は、支出（positive = "spending"）ですか、'
        '入金（positive = "income"）ですか',
    ),
    "words": (
        "column {column} says {shown}: which of these rows are undone (reversals), no transactions "
        "(skipped), money that goes out (outgoing), moved between own accounts (transfers) or not "
        "yours (not_counted)? State them; what is left is counted, or add the column to ignored",
        "列 {column} に {shown} とあります。取り消し（reversals）、取引でない行（skipped）、出金"
        "（outgoing）、自分の口座間の移動（transfers）、対象外（not_counted）はどれですか。"
        "残りは数えます。関係のない列なら ignored に加えてください",
    ),
    "numbers": (
        "column {column} has other numbers than the amounts ({shown}): is it the amount, fees paid "
        "in addition (fees), what lowers the price (points), or ignored?",
        "列 {column} に金額と違う数字があります（{shown}）。金額（amount）、手数料（fees）、"
        "値引きやポイント（points）、関係なし（ignored）のどれですか",
    ),
    "rows": (
        "column {column} has rows like {shown}: are they transactions (counted), none (skipped), "
        "undone ones (reversals) or moved between own accounts (transfers)?",
        "列 {column} に {shown} のような行があります。取引（counted）、取引でない行（skipped）、"
        "取り消し（reversals）、自分の口座間の移動（transfers）のどれですか",
    ),
    "incoming": (
        "column {column}: money comes in from {shown}. Is it paid back by a shop (counted), or the "
        "bill that was paid (skipped)?",
        "列 {column} の {shown} は入金です。返金（counted）ですか、請求額の支払い（skipped）ですか",
    ),
    "days": (
        "column {column} can be read in several ways ({shown}): say date_format",
        "列 {column} の日付は何通りにも読めます（{shown}）。date_format を指定してください",
    ),
}  # fmt: skip
"""Each as English and Japanese; ``quoted`` is the column as TOML writes it."""
