"""Run the tests; with ``--coverage``, check the coverage of each package too."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
MIN_COVERAGE_PERCENT = 90
PACKAGES = {
    "mdvec": "shared/src",
    "mdvec_cli": "manage-documents/src",
    "mdvec_mcp": "mcp-server/src",
}
# Each worker begins with the part that conftest.py deals to it, whole files, so that what their
# tests share (models, torch, servers) is made once, and takes from another's end when it is done.
# Three on two cores: some wait for files to settle, for models to be idle, for processes.
PYTEST = (
    "pytest", "-m", "not soak", "-n", "3", "--dist", "worksteal",
    "-o", "tmp_path_retention_policy=failed", "--durations", "10", "--durations-min", "3",
)  # fmt: skip
MEMORY = Path("/dev/shm")
MEMORY_BYTES = 8 * 2**30
"""A run writes 2 GB, and waits for no disk if they are kept in memory: a twelfth of its time."""


def python(*arguments: str) -> int:
    """Run a module of this Python, from the repository's root.

    It may keep compiled modules: the tests start hundreds of processes, and each would compile
    ours anew. Matrices are multiplied on one thread: with several workers on few cores, threads
    would spend a fifth of the time waiting for each other, at full speed.
    """
    kept = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    kept |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    if MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > MEMORY_BYTES:
        kept.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))
    if sys.version_info >= (3, 12):
        kept["COVERAGE_CORE"] = "sysmon"  # no line is slowed once it has been seen
    command = [sys.executable, "-m", *arguments]
    return subprocess.run(command, cwd=ROOT, env=kept, check=False).returncode


def covered(tests: list[str]) -> int:
    """Run the tests; the coverage counts only when they pass."""
    python("coverage", "erase")
    failed = python("coverage", "run", "-m", *PYTEST, *tests)
    python("coverage", "combine", "--quiet")
    if failed:
        return failed
    for package, folder in PACKAGES.items():
        print(f"\ncoverage of {package}, at least {MIN_COVERAGE_PERCENT} %", flush=True)
        failed |= python(
            "coverage", "report", f"--include={folder}/*", f"--fail-under={MIN_COVERAGE_PERCENT}"
        )
    return failed


def main(arguments: list[str]) -> int:
    """Run what the arguments name: tests, after ``--coverage`` if that is wished."""
    if arguments[:1] == ["--coverage"]:
        return covered(arguments[1:])
    return python(*PYTEST, *arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
