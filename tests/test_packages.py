"""The packages that are released together fit each other, and so does what builds them."""

import importlib.util
import json
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import jsonschema  # type: ignore[import-untyped]
import mdvec
import pytest
import typer
import yaml
from mdvec_cli.main import app
from table_of_cases import each

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
FORMAT = {"enum": ["string", "number", "boolean", "filepath"]}


def object_of(needed, **properties):
    """The schema of an object that needs some of its properties, and has no others."""
    return {"type": "object", "required": needed.split(), "properties": properties,
            "additionalProperties": False}  # fmt: skip


def list_of(schema, **more):
    return {"type": "array", "items": schema, **more}


ARGUMENT = object_of(
    "type", type={"const": "positional"}, value=TEXT, valueHint=TEXT, description=TEXT,
    format=FORMAT, isRequired={"type": "boolean"},
) | {"anyOf": [{"required": ["value"]}, {"required": ["valueHint"]}]}  # fmt: skip
PACKAGE = object_of(
    "registryType identifier version transport",
    registryType={"const": "pypi"}, identifier=TEXT, version=TEXT, runtimeHint={"const": "uvx"},
    packageArguments=list_of(ARGUMENT), transport=object_of("type", type={"const": "stdio"}),
    environmentVariables=list_of(object_of("name", name=TEXT, description=TEXT, format=FORMAT)),
)  # fmt: skip
SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
SERVER_JSON = object_of(
    "$schema name description version packages",
    **{"$schema": {"const": SCHEMA}},
    name={"type": "string", "pattern": "^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$", "maxLength": 200},
    title=TEXT | {"maxLength": 100},
    description=TEXT | {"maxLength": 100},
    version=TEXT | {"maxLength": 255, "not": {"const": "latest"}},
    packages=list_of(PACKAGE, minItems=1),
)
"""What the registry's schema of 2025-12-11 asks of the fields that our file has."""


def test_the_entry_for_the_registry_of_servers_is_valid_and_names_this_version():
    entry = json.loads((ROOT / "server.json").read_text(encoding="utf-8"))
    jsonschema.validate(entry, SERVER_JSON)
    (package,) = entry["packages"]
    assert {entry["version"], package["version"]} == {mdvec.__version__}
    # A client runs: uvx mdvec@VERSION serve FOLDER.
    command, folder = package["packageArguments"]
    assert command["value"] in {command.name for command in app.registered_commands}
    assert folder["isRequired"]
    # The registry looks for this line in the package's description, as proof that both agree.
    assert f"mcp-name: {entry['name']}" in (ROOT / "meta/README.md").read_text(encoding="utf-8")
    entry["description"] *= 2
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(entry, SERVER_JSON)


WORKFLOWS = {
    path.stem: yaml.load(path.read_text(encoding="utf-8"), yaml.BaseLoader)
    for path in (ROOT / ".github/workflows").glob("*.yml")
}


def test_the_workflows_run_make_targets_and_programs_that_exist():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    jobs = [job for workflow in WORKFLOWS.values() for job in workflow["jobs"].values()]
    lines = [step["run"] for job in jobs for step in job.get("steps", ()) if "run" in step]
    made = {line.split()[1] for line in lines if line.startswith("make ")}
    assert made == {"lint", "test", "conformance", "dist", "mcpb"}
    assert made <= targets
    (checked,) = (line.split()[1] for line in lines if line.startswith("python "))
    assert (ROOT / checked).is_file()


def test_every_system_and_python_is_tested_and_only_a_tag_publishes():
    matrix = WORKFLOWS["test"]["jobs"]["test"]["strategy"]["matrix"]
    assert matrix["os"] == ["ubuntu-latest", "macos-latest", "windows-latest"]
    project = tomllib.loads((ROOT / "meta/pyproject.toml").read_text())["project"]
    assert project["requires-python"] == f">={matrix['python'][0]}"
    assert matrix["python"] == ["3.11", "3.12", "3.13", "3.14"]
    assert WORKFLOWS["release"]["on"] == {"push": {"tags": ["v*"]}}
    publish = WORKFLOWS["release"]["jobs"]["publish"]
    assert publish["permissions"] == {"id-token": "write"}
    assert publish["needs"] == "test"
    assert WORKFLOWS["release"]["jobs"]["test"]["uses"] == "./.github/workflows/test.yml"


def test_the_bundle_asks_for_a_folder_and_serves_it():
    spec = importlib.util.spec_from_file_location("make_mcpb", ROOT / "tools/make_mcpb.py")
    make_mcpb = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make_mcpb)
    manifest = make_mcpb.manifest()
    assert manifest["version"] == mdvec.__version__
    arguments = manifest["server"]["mcp_config"]["args"]
    assert arguments[-2:] == ["--docs-dir", "${user_config.folder}"]
    assert manifest["user_config"]["folder"]["required"]


def test_the_image_runs_as_nobody_in_particular_with_a_token_from_a_file():
    lines = (ROOT / "Dockerfile").read_text(encoding="utf-8").splitlines()
    commands = [line for line in lines if line.startswith(("USER", "VOLUME", "ENTRYPOINT", "CMD"))]
    user, volume, start, more = commands
    assert (user, volume) == ("USER 10001", "VOLUME /data")
    words = json.loads(start.removeprefix("ENTRYPOINT ")) + json.loads(more.removeprefix("CMD "))
    done = subprocess.run(
        [Path(sys.executable).with_name(words[0]), *words[1:]],
        capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    # Its options are right, and without the token's file it does not start.
    assert done.stderr.startswith("mdvec-mcp: error: the token file /run/secrets/mdvec-token")
    assert done.returncode == 1


PAGES = {"README.md": 500, "README.ja.md": 250}
"""How many characters five lines have, in English and in Japanese."""


@each("page", PAGES)
def test_every_command_of_the_readme_is_one_with_these_options(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    blocks = re.findall(r"```(?:bash|console)\n(.*?)```", text, re.DOTALL)
    lines = [line.removeprefix("$ ") for block in blocks for line in block.splitlines()]
    typed = [shlex.split(line, comments=True)[1:] for line in lines if line.startswith("mdvec ")]
    assert len(typed) > 8
    for words in typed:
        command = typer.main.get_command(app)
        while hasattr(command, "commands"):
            command = command.commands[words.pop(0)]
        command.make_context("mdvec", words)  # raises what a user would see


@each(("page", "longest"), PAGES.items())
def test_no_paragraph_of_the_readme_has_more_than_five_lines(page, longest):
    text = (ROOT / page).read_text(encoding="utf-8")
    text = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    text = re.sub(r"\]\([^)]*\)", "]", text)  # a link's address is not read
    blocks = re.split(r"\n\n|\n(?=- )", text)
    long = [block[:60] for block in blocks if len(block) > longest and not block.startswith("|")]
    assert long == []


def test_the_walks_of_the_readme_add_tools_of_different_names():
    names = re.findall(r"mdvec tool add -n (\S+)", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert sorted(names) == ["kakeibo", "notes"]
