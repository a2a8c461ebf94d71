"""`make demo`: `mdvec demo`, and then the same questions and more through an MCP client."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import anyio
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

ROOT = Path(__file__).parents[1]
DOCUMENTS = ROOT / "docs" / "examples" / "documents"
FOLDER = ROOT / ".demo"
BIN = Path(sys.executable).parent
_MAX_LINES = 10
QUESTIONS = (
    "venv の使い方を教えてください",
    "すみません、取り込みが途中で止まったらどうなるのでしょうか？",
    "猫は飼ってもいいですか？",  # in a PDF file
    "出張の精算書はいつまでに出しますか？",  # in a Word file
)


def run(*command: str) -> None:
    """Show a command as a person would type it, and run it."""
    print(f"\n$ {' '.join(command)}", flush=True)
    subprocess.run([str(BIN / command[0]), *command[1:]], check=True, cwd=ROOT)


async def search(client: Client) -> None:
    """Ask the server's search of all tools, and print what it finds."""
    names = [tool.name for tool in (await client.list_tools()).tools]
    print(f"the server offers: {', '.join(names)}")
    for question in QUESTIONS:
        answer = await client.call_tool("search", {"query": question, "k": 2})
        print(f"\n? {question}")
        lines = [line for line in answer.content[0].text.splitlines() if line.strip()]
        print("\n".join(f"  {line}" for line in lines[:_MAX_LINES]))


async def query_household(client: Client) -> None:
    """Get a month and a trend of the household; save the trend's chart."""
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


async def query_in_sql(client: Client) -> None:
    """Query the household in SQL: the distribution of its spending, and an export for Python."""
    spending = "SELECT date, -amount AS yen FROM transactions WHERE kind = 'expense'"
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


async def ask_the_server() -> None:
    """Start the server as a client would, and ask it everything."""
    print("\nstarting mdvec-mcp over STDIO …", flush=True)
    server = StdioServerParameters(command=str(BIN / "mdvec-mcp"), env=dict(os.environ))
    async with Client(stdio_client(server)) as client:
        await search(client)
        await query_household(client)
        await query_in_sql(client)


def main() -> None:
    """Run the command's own demo in a folder, add documents, and ask the server."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    run("mdvec", "demo", str(FOLDER.relative_to(ROOT)))
    # The demo shows the embedded model and writes nothing outside its folder.
    os.environ.update(
        MDVEC_DATABASE_PATH=str(FOLDER / "demo.sqlite"), MDVEC_MODEL_NAME="use",
        MDVEC_CONFIG=str(FOLDER / "config.toml"), MDVEC_ANALYTICS_FOLDER=str(FOLDER / "exports"),
    )  # fmt: skip
    run("mdvec", "tool", "add", "-n", "papers", "-d", "規則や手引きのサンプル（架空）", "-s",
        str(DOCUMENTS.relative_to(ROOT)))  # fmt: skip
    run("mdvec", "import", "-n", "papers")
    anyio.run(ask_the_server)


if __name__ == "__main__":
    main()
