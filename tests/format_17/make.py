"""Makes vectors.sqlite and its sources, in this folder, with the mdvec that is installed.

It was run once, with the last mdvec that wrote format 17, and is kept to show what the database
holds. All people, shops and amounts are invented. It uses only the two programs, as a user does.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import anyio
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

HERE = Path(__file__).parent
SOURCES = HERE / "sources"
DATABASE = HERE / "vectors.sqlite"
HEADER = "計算対象,日付,内容,金額（円）,保有金融機関,大項目,中項目,メモ,振替,ID"
NOTES = {
    "water.md": "---\ntags: [防災, 備蓄]\ndate: 2025-03-11\naliases: [みず]\n---\n# 防災\n\n"
    "## 水の備蓄\n\n水は1人1日3リットルを目安に、一週間分を備えます。\n",
    "git.md": "# Git\n\n## Two branches at once\n\nAdd a second working directory:\n\n"
    "```sh\ngit worktree add ../fix\n```\n",
    "日記/2025-06-08.md": "# 家具を買った日\n\n家具のとびらで本棚を買った。配達は土曜日。\n",
}
AUGUST_FILE = "kakeibo/収入・支出詳細_2025-08-01_2025-08-31.csv"
JUNE = [
    "1,2025/06/02,スーパーまるなか,-3200,そらカード,食費,食料品,,0,a01",
    "1,2025/06/07,家具のとびら,-18700,ピコペイ,住宅,家具・家電,,0,a02",
    "1,2025/06/08,家具のとびら ピコペイ,-18700,そらカード,未分類,未分類,,0,a03",
    "1,2025/06/10,喫茶こむぎ,-650,財布,食費,外食,,0,a04",
    "1,2025/06/10,喫茶こむぎ,-650,そらカード,食費,外食,友人と,0,a05",
    "1,2025/06/20,リンリン,-23980,ピコペイ,未分類,未分類,,0,a06",
    "1,2025/06/22,チャージ,-5000,みなと銀行,その他,その他,,0,a07",
    "1,2025/06/22,チャージ,5000,ピコペイ,その他,その他,,0,a08",
    "1,2025/06/25,給与,250000,みなと銀行,収入,給与,,0,a09",
    "1,2025/06/28,電気代,-6400,そらカード,水道・光熱費,電気代,,0,a10",
]
JULY = [
    "1,2025/07/01,スーパーまるなか,-2800,そらカード,食費,食料品,,0,b01",
    "1,2025/07/05,動物園,-1200,財布,趣味・娯楽,旅行,家族で,0,b02",
    "1,2025/07/09,消された店,-999,財布,食費,食料品,,0,b03",
    "1,2025/07/25,給与,250000,みなと銀行,収入,給与,,0,b04",
]
AUGUST = [
    "1,2025/08/03,本のもり,-1800,そらカード,教養・教育,書籍,,0,e01",
    "1,2025/08/03,本のもり,-1800,財布,教養・教育,書籍,,0,e02",
]
SHARED = ["1,2025/07/05,動物園,-1200,そらカード,趣味・娯楽,旅行,,0,c01"]
WORTH = '"日付","合計（円）","預金・現金（円）"\n"2025/06","310000","310000"\n'
RUNS = "day,km,pace\n" + "".join(f"2025-06-{n:02},{n % 5 + 1},{5 + n / 10}\n" for n in range(1, 13))


def write(path: str, text: str, encoding: str = "utf-8") -> None:
    """Write a source file."""
    file = SOURCES / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding=encoding)


def mdvec(*arguments: str) -> None:
    """Run `mdvec` on the database."""
    program = Path(sys.executable).with_name("mdvec")
    subprocess.run([program, *arguments, "--database", str(DATABASE)], check=True)


def statement(path: str, *lines: str) -> None:
    """Write a statement file."""
    write(path, "\r\n".join([HEADER, *lines, ""]), "cp932")


def import_everything() -> None:
    """Write the sources, and import them; July's statement twice, the second without a row."""
    for path, text in NOTES.items():
        write(f"notes/{path}", text)
    (SOURCES / "notes/broken.md").write_bytes(b"# \xff\xfe\x00")
    statement("kakeibo/収入・支出詳細_2025-06-01_2025-06-30.csv", *JUNE)
    july = "kakeibo/収入・支出詳細_2025-07-01_2025-07-31.csv"
    statement(july, *JULY)
    statement(AUGUST_FILE, *AUGUST)
    write("kakeibo/資産推移月次.csv", WORTH, "cp932")
    statement("ours/収入・支出詳細_2025-07-01_2025-07-31.csv", *SHARED)
    write("runs/runs.csv", RUNS)
    for month in ("05", "06"):
        write(f"runs/shops/sales_2025-{month}.csv", f"shop,yen\n東,{month}0\n西,7\n")
    for name, kind, description in (
        ("notes", "markdown", "開発と暮らしのメモ"),
        ("kakeibo", "household", "我が家の家計簿"),
        ("ours", "household", "二人の家計簿"),
        ("runs", "dataset", "ランニングと店の記録"),
    ):
        mdvec("tool", "add", "-n", name, "-d", description, "-s", str(SOURCES / name),
              "--kind", kind, "--title", f"題 {name}")  # fmt: skip
    for name in ("notes", "kakeibo", "ours"):
        mdvec("import", "-n", name, "--model", "use")
    mdvec("import", "-n", "runs", "--read", "pace=text", "--for", "runs.csv")
    statement(july, *(line for line in JULY if "消された店" not in line))
    mdvec("import", "-n", "kakeibo", "--mode", "update")
    (SOURCES / "notes/broken.md").unlink()


async def decide_everything() -> None:
    """Store what only the user knows: decisions, rules, notes, budgets, a saved question."""
    server = StdioServerParameters(
        command=str(Path(sys.executable).with_name("mdvec-mcp")),
        args=["--database", str(DATABASE)],
        env=dict(os.environ),
    )
    async with Client(stdio_client(server)) as client:

        async def call(tool_name: str, **arguments: object) -> None:
            answer = await client.call_tool(tool_name, arguments)
            if answer.is_error:
                raise SystemExit(f"{tool_name} was refused: {answer.content}")

        await call("detect_duplicates", tool="kakeibo")
        await call("list_duplicate_candidates", tool="kakeibo", skip_checked=False)
        for check, decision in DECISIONS.items():
            await call("confirm_duplicate", tool="kakeibo", check_id=check, decision=decision)
        await call("confirm_duplicate", decision="duplicate", transaction_ids=[12, 17])
        await call("set_budget", tool="kakeibo", category="食費", amount=40000)
        await call("set_budget", tool="kakeibo", category="旅行", amount=120000, per="year")
        await call("set_category_rule", tool="kakeibo", action="add", shop="リンリン",
                   category="旅行")  # fmt: skip
        await call("note_transaction", tool="kakeibo", transaction_id=12,
                   note="雨で早めに帰った", tags=["家族", "夏"])  # fmt: skip
        await call("save_query", name="distance", description="Kilometres since a day",
                   sql="SELECT sum(km) AS km FROM runs__runs WHERE day >= $since")  # fmt: skip


DECISIONS = {1: "duplicate", 2: "not_duplicate", 3: "duplicate", 4: "duplicate"}


def finish() -> None:
    """Add what only a paid or calibrated model writes; make one small file, pages of 1,024 bytes.

    The folder of the sources becomes /sources, which a test replaces by its own.
    """
    with closing(sqlite3.connect(DATABASE, isolation_level=None)) as connection:
        connection.executescript(OF_MODELS)
        for table, column in (("tools", "source_directory"), ("dataset_tables", "source"),
                              ("dataset_tables", "combined")):  # fmt: skip
            connection.execute(
                f"UPDATE {table} SET {column} = replace({column}, ?, '/sources')", (str(SOURCES),)
            )
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.execute("PRAGMA page_size = 1024")
        connection.execute("VACUUM")


OF_MODELS = """
CREATE TABLE allowed_endpoints (tool_id INTEGER NOT NULL REFERENCES tools(id) ON DELETE CASCADE,
    origin TEXT NOT NULL, PRIMARY KEY (tool_id, origin)) WITHOUT ROWID;
INSERT INTO allowed_endpoints VALUES (1, 'https://models.example');
CREATE TABLE model_constants (fingerprint TEXT PRIMARY KEY, trust REAL NOT NULL, mean REAL,
    deviation REAL);
INSERT INTO model_constants VALUES ('invented@1:4:l2', 0.5, 0.25, 0.125);
"""

if __name__ == "__main__":
    shutil.rmtree(SOURCES, ignore_errors=True)
    shutil.rmtree(f"{DATABASE}.datasets", ignore_errors=True)
    DATABASE.unlink(missing_ok=True)
    import_everything()
    anyio.run(decide_everything)
    (SOURCES / AUGUST_FILE).unlink()  # the decision on its rows outlives them
    mdvec("import", "-n", "kakeibo", "--mode", "replace", "--model", "use")
    finish()
