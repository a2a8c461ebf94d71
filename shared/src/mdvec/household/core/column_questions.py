"""Questions about what the texts in a file's column mean, above all for its rows.

The texts of a row may suggest that it is no transaction, or that it gives money back.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from mdvec.household.core.categories import INCOME
from mdvec.household.core.cells import TransactionRow
from mdvec.household.core.column_roles import any_of
from mdvec.household.core.mapped_rows import TOTAL, MappedRows
from mdvec.household.core.mapping import CONDITIONS, Conditions, Mapping, fits_pattern, one_spelling
from mdvec.household.core.mapping_sentences import MappingSentence
from mdvec.household.core.open_columns import OpenColumn
from mdvec.text import shown_name

MAX_WORDS_SHOWN = 12
_UNDONE = any_of(
    "取消", "取り消し", "訂正", "返品", "キャンセル", "cancel", "revers", "revert", "refund"
)
_NO_TRANSACTION = any_of(
    TOTAL.pattern, _UNDONE.pattern, "繰越", "残高", "total", "(brought|carried)forward",
    "(opening|closing)balance",
)  # fmt: skip
_GIVEN_BACK = any_of(_UNDONE.pattern, "返金")
_CHARGE = any_of("チャージ", "top-?up")


@dataclass(frozen=True, slots=True)
class Undecided(MappingSentence):
    """A question to the user about a column that may change an amount or a sum.

    ``readings`` are the possible answers that a balance may prove: the kind of the sentence that
    reports the proof, the mapping with this answer, and what the sentence shows.
    """

    readings: Sequence[tuple[str, Mapping, str]] = ()


def is_decided(
    mapping: Mapping, column: OpenColumn, text: str, keys: Sequence[str] = CONDITIONS
) -> bool:
    """Whether the mapping says, under one of ``keys``, what a text in a column means."""
    conditions: list[Conditions] = [getattr(mapping, key) for key in keys]
    return any(
        fits_pattern(text, pattern) for each in conditions for pattern in each.get(column.key, ())
    )


def is_plain(text: str) -> bool:
    """Whether a text has no wildcards, so that as a pattern it fits only itself."""
    return not {"*", "?"} & set(one_spelling(text))


def samples(texts: Sequence[str]) -> str:
    """The first of these texts, shortened as a question or an answer shows them."""
    shown = "、".join(shown_name(text[:20]) for text in texts[:MAX_WORDS_SHOWN])
    return f"{shown}…" if len(texts) > MAX_WORDS_SHOWN else shown


def with_rows(mapping: Mapping, key: str, column: OpenColumn, texts: Sequence[str]) -> Mapping:
    """The mapping, with texts of a column added to one of its conditions."""
    rows: Conditions = getattr(mapping, key)
    before = rows.get(column.key, ())
    changed = {**rows, column.key: (*before, *texts)}
    return replace(mapping, **{key: changed})  # type: ignore[arg-type]  # a key of conditions


def may_not_count(text: str) -> bool:
    """Whether a text is that of a balance or total, of money returned, or of a top-up."""
    patterns = (_NO_TRANSACTION, _GIVEN_BACK, _CHARGE)
    return any(each.search(one_spelling(text)) for each in patterns)


def about_rows(
    mapping: Mapping, columns: Sequence[OpenColumn], read: MappedRows, doubtful: set[int],
    settled: set[int],
) -> Iterator[Undecided]:  # fmt: skip
    """Ask about rows whose texts suggest that they are no transactions, or give money back.

    A row that the balance proves is a transaction; a ``doubtful`` one, without such a proof, may be
    a balance carried forward. For ``settled`` rows, another column tells what they are.
    """
    by_key = {column.key: column for column in columns}
    of_texts = [by_key[key] for key in (*mapping.description, *mapping.memo) if key in by_key]
    are_all_doubtful = len(doubtful) == len(read.rows)
    for column in [*of_texts, *(each for each in columns if each not in of_texts)]:
        if column.key == mapping.amount:
            continue
        texts = [
            (text, one_spelling(text), at)
            for at, text in enumerate(column.cells)
            if text and at not in settled and not is_decided(mapping, column, text)
        ]
        pattern = _NO_TRANSACTION if column in of_texts else _UNDONE
        none = dict.fromkeys(
            text for text, words, at in texts
            if at in doubtful and (
                pattern.search(words)
                or ((read.rows[at].amount or 0) > 0 and _CHARGE.search(words))  # one's own money
            )
        )  # fmt: skip
        if none:
            skipped = with_rows(mapping, "skipped", column, [*none])
            readings = [("fits-skipped", skipped, samples([*none]))] if are_all_doubtful else []
            yield Undecided("rows", column.name, samples([*none]), readings)
        # Asked even if the balance proves the row: it only shows in which direction the money went.
        back = dict.fromkeys(
            text for text, words, at in texts
            if read.rows[at].category_major == INCOME
            and _GIVEN_BACK.search(words) and text not in none
        )  # fmt: skip
        if back:
            yield Undecided("back", column.name, samples([*back]))
    yield from _about_income(mapping, read.rows)
    amount = None if mapping.amount is None else by_key.get(mapping.amount)
    if amount and of_texts and mapping.positive == "spending" and are_all_doubtful:
        yield from _about_negative_rows(mapping, of_texts[0], amount.numbers or [], settled)


def _about_income(mapping: Mapping, rows: Sequence[TransactionRow]) -> Iterator[Undecided]:
    """Ask about rows with the category of income, if every positive amount is money spent."""
    if mapping.category is None or mapping.positive == "income":
        return
    column = OpenColumn(mapping.category, [INCOME])
    is_spent = any(row.category_major == INCOME and (row.amount or 0) < 0 for row in rows)
    if is_spent and not is_decided(mapping, column, INCOME):
        yield Undecided("income", column.name, INCOME)


def _about_negative_rows(
    mapping: Mapping, names: OpenColumn, amounts: Sequence[int], settled: set[int]
) -> Iterator[Undecided]:
    """Ask about names that only negative amounts have, if positive amounts are money spent."""
    pairs = list(zip(names.cells, amounts, strict=False))
    paid_to = {name for name, amount in pairs if amount > 0}
    came_from = dict.fromkeys(
        name for at, (name, amount) in enumerate(pairs) if amount < 0 and at not in settled
    )
    asked = [
        name for name in came_from if name not in paid_to and not is_decided(mapping, names, name)
    ]
    if asked:
        yield Undecided("incoming", names.name, samples(asked))
