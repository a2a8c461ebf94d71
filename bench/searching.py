"""Searching: a warm server over STDIO, Japanese questions, ten or a hundred thousand chunks."""

from __future__ import annotations

import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import anyio
import psutil
from finding import TOOL
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mdvec.embedding import catalog
from mdvec.manage.registering import add_tool
from processes import SERVER, Bench, run_mdvec
from results import Row, median, spread
from text_windows import PER_DOCUMENT, embedded_windows, store_windows

CHUNK_SIZE = 128


@dataclass(frozen=True, slots=True)
class Bars:
    """The bars on time and memory for a number of chunks."""

    chunks: int
    milliseconds: int
    megabytes: int


MANY = Bars(10_000, 25, 200)
LARGE = Bars(100_000, 45, 700)
MILLION = Bars(1_000_000, 250, 700)
MAPPED = (".npy", ".dic")
"""Files that are mapped: their pages are shared, and the system can drop them."""
FILTERED_MILLISECONDS = 60
QUESTIONS = (
    "state を更新しても画面が変わらないのはなぜ？",
    "エフェクトが二回実行される",
    "useEffect の依存配列には何を書けばよいか",
    "リストの key は何のためにあるのか",
    "フォームの入力値を親コンポーネントで管理したい",
    "コンテクストで props の受け渡しを減らす方法",
    "サーバコンポーネントとクライアントコンポーネントの違い",
    "How do I memoize an expensive calculation?",
    "ref と state の使い分け",
    "エラーバウンダリの書き方",
    "レンダー中に副作用を起こしてはいけない理由",
    "React Compiler を導入する手順",
    "カスタムフックでロジックを共有する",
    "ストリーミングしながら HTML を返す",
    "オブジェクトを含む state を正しく更新する",
    "条件に応じて違う JSX を表示する",
    "useReducer に移行する",
    "データ取得中にローディングを出したい",
    "非推奨になったライフサイクルメソッド",
    "イベントの伝播を止める",
)


def measure(bench: Bench) -> list[Row]:
    """Import the corpus in small chunks, then search for every question several times."""
    database = bench.folder / "search.sqlite"
    add_tool(database, TOOL, "React の日本語ドキュメント", bench.corpus, "markdown")
    done = run_mdvec(
        bench, "import", "-n", TOOL, "--model", "use", "--chunk-size", str(CHUNK_SIZE),
        "--format", "json", "--database", database,
    )  # fmt: skip
    return search_rows(bench, database, json.loads(done.stdout)["chunks"], MANY)


def measure_most(bench: Bench) -> list[Row]:
    """The same questions over overlapping windows of the corpus."""
    texts, vectors = embedded_windows(bench.corpus)
    embedder = catalog.load("use")
    database = bench.folder / "search.sqlite"
    model = (embedder.name, embedder.fingerprint, embedder.dimension)
    store_windows(database, texts, vectors, model)
    rows = search_rows(bench, database, len(texts), LARGE)
    one_file = {"path": "000000.md"}
    milliseconds, *_ = anyio.run(_ask_all, bench, database, bench.times(5), one_file)
    filtered = Row(
        f"the same, of which a filter by path leaves {PER_DOCUMENT:,}",
        spread(milliseconds, "ms"),
        f"≤ {FILTERED_MILLISECONDS} ms",
        median(milliseconds) <= FILTERED_MILLISECONDS,
        minor=True,
    )
    return [*rows, filtered]


def search_rows(bench: Bench, database: Path, chunks: int, bars: Bars) -> list[Row]:
    """How long searches of a database wait, and what the server has of memory."""
    milliseconds, memory, mapped = anyio.run(_ask_all, bench, database, bench.times(5))
    return [
        Row(
            f"search over STDIO, {chunks:,} chunks (`use`, warm)",
            spread(milliseconds, "ms"),
            f"≤ {bars.milliseconds} ms (with {bars.chunks:,} chunks)",
            chunks >= bars.chunks and median(milliseconds) <= bars.milliseconds,
        ),
        Row(
            f"the server's highest memory with {chunks:,} chunks",
            f"{memory:.0f} MB, and {mapped:.0f} MB mapped (weights and dictionaries)",
            f"≤ {bars.megabytes} MB",
            memory <= bars.megabytes,
        ),
    ]


async def _ask_all(
    bench: Bench, database: Path, rounds: int, filters: dict[str, str] | None = None
) -> tuple[list[float], float, float]:
    """Milliseconds of every search after a first round; the server's memory, and what it maps."""
    server = StdioServerParameters(
        command=sys.executable, args=["-c", SERVER, "--database", str(database)],
        env=bench.environment, cwd=bench.folder,
    )  # fmt: skip
    milliseconds = []
    async with Client(stdio_client(server)) as client:
        (process,) = psutil.Process().children()
        for number in range(rounds + 1):
            for question in QUESTIONS:
                took = await _ask(client, {"query": question, **(filters or {})})
                if number:
                    milliseconds.append(took)
        memory, mapped = _memory_mb(process), _mapped_mb(process)
    return milliseconds, memory - mapped, mapped


async def _ask(client: Client, arguments: dict[str, str]) -> float:
    began = time.perf_counter()
    answer = await client.call_tool(TOOL, arguments)
    seconds = time.perf_counter() - began
    if answer.is_error or answer.content[0].text.count("\n<text ") != 5:
        raise RuntimeError(f"no five hits for {arguments!r}: {answer.content}")
    return seconds * 1000


def _memory_mb(process: psutil.Process) -> float:
    """The peak memory of a process if the system reports it, else its current memory."""
    status = Path(f"/proc/{process.pid}/status")
    if status.exists():
        lines = status.read_text().splitlines()
        peak = next(line for line in lines if line.startswith("VmHWM"))
        return int(peak.split()[1]) * 1.024 / 1000
    return process.memory_info().rss / 1e6


def _mapped_mb(process: psutil.Process) -> float:
    """What of its memory are pages of mapped files, where the system tells."""
    if not hasattr(process, "memory_maps"):
        return 0
    maps = process.memory_maps()
    return sum(one.rss for one in maps if one.path.endswith(MAPPED)) / 1e6
