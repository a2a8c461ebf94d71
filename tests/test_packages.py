"""The packages that are released together name each other's version."""

import json
import tomllib
from pathlib import Path

import jsonschema  # type: ignore[import-untyped]
import mdvec
import pytest

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


def test_the_package_of_all_has_the_extras_of_the_library():
    extras = {
        member: set(
            tomllib.loads((ROOT / member / "pyproject.toml").read_text())["project"][
                "optional-dependencies"
            ]
        )
        for member in ("meta", "shared")
    }
    assert extras["meta"] == extras["shared"] - {"charts", "test"}  # the server needs charts


TEXT = {"type": "string", "minLength": 1}
ARGUMENT = {
    "type": "object",
    "required": ["type"],
    "properties": {
        "type": {"enum": ["named", "positional"]}, "name": TEXT, "value": TEXT, "valueHint": TEXT,
    },
    "additionalProperties": False,
}  # fmt: skip
SERVER_JSON = {
    "type": "object",
    "required": ["$schema", "name", "description", "version", "packages"],
    "additionalProperties": False,
    "properties": {
        "$schema": {
            "const": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
        },
        "name": {"type": "string", "pattern": "^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$", "maxLength": 200},
        "title": {**TEXT, "maxLength": 100},
        "description": {**TEXT, "maxLength": 100},
        "version": {**TEXT, "maxLength": 255, "not": {"const": "latest"}},
        "packages": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "required": ["registryType", "identifier", "version", "transport"],
                "additionalProperties": False,
                "properties": {
                    "registryType": {"const": "pypi"},
                    "identifier": TEXT,
                    "version": TEXT,
                    "runtimeHint": {"const": "uvx"},
                    "runtimeArguments": {"type": "array", "items": ARGUMENT},
                    "transport": {
                        "type": "object",
                        "required": ["type"],
                        "properties": {"type": {"const": "stdio"}},
                        "additionalProperties": False,
                    },
                    "environmentVariables": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "required": ["name"],
                            "properties": {
                                "name": TEXT, "description": TEXT,
                                "format": {"enum": ["string", "number", "boolean", "filepath"]},
                            },
                            "additionalProperties": False,
                        },
                    },
                },
            },
        },
    },
}  # fmt: skip
"""What the registry's schema of 2025-12-11 asks of the fields that our file has."""


def test_the_entry_for_the_registry_of_servers_is_valid_and_names_this_version():
    entry = json.loads((ROOT / "server.json").read_text(encoding="utf-8"))
    jsonschema.validate(entry, SERVER_JSON)
    (package,) = entry["packages"]
    assert {entry["version"], package["version"]} == {mdvec.__version__}
    assert package["runtimeArguments"][0]["value"] == f"mdvec=={mdvec.__version__}"
    # The registry looks for this line in the package's description, as proof that both agree.
    assert f"mcp-name: {entry['name']}" in (ROOT / "meta/README.md").read_text(encoding="utf-8")
    entry["description"] *= 2
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(entry, SERVER_JSON)
