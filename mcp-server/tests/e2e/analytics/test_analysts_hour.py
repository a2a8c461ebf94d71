"""An analyst's hour over STDIO: one session, real mistakes, files that change; no figure is wrong.

Every figure is compared with plain Python over the same invented sales.
"""

from __future__ import annotations

import base64
import json
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from monthly_sales import MONTHS, SHOPS, TARGETS, Sale, write_month, write_targets

CLI = "import sys; sys.argv[0] = 'mdvec'; from mdvec_cli.main import main; main()"
T = "sales__売上"
MISTAKES = {
    "MySQL's months": (
        f"SELECT DATE_FORMAT(日付, '%Y-%m') AS month, sum(売上) FROM {T} "
        "GROUP BY month ORDER BY month LIMIT 3",
        lambda sales: sorted(sums(sales, month_of).items())[:3],
    ),
    "PostgreSQL's years": (
        f"SELECT to_char(日付, 'YYYY') AS y, sum(数量) FROM {T} GROUP BY y ORDER BY y",
        lambda sales: sorted(
            Counter(str(s.day.year) for s in sales for _ in range(s.pieces)).items()
        ),
    ),
    "MySQL's limit": (
        f"SELECT 店舗, sum(売上) AS s FROM {T} GROUP BY 店舗 ORDER BY s DESC LIMIT 1, 2",
        lambda sales: sums(sales, lambda sale: sale.shop).most_common()[1:3],
    ),
    "SQL Server's top": (
        f"SELECT TOP 1 店舗, count(*) AS n FROM {T} GROUP BY 店舗 ORDER BY n DESC",
        lambda sales: Counter(sale.shop for sale in sales).most_common(1),
    ),
}
ADVICE = {
    f'SELECT count(*) FROM {T} WHERE 店舗 = "渋谷"': "a text stands in single quotes: '渋谷'",
    f"SELECT sum(売上げ) FROM {T}": "nearest: 売上;",
    f"SELECT 店舗, 商品, max(売上) FROM {T} GROUP BY 店舗": "Either add it to the GROUP BY list",
    f"SELECT sum(金額) FROM {T}": f"{T} has 日付, 店舗, 商品, 数量, 売上",
    "SELECT count(*) FROM 売上": f"nearest: {T};",
}


def sums(
    sales: list[Sale],
    key: Callable[[Sale], str],
    figure: Callable[[Sale], int] = lambda sale: sale.amount,
) -> Counter[str]:
    found: Counter[str] = Counter()
    for sale in sales:
        found[key(sale)] += figure(sale)
    return found


def month_of(sale: Sale) -> str:
    return f"{sale.day:%Y-%m}"


def flat(rows: Sequence[Any]) -> list[list[Any]]:
    """Rows without the inner tuples of keys."""
    return [[*row[0], *row[1:]] if isinstance(row[0], tuple) else list(row) for row in rows]


@dataclass
class Desk:
    """The analyst's folder and command line, and one session with the server."""

    folder: Path
    environment: dict[str, str]
    client: Any

    def mdvec(self, *words: str) -> str:
        done = subprocess.run(
            [sys.executable, "-c", CLI, *words, "--database", str(self.folder / "v.sqlite")],
            env=self.environment, capture_output=True, encoding="utf-8", check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout + done.stderr

    def ask(self, tool: str, **arguments: object) -> dict[str, Any]:
        answer = self.client.call(tool, arguments)
        assert not answer.is_error, answer.content[0].text
        return json.loads(answer.content[0].text)

    def rows(self, query: str) -> list[list[Any]]:
        return self.ask("query", query=query)["rows"]

    def error(self, query: str) -> str:
        answer = self.client.call("query", {"query": query})
        assert answer.is_error
        message: str = answer.content[0].text
        return message


@pytest.mark.soak
def test_an_hour_of_analysis_needs_no_restart_and_gives_no_wrong_figure(tmp_path, server, connect):
    folder = tmp_path / "sales"
    folder.mkdir()
    sales = [sale for year, month in MONTHS for sale in write_month(folder, year, month)]
    write_targets(folder / "目標.csv")
    desk = Desk(tmp_path, server(tmp_path / "v.sqlite").env, None)
    desk.mdvec("tool", "add", "-n", "sales", "-d", "売上", "-s", str(folder), "--kind", "dataset")
    read = desk.mdvec("import", "-n", "sales")
    assert f"{T}: 1,440 rows, 7 columns, from 売上_*.csv (24 files); 日付 2024-01-01 to" in read
    assert (
        'cp932; 日付: 令和6年2月4日 → DATE; 売上: "▲1,900" → BIGINT; 値引率: "0.0%" → DOUBLE'
        in read
    )
    settings = {"MDVEC_ANALYTICS_FOLDER": str(tmp_path / "exports"), "MDVEC_SYNC_SECONDS": "1"}
    with connect(tmp_path / "v.sqlite", home=tmp_path, **settings) as desk.client:
        look_around(desk, sales)
        make_mistakes(desk, sales)
        summarise(desk, sales)
        save_and_store(desk, sales)
        change_files(desk, folder, sales)


def look_around(desk: Desk, sales: list[Sale]) -> None:
    listed = desk.ask("list_handles")["tables"]
    assert listed == {
        "sales__売上": ["日付", "店舗", "商品", "数量", "売上", "値引率", "file"],
        "sales__目標": ["店舗", "2024", "2025"],
    }
    told = desk.ask("list_handles", table="sales__売上")
    assert told["rows"] == len(sales)
    by_name = {column["name"]: column for column in told["columns"]}
    days = sorted(str(sale.day) for sale in sales)
    assert by_name["日付"]["period"] == [days[0], days[-1]]
    common = len(set(by_name["店舗"]["samples"]) & {sale.shop for sale in sales})
    assert common == 3
    assert told["joins"] == [
        {"column": "店舗", "to": "sales__目標.店舗", "overlap": 0.75, "to_key": True}
    ]


def make_mistakes(desk: Desk, sales: list[Sale]) -> None:
    for kind, (query, figures) in MISTAKES.items():
        form = desk.error(query).partition("; write: ")[2]
        assert desk.rows(f"```sql\n{form};\n```") == flat(figures(sales)), kind
    for query, advice in ADVICE.items():
        assert advice in desk.error(query)


def summarise(desk: Desk, sales: list[Sale]) -> None:
    amounts = [sale.amount for sale in sales]
    discounts = [sale.discount for sale in sales if sale.discount is not None]
    columns = desk.ask("profile", table_or_query=T, columns=["売上", "値引率"])["columns"]
    amount, discount = columns["売上"], columns["値引率"]
    assert (amount["min"], amount["max"]) == (min(amounts), max(amounts))
    assert amount["mean"] == pytest.approx(statistics.mean(amounts), rel=1e-9)
    assert amount["median"] == statistics.median(amounts)
    assert amount["std"] == pytest.approx(statistics.stdev(amounts), rel=1e-5)
    assert amount["distinct_count"] == len(set(amounts))
    assert discount["mean"] == pytest.approx(statistics.mean(discounts), rel=1e-9)
    assert discount["null_rate"] == pytest.approx(1 - len(discounts) / len(sales), abs=1e-6)
    june = ["2025-06-01", "2025-06-30"]
    part = desk.ask("profile", table_or_query=T, date_range=june, columns=["数量"])
    assert part["row_count"] == sum(f"{sale.day:%Y-%m}" == "2025-06" for sale in sales)
    bins = desk.ask("histogram", table_or_query=T, column="売上", bins=8)["bins"]
    for place, one in enumerate(bins):
        is_last = place == len(bins) - 1
        inside = (one["min"] <= n < one["max"] or (is_last and n == one["max"]) for n in amounts)
        assert one["count"] == sum(inside)
    shops = desk.ask("histogram", table_or_query=T, column="店舗")["bins"]
    counted = Counter(sale.shop for sale in sales)
    assert {one["value"]: one["count"] for one in shops} == counted
    monthly = f"SELECT date_trunc('month', 日付) AS m, 店舗, sum(売上) FROM {T} GROUP BY ALL"
    drawn = desk.client.call("query", {"query": f"{monthly} ORDER BY ALL", "chart": "line"})
    assert json.loads(drawn.content[0].text)["points"] == 24 * len(counted)
    assert base64.b64decode(drawn.content[1].data).startswith(b"\x89PNG")


QUESTION = f"""
    SELECT strftime(日付, '%Y-%m') AS month, sum(売上) AS s FROM {T}
    WHERE 店舗 = $shop AND 日付 >= $since GROUP BY month ORDER BY month
"""


def save_and_store(desk: Desk, sales: list[Sale]) -> None:
    made = desk.ask("query", query=QUESTION, save_as="店の月次")
    assert made["parameters"] == {"shop": "text", "since": "date"}
    assert answered(desk) == asked_for(sales)
    hostile = {"shop": "' OR 1=1 --", "since": "2025-10-01"}
    assert desk.ask("query", query="店の月次", parameters=hostile)["rows"] == []
    given = {"table": T, "measure": "売上", "first": "2024", "second": "2025", "by": "店舗"}
    compared = desk.ask("query", query="compare_periods", parameters=given)
    years = {
        year: sums([sale for sale in sales if sale.day.year == year], lambda sale: sale.shop)
        for year in (2024, 2025)
    }
    first, second = (compared["columns"].index(name) for name in ("first_sum", "second_sum"))
    assert {row[0]: (row[first], row[second]) for row in compared["rows"]} == {
        shop: (years[2024][shop], years[2025][shop]) for shop in years[2024]
    }
    by_shop = f"SELECT 店舗, sum(売上) AS s FROM {T} GROUP BY 店舗"
    assert desk.ask("materialize", name="by_shop", query=by_shop)["rows"] == len(SHOPS)
    assert dict(desk.rows("by_shop")) == sums(sales, lambda sale: sale.shop)
    assert [one["name"] for one in desk.ask("list_handles")["materialized"]] == ["by_shop"]
    share = (
        'SELECT 店舗, round(s / t."2024", 4) FROM by_shop JOIN sales__目標 AS t USING (店舗) '
        "ORDER BY 店舗"
    )
    totals = sums(sales, lambda sale: sale.shop)
    wanted = sorted([shop, round(totals[shop] / goal, 4)] for shop, (goal, _) in TARGETS.items())
    assert desk.rows(share) == wanted


def answered(desk: Desk) -> list[list[Any]]:
    given = {"shop": "渋谷", "since": "2025-10-01"}
    return desk.ask("query", query="店の月次", parameters=given)["rows"]


def asked_for(sales: list[Sale]) -> list[list[Any]]:
    here = [sale for sale in sales if sale.shop == "渋谷" and f"{sale.day}" >= "2025-10-01"]
    return flat(sorted(sums(here, month_of).items()))


def change_files(desk: Desk, folder: Path, sales: list[Sale]) -> None:
    """A file grows and another appears; until an import has them, the answers say so."""
    total = f"SELECT count(*), sum(売上) FROM {T}"
    before = [[len(sales), sum(sale.amount for sale in sales)]]
    kept = [sale for sale in sales if month_of(sale) != "2025-12"]
    now = [*kept, *write_month(folder, 2025, 12, more=5), *write_month(folder, 2026, 1)]
    while not (answer := desk.ask("query", query=total)).get("warnings"):
        assert answer["rows"] == before
        time.sleep(0.05)
    assert answer["rows"] == before
    assert answer["warnings"] == ["2 files are newer than the index of sales; reindex imports them"]
    desk.mdvec("import", "-n", "sales", "--mode", "update")
    fresh = desk.ask("query", query=total)
    assert fresh["rows"] == [[len(now), sum(sale.amount for sale in now)]]
    assert [told for told in fresh.get("warnings", ()) if "newer" in told] == []
    assert answered(desk) == asked_for(now)
    older = desk.ask("query", query="by_shop")
    assert dict(older["rows"]) == sums(sales, lambda sale: sale.shop)
    assert older["warnings"][0].startswith("by_shop is from before its data changed")
    by_shop = f"SELECT 店舗, sum(売上) AS s FROM {T} GROUP BY 店舗"
    assert desk.ask("materialize", name="by_shop", query=by_shop)["warnings"] == [
        "by_shop was a materialized table already, and is now this one"
    ]
    assert dict(desk.rows("by_shop")) == sums(now, lambda sale: sale.shop)
    assert desk.rows(f"SELECT count(DISTINCT file) FROM {T}") == [[25]]
    exported = desk.ask("export", query=f"SELECT * FROM {T}", format="csv")
    lines = (desk.folder / "exports" / exported["handle"]).read_text("utf-8").splitlines()
    assert len(lines) - 1 == exported["rows"] == len(now)
