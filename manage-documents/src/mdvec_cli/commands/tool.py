"""`mdvec tool …`: add, change, delete, enable, disable and list tools."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from mdvec import manage, text
from mdvec.converters import FORMATS
from mdvec.tools import KINDS

from mdvec_cli.commands.terminal import (
    FormatOption,
    GivenPath,
    NameOption,
    SettingsOptions,
    command_group,
    confirmed,
    print_json,
    print_line,
    print_table,
    say,
    with_settings_options,
)

if TYPE_CHECKING:
    from mdvec.manage.registering import FilePatterns
    from mdvec.settings import Settings
    from mdvec.tools import Tool

app = command_group("Add, change, delete, enable, disable and list tools.")

_DESCRIPTION_HELP = "What the source contains; a model reads it to decide when to search."
_TITLE_HELP = "What clients show to people in place of the name, in any language."
_FORMATS = ", ".join(known.name for known in FORMATS)
_SOURCE_HELP = "The folder to import; for a dataset, a single file is possible too."

if TYPE_CHECKING:
    ToolKind = str
else:
    ToolKind = Literal[tuple(KINDS)]
_DEFAULT_KIND = next(iter(KINDS))
IncludeOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="PATTERN",
        help="Import only files like this, as in .gitignore; repeatable; replaces "
        "the tool's patterns, and '' removes them.",
    ),
]
ExcludeOption = Annotated[
    list[str] | None,
    typer.Option(metavar="PATTERN", help="Do not import files like this; otherwise as --include."),
]
FormatsOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAMES",
        help=f"Read these formats too, joined by commas, '' none of them: {_FORMATS}.",
    ),
]
_AS_JSON = (
    "name", "title", "description", "source", "kind", "is_active", "model", "last_import_at",
)  # fmt: skip


@app.command("add")
@with_settings_options
def add(
    options: SettingsOptions,
    name: NameOption,
    description: Annotated[str, typer.Option("--description", "-d", help=_DESCRIPTION_HELP)],
    source: Annotated[GivenPath, typer.Option("--source", "-s", help=_SOURCE_HELP)],
    kind: Annotated[
        ToolKind,
        typer.Option(
            help="What the source contains: notes, a household's statement files, or "
            "tables (Parquet, CSV, JSON, Excel, Arrow, SQLite, DuckDB)."
        ),
    ] = _DEFAULT_KIND,
    title: Annotated[str | None, typer.Option(help=_TITLE_HELP)] = None,
    include: IncludeOption = None,
    exclude: ExcludeOption = None,
    formats: FormatsOption = None,
) -> None:
    """Register a folder or a data file as a tool.

    The database is created if needed.
    """
    settings = options.settings()
    others = manage.tools_of_source(settings.database_path, source, kind)
    tool = manage.registering.add_tool(
        settings.database_path, name, description, source, kind, title,
        _patterns(settings, include, exclude, formats),
    )  # fmt: skip
    say(f"added {tool.name}: {tool.source}")
    for other in others:
        say(f"{other.name} has this source too: searches of all tools will find it twice")
    say(f"next: mdvec import -n {tool.name}")
    if KINDS[tool.kind].has_texts:
        say(
            "a client that runs now may not list the new tool before it is restarted; its tool "
            "search reaches it as soon as it is imported"
        )


def _patterns(
    settings: Settings,
    include: list[str] | None,
    exclude: list[str] | None,
    formats: str | None,
) -> FilePatterns | None:
    """The stated patterns; None if none is stated."""
    if include is None and exclude is None and formats is None:
        return None
    return manage.registering.FilePatterns(
        settings.scan_rules(),
        None if formats is None else manage.endings_of(formats),
        None if include is None else tuple(include),
        None if exclude is None else tuple(exclude),
    )


@app.command("update")
@with_settings_options
def update(
    options: SettingsOptions,
    name: NameOption,
    description: Annotated[
        str | None, typer.Option("--description", "-d", help=_DESCRIPTION_HELP)
    ] = None,
    source: Annotated[GivenPath | None, typer.Option("--source", "-s", help=_SOURCE_HELP)] = None,
    title: Annotated[str | None, typer.Option(help=f"{_TITLE_HELP} '' removes it.")] = None,
    include: IncludeOption = None,
    exclude: ExcludeOption = None,
    formats: FormatsOption = None,
) -> None:
    """Change a tool's description, title or source, or which files of it are imported."""
    if all(value is None for value in (description, source, title, include, exclude, formats)):
        raise typer.BadParameter("name what to change", param_hint="--description / --source")
    settings = options.settings()
    patterns = _patterns(settings, include, exclude, formats)
    manage.registering.update_tool(
        settings.database_path, name, description, source, title, patterns
    )
    say(f"updated {name}")
    if source is not None or patterns is not None:
        say(f"next: mdvec import -n {name} --mode update")


@app.command("rename")
@with_settings_options
def rename(
    options: SettingsOptions,
    name: NameOption,
    to: Annotated[str, typer.Option(help="Its new name.")],
) -> None:
    """Give a tool another name; nothing is imported again."""
    settings = options.settings()
    tool = manage.rename_tool(settings.database_path, name, to, say)
    say(f"renamed {name} to {tool.name}; running servers offer it under that name")


@app.command("delete")
@with_settings_options
def delete(
    options: SettingsOptions,
    name: NameOption,
    yes: Annotated[bool, typer.Option("-y", "--yes", help="Do not ask for confirmation.")] = False,
) -> None:
    """Delete a tool and its imported data, but not its source."""
    settings = options.settings()
    tool = manage.registering.find_tool(settings.database_path, name)
    if not yes:
        if not sys.stdin.isatty():
            say(f"error: deleting {tool.name!r} needs a confirmation; without a terminal, add -y")
            raise typer.Exit(1)
        question = f"Delete {tool.name!r} and its imported data?"
        if not confirmed(question):
            raise typer.Abort
    manage.registering.delete_tool(settings.database_path, name, say, settings.vector_engine)
    say(f"deleted {tool.name}; to shrink the database file, run mdvec compact")


@app.command("enable")
@with_settings_options
def enable(options: SettingsOptions, name: NameOption) -> None:
    """Make the server offer a tool."""
    manage.set_active(options.settings().database_path, name, active=True)
    say(f"enabled {name}; running servers offer it too")


@app.command("disable")
@with_settings_options
def disable(options: SettingsOptions, name: NameOption) -> None:
    """Make the server stop offering a tool; its data are kept."""
    manage.set_active(options.settings().database_path, name, active=False)
    say(f"disabled {name}; running servers no longer offer it")


@app.command("ls")
@with_settings_options
def ls(
    options: SettingsOptions,
    show_all: Annotated[bool, typer.Option("--all", help="Show all tools, with details.")] = False,
    format_: FormatOption = None,
) -> None:
    """List the names of the active tools, one per line."""
    settings = options.settings()
    tools = manage.registering.list_tools(settings.database_path, active_only=not show_all)
    default = settings.display.default_format if show_all else None
    match format_ or default:
        case "json":
            print_json({"tools": [{key: getattr(tool, key) for key in _AS_JSON} for tool in tools]})
        case "table":
            _print_tools(tools)
        case None:
            for tool in tools:
                print_line(tool.name)


def _print_tools(tools: list[Tool]) -> None:
    print_table(
        "Tools",
        ("name", "active", "kind", "model", "last import", "source", "description"),
        [
            (
                tool.name, tool.is_active, tool.kind, tool.model,
                text.local_time(tool.last_import_at), tool.source, tool.description,
            )
            for tool in tools
        ],
    )  # fmt: skip
