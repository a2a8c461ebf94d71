"""`make dist-check`: the wheels alone, in an empty environment, as a new user meets them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
IS_WINDOWS = os.name == "nt"
KEPT = (
    "PATH",
    "LANG",
    "LC_ALL",
    "SSL_CERT_FILE",
    "SYSTEMROOT",
    "COMSPEC",
    "PATHEXT",
    "TEMP",
    "TMP",
)
NEEDED = ("PIP_",)


def main() -> int:
    """Install the wheels, then try both commands; the exit code is that of the doctor."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        home.mkdir()
        environment = {
            name: value
            for name, value in os.environ.items()
            if name in KEPT or name.startswith(NEEDED)
        } | dict.fromkeys(("HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA"), str(home))
        programs = Path(folder) / "venv" / ("Scripts" if IS_WINDOWS else "bin")
        venv.create(programs.parent, with_pip=True)
        wheels = sorted(map(str, (ROOT / "dist").glob("*.whl")))
        run(programs / "pip", "install", "-q", "-c", str(ROOT / "constraints.txt"), *wheels)

        def mdvec(*arguments: str) -> str:
            print(f"$ mdvec {' '.join(arguments)}", flush=True)
            said = run(programs / "mdvec", *arguments, cwd=home, env=environment)
            print(said, end="", flush=True)
            return said

        mdvec("demo")
        assert not list(home.rglob("analytics"))  # it says that it keeps nothing
        mdvec("samples", "samples")
        mdvec("tool", "add", "-n", "notes", "-d", "sample notes", "-s", "samples/notes")
        mdvec("import", "-n", "notes")
        assert "防災メモ" in mdvec("search", "水はどれくらい備蓄する？", "-k", "1")
        mdvec("register", "claude-code")
        entry = json.loads((home / ".claude.json").read_text(encoding="utf-8"))["mcpServers"][
            "mdvec"
        ]
        assert Path(entry["command"]).with_suffix("") == programs / "mdvec-mcp"
        mdvec("doctor")  # starts the server, and searches
        code = "import mdvec, mdvec_cli, mdvec_mcp; print(mdvec.__file__)"
        place = run(programs / "python", "-c", code, cwd=home, env=environment)
        assert place.startswith(str(programs.parent)), place
    print("the wheels work without the checkout")
    return 0


def run(program: Path, *arguments: str, **options: object) -> str:
    """What a command prints; its failure ends the check."""
    done = subprocess.run(
        [str(program), *arguments], encoding="utf-8", stdout=subprocess.PIPE, check=False, **options
    )
    if done.returncode:
        sys.exit(f"{program.name} {' '.join(arguments)} failed:\n{done.stdout}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
