"""`make demo`: turns sample folders into tools, and queries them through an MCP client."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import anyio
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

ROOT = Path(__file__).parents[1]
NOTES = ROOT / "docs" / "examples" / "notes"
DOCUMENTS = ROOT / "docs" / "examples" / "documents"
HOUSEHOLD = ROOT / "docs" / "examples" / "household"
FOLDER = ROOT / ".demo"
BIN = Path(sys.executable).parent
_MAX_LINES = 10
QUESTIONS = (
    "地震に備えて水はどれくらい備蓄すればいいか、教えていただけますか？",
    "venv の使い方を教えてください",
    "すみません、取り込みが途中で止まったらどうなるのでしょうか？",
    "How do I keep two branches checked out at the same time?",
)


DOCUMENT_QUESTIONS = (
    "猫は飼ってもいいですか？",  # in a PDF file
    "出張の精算書はいつまでに出しますか？",  # in a Word file
)


def run(*command: str) -> None:
    """Show a command as a person would type it, and run it."""
    print(f"\n$ {' '.join(command)}", flush=True)
    subprocess.run([str(BIN / command[0]), *command[1:]], check=True, cwd=ROOT)


async def search(database: Path, tool: str, questions: Sequence[str]) -> None:
    """Start the server as a client would, and print search results."""
    server = StdioServerParameters(
        command=str(BIN / "mdvec-mcp"), args=["--database", str(database)], env=dict(os.environ)
    )
    print("\nstarting mdvec-mcp over STDIO …", flush=True)
    async with Client(stdio_client(server)) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        print(f"the server offers: {', '.join(names)}")
        for question in questions:
            answer = await client.call_tool(tool, {"query": question, "k": 2})
            print(f"\n? {question}")
            lines = [line for line in answer.content[0].text.splitlines() if line.strip()]
            print("\n".join(f"  {line}" for line in lines[:_MAX_LINES]))


async def query_household(database: Path) -> None:
    """Get a month and a trend of the household; save the trend's chart."""
    server = StdioServerParameters(
        command=str(BIN / "mdvec-mcp"), args=["--database", str(database)], env=dict(os.environ)
    )
    async with Client(stdio_client(server)) as client:
        print("\n? 2025年6月の支出は？")
        month = await client.call_tool(
            "get_monthly_household", {"period": "2025年6月", "output_format": "text"}
        )
        print("\n".join(f"  {line}" for line in month.content[0].text.splitlines()[:9]))
        print("\n? 食費の推移をグラフで")
        trend = await client.call_tool(
            "get_category_trend",
            {"category": "食費", "period": "直近6か月", "output_format": "image"},
        )
        for block in trend.content:
            if block.type == "text":
                print("\n".join(f"  {line}" for line in block.text.splitlines()[:10]))
            elif block.type == "image":
                picture = FOLDER / "food.png"
                picture.write_bytes(base64.b64decode(block.data))
                print(f"  the picture: {picture.relative_to(ROOT)}")


async def query_in_sql(database: Path) -> None:
    """Query the household in SQL: the distribution of its spending, and an export for Python."""
    server = StdioServerParameters(
        command=str(BIN / "mdvec-mcp"), args=["--database", str(database)], env=dict(os.environ)
    )
    spending = "SELECT date, -amount AS yen FROM transactions WHERE kind = 'expense'"
    async with Client(stdio_client(server)) as client:
        print(f"\n? histogram: {spending}")
        spread = await client.call_tool(
            "histogram",
            {
                "table_or_query": f"{spending} AND amount BETWEEN -20000 AND -1",
                "column": "yen",
                "bins": 6,
            },
        )
        for one in json.loads(spread.content[0].text)["bins"]:
            bar = "█" * round(one["count"] / 12)
            print(f"  {one['min']:>6,} – {one['max']:>6,} yen {one['count']:>5} {bar}")
        print(f"\n? export: {spending}")
        made = await client.call_tool("export", {"query": spending})
        print(f"  {made.content[0].text}")
        print("  that is all the model reads; Python continues with safe_load_export(handle)")


def main() -> None:
    """Import the samples into a database of their own, and query them."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir()
    # The demo shows the embedded model and writes nothing outside its folder.
    os.environ.update(
        MDVEC_DATABASE_PATH=str(FOLDER / "demo.sqlite"), MDVEC_MODEL_NAME="use",
        MDVEC_CONFIG=str(FOLDER / "config.toml"), MDVEC_ANALYTICS_FOLDER=str(FOLDER / "exports"),
    )  # fmt: skip
    (FOLDER / "config.toml").write_text("# the demo's settings come from the environment\n")
    run("mdvec", "tool", "add", "-n", "notes", "-d", "mdvec のサンプルノート", "-s",
        str(NOTES.relative_to(ROOT)))  # fmt: skip
    run("mdvec", "import", "-n", "notes")
    run("mdvec", "status")
    anyio.run(search, FOLDER / "demo.sqlite", "notes", QUESTIONS)
    run("mdvec", "tool", "add", "-n", "papers", "-d", "規則や手引きのサンプル（架空）", "-s",
        str(DOCUMENTS.relative_to(ROOT)))  # fmt: skip
    run("mdvec", "import", "-n", "papers")
    anyio.run(search, FOLDER / "demo.sqlite", "papers", DOCUMENT_QUESTIONS)
    run("mdvec", "tool", "add", "-n", "kakeibo", "-d", "家計簿のサンプル（架空）", "-s",
        str(HOUSEHOLD.relative_to(ROOT)), "--kind", "household")  # fmt: skip
    run("mdvec", "import", "-n", "kakeibo")
    anyio.run(query_household, FOLDER / "demo.sqlite")
    anyio.run(query_in_sql, FOLDER / "demo.sqlite")
    print(
        "\nTo look at it in the browser: .venv/bin/mdvec ui --database "
        f"{(FOLDER / 'demo.sqlite').relative_to(ROOT)} "
        f"--config {(FOLDER / 'config.toml').relative_to(ROOT)}"
    )
    print("\nDone. Next, import your own folder: README.md shows how.")


if __name__ == "__main__":
    main()
