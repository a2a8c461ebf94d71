"""SELECTs at random that mostly run: what the judge should let pass, mixed with any function."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any

_NUMBERS = ("i", "kind", "i + 1", "length(name)", "abs(kind - i)", "year(day)", "2", "1.5", "-i")
_TEXTS = ("name", "upper(name)", "'a''b'", "name || '%'", "E'\\x41'", "$$it's$$", "'名前'")
_SUMS = ("sum", "count", "avg", "min", "max", "median", "first", "list", "mode", "stddev")


@dataclass
class Ordinary:
    """Generates queries over ``runs`` (i, kind, name, day).

    Attributes:
        scalars: functions of which some are put in, each with its number of arguments.
    """

    random: Random
    scalars: tuple[tuple[str, int], ...]

    def query(self, depth: int = 2) -> str:
        """A SELECT."""
        source, random = self._source(depth), self.random
        if random.random() < 0.3:
            key = self._pick("kind", "name", "day", "i % 5")
            having = f" HAVING count(*) > {random.randint(0, 3)}" if random.random() < 0.3 else ""
            return (
                f"SELECT {key} AS k, {self._pick(*_SUMS)}({self._number()}) AS s FROM {source}"
                f"{self._where()} GROUP BY k{having}{self._order('k')}"
            )
        found = f"SELECT {self._pick('', '', 'DISTINCT ')}{self._items()} FROM {source}"
        found += self._where() + self._order(self._pick("1", "ALL"))
        if depth and random.random() < 0.1:
            return f"({found}) {self._pick('UNION ALL', 'EXCEPT', 'UNION')} ({found})"
        return found

    def _items(self) -> str:
        if self.random.random() < 0.25:
            return self._pick("*", "runs", "* EXCLUDE (day)", "COLUMNS('i|k')", "count(*)")
        number, text = self._number(), self._pick(*_TEXTS)
        window = f"row_number() OVER (PARTITION BY kind ORDER BY {number})"
        case = f"CASE WHEN {number} > 3 THEN {text} END"
        among = (number, text, window, case, self._any_call(), self._any_call(), self._any_call())
        return ", ".join(self._pick(*among) for _ in range(self.random.randint(1, 3)))

    def _any_call(self) -> str:
        """A call of any function that DuckDB has."""
        name, count = self._pick(*self.scalars)
        values = (self._number(), self._pick(*_TEXTS), "day", "[i, 2]", "name::BLOB", "i::BIGINT")
        return f"{name}({', '.join(self._pick(*values) for _ in range(min(count, 3)))})"

    def _number(self) -> str:
        return self._pick(*_NUMBERS)

    def _source(self, depth: int) -> str:
        if depth < 1 or self.random.random() < 0.7:
            return self._pick(
                "runs", "runs", "main.runs", '"runs"', "RUNS", "memory.main.runs AS runs"
            )
        inner = self.query(0)
        some = f"SELECT 3 UNION SELECT {self._number()} FROM runs"
        return self._pick(
            f"(SELECT * FROM runs WHERE i IN ({some})) AS runs",
            f"runs, (SELECT count(*) AS n FROM ({inner})) AS other",
            f"runs LEFT JOIN (WITH a AS ({inner}) SELECT count(*) AS n FROM a) b ON b.n = runs.i",
            f"runs, range({self.random.randint(0, 9)}) AS r(step)",
        )

    def _where(self) -> str:
        if self.random.random() < 0.5:
            return ""
        return " WHERE " + self._pick(
            f"{self._number()} > {self._number()}", "name LIKE 's1%'", "day >= DATE '2025-06-10'",
            f"{self._number()} IN (1, 2, 3)", f"{self._any_call()} IS NOT NULL",
            "kind = 1 -- one\n",
        )  # fmt: skip

    def _order(self, by: str) -> str:
        return f" ORDER BY {by}" if self.random.random() < 0.3 else ""

    def _pick(self, *options: str | tuple[str, int]) -> Any:
        return self.random.choice(options)
