"""A ledger's rows as columns in memory, so that any filter over all of them takes milliseconds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from threading import Lock
from typing import TYPE_CHECKING, Any

import apsw
from cachetools import LRUCache

from mdvec.dates import Days, Month
from mdvec.household.core.shop_names import shops_of
from mdvec.household.core.transaction import RowNote
from mdvec.household.interfaces.ledger_sums import left_out
from mdvec.household.interfaces.plans import all_notes
from mdvec.household.interfaces.transactions import data_version

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_MAX_EXACT = 2**62


@dataclass(frozen=True, slots=True)
class Codes:
    """A column of repeated values: each row's place in ``values``."""

    values: tuple[Any, ...]
    places: NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class LedgerColumns:
    """The rows of a ledger by day and id.

    ``days`` are ordinals; ``amounts`` are in yen, 0 where ``has_amount`` is false. ``texts`` are
    description and memo, and the user's note and tags, ``categories`` pairs of 大項目 and 中項目,
    ``shops`` has the shop of each text. ``reasons`` says why a row does not count, or None.
    """

    ids: NDArray[np.int64]
    days: NDArray[np.int32]
    amounts: NDArray[Any]
    has_amount: NDArray[np.bool_]
    texts: Codes
    shops: Codes
    categories: Codes
    accounts: Codes
    reasons: Codes

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def span(self) -> Days:
        """From the first day with a row to the last; there has to be a row."""
        return Days(date.fromordinal(int(self.days[0])), date.fromordinal(int(self.days[-1])))

    def months(self, starts_on: int) -> Codes:
        """The month of each row as YYYY-MM, if months start on the day ``starts_on``."""
        import numpy as np

        days, places = np.unique(self.days, return_inverse=True)
        of_day = _codes(str(Month.of(date.fromordinal(int(day)), starts_on)) for day in days)
        return Codes(of_day.values, of_day.places[places])


def read_columns(connection: apsw.Connection, tool_id: int) -> LedgerColumns:
    """All rows of a ledger, those that do not count too."""
    import numpy as np

    rows = connection.execute(
        "SELECT id, date, amount, description, memo, category_major, category_minor, account, "
        f"{left_out()} FROM transactions WHERE +tool_id = ? ORDER BY date, id",
        (tool_id,),
    ).fetchall()
    columns = list(zip(*rows, strict=True)) or [()] * 9
    ids, dates, yen, descriptions, memos, majors, minors, accounts, reasons = columns
    noted = all_notes(connection, tool_id)
    texts = _codes(
        (description, memo, *_words_of(noted.get(row_id)))
        for row_id, description, memo in zip(ids, descriptions, memos, strict=True)
    )
    of_text = _codes(_shop_names([description for description, *_ in texts.values]))
    ordinals = {day: date.fromisoformat(day).toordinal() for day in set(dates)}
    is_large = sum(abs(amount) for amount in yen if amount is not None) > _MAX_EXACT
    return LedgerColumns(
        ids=np.array(ids, np.int64),
        days=np.array([ordinals[day] for day in dates], np.int32),
        amounts=np.array([amount or 0 for amount in yen], object if is_large else np.int64),
        has_amount=np.array([amount is not None for amount in yen], np.bool_),
        texts=texts,
        shops=Codes(of_text.values, of_text.places[texts.places]),
        categories=_codes(zip(majors, minors, strict=True)),
        accounts=_codes(accounts),
        reasons=_codes(reasons),
    )


def _words_of(note: RowNote | None) -> tuple[str, ...]:
    return () if note is None else (note.note, *note.tags)


def _shop_names(descriptions: Sequence[str]) -> list[str]:
    """The shop of each description; as written, if only one description has that shop."""
    shops = shops_of(descriptions)
    written = {shop: description for description, shop in shops.items()}
    counts = Counter(shops.values())
    return [
        shops[text] if counts[shops[text]] > 1 else " ".join(written[shops[text]].split())
        for text in descriptions
    ]


def _codes(values: Iterable[Any]) -> Codes:
    import numpy as np

    known: dict[Any, int] = {}
    places = [known.setdefault(value, len(known)) for value in values]
    return Codes(tuple(known), np.array(places, np.int32))


class ColumnsCache:
    """Keeps the columns of a few ledgers until they change. Thread-safe."""

    def __init__(self, ledgers: int = 4) -> None:
        self._lock = Lock()
        self._kept: LRUCache[tuple[str, int], tuple[int, LedgerColumns]] = LRUCache(ledgers)

    def get(self, connection: apsw.Connection, tool_id: int) -> LedgerColumns:
        """The present columns of a ledger; call within a read transaction."""
        key, version = (connection.filename, tool_id), data_version(connection, tool_id)
        with self._lock:
            cached = self._kept.get(key)
            if cached is None or cached[0] != version:
                cached = (version, read_columns(connection, tool_id))
                self._kept[key] = cached
        return cached[1]


def rows_with_ids(
    connection: apsw.Connection, columns: str, ids: Iterable[int]
) -> Mapping[int, tuple[Any, ...]]:
    """Some columns of transactions, by id; ``columns`` is a SELECT list that begins with the id."""
    numbers = ",".join(map(str, ids))
    rows = connection.execute(f"SELECT {columns} FROM transactions WHERE id IN ({numbers})")
    return {int(row[0]): row for row in rows}
