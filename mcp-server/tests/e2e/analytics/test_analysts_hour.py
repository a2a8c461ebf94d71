"""An analyst's hour over STDIO: one session, real mistakes, files that change; no figure is wrong.

Every figure is compared with plain Python over the same invented sales.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from monthly_sales import MONTHS, SHOPS, TARGETS, Sale, write_month, write_targets

CLI = "import sys; sys.argv[0] = 'mdvec'; from mdvec_cli.main import main; main()"
T = "sales__売上"
MISTAKE = (
    f"SELECT DATE_FORMAT(日付, '%Y-%m') AS month, sum(売上) FROM {T} "
    "GROUP BY month ORDER BY month LIMIT 3"
)
"""As MySQL would take it."""


def sums(sales: list[Sale], key: Callable[[Sale], str]) -> Counter[str]:
    found: Counter[str] = Counter()
    for sale in sales:
        found[key(sale)] += sale.amount
    return found


def month_of(sale: Sale) -> str:
    return f"{sale.day:%Y-%m}"


def by_month(sales: list[Sale]) -> list[list[Any]]:
    return [list(row) for row in sorted(sums(sales, month_of).items())]


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
        make_a_mistake(desk, sales)
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


def make_a_mistake(desk: Desk, sales: list[Sale]) -> None:
    answer = desk.client.call("query", {"query": MISTAKE})
    assert answer.is_error
    form = answer.content[0].text.partition("; write: ")[2]
    assert desk.rows(f"```sql\n{form};\n```") == by_month(sales)[:3]


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
    return by_month(here)


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
