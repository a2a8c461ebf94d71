"""Profiles: their precision, the SQL that computes their figures, and reading its result."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from mdvec.datasets import Column, family, finite_value, is_measured, is_wide, may_be_infinite
from mdvec.sql.core.period import Cell, found_column
from mdvec.sql.core.refusals import RowsDiffer, named
from mdvec.text import identifier

_SECONDS, _MEGABYTES = 10, 1_664
_OWN_MEGABYTES = 384
"""The memory that a query process uses without any values."""
_MEDIANS, _DISTINCT = 40_000_000, 10_000_000
"""How many values fit for medians, and for distinct counts, in ``_SECONDS`` and ``_MEGABYTES``."""
_MIN_SCALE = 0.01
_MAX_DRAWN = 1_000_000
_MAX_COUNTED = 250_000
_TEXT = 32
"""How many bytes of text weigh as much as one number."""
_SURE = 3.2905
"""The number of standard deviations within which 999 of 1,000 estimates lie."""
EXACTLY: Samples = {}
_VALUE_DIGITS, _MEAN_DIGITS, _RATE_DIGITS = 17, 12, 6
_MIDDLE_DIGITS = 15
_MAX_MOVED = Fraction(1, 10**6)
"""How far rounding may move a mean, as a share of the spread of all values."""
_RANKS = (0.25, 0.25, 0.5, 0.500000001, 0.75, 0.75)
"""The quantiles for the two values around each quartile of a sample; the middle two only differ if
its size is even."""
_QUARTILES = {"q1": 1, "median": 2, "q3": 3}
_AROUND = tuple(f"{part} {side}" for part in _QUARTILES for side in ("lower", "upper"))
"""The items of the list ``_LIST``: the two values around each quartile."""
_LIST = "quartiles"
SPREAD = ("std", "q1", "q3")
"""The figures that a long answer omits first."""
_MAX_SQUARED = 1e150
_HIGH = 2**64
_TINY = 2.0**-32
"""Values multiplied by this cannot overflow in a sum; as a power of two, it causes no rounding."""
_HEAD = 3
_COMMA = ",\n"


@dataclass(frozen=True, slots=True)
class ProfileEffort:
    """The number of values that one profile may hold for medians and for distinct counts."""

    medians: int
    distinct: int

    @classmethod
    def within(cls, seconds: float, memory_mb: int) -> ProfileEffort:
        """The effort that fits into a query's time and memory."""
        scale = max(min(seconds / _SECONDS, (memory_mb - _OWN_MEGABYTES) / _MEGABYTES), _MIN_SCALE)
        return cls(int(_MEDIANS * scale), int(_DISTINCT * scale))


@dataclass(frozen=True, slots=True)
class Sample:
    """The sample for a column's figures; by default all rows.

    The quartiles are computed from a random share ``rows`` of the rows. Distinct values are counted
    only if their hash is a multiple of ``one_in``.
    """

    rows: float = 1.0
    one_in: int = 1


Samples = Mapping[str, Sample]
"""The sample of each column by name; other columns are computed from all rows."""


@dataclass(frozen=True, slots=True)
class ColumnSize:
    """What one column holds.

    Attributes:
        values: the count of its values that are not NULL, NaN or infinite.
        not_finite: the count of NaN and infinity.
        distinct: an estimate of the count of different values.
        weight: of one value; a number weighs 1.
    """

    values: int
    not_finite: int = 0
    distinct: int = 0
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Sizes:
    """The count of the rows, and what each column holds, by its name."""

    rows: int
    columns: Mapping[str, ColumnSize]


def size_sql(columns: Sequence[Column]) -> str:
    """The statement that counts the rows, and what ``read_sizes`` needs to know of each column."""
    figures = ["count(*)"]
    for column in columns:
        name = identifier(column.name)
        if family(column) == "other":  # long lists are slow to read, and need no figures here
            figures += ["0"] * 4
            continue
        # This takes a third of the time of counting a CASE.
        finite = f"count_if(isfinite({name}))" if may_be_infinite(column) else f"count({name})"
        in_bytes = f"sum(strlen({name}))" if column.type == "VARCHAR" else "0"
        figures += [f"count({name})", finite, f"approx_count_distinct({name})", in_bytes]
    return f"SELECT {', '.join(figures)} FROM {{source}}"


def read_sizes(columns: Sequence[Column], row: Sequence[Cell]) -> Sizes:
    """The result of ``size_sql``."""
    rows, *cells = (int(cell or 0) for cell in row)
    found = {}
    for at, column in enumerate(columns):
        present, finite, distinct, in_bytes = cells[4 * at : 4 * at + 4]
        # NaN and infinity may count as distinct values: they are few.
        found[column.name] = ColumnSize(
            finite, present - finite, min(distinct, finite), 1 + in_bytes / max(rows, 1) / _TEXT
        )
    return Sizes(rows, found)


def plan_samples(columns: Sequence[Column], sizes: Sizes, effort: ProfileEffort) -> Samples:
    """The samples that keep a profile within the effort; small columns are used whole.

    ``EXACTLY`` if every figure can be computed from all rows, even if no value occurs twice.
    """
    measured = [column for column in columns if is_measured(column)]
    compared = {column.name: sizes.columns[column.name].weight for column in columns
                if family(column) != "other"}  # fmt: skip
    if (
        sizes.rows * len(measured) <= effort.medians
        and sizes.rows * sum(compared.values()) <= effort.distinct
    ):
        return EXACTLY
    sorted_ = {column.name: sizes.columns[column.name].values for column in measured}
    counted = {name: sizes.columns[name].distinct * weight for name, weight in compared.items()}
    max_sorted = _share([*sorted_.values()], effort.medians)
    max_counted = _share([*counted.values()], effort.distinct)
    samples = {}
    for column in columns:
        rows, one_in, name = 1.0, 1, column.name
        if sorted_.get(name, 0) > max_sorted:
            rows = min(max_sorted, _MAX_DRAWN) / sorted_[name]
        if counted.get(name, 0) > max_counted:
            distinct = sizes.columns[name].distinct
            one_in = 2 ** math.ceil(math.log2(distinct / min(max_counted, _MAX_COUNTED)))
        samples[name] = Sample(rows, max(one_in, 1))
    return samples


def _share(sizes: Sequence[float], room: float) -> float:
    """The largest limit for each size with which all fit into ``room``."""
    left, share = float(room), 0.0
    for at, size in enumerate(sorted(sizes)):
        share = left / (len(sizes) - at)
        if size > share:
            return share
        left -= size
    return max([share, *sizes])


@dataclass(frozen=True, slots=True)
class ProfilePlan:
    """The statement that computes a whole profile in one row, and how to read that row.

    ``{source}`` is a placeholder for the table or query. ``figures`` has the names of the figures
    of each column, in the order of the row.
    """

    sql: str
    figures: Mapping[str, tuple[str, ...]]
    samples: Mapping[str, Sample]

    def columns(self, row: Sequence[Cell]) -> dict[str, dict[str, Cell]]:
        """The figures of each column; the row begins with three cells for count and period."""
        rows = int(row[0])
        return {
            column: _shown_figures(cells, rows, self.samples[column])
            for column, cells in self._cells(row).items()
        }

    def approximate(self, row: Sequence[Cell]) -> dict[str, str]:
        """For each estimated kind of figure, a text with the bound of its error and its columns.

        The error of a median is the distance of its rank from the middle, as a share of all rows;
        in a sample of n rows its standard deviation is 1/(2√n), whatever the values. The error of a
        count is relative to the count.
        """
        medians, counts = {}, {}
        for column, cells in self._cells(row).items():
            if self.samples[column].rows < 1 and cells.get("drawn"):
                medians[column] = _SURE / 2 / math.sqrt(int(cells["drawn"]))
            if self.samples[column].one_in > 1 and cells.get("distinct_count"):
                counts[column] = _SURE / math.sqrt(int(cells["distinct_count"]))
        precision = {}
        if medians:
            precision["median"] = (
                f"±{_percent(medians.values())} % of the rows: {named([*medians])}"
            )
        if counts:
            precision["distinct_count"] = f"±{_percent(counts.values())} %: {named([*counts])}"
        return precision

    def _cells(self, row: Sequence[Cell]) -> dict[str, dict[str, Cell]]:
        cells = iter(row[_HEAD:])
        return {
            column: {name: next(cells) for name in names} for column, names in self.figures.items()
        }


def chosen(columns: Sequence[Column], names: Sequence[str] | None) -> list[Column]:
    """The columns with these names, or all of them.

    Raises:
        UnknownColumn: one does not exist.
    """
    if names is None:
        return list(columns)
    return list(dict.fromkeys(found_column(columns, name) for name in names))


def plan_profile(
    columns: Sequence[Column],
    period: Column | None,
    samples: Samples,
    sizes: Sizes,
) -> ProfilePlan:
    """The plan for a profile of ``columns``, each computed from its sample in ``samples``."""
    chosen_samples = {column.name: samples.get(column.name, Sample()) for column in columns}
    expressions = [
        _expressions(column, at, chosen_samples[column.name], sizes.columns[column.name])
        for at, column in enumerate(columns)
    ]
    inner = []
    for at, column in enumerate(columns):
        name = identifier(column.name)
        if sizes.columns[column.name].not_finite:
            inner += [f"{finite_value(column)} AS c{at}", f"{name} AS w{at}"]
        else:  # a CASE would take a tenth of a profile's time
            inner.append(f"{name} AS c{at}")
    if any(sample.rows < 1 for sample in chosen_samples.values()):
        inner.append("random() AS lot")
    when = ("NULL", "NULL")
    if period is not None:
        inner.append(f"{identifier(period.name)} AS period")
        when = ("min(period)", "max(period)")
    rows = f"\nFROM (\nSELECT {_COMMA.join(inner or ['1'])}\nFROM {{source}}\n)"
    computed, shown, figures = ["count(*)", *when], ["f0", "f1", "f2"], {}
    for column, by_figure in zip(columns, expressions, strict=True):
        figures[column.name] = tuple(
            each for name in by_figure for each in (_AROUND if name == _LIST else (name,))
        )
        for name, figure in by_figure.items():
            items = [f"[{item}]" for item, _ in enumerate(_AROUND, 1)] if name == _LIST else [""]
            shown += [f"f{len(computed)}{item}" for item in items]
            computed.append(figure)
    sql = f"SELECT {_COMMA.join(shown)} FROM {_subqueries(computed, rows, bool(samples))}"
    return ProfilePlan(sql, figures, chosen_samples)


def _subqueries(computed: Sequence[str], rows: str, in_two: bool) -> str:  # noqa: FBT001 - private
    """The subquery that computes f0, f1 …; with ``in_two``, distinct counts have their own.

    In one SELECT with other figures DuckDB 2.0 keeps all rows in memory: 2.3 GB instead of 0.4 GB
    for ten million rows of 23 columns, in the same time.
    """
    parts: dict[bool, list[str]] = {False: [], True: []}
    for at, sql in enumerate(computed):
        parts[in_two and "DISTINCT" in sql].append(f"{sql} AS f{at}")
    return ", ".join(f"(SELECT {_COMMA.join(part)}{rows})" for part in parts.values() if part)


def _expressions(column: Column, at: int, sample: Sample, size: ColumnSize) -> dict[str, str]:
    """SQL for each figure of column number ``at``.

    The inner statement names it c0, c1 … without NaN and infinity, and w0, w1 … with them.
    """
    name = f"c{at}"
    expressions = {"present": f"count({name})"}
    if size.not_finite:
        # This takes a third of the time of a FILTER with isfinite().
        expressions["odd"] = f"count(w{at}) - count({name})"
    if family(column) == "other":
        return expressions
    expressions |= {"min": f"min({name})", "max": f"max({name})"}
    if is_measured(column):
        expressions |= _mean(column, name) | _quartiles(name, sample, size.values)
        # Squares of larger values would overflow, which fails the whole query.
        small = f"CASE WHEN abs({name}::DOUBLE) < {_MAX_SQUARED!r} THEN {name}::DOUBLE END"
        expressions["std"] = f"stddev_samp({small})"
    distinct = f"count(DISTINCT {name})"
    if sample.one_in > 1:
        # The last bits of hashes of equidistant numbers are uneven; a second hash corrects that. A
        # FILTER would not do: DuckDB applies it after DISTINCT, which would hold every value.
        chosen_ones = f"{name} IS NOT NULL AND hash(hash({name})) % {sample.one_in} = 0"
        distinct = f"count(DISTINCT CASE WHEN {chosen_ones} THEN hash({name}) END)"
    return expressions | {"distinct_count": distinct}


def _mean(column: Column, name: str) -> dict[str, str]:
    """SQL for the mean, or for partial sums if the whole sum might overflow."""
    if may_be_infinite(column):
        return {"tiny mean": f"favg({name}::DOUBLE * {_TINY!r})"}
    if not is_wide(column):
        return {"mean": f"avg({name})"}
    whole = name if family(column) == "integer" else f"trunc({name})"
    # A DECIMAL divided by a number is a DOUBLE, which has fewer digits.
    number = whole if whole == name else f"{whole}::HUGEINT"
    high, low = (f"sum(({number} {sign} {_HIGH})::HUGEINT)" for sign in ("//", "%"))
    rest = "0" if whole == name else f"coalesce(favg(({name} - {whole})::DOUBLE), 0)"
    return {"high": high, "low": low, "rest": rest}


def _quartiles(name: str, sample: Sample, count: int) -> dict[str, str]:
    """The SQL of the two values around each quartile, with all of their digits.

    quantile_cont would round them to floats, and would take additional time.
    """
    drawn = "" if sample.rows >= 1 else f" FILTER (WHERE lot < {sample.rows!r})"
    ranks: tuple[float, ...] = _RANKS
    if count and not drawn:
        lower = [(count - 1) * quarters // 4 for quarters in _QUARTILES.values()]
        places = [rank for at in lower for rank in (at, min(at + 1, count - 1))]
        ranks = tuple((rank + 0.5) / count for rank in places)
    quantiles = {_LIST: f"quantile_disc({name}, {[*ranks]}){drawn}"}
    return quantiles | ({"drawn": f"count({name}){drawn}"} if drawn else {})


def _shown_figures(cells: dict[str, Cell], rows: int, sample: Sample) -> dict[str, Cell]:
    """The figures of one column in the form of the answer.

    Raises:
        RowsDiffer: it has NaN or infinity, although none was counted before.
    """
    odd, present = int(cells.get("odd") or 0), int(cells["present"])
    nulls = rows - present - odd
    shown: dict[str, Cell] = {}
    if "min" in cells:
        # Values from the column itself, such as IDs or yen, are shown with all digits.
        shown = {name: rounded(cells[name], _VALUE_DIGITS) for name in ("min", "max")}
    if "median lower" in cells:
        if present and not all(math.isfinite(float(cells[end])) for end in ("min", "max")):
            raise RowsDiffer
        shown["mean"] = _mean_shown(cells, _mean_of(cells, present))
        quartiles = {part: _quartile(cells, part, present) for part in _QUARTILES}
        shown["median"] = quartiles.pop("median")
        shown |= _deviation(cells) | (quartiles if present > 1 else {})
    if "distinct_count" in cells:
        # An estimate may exceed the number of rows.
        shown["distinct_count"] = min(int(cells["distinct_count"]) * sample.one_in, present)
    shown["null_rate"] = _rate(nulls, rows)
    if odd:
        shown["not_finite"] = odd
    return shown


def _deviation(cells: Mapping[str, Cell]) -> dict[str, Cell]:
    """The standard deviation of a sample, if it can be computed."""
    if cells["std"] is None:  # fewer than two values
        return {}
    largest = max(abs(float(cells["min"])), abs(float(cells["max"])))
    if largest >= _MAX_SQUARED:
        return {}
    return {"std": rounded(cells["std"], _MEAN_DIGITS // 2)}


def _mean_of(cells: Mapping[str, Cell], present: int) -> Cell:
    if not present:
        return None
    if "high" in cells:
        whole = int(cells["high"]) * _HIGH + int(cells["low"])
        return float(Fraction(whole, present)) + float(cells["rest"])
    if "mean" in cells:
        return float(cells["mean"])
    # A mean beyond all values comes from rounding in the sum.
    mean = float(cells["tiny mean"]) / _TINY
    return min(max(mean, float(cells["min"])), float(cells["max"]))


def _mean_shown(cells: Mapping[str, Cell], mean: Cell) -> Cell:
    """The mean with few digits, or with all digits if the values are too close to each other."""
    if mean is None:
        return None
    short = rounded(mean, _MEAN_DIGITS)
    spread = _fraction(cells["max"]) - _fraction(cells["min"])
    is_close = abs(_fraction(short) - _fraction(mean)) <= spread * _MAX_MOVED
    return short if is_close else rounded(mean, _VALUE_DIGITS)


def _quartile(cells: Mapping[str, Cell], part: str, count: int) -> Cell:
    """A quartile as in pandas and Excel: interpolated between the two values around it."""
    lower, upper = cells[f"{part} lower"], cells[f"{part} upper"]
    quarters = (count - 1) * _QUARTILES[part] % 4
    if lower == upper or lower is None or not quarters:
        return rounded(lower, _VALUE_DIGITS)
    exact = (_fraction(lower) * (4 - quarters) + _fraction(upper) * quarters) / 4
    if isinstance(lower, int) and isinstance(upper, int):
        return int(exact) if exact.denominator == 1 else float(exact)
    return rounded(float(exact), _MIDDLE_DIGITS)


def _fraction(cell: Cell) -> Fraction:
    return Fraction(cell if isinstance(cell, int | float) else str(cell))


def _rate(some: int, rows: int) -> Cell:
    """A share of the rows, rounded; 0 and 1 stand for exactly none and all."""
    if not rows:
        return None
    short = rounded(some / rows, _RATE_DIGITS)
    return some / rows if short in {0, 1} and 0 < some < rows else short


def _percent(errors: Iterable[float]) -> str:
    """The largest error in percent, rounded up to two digits."""
    largest = 100 * max(errors)
    step = 10.0 ** (math.floor(math.log10(largest)) - 1)
    return f"{math.ceil(largest / step) * step:.2g}"


def rounded(value: Cell, digits: int) -> Cell:
    """A number rounded to ``digits``; long texts are cut, anything else stays as it is."""
    if isinstance(value, float) and math.isfinite(value):
        short = float(f"{value:.{digits}g}")
        if math.isinf(short):  # rounded up, beyond the largest number
            short = value
        return int(short) if short.is_integer() and abs(short) < 2**53 else short
    if isinstance(value, str) and len(value) > 40:
        return value[:39] + "…"
    return value
