"""Narrows a ledger's rows filter by filter, and tells in words which rows are left."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

from mdvec.dates import Days
from mdvec.household.core.categories import INCOME, Category, folded_category
from mdvec.household.core.found import (
    InvalidRowFilter,
    UnknownAccount,
    inside_note,
    left_out_note,
    names_note,
)
from mdvec.household.core.naming import Naming, WordsAsked
from mdvec.household.core.subjects import Subject, Total
from mdvec.household.core.sums import REASONS
from mdvec.household.found_sums import sums_by
from mdvec.household.interfaces.columns import Codes, LedgerColumns
from mdvec.text import bracketed_name, shortened

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Mask = NDArray[np.bool_]

RowChoice = Literal[
    "counted", "all", "not_duplicate", "left_out", "duplicate", "transfer", "not_target"
]
_MAX_NAMES = 50


class RowSearch:
    """Narrows a ledger's rows filter by filter, and tells in words which rows are left."""

    def __init__(self, columns: LedgerColumns) -> None:
        import numpy as np

        self._columns = columns
        self._mask: Mask = np.ones(len(columns), np.bool_)
        self._words: str | None = None
        self._inside: Mask | None = None
        self._unnamed = ~self._mask
        self._told: list[str] = []
        self.notes: list[str] = []
        self.left_out: dict[str, int] = {}

    @property
    def understood(self) -> str:
        """The filters in words."""
        return "・".join(self._told or ["全期間のすべての明細"])

    def within_days(self, period: Days) -> bool:
        """Keep the rows of these days; whether the ledger has any."""
        days = self._columns.days
        within = (days >= period.first.toordinal()) & (days <= period.last.toordinal())
        self._mask &= within
        self._told.append(period.in_words)
        return bool(within.any())

    def of_subject(self, subject: Subject | None) -> None:
        """Keep the rows of a category, or all but income for 支出."""
        if subject is None:
            return
        if isinstance(subject, Total) and subject is not Total.SPENDING:
            raise InvalidRowFilter(
                f"category「{subject}」は明細を選べません。支出、収入、またはカテゴリ名にしてください。"
            )
        self.keep(self._columns.categories, lambda category: _is_of(subject, category))
        is_total = isinstance(subject, Total)
        self._told.append(str(subject) if is_total else bracketed_name(subject))

    def of_account(self, name: str | None) -> None:
        """Keep the rows of the account with this name, or of all whose name contains it."""
        if name is None or not name.strip():
            return
        known = [str(account) for account in self._columns.accounts.values if account]
        wanted = folded_category(name)
        accounts = [account for account in known if folded_category(account) == wanted]
        accounts = accounts or [
            account for account in known if wanted and wanted in folded_category(account)
        ]
        if not accounts:
            raise UnknownAccount(name, sorted(known))
        self.keep(self._columns.accounts, accounts.__contains__)
        self._told.append("、".join(map(bracketed_name, sorted(accounts))))

    def between(self, least: int | None, most: int | None) -> None:
        """Keep the rows with an amount, without its sign, within these bounds."""
        if least is None and most is None:
            return
        import numpy as np

        size = np.abs(self._columns.amounts)
        self._mask &= self._columns.has_amount
        if least is not None:
            self._mask &= size >= least
        if most is not None:
            self._mask &= size <= most
        bounds = ("" if bound is None else f"{bound:,}円" for bound in (least, most))
        self._told.append("〜".join(bounds))

    def named(self, query: str | None) -> None:
        """Keep the rows whose shop, memo, note or tag the words name."""
        if query is None or not query.strip():
            return
        words = WordsAsked(query)
        if words.is_empty:
            raise InvalidRowFilter(f"query「{shortened(query)}」に探せる言葉がありません。")
        import numpy as np

        texts = self._columns.texts
        namings = [words.naming(text) for text in texts.values]
        is_inside = np.array([naming is Naming.INSIDE for naming in namings], np.bool_)
        is_named = np.array([naming is Naming.NAMED for naming in namings], np.bool_)[texts.places]
        self._inside = self._mask & is_inside[texts.places]
        self._unnamed = self._mask & ~is_named & ~self._inside
        self._mask &= is_named
        self._words = query
        self._told.append(f"「{shortened(query)}」")

    def unnamed(self, rows: RowChoice) -> Mask:
        """The rows that only the words exclude, except those with the letters inside a word."""
        return self._unnamed & self._are_asked(rows)

    def selected(self, rows: RowChoice) -> Mask:
        """The rows left that were asked for; notes tell which others match."""
        chosen_reasons, reasons = _asked_reasons(rows), self._columns.reasons
        is_asked = self._are_asked(rows)
        if rows != "counted":
            self._told.append(_ROWS[rows])
        chosen: Mask = self._mask & is_asked
        self.left_out = {
            reason: count
            for reason in REASONS
            if None in chosen_reasons
            and reason not in chosen_reasons
            and (count := int((self._mask & (_places_of(reasons, reason))).sum()))
        }
        if self.left_out:
            self.notes.append(left_out_note(self.left_out))
        if self._words is not None and self._inside is not None:
            matched, _ = sums_by(self._columns, chosen, self._columns.shops, str, _MAX_NAMES)
            self.notes += [names_note(matched)] if matched else []
            inside, _ = sums_by(
                self._columns, self._inside & is_asked, self._columns.shops, str, _MAX_NAMES
            )
            self.notes += [inside_note(self._words, inside)] if inside else []
        return chosen

    def keep(self, codes: Codes, holds: Callable[[Any], bool]) -> None:
        """Keep the rows for whose value in a column ``holds`` is true."""
        import numpy as np

        self._mask &= np.array([holds(value) for value in codes.values], np.bool_)[codes.places]

    def _are_asked(self, rows: RowChoice) -> Mask:
        import numpy as np

        chosen_reasons, reasons = _asked_reasons(rows), self._columns.reasons
        mask: Mask = np.array([reason in chosen_reasons for reason in reasons.values], np.bool_)[
            reasons.places
        ]
        return mask


_ROWS: dict[str, str] = {
    "all": "集計外も含む", "not_duplicate": "重複を除く", "left_out": "集計外だけ",
    "duplicate": "重複だけ", "transfer": "振替だけ", "not_target": "計算対象外だけ",
}  # fmt: skip


def _asked_reasons(rows: RowChoice) -> frozenset[str | None]:
    """The reasons for leaving out, or None for rows that count, that a choice includes."""
    match rows:
        case "counted":
            return frozenset({None})
        case "all":
            return frozenset({None, *REASONS})
        case "not_duplicate":
            return frozenset({None, *REASONS}) - {"duplicate"}
        case "left_out":
            return frozenset(REASONS)
    return frozenset({rows})


def _is_of(subject: Category | Total, category: tuple[str, str]) -> bool:
    if not isinstance(subject, Category):
        return category[0] != INCOME
    return category[0] == subject.major and subject.minor in (None, category[1])


def _places_of(codes: Codes, value: object) -> Mask:
    if value not in codes.values:
        mask: Mask = codes.places < 0
        return mask
    is_it: Mask = codes.places == codes.values.index(value)
    return is_it
