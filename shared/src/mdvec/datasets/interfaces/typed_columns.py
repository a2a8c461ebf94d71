"""Finds the types of text columns, and writes the columns to Parquet with these types.

The texts are a DuckDB table or view ``plain`` with columns c0, c1 … Cells are checked as elements
of lists, a thousand columns at once: DuckDB would need minutes to plan a query with expressions for
each of thousands of columns.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from mdvec.datasets.core.likely_kinds import likely_kinds, most_like
from mdvec.datasets.core.sheet_cells import is_total
from mdvec.datasets.core.understood import ReadColumn
from mdvec.datasets.core.value_types import (
    BLANKS,
    DOTTED,
    TO_HALF_WIDTH,
    VALUE_KINDS,
    WRITTEN_BLANKS,
    ValueKind,
    has_usual_time,
    kinds_of,
    may_be_dotted,
    possible_kinds,
    trimmed,
)
from mdvec.datasets.interfaces.connection import parquet_scan
from mdvec.datasets.interfaces.parquet import copy_options
from mdvec.files import UnreadableFile
from mdvec.platform import shell_line
from mdvec.text import cited, counted, identifier, is_visible, literal, shown_name

if TYPE_CHECKING:
    import duckdb

MIN_WIDE_COLUMNS = 200
"""With this many columns or more, DuckDB's optimizer takes longer than the rest of a statement."""
_MAX_BYTES_IN_MEMORY = 2**23
_SAMPLE_CELLS = 10_000
_MAX_SAMPLE_ROWS = 1_000
_COLUMNS_AT_ONCE = 1_000
_NOTED_AT_ONCE = 100
_MAX_SHOWN = 40
_DAY_IN_DIGITS = re.compile(r" *(19|20)\d\d(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01]) *")
_MAX_COMPARED = 100
_MAX_ODD = 3
"""At most this many distinct words among a column's numbers are named in a note."""
_Texts = Sequence[Sequence[str | None]]
_Kind = tuple[ValueKind | None, int]
"""The kind of a column's values, None for text, and how many cells such as NA become NULL."""
_Misfits = tuple[ValueKind, int, int, dict[str, int]]
"""A kind, the number of cells that it can read, the number of distinct texts that it cannot, and
some of these texts with the number of their cells."""


@dataclass(frozen=True, slots=True)
class TextColumn:
    """A column of texts, and how to find its type.

    Attributes:
        name: its name; a column without a name is left out.
        type: its SQL type, if it is known.
        kinds: the possible kinds of its values; without any it stays text.
        choice: the user's choice of its kind, if any.
        unit: the unit of its numbers, if their cells show one.
    """

    name: str
    type: str = ""
    kinds: Sequence[ValueKind] = VALUE_KINDS
    choice: str = ""
    unit: str = ""

    def value(self, cell: str, kind: ValueKind | None) -> str:
        """SQL: a cell as a value of the known type, or of a kind."""
        if not self.type:
            return cell if kind is None else kind.value(cell)
        if self.type == "BLOB":
            return f"unhex({cell})"
        read = f"TRY_CAST({cell} AS {self.type})"
        return f"nullif({read}, 'NaN'::DOUBLE)" if self.type == "DOUBLE" else read


def put_plain(
    connection: duckdb.DuckDBPyConnection, texts: str, width: int, plain: Path, size: int
) -> int:
    """Store the result of a query of texts as ``plain``; returns the number of rows.

    The rows stay in memory, or go to the file ``plain`` if the texts (``size`` bytes) are large.
    """
    if size <= _MAX_BYTES_IN_MEMORY:
        made = connection.execute(f"CREATE OR REPLACE TEMP TABLE plain AS {texts}")
    else:
        made = connection.execute(
            f"COPY ({texts}) TO {literal(str(plain))} ({copy_options(width)})"
        )
    (rows,) = made.fetchone() or (0,)
    if size > _MAX_BYTES_IN_MEMORY:
        connection.execute(
            f"CREATE OR REPLACE TEMP VIEW plain AS SELECT * FROM {parquet_scan(plain)}"
        )
    return int(rows)


def write_typed(
    connection: duckdb.DuckDBPyConnection,
    columns: Sequence[TextColumn],
    target: Path,
    labels: Collection[str] = (),
    *,
    beside_commas: bool = False,
) -> tuple[ReadColumn, ...]:
    """Find each column's type and write all rows of ``plain`` to ``target``.

    Returns how each column with a name was read. ``labels`` are cells that may be names, so no
    advice makes them NULL. ``beside_commas`` is whether files of the same table have decimal
    commas. Of more than ``MIN_WIDE_COLUMNS`` columns the connection's optimizer
    should be off.

    Raises:
        UnreadableFile: a value does not fit what the user chose.
    """
    rows = max(5, min(_MAX_SAMPLE_ROWS, _SAMPLE_CELLS // len(columns)))
    sample = connection.execute(f"SELECT * FROM plain LIMIT {rows}").fetchall()
    kinds = _found_or_chosen(connection, columns, sample)
    if beside_commas or any(kind and kind.has_decimal_commas for kind, _ in kinds):
        kinds = _with_dotted(connection, columns, kinds, sample)
    named = [(at, column, *kinds[at]) for at, column in enumerate(columns) if column.name]
    shown = ", ".join(
        f"{column.value(f'c{at}', kind)} AS {identifier(column.name)}"
        for at, column, kind, _ in named
    )
    connection.execute(
        f"COPY (SELECT {shown} FROM plain) TO {literal(str(target))} ({copy_options(len(columns))})"
    )
    read = [
        ReadColumn(
            column.name,
            column.type,
            note=_days_note(column.type, (row[at] for row in sample)),
            unit=column.unit,
        )
        if column.type
        else read_column(column.name, kind, nulls, (row[at] for row in sample))
        for at, column, kind, nulls in named
    ]
    kinds_by_name = {each.name: () if each.choice else each.kinds for each in columns}
    days = with_days(connection, read, target)
    return with_blank_texts(connection, days, target, kinds_by_name, labels)


def read_column(
    name: str, kind: ValueKind | None, nulls: int, sample: Iterable[str | None]
) -> ReadColumn:
    """How a column was read, with a text from ``sample`` if texts differ from their values."""
    if kind is None:
        return ReadColumn(name, "VARCHAR")
    texts = [text for cell in sample if cell is not None and (text := trimmed(cell)) not in BLANKS]
    if kind.question:
        return ReadColumn(name, kind.type, texts[0], decision=kind.question.format(name=name))
    unlike = sorted((text for text in texts if not kind.is_plain(text)), key=has_usual_time)
    written = next(iter(unlike), "")
    if kind.rule and kind.needs:
        proves = re.compile(kind.needs[-1], re.ASCII).search
        written = next((text for text in unlike if proves(text.translate(TO_HALF_WIDTH))), written)
    note = _days_note(kind.type, texts)
    return ReadColumn(
        name, kind.type, written, nulls, note, kind.rule, kind.unit, kind.has_decimal_commas
    )


def _days_note(type_: str, sample: Iterable[str | None]) -> str:
    """A note on whole numbers that may be dates, such as 20250131; "" if they cannot be."""
    texts = list(filter(None, sample)) if type_ == "BIGINT" else []
    if not texts or not all(map(_DAY_IN_DIGITS.fullmatch, texts)):
        return ""
    return f"numbers such as {texts[0]} may be days"


def with_days(
    connection: duckdb.DuckDBPyConnection, columns: Sequence[ReadColumn], target: Path
) -> tuple[ReadColumn, ...]:
    """The columns of ``target``, where a note on days says what reads them: tried on all values."""
    noted = [column for column in columns if column.note]
    if not noted:
        return tuple(columns)
    least = ", ".join(
        f"min({name}) FILTER ({name} IS NOT NULL AND "
        f"try_strptime({name}::VARCHAR, '%Y%m%d') IS NULL)"
        for name in (identifier(column.name) for column in noted)
    )
    (others,) = connection.execute(f"SELECT {least} FROM {parquet_scan(target)}").fetchall()
    notes = {
        column.name: f"{column.note}; try_strptime(x::VARCHAR, '%Y%m%d') gives them, and NULL for "
        f"others such as {odd}"
        if odd is not None
        else f"{column.note}; strptime(x::VARCHAR, '%Y%m%d') gives them"
        for column, odd in zip(noted, others, strict=True)
    }
    return tuple(replace(each, note=notes.get(each.name, each.note)) for each in columns)


def with_blank_texts(
    connection: duckdb.DuckDBPyConnection,
    columns: Sequence[ReadColumn],
    target: Path,
    kinds: Mapping[str, Sequence[ValueKind]],
    labels: Collection[str],
) -> tuple[ReadColumn, ...]:
    """The columns of ``target``, with notes on the cells due to which a column is text.

    These are cells that do not fit the likely kind of the column's values, or cells such as NA
    among texts. ``kinds`` has the possible kinds by column name.
    """
    texts = [column.name for column in columns if column.type == "VARCHAR"]
    scan = parquet_scan(target)
    notes: dict[str, list[str]] = {}
    for at in range(0, len(texts), _NOTED_AT_ONCE):
        names = texts[at : at + _NOTED_AT_ONCE]
        counts = ", ".join(ValueKind.nulls(identifier(name)) for name in names)
        numbers = connection.execute(f"SELECT {counts} FROM {scan}").fetchone() or ()
        shown = ", ".join(map(identifier, names))
        sample = connection.execute(f"SELECT {shown} FROM {scan} LIMIT {_MAX_SAMPLE_ROWS}")
        samples = dict(zip(names, zip(*sample.fetchall(), strict=True), strict=False))
        likely = {
            name: some
            for name, cells in samples.items()
            if (some := likely_kinds(kinds.get(name, ()), cells))
        }
        misfits = _misfits(connection, scan, likely, samples)
        for name, number in zip(names, numbers, strict=True):
            notes[name] = [
                _odd_note(name, likely[name], misfits[name], labels) if name in misfits else "",
                _blank_note(connection, name, scan) if number else "",
            ]
    return tuple(
        replace(column, note="; ".join(filter(None, (column.note, *notes.get(column.name, ())))))
        for column in columns
    )


def _blank_note(connection: duckdb.DuckDBPyConnection, name: str, scan: str) -> str:
    cells = connection.execute(
        f"SELECT cell, count(*) FROM (SELECT trim({identifier(name)}) AS cell FROM {scan}) "
        f"WHERE cell IN {WRITTEN_BLANKS} GROUP BY cell ORDER BY cell"
    ).fetchall()
    shown = ", ".join(f"{cell} ({number:,})" for cell, number in cells)
    return f"{shown} kept as text; {_as_null(name, cells[0][0])} makes it NULL"


def _as_null(name: str, text: str) -> str:
    """The option that makes a text of a column NULL."""
    return f"--read {shell_line(f'{name}=na:{text}')}"


def _odd_note(
    name: str, likely: Sequence[ValueKind], misfits: _Misfits, labels: Collection[str]
) -> str:
    """A note on the cells of a text column that its likely kind cannot read.

    Cells that no likely kind can read are named first. Nothing becomes NULL without the user's
    choice: somebody may count 不明. The note suggests NULL only for words without digits that are
    neither a total nor a name. It also says if numbers have too many digits for a float.
    """
    kind, others, number, odd = misfits
    if not odd:
        return ""
    first = sorted(odd, key=lambda text: any(possible_kinds(likely, [text])))
    named = {text: odd[text] for text in first[:_MAX_ODD]}
    more = number - len(named)
    shown = ", ".join(f"{shown_name(text[:_MAX_SHOWN])} ({named[text]:,})" for text in named)
    note = f"{shown} and {more:,} more" if more else shown
    note += " kept it text"
    if others:
        what = "value" if kind.type == "BOOLEAN" else "date" if kind.is_date else "number"
        note += f" among {counted(others, what)}"
    if kind.type == "DOUBLE" and any(any(possible_kinds([kind], [text])) for text in named):
        note += "; numbers of too many digits are kept as text"
    wishes = " ".join(
        _as_null(name, text) for text in named if _may_mean_nothing(text, {name, *labels})
    )
    return f"{note}; {wishes} makes it NULL" if wishes and not more else note


def _misfits(
    connection: duckdb.DuckDBPyConnection,
    scan: str,
    likely: Mapping[str, Sequence[ValueKind]],
    samples: Mapping[str, Iterable[str | None]],
) -> dict[str, _Misfits]:
    """For each column, the kind that reads the most cells, and the cells that it cannot read.

    These cells may fit another kind that reads the others too, or may prove a kind. So they are
    added to the sample, and the best kind is chosen again, until it leaves no new cells.
    """
    seen = {
        name: {text for cell in samples[name] if cell and (text := trimmed(cell)) not in BLANKS}
        for name in likely
    }
    by_kind: dict[str, dict[ValueKind, _Misfits]] = {name: {} for name in likely}
    best: dict[str, list[ValueKind]] = {}
    waiting = list(likely)
    while waiting:
        best |= {name: most_like(likely[name], seen[name]) for name in waiting}
        pairs = [
            (name, kind) for name in waiting for kind in best[name] if kind not in by_kind[name]
        ]
        waiting = []
        for (name, kind), misfits in zip(pairs, _unread(connection, scan, pairs), strict=True):
            by_kind[name][kind] = misfits
            if not seen[name].issuperset(misfits[3]):
                seen[name].update(misfits[3])
                waiting.append(name)
        waiting = list(dict.fromkeys(waiting))
    return {
        name: max((by_kind[name][kind] for kind in kinds), key=lambda each: each[1])
        for name, kinds in best.items()
    }


def _unread(
    connection: duckdb.DuckDBPyConnection, scan: str, pairs: Sequence[tuple[str, ValueKind]]
) -> list[_Misfits]:
    """For each column and kind in ``pairs``, the column's values that the kind rejects."""
    if not pairs:
        return []
    kinds = list(dict.fromkeys(kind for _, kind in pairs))
    cells = ", ".join(f"trim({identifier(name)})" for name, _ in pairs)
    rows = connection.execute(
        "SELECT place, odd, count(*), count(*) OVER (PARTITION BY place) FROM (SELECT place, CASE "
        f"WHEN {_fits(kinds)} THEN NULL ELSE cell END AS odd FROM "
        f"(SELECT unnest([{cells}]) AS cell, unnest({list(range(len(pairs)))}) AS place, "
        f"unnest({[kinds.index(kind) for _, kind in pairs]}) AS kind FROM {scan}) "
        f"WHERE {ValueKind.is_value('cell')}) GROUP BY place, odd QUALIFY row_number() OVER "
        f"(PARTITION BY place ORDER BY odd NULLS FIRST) <= {_MAX_COMPARED} "
        "ORDER BY place, odd NULLS FIRST"
    ).fetchall()
    misfits: list[_Misfits] = [(kind, 0, 0, {}) for _, kind in pairs]
    for place, odd, count, different in rows:
        kind, others, number, texts = misfits[place]
        if odd is None:
            misfits[place] = kind, count, different - 1, texts
        else:
            texts[odd] = count
            misfits[place] = kind, others, number or different, texts
    return misfits


def _may_mean_nothing(text: str, names: Collection[str]) -> bool:
    is_word = len(text) <= _MAX_SHOWN and all(map(is_visible, text))
    is_word = is_word and not any(map(str.isdigit, text))
    return is_word and text not in names and not is_total(text)


def _kinds(
    connection: duckdb.DuckDBPyConnection,
    allowed: Sequence[Sequence[ValueKind]],
    sample: _Texts,
) -> list[_Kind]:
    """Each column's kind.

    Each round tries the next kind on all cells of the undecided columns. There are few rounds, as
    the sample rules out most kinds, and a value that does not fit one kind rules out others.
    """
    kinds: list[_Kind] = [(None, 0)] * len(allowed)
    waiting = {
        at: possible
        for at, some in enumerate(allowed)
        if some and (possible := list(possible_kinds(some, (row[at] for row in sample))))
    }
    while waiting:
        tried = {at: possible[0] for at, possible in waiting.items()}
        verdicts = _verdicts(connection, tried)
        for at, kind in tried.items():
            fits, nulls, misfit = verdicts.get(at, (None, 0, None))
            if fits:
                kinds[at] = kind, nulls
            left = [] if fits is not False else list(possible_kinds(waiting.pop(at)[1:], [misfit]))
            if left:
                waiting[at] = left
            else:
                waiting.pop(at, None)
    return kinds


def _found_or_chosen(
    connection: duckdb.DuckDBPyConnection, columns: Sequence[TextColumn], sample: _Texts
) -> list[_Kind]:
    """Each column's kind: the user's choice, or else the first kind that fits all values."""
    kinds = _kinds(connection, [() if each.type else each.kinds for each in columns], sample)
    return [
        _kind_as_chosen(connection, at, column, kind) if column.choice else kind
        for at, (column, kind) in enumerate(zip(columns, kinds, strict=True))
    ]


def _with_dotted(
    connection: duckdb.DuckDBPyConnection,
    columns: Sequence[TextColumn],
    kinds: Sequence[_Kind],
    sample: _Texts,
) -> list[_Kind]:
    """The kinds in a file with decimal commas, where the point in 1.234 separates thousands."""
    allowed = [
        (DOTTED,) if column.kinds and not column.choice and may_be_dotted(kind) else ()
        for column, (kind, _) in zip(columns, kinds, strict=True)
    ]
    dotted = _kinds(connection, allowed, sample)
    return [new if new[0] else old for new, old in zip(dotted, kinds, strict=True)]


def _verdicts(
    connection: duckdb.DuckDBPyConnection, tried: Mapping[int, ValueKind]
) -> dict[int, tuple[bool | None, int, str | None]]:
    """By column: whether all values fit the kind tried, the number of NAs, and one that does not.

    The first element is None for a column without values.
    """
    kinds = list(dict.fromkeys(tried.values()))
    fits = _fits(kinds)
    values = f"FILTER (WHERE {ValueKind.is_value('cell')})"
    proof = ""
    for number in range(max(len(kind.needs) for kind in kinds)):
        proves = " ".join(
            f"WHEN {at} THEN {kind.proves('cell', number)}" for at, kind in enumerate(kinds)
        )
        proof += f" AND bool_or(CASE kind {proves} END) {values}"
    verdicts: dict[int, tuple[bool | None, int, str | None]] = {}
    every = list(tried)
    for start in range(0, len(every), _COLUMNS_AT_ONCE):
        some = every[start : start + _COLUMNS_AT_ONCE]
        cells = ", ".join(f"c{at}" for at in some)
        rows = connection.execute(
            f"SELECT place, bool_and(fits) {values} {proof}, {ValueKind.nulls('cell')}, "
            f"any_value(cell) FILTER (WHERE NOT fits AND {ValueKind.is_value('cell')}) "
            f"FROM (SELECT *, {fits} AS fits FROM (SELECT unnest([{cells}]) AS cell, "
            f"unnest({some}) AS place, unnest({[kinds.index(tried[at]) for at in some]}) AS kind "
            "FROM plain)) GROUP BY place"
        ).fetchall()
        verdicts |= {column: (fit, nulls, misfit) for column, fit, nulls, misfit in rows}
    return verdicts


def _fits(kinds: Sequence[ValueKind]) -> str:
    """SQL: whether a cell fits the kind whose index is the SQL column ``kind``."""
    holds = " ".join(f"WHEN {at} THEN {kind.holds('cell')}" for at, kind in enumerate(kinds))
    return f"coalesce(CASE kind {holds} END, false)"


def _kind_as_chosen(
    connection: duckdb.DuckDBPyConnection, at: int, column: TextColumn, fitting: _Kind
) -> _Kind:
    """The kind of a column for which the user chose one; ``fitting`` is one that fits, if any.

    Raises:
        UnreadableFile: a value does not fit the choice.
    """
    kinds = kinds_of(column.choice)
    if fitting[0] is not None or not kinds:
        return fitting
    cell = f"c{at}"
    fits = " OR ".join(f"coalesce({kind.holds(cell)}, false)" for kind in kinds)
    values = f"FROM plain WHERE {ValueKind.is_value(cell)}"
    odd = connection.execute(f"SELECT {cell} {values} AND NOT ({fits}) LIMIT 1").fetchone()
    if odd is None and connection.execute(f"SELECT 1 {values} LIMIT 1").fetchone() is None:
        return kinds[0], fitting[1]
    what = "its values are of several kinds"
    if odd is not None:
        text = odd[0] if len(odd[0]) <= _MAX_SHOWN else f"{odd[0][:_MAX_SHOWN]}…"
        what = f"it holds {cited(text)}"
    raise UnreadableFile(
        f"its column {cited(column.name)} cannot be read as {column.choice}: {what}; "
        "choose another type with --read, or auto"
    )
