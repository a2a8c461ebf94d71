"""The Japanese texts of the household's answers, and notes on what they cover."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal

from mdvec.dates import Month, MonthRange, runs_of
from mdvec.errors import MdvecError
from mdvec.household.core.categories import Category, Subject
from mdvec.household.core.shown import shown_name, shown_path
from mdvec.household.core.sums import (
    CategoryShare,
    MonthlySum,
    RowCounts,
    Totals,
    totals_of,
)
from mdvec.household.core.transaction import Transaction
from mdvec.text import shortened
from mdvec.tools import offered_name

NOT_AVAILABLE = "N/A"
_MAX_GAPS = 6
_TENTH = Decimal("0.1")
PAGE_SIZE, MAX_PAGE_SIZE = 20, 200
"""The rows on a page, by default and at most."""
REASONS_IN_WORDS = {
    "not_target": "計算対象外",
    "transfer": "振替",
    "duplicate": "重複",
    "no_amount": "金額なし",
    "no_category": "カテゴリなし",
    "removed": "明細から消えたもの",
}
"""The reasons why a row does not count, in Japanese."""


class EmptyLedger(MdvecError):
    """The ledger has no rows yet."""

    def __init__(self, tool: str, left_out: str = "") -> None:
        super().__init__(
            f"取り込めた明細がありません。{left_out}。"
            if left_out
            else "データファイルが見つかりません。Money Forward ME の「収入・支出詳細」の CSV を"
            f"家計簿のフォルダーに置いて、mdvec import -n {tool} を実行してください。"
        )


class InsufficientData(MdvecError):
    """The ledger has no rows in the requested months."""

    def __init__(self, requested: str, available: MonthRange, left_out: str = "") -> None:
        super().__init__(
            f"対象期間のデータが不足しています（{requested}）。"
            f"利用できる期間は {available.in_words} です。" + (f"{left_out}。" if left_out else "")
        )


def left_out_text(files: Sequence[str]) -> str:
    """A sentence on files that are in no sum because they could not be imported; "" for none."""
    if not files:
        return ""
    return (
        f"{files_in_words(files)} は取り込めず、どの合計にも入っていません。理由は "
        f"{offered_name('list_sources')} で確かめられます"
    )


def files_in_words(files: Sequence[str]) -> str:
    """The first file, and how many others there are."""
    others = f" ほか {len(files) - 1:,}ファイル" if len(files) > 1 else ""
    return f"{shown_path(files[0])}{others}"


class InvalidPage(MdvecError):
    """The page number is out of range."""

    def __init__(self, page: int, pages: int) -> None:
        super().__init__(f"{page} ページ目はありません。1〜{pages} を指定してください。")
        self.pages = pages


class InvalidChoice(MdvecError):
    """An argument has none of its values, or is out of range; the message says what it can be."""


def check_choice(name: str, value: object, known: Sequence[object]) -> None:
    """Refuse a value that is not among ``known``; the message lists these, except None.

    Raises:
        InvalidChoice: the value is unknown.
    """
    if value not in known:
        fitting = "、".join(str(choice) for choice in known if choice is not None)
        raise InvalidChoice(
            f"{name}「{shortened(str(value))}」は使えません。{fitting} から選んでください。"
        )


def check_limit(limit: int, least: int, most: int) -> None:
    """Refuse a ``limit`` that is not from ``least`` to ``most``.

    Raises:
        InvalidChoice: it is not.
    """
    if not least <= limit <= most:
        raise InvalidChoice(f"limit {limit} は使えません。{least}〜{most} を指定してください。")


def format_currency(yen: int | None, *, signed: bool = False) -> str:
    """Formats yen: 62,500円, or with ``signed`` +62,500円."""
    if yen is None:
        return NOT_AVAILABLE
    return f"{yen:+,}円" if signed and yen else f"{yen:,}円"


def format_percentage(percent: Decimal | None, *, signed: bool = True) -> str:
    """Formats a percentage: +3.2%, -6.7%, 0.0%, +0.003%; N/A for None."""
    if percent is None:
        return NOT_AVAILABLE
    digits = "f" if 0 < abs(percent) <= _TENTH / 2 else ".1f"  # 0.05 rounds to 0.0
    return f"{percent:{'+' if signed and percent else ''}{digits}}%"


def left_out_in_words(reason: str | None) -> str:
    """The suffix of a row that does not count: （集計外: 振替）; "" for one that counts."""
    return f"（集計外: {REASONS_IN_WORDS[reason]}）" if reason else ""


def sums_in_words(spending: int, income: int, *, moved: bool = False) -> str:
    """Sums of rows: 支出 3,200円、収入 500円; a sum of 0 is left out.

    The sums of transfers (``moved``) are called 出金 and 入金.
    """
    names = ("出金", "入金") if moved else ("支出", "収入")
    named = zip(names, (spending, income), strict=True)
    return "、".join(f"{name} {format_currency(yen)}" for name, yen in named if yen)


def totals_in_words(totals: Totals, *, moved: bool = False) -> str:
    """The number of rows and their sums; a sum of 0 is left out."""
    sums = sums_in_words(totals.spending, totals.income, moved=moved)
    if totals.spending and totals.income and not moved:
        sums += f"、収支 {format_currency(totals.balance, signed=True)}"
    if totals.rows and not sums:
        sums = "合計 0円"
    return f"{totals.rows:,}件" + (f"、{sums}" if sums else "")


def subject_in_words(subject: Subject) -> str:
    """A subject's name in a sentence: 食費カテゴリ, or 支出."""
    if not isinstance(subject, Category):
        return str(subject)
    return f"{shown_name(subject)}カテゴリ"


def received_notes(
    spending: Iterable[CategoryShare], income: Iterable[CategoryShare] = ()
) -> list[str]:
    """Notes on spending with more receipts than payments, and on income with the reverse."""
    received, paid = (
        "、".join(
            f"{shown_name(str(of if of.minor else of.major))} {format_currency(-share.amount)}"
            for share in shares
            if share.amount < 0
            for of in [share.category]
        )
        for shares in (spending, income)
    )
    return [
        *([
            f"支出より入金の多いカテゴリは、支出を減らしています（{received}）。"
            "収入なら、店のすべては規則（what=rule）、1件だけなら what=note で収入に"
        ] if received else []),
        *([
            f"入金より支払いの多い収入は、収入を減らしています（{paid}）。"
            "支出なら、その明細のカテゴリを支出に（規則か what=note）"
        ] if paid else []),
    ]  # fmt: skip


def counts_text(counts: RowCounts) -> str:
    """The number of rows used, and of those left out by reason."""
    reasons = [
        f"{words} {number:,}件"
        for reason, words in REASONS_IN_WORDS.items()
        if (number := getattr(counts, reason))
    ]
    why = f"（{'、'.join(reasons)}）" if reasons else ""
    return f"集計に使った明細は {counts.used:,}件、除いた明細は {counts.left_out:,}件{why}です"


NO_SPENDING = "支出がありません（収入はあります）"


def clipped_note(shown: str) -> str:
    """Note: the ledger has only a part of the requested period."""
    return f"データのある {shown} だけを対象にしました"


def empty_note(gaps: Iterable[Month]) -> str:
    """A note under a chart: these months have no rows."""
    return f"{months_in_words(gaps)}には明細がありません"


def months_in_words(gaps: Iterable[Month]) -> str:
    """Months in words; adjacent ones are joined."""
    runs = runs_of(gaps, 1)
    more = f"、ほか {len(runs) - _MAX_GAPS}期間" if len(runs) > _MAX_GAPS else ""
    return "、".join(run.in_words for run in runs[:_MAX_GAPS]) + more


def filling_note(month: Month) -> str:
    """Note: a month may still be incomplete."""
    return f"{month.in_words}の明細はまだ揃っていない可能性があります"


def removed_notes(sums: Iterable[MonthlySum]) -> list[str]:
    """Note on the removed rows that would otherwise count, if there are any."""
    gone = totals_of(cell for cell in sums if cell.left_out == "removed")
    if not gone.rows:
        return []
    return [f"新しい明細から消えた {_rows_and_amounts(gone)}は集計していません"]


def pending_removal_notes(pending: Totals, tool: str) -> list[str]:
    """Note on the rows that vanished but still count until the user confirms, if there are any."""
    if not pending.rows:
        return []
    return [
        f"新しい明細から消えた {_rows_and_amounts(pending)}を、確認待ちのため集計に含めています。"
        f"外すには mdvec import -n {tool} --mode update --accept-removals を実行してください"
    ]


def _rows_and_amounts(totals: Totals) -> str:
    """Rows and amounts in a note: 2件（支出 3,200円）."""
    words = sums_in_words(totals.spending, totals.income)
    return f"{totals.rows:,}件{f'（{words}）' if words else ''}"


PLANNED_INCLUDED = "上の金額に含みます"
PLANNED_LEFT_OUT = "上の金額には含めていません"
PLANNED_DUE = "使った金額には含めていません。期間内のものは「これからの支払い」に数えます"


def planned_notes(totals: Totals, where: str, *, moved: bool = False) -> list[str]:
    """Note on rows dated after today, if there are any; ``where`` says which figures have them."""
    sums = sums_in_words(totals.spending, totals.income, moved=moved)
    amounts = "、".join(filter(None, (f"{totals.rows:,}件", sums)))
    return [f"予定（今日より後の日付の明細）: {amounts}（{where}）"] if totals.rows > 0 else []


def astray_note(total: int, rows: Sequence[Transaction], *, included: bool = False) -> str:
    """A note on rows dated years away from all others; ``included``: figures have them."""
    named = "、".join(
        f"{row.date} {shortened(row.description)} {format_currency(row.amount)}"
        f"（{shortened(row.source_file)} {row.row_number}行目）"
        for row in rows
    )
    more = f"、ほか {total - len(rows):,}件" if total > len(rows) else ""
    where = "も含みます" if included else "は含めていません"
    otherwise = "" if included else "。正しければ、その年月を指定すると集計できます"
    return (
        f"日付がほかから何年も離れた明細 {total:,}件{where}: {named}{more}。"
        f"日付の誤りなら、直して取り込み直してください{otherwise}"
    )
