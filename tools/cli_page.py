"""docs/cli.md: each command, its arguments and options, taken from the commands themselves."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from mdvec_cli.main import app
from typer import Context
from typer.core import TyperArgument, TyperCommand, TyperGroup
from typer.main import get_command

COMMON = ("--database <path>", "--config <path>", "-v, --verbose")
"""Options of nearly every command, which the page explains once."""
HELP = "--help"
SHARED = {
    "-n, --name <str>": "The tool's name.  [required]",
    "--format <table|json>": "The output format.",
}
"""Options that mean the same in some commands, which the page names once."""
SHARED_BY_ALL = (
    "--include PATTERN", "--exclude PATTERN", "--formats NAMES", "--format <table|json|csv>",
    "--from <str>", "--date-column <str>", "--ipython",
)  # fmt: skip
"""Options that mean the same in all commands that have them."""


@dataclass(frozen=True, slots=True)
class Command:
    """A command: its path, its help, and a help text for each parameter.

    Parameters are named as the help names them, such as ``-n, --name <str>``.
    """

    path: str
    help: str
    arguments: dict[str, str]
    options: dict[str, str]
    is_group: bool


def cli_page() -> str:
    """The text of docs/cli.md."""
    commands = list(_commands(get_command(app), "mdvec"))
    common = {name: _help_of(name, commands) for name in COMMON}
    shared = SHARED | {name: _help_of(name, commands) for name in SHARED_BY_ALL}
    without = [
        f"`{command.path.removeprefix('mdvec ')}`"
        for command in commands
        if not command.is_group and not common.keys() <= command.options.keys()
    ]
    parts = [
        "# The commands",
        "Written by `make docs` from the commands' own help, which `-h` or `--help` shows. "
        f"All of them but {', '.join(without)} also take:",
        _list(common),
        *(_shared(option, text, commands) for option, text in shared.items()),
    ]
    for command in commands:
        parts += [f"## {command.path}", *_parts(command, shared)]
    parts += ["## mdvec-mcp", *_server_help()]
    return "\n\n".join(parts) + "\n"


def _commands(
    command: TyperCommand | TyperGroup, path: str, parent: Context | None = None
) -> Iterator[Command]:
    """All commands, groups first, in the order of the help."""
    context = type(command).context_class(command, info_name=path.split()[-1], parent=parent)
    arguments: dict[str, str] = {}
    options: dict[str, str] = {}
    for parameter in command.get_params(context):
        name, text = parameter.get_help_record(context) or (HELP, "")  # none if it is hidden
        if name != HELP:
            (arguments if isinstance(parameter, TyperArgument) else options)[name] = text
    is_group = isinstance(command, TyperGroup)
    yield Command(path, command.help, arguments, options, is_group)
    if is_group:
        for name, inner in command.commands.items():
            yield from _commands(inner, f"{path} {name}", context)


def _help_of(option: str, commands: list[Command]) -> str:
    """The help of a common option, which must be the same wherever it occurs."""
    (text,) = {command.options[option] for command in commands if option in command.options}
    return text


def _shared(option: str, text: str, commands: list[Command]) -> str:
    """An option with its help, and the commands that have it."""
    having = [
        f"`{command.path.removeprefix('mdvec ')}`"
        for command in commands
        if command.options.get(option) == text
    ]
    return f"`{option}`: {_plain(text)} Of {', '.join(having)}."


def _parts(command: Command, shared: Mapping[str, str]) -> Iterator[str]:
    own = {
        name: text
        for name, text in command.options.items()
        if name not in COMMON and shared.get(name) != text
    }
    yield _escaped("\n\n".join(" ".join(part.split()) for part in command.help.split("\n\n")))
    if command.arguments or own:
        yield _list(command.arguments | own)


def _list(parameters: dict[str, str]) -> str:
    return "\n".join(f"- `{name}`: {_plain(text)}" for name, text in parameters.items())


def _plain(help_text: str) -> str:
    return _escaped(re.sub("  +", " ", help_text))


def _escaped(text: str) -> str:
    """Plain text as Markdown, which would otherwise take <model> for HTML."""
    return re.sub(r"([<*])", r"\\\1", text)


def _server_help() -> Iterator[str]:
    """What ``mdvec-mcp --help`` prints of itself and its options."""
    code = "import sys; sys.argv[0] = 'mdvec-mcp'; from mdvec_mcp.entry import main; main()"
    printed = subprocess.run(
        [sys.executable, "-c", code, "--help"],
        check=True, capture_output=True, text=True,
        env={**os.environ, "COLUMNS": "100", "TERM": "dumb", "NO_COLOR": "1"},
    ).stdout  # fmt: skip
    head, _, options = printed.partition("\noptions:\n")
    about = head.partition("\n\n")[2]  # after the usage, which names the options again
    yield " ".join(about.split())
    entries = re.findall(r"^  (-\S.*?)(?:  |\n)\s*(.*(?:\n {20,}.*)*)", options, re.MULTILINE)
    yield _list({name: " ".join(text.split()) for name, text in entries if "--help" not in name})
