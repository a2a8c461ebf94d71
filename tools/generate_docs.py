"""Write docs/cli.md and docs/tools.md from the programs, or check that they are up to date."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from mdvec_cli.main import app
from tools_page import tools_page
from typer.core import TyperGroup
from typer.main import get_command

DOCS = Path(__file__).parents[1] / "docs"


def commands(app: TyperGroup, path: str = "") -> Iterator[str]:
    """The paths of all commands, groups first, in the order of the help."""
    yield path
    for name, command in app.commands.items():
        inner = f"{path} {name}".strip()
        if isinstance(command, TyperGroup):
            yield from commands(command, inner)
        else:
            yield inner


def help_of(command: str, program: str = "mdvec", module: str = "mdvec_cli") -> str:
    """What ``program command --help`` prints, eighty columns wide."""
    code = f"import sys; sys.argv[0] = {program!r}; from {module}.main import main; main()"
    return subprocess.run(
        [sys.executable, "-c", code, *command.split(), "--help"],
        check=True, capture_output=True, text=True,
        env={**os.environ, "COLUMNS": "80", "TERM": "dumb", "NO_COLOR": "1"},
    ).stdout.rstrip()  # fmt: skip


def cli_page() -> str:
    """The text of docs/cli.md."""
    parts = ["# The commands", "Written by `make docs` from the commands' own help."]
    root = get_command(app)
    assert isinstance(root, TyperGroup)
    for command in commands(root):
        parts.append(f"## {f'mdvec {command}'.strip()}")
        parts.append(f"```text\n{help_of(command)}\n```")
    parts += ["## mdvec-mcp", f"```text\n{help_of('', 'mdvec-mcp', 'mdvec_mcp')}\n```"]
    return "\n\n".join(parts) + "\n"


def main() -> int:
    """Write the pages; with ``--check`` only compare them."""
    stale = 0
    for name, text in (("cli.md", cli_page()), ("tools.md", tools_page())):
        page = DOCS / name
        if "--check" not in sys.argv:
            page.write_text(text, encoding="utf-8")
        elif not page.exists() or page.read_text(encoding="utf-8") != text:
            print(f"docs/{name} is out of date; run: make docs", file=sys.stderr)
            stale = 1
    return stale


if __name__ == "__main__":
    sys.exit(main())
