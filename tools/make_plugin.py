"""`make plugin`: a Claude Code plugin with the skill and the server, and a marketplace of it alone.

claude plugin marketplace add ./dist/plugin
claude plugin install mdvec@mdvec
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from pathlib import Path

import mdvec

ROOT = Path(__file__).parents[1]
SKILL = Path(__file__).parent / "plugin" / "SKILL.md"
DESCRIPTION = "Search your notes, household accounts and data on your own machine"
AUTHOR = {"name": "The mdvec authors"}


def main(folder: Path) -> None:
    """Write the plugin and its marketplace into a folder, anew.

    Only a marketplace of this plugin alone, as an earlier run made it, is replaced.
    """
    if folder.exists() and not _is_made_here(folder):
        sys.exit(f"{folder} exists and is no plugin of mdvec; name a folder that does not exist")
    with tempfile.TemporaryDirectory(prefix=".plugin-", dir=_parent_of(folder)) as fresh:
        _write_all(Path(fresh) / folder.name)
        if folder.exists():
            folder.rename(Path(fresh) / "before")
        (Path(fresh) / folder.name).rename(folder)


def _parent_of(folder: Path) -> Path:
    folder.parent.mkdir(parents=True, exist_ok=True)
    return folder.parent


def _is_made_here(folder: Path) -> bool:
    """Whether the folder holds what this program writes, and nothing else."""
    if folder.is_symlink() or not folder.is_dir():
        return False
    with tempfile.TemporaryDirectory() as fresh:
        _write_all(Path(fresh))
        written = _paths_in(Path(fresh))
    return _paths_in(folder) <= written


def _paths_in(folder: Path) -> set[Path]:
    return {path.relative_to(folder) for path in folder.rglob("*")}


def _write_all(folder: Path) -> None:
    plugin = folder / "mdvec"
    (plugin / "skills" / "mdvec").mkdir(parents=True)
    shutil.copyfile(SKILL, plugin / "skills" / "mdvec" / "SKILL.md")
    _write(
        plugin / ".claude-plugin" / "plugin.json",
        {
            "name": "mdvec",
            "version": mdvec.__version__,
            "description": DESCRIPTION,
            "author": AUTHOR,
            "license": "MIT",
        },
    )
    # The server is found on PATH, where pipx and uv put it; it takes the user's own settings.
    _write(plugin / ".mcp.json", {"mcpServers": {"mdvec": {"command": "mdvec-mcp", "args": []}}})
    _write(
        folder / ".claude-plugin" / "marketplace.json",
        {
            "name": "mdvec",
            "owner": AUTHOR,
            "description": DESCRIPTION,
            "plugins": [{"name": "mdvec", "source": "./mdvec", "description": DESCRIPTION}],
        },
    )


def _write(file: Path, data: dict[str, object]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "dist" / "plugin")
