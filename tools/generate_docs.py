"""Write the generated pages and the rules that the package ships, or check them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from mdvec_cli.main import app
from tools_page import tools_page
from typer.core import TyperGroup
from typer.main import get_command

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
RULES = ROOT / "shared/src/mdvec/manage/rules/analysis_rules.md"


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


def rules_section() -> str:
    """docs/llm-rules.md as a section of another file: a level lower, without links."""
    text = (DOCS / "llm-rules.md").read_text(encoding="utf-8")
    title, _, rest = text.partition("\n")
    opening, _, rules = rest.partition("\n## ")  # what follows the opening is about this repository
    first = opening.strip().partition("\n\n")[0]
    section = f"{title}\n\n{first}\n\n## {rules}"
    return re.sub(r"^#", "##", re.sub(r"\[([^]]+)\]\([^)]+\)", r"\1", section), flags=re.MULTILINE)


def main() -> int:
    """Write the pages; with ``--check`` only compare them."""
    stale = 0
    pages = {
        DOCS / "cli.md": cli_page(),
        DOCS / "tools.md": tools_page(),
        RULES: rules_section(),
    }
    for page, text in pages.items():
        if "--check" not in sys.argv:
            page.write_text(text, encoding="utf-8")
        elif not page.exists() or page.read_text(encoding="utf-8") != text:
            print(f"{page.relative_to(ROOT)} is out of date; run: make docs", file=sys.stderr)
            stale = 1
    return stale


if __name__ == "__main__":
    sys.exit(main())
