"""Run the tests, and check the coverage of each package."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
LEAST_COVERED = 90
PACKAGES = {
    "mdvec": "shared/src",
    "mdvec_cli": "manage-documents/src",
    "mdvec_mcp": "mcp-server/src",
}


def python(*arguments: str) -> int:
    """Run this Python with arguments, from the repository's root."""
    return subprocess.run([sys.executable, "-m", *arguments], cwd=ROOT, check=False).returncode


def main() -> int:
    """Tests first; the coverage counts only when they pass."""
    python("coverage", "erase")
    failed = python("coverage", "run", "-m", "pytest", "-m", "not soak", "-n", "2", *sys.argv[1:])
    python("coverage", "combine", "--quiet")
    if failed:
        return failed
    for package, folder in PACKAGES.items():
        print(f"\ncoverage of {package}, at least {LEAST_COVERED} %", flush=True)
        failed |= python(
            "coverage", "report", f"--include={folder}/*", f"--fail-under={LEAST_COVERED}"
        )
    return failed


if __name__ == "__main__":
    sys.exit(main())
