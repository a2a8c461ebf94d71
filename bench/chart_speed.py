"""Charts: drawing them warm, what two hundred leave in memory, and serving five clients at once."""

from __future__ import annotations

import threading
import time
import urllib.request

import psutil
from mdvec.charts.figure import draw
from mdvec.charts.plot import Picture, Plot, Series, category_plot, month_plot
from mdvec.dates import Month, MonthRange
from mdvec.settings import ChartSettings
from mdvec_mcp.charts.server import ChartServer
from processes import Bench, call_in_child
from results import Row, median, spread

MANY, CLIENTS, BYTES = 200, 5, 8_000_000
SIZE = (800, 600)


def measure(bench: Bench) -> list[Row]:
    """Draw and serve in processes of their own."""
    milliseconds, growth = call_in_child(bench, "chart_speed", "draw_many")
    speeds = call_in_child(bench, "chart_speed", "serve")
    return [
        Row(
            "a chart of 800x600, warm (pie, bar, line, area in turns)", spread(milliseconds, "ms"),
            "≤ 500 ms", median(milliseconds) <= 500,
        ),
        Row(f"what {MANY} charts add to memory", f"{growth:.1f} MB", "≤ 20 MB", growth <= 20),
        Row(
            f"the chart server, {CLIENTS} clients at once, the slowest of them",
            f"{min(speeds):.0f} MB/s", "≥ 1 MB/s each", min(speeds) >= 1, minor=True,
        ),
    ]  # fmt: skip


def draw_many() -> tuple[list[float], float]:
    """Milliseconds of each chart after a warm-up, and the growth of memory in MB."""
    charts = _charts()
    for number in range(12):
        draw(charts[number % 4], SIZE, "png")
    process = psutil.Process()
    before, milliseconds = process.memory_info().rss, []
    for number in range(MANY):
        began = time.perf_counter()
        draw(charts[number % 4], SIZE, "png")
        milliseconds.append((time.perf_counter() - began) * 1000)
    return milliseconds, (process.memory_info().rss - before) / 1e6


def serve() -> list[float]:
    """MB a second of each client."""
    server = ChartServer(ChartSettings(port=0))
    url = server.publish(Picture(bytes(BYTES), "image/png"))
    speeds: list[float] = []

    def fetch() -> None:
        began = time.perf_counter()
        with urllib.request.urlopen(url, timeout=60) as response:
            size = len(response.read())
        speeds.append(size / 1e6 / (time.perf_counter() - began))

    clients = [threading.Thread(target=fetch) for _ in range(CLIENTS)]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    server.close()
    return speeds


def _charts() -> list[Plot]:
    items = tuple((f"カテゴリ{number}", 90_000 - 7_000 * number) for number in range(10))
    months = tuple(MonthRange(Month(2025, 1), Month(2025, 12)))
    series = tuple(
        Series(f"カテゴリ{n}", tuple(20_000 + 3_000 * ((n + m) % 5) for m in range(12)))
        for n in range(3)
    )
    return [
        category_plot("pie", "2025年6月の支出", items),
        category_plot("bar", "2025年6月の支出", items),
        month_plot("line", "食費の推移", months, series),
        month_plot("area", "食費の推移", months, series),
    ]
