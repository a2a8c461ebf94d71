"""`make mcpb`: a bundle that clients such as Claude Desktop install with a click.

It contains the wheels of dist/; the client's uv fetches Python and the other packages. The
official tool validates and packs it.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import mdvec

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"
TOOL = "@anthropic-ai/mcpb@2.1.2"
MEMBERS = {"mdvec-mcp": "mdvec_mcp", "mdvec-shared": "mdvec_shared"}
START = "from mdvec_mcp.entry import main\n\nmain()\n"


def manifest() -> dict[str, object]:
    """The bundle's manifest; its experimental server type "uv" is new in version 0.4."""
    return {
        "manifest_version": "0.4",
        "name": "mdvec",
        "display_name": "mdvec",
        "version": mdvec.__version__,
        "description": "Search your notes, household and data on your own machine",
        "long_description": "Imports the folder that you name, follows it, and answers from it.",
        "author": {"name": "The mdvec authors"},
        "license": "MIT",
        "server": {
            "type": "uv",
            "entry_point": "server.py",
            "mcp_config": {
                "command": "uv",
                "args": [
                    "run",
                    "--directory",
                    "${__dirname}",
                    "server.py",
                    "--docs-dir",
                    "${user_config.folder}",
                ],
            },
        },
        "user_config": {
            "folder": {
                "type": "directory",
                "title": "Folder",
                "description": "Your notes and documents; they are read, never changed",
                "required": True,
            }
        },
        "tools_generated": True,
        "prompts_generated": True,
        # A space between the bounds: the tool takes no comma.
        "compatibility": {
            "platforms": ["darwin", "linux", "win32"],
            "runtimes": {"python": ">=3.11 <3.15"},
        },
    }


def project(wheels: dict[str, str]) -> str:
    """The pyproject.toml from which uv installs the server."""
    sources = "\n".join(f'{name} = {{ path = "wheels/{file}" }}' for name, file in wheels.items())
    return (
        '[project]\nname = "mdvec-bundle"\n'
        f'version = "{mdvec.__version__}"\n'
        'requires-python = ">=3.11,<3.15"\n'
        f"dependencies = {json.dumps(list(wheels))}\n\n"
        f"[tool.uv]\npackage = false\n\n[tool.uv.sources]\n{sources}\n"
    )


def main() -> int:
    """Build dist/mdvec-VERSION.mcpb from the wheels that are there."""
    npx = shutil.which("npx")
    if npx is None:
        print("make mcpb needs Node.js (npx) for the official tool", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        (folder / "wheels").mkdir()
        wheels = {}
        for name, stem in MEMBERS.items():
            wheel = DIST / f"{stem}-{mdvec.__version__}-py3-none-any.whl"
            shutil.copy(wheel, folder / "wheels")
            wheels[name] = wheel.name
        (folder / "manifest.json").write_text(json.dumps(manifest(), indent=2) + "\n")
        (folder / "pyproject.toml").write_text(project(wheels))
        (folder / ".python-version").write_text("3.11\n")
        (folder / "server.py").write_text(START)
        shutil.copy(ROOT / "LICENSE", folder)
        bundle = DIST / f"mdvec-{mdvec.__version__}.mcpb"
        for command in (
            ["validate", str(folder / "manifest.json")],
            ["pack", str(folder), str(bundle)],
        ):
            subprocess.run([npx, "--yes", TOOL, *command], check=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
