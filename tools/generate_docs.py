"""Write the generated pages and the rules that the package ships, or check them."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from cli_page import cli_page
from tools_page import tools_page

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
RULES = ROOT / "shared/src/mdvec/manage/analysis_rules.md"


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
