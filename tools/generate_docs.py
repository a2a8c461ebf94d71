"""Write docs/cli.md and docs/tools.md from the programs themselves, or check that they agree."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import anyio
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mdvec import registering

DOCS = Path(__file__).parents[1] / "docs"
COMMANDS = (
    "", "tool", "tool add", "tool update", "tool delete", "tool enable", "tool disable", "tool ls",
    "import", "search", "status", "model", "model ls", "model pull",
)  # fmt: skip


def help_of(command: str, program: str = "mdvec", module: str = "mdvec_cli") -> str:
    """What ``program command --help`` prints, eighty columns wide."""
    code = f"import sys; sys.argv[0] = {program!r}; from {module}.main import main; main()"
    return subprocess.run(
        [sys.executable, "-c", code, *command.split(), "--help"],
        check=True, capture_output=True, text=True,
        env={**os.environ, "COLUMNS": "80", "TERM": "dumb", "NO_COLOR": "1"},
    ).stdout.rstrip()  # fmt: skip


def cli_page() -> str:
    """The whole of docs/cli.md."""
    parts = ["# The commands", "Written by `make docs` from the commands' own help."]
    for command in COMMANDS:
        parts.append(f"## {f'mdvec {command}'.strip()}")
        parts.append(f"```text\n{help_of(command)}\n```")
    parts += ["## mdvec-mcp", f"```text\n{help_of('', 'mdvec-mcp', 'mdvec_mcp')}\n```"]
    return "\n\n".join(parts) + "\n"


def tools_page() -> str:
    """The whole of docs/tools.md, as a real server with one sample row of each kind tells it."""
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "sample.sqlite"
        description = "Sample: the description that you gave with `mdvec tool add -d`."
        registering.add_tool(database, "notes", description, Path(folder), "markdown")
        registering.add_tool(database, "kakeibo", "見本の家計簿", Path(folder), "household")
        registering.add_tool(database, "runs", "Sample: a dataset.", Path(folder), "dataset")
        instructions, tools, rules = anyio.run(_listed, database)
    parts = [
        "# The tools of the server",
        "Written by `make docs` from a server with a collection, `notes`, a household, `kakeibo`, "
        "and a dataset, `runs`.",
        "## What the server tells a model first",
        f"> {instructions}",
    ]
    for tool in tools:
        parts += [f"## {tool.name}", str(tool.description)]
        for title, schema in (("Parameters", tool.input_schema), ("Answer", tool.output_schema)):
            parts += [f"### {title}", f"```json\n{json.dumps(schema, indent=2)}\n```"]
    parts += ["## The prompt `analyze_data`", f"```text\n{rules}\n```"]
    return "\n\n".join(parts) + "\n"


async def _listed(database: Path) -> tuple[str | None, list[Any], str]:
    code = "import sys; sys.argv[0] = 'mdvec-mcp'; from mdvec_mcp.main import main; main()"
    server = StdioServerParameters(
        command=sys.executable, args=["-c", code, "--database", str(database)],
        env={**os.environ, "MDVEC_ANALYTICS_FOLDER": str(database.parent / "exports")},
    )  # fmt: skip
    async with Client(stdio_client(server)) as client:
        rules = await client.get_prompt("analyze_data")
        tools = (await client.list_tools()).tools
        return client.instructions, tools, rules.messages[0].content.text


def main() -> int:
    """Write the pages; with ``--check`` only compare them."""
    stale = 0
    for name, text in (("cli.md", cli_page()), ("tools.md", tools_page())):
        page = DOCS / name
        if "--check" not in sys.argv:
            page.write_text(text, encoding="utf-8")
        elif not page.exists() or page.read_text(encoding="utf-8") != text:
            print(f"docs/{name} is not what the programs say; run: make docs", file=sys.stderr)
            stale = 1
    return stale


if __name__ == "__main__":
    sys.exit(main())
