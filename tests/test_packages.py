"""The packages that are released together name each other's version."""

import tomllib
from pathlib import Path

import mdvec

ROOT = Path(__file__).parents[1]


def test_the_package_of_all_needs_exactly_this_version_of_each():
    project = tomllib.loads((ROOT / "meta/pyproject.toml").read_text())["project"]
    assert project["dependencies"] == [
        f"{name}=={mdvec.__version__}" for name in ("mdvec-cli", "mdvec-mcp", "mdvec-shared")
    ]


def test_the_package_of_all_has_the_commands_of_both_programs():
    projects = {
        member: tomllib.loads((ROOT / member / "pyproject.toml").read_text())["project"]
        for member in ("meta", "manage-documents", "mcp-server")
    }
    both = projects["manage-documents"]["scripts"] | projects["mcp-server"]["scripts"]
    assert projects["meta"]["scripts"] == both
