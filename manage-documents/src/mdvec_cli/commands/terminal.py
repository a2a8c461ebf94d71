"""Options that several commands share, the settings they lead to, and all printing.

Results go to stdout as tables, lines or JSON, messages to stderr.
"""

from __future__ import annotations

import codecs
import functools
import inspect
import json
import logging
import os
import re
import shlex
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import asdict, dataclass, is_dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TextIO

import typer
from mdvec import __version__, log, manage
from mdvec.errors import MdvecError
from mdvec.japanese import heading_in_japanese, in_japanese
from mdvec.settings import display_language, expanded
from mdvec.text import on_one_line, visible

if TYPE_CHECKING:
    from _typeshed import DataclassInstance
    from mdvec.settings import Loaded, Settings
    from rich.console import Console
    from rich.table import Table

DisplayFormat = Literal["table", "json"]
"""The form in which a command prints its result."""
_FLAGS = {
    ("database", "path"): "--database",
    ("model", "name"): "--model",
    ("chunking", "strategy"): "--chunk-strategy",
    ("chunking", "size"): "--chunk-size",
    ("chunking", "overlap"): "--chunk-overlap",
    ("search", "k"): "'--k' / '-k'",
    ("search", "mode"): "'--mode' / '-m'",
}
"""The flags that override settings, by the setting's section and key."""
FormatOption = Annotated[DisplayFormat | None, typer.Option("--format", help="The output format.")]
STOPPED = 130
"""The exit code of a command interrupted by Ctrl-C."""
_LEAST_CELLS = 10
"""The least width of a table's text columns in cells, so that a date stays whole."""
_LAYOUT = re.compile(r"(\r\n|\n|\t)")
_CONFIG: ContextVar[Path | None] = ContextVar("settings file", default=None)
"""The settings file that the command was given, which may name the language."""
_DATABASE: ContextVar[Path | None] = ContextVar("database", default=None)
"""The database file that the command was given."""
_WITH_DATABASE: set[str] = set()
"""The commands that take ``--database``, with their groups, as in ``tool add``."""
_LABELS = {
    "error": "エラー",
    "warning": "警告",
    "note": "注意",
    "next": "次に",
    "fixed": "直しました",
}


def complete_tool_names(ctx: typer.Context, incomplete: str) -> list[str]:
    """The tools' names that start with ``incomplete``; none if the database cannot be read."""
    from mdvec.settings import load_settings

    config, database = (ctx.params.get(name) for name in ("config", "database"))
    try:
        settings = load_settings(
            os.environ,
            config=None if config is None else Path(config),
            project_folder=Path.cwd(),
            flags={"database": {"path": _absolute(database and Path(database))}},
        )
        tools = manage.list_tools(settings.database_path, active_only=False)
    except MdvecError:
        return []
    return [tool.name for tool in tools if tool.name.startswith(incomplete)]


if TYPE_CHECKING:
    GivenPath = Path
else:

    class GivenPath(type(Path())):
        """A path on the command line; `Path` would read an empty one as the working folder."""

        @classmethod
        def __get_pydantic_core_schema__(cls, *_: object) -> object:
            from pydantic_core.core_schema import no_info_plain_validator_function

            return no_info_plain_validator_function(_given_path)


def _given_path(text: str) -> Path:
    if not text:
        raise ValueError("the path is empty; name a file or a folder")
    return expanded(text)


def name_option(help_: str) -> Any:  # noqa: ANN401 - as typer.Option
    """The option ``-n``, which shells complete with the names of the tools."""
    return typer.Option("--name", "-n", help=help_, autocompletion=complete_tool_names)


NameOption = Annotated[str, name_option("The tool's name.")]


@dataclass(frozen=True)
class SettingsOptions:
    """The options of every command with settings: the paths of the settings and the database."""

    database: Annotated[GivenPath | None, typer.Option(help="The database file.")] = None
    config: Annotated[GivenPath | None, typer.Option(help="The settings file.")] = None
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Log steps and timings to stderr.")
    ] = False

    def settings(self, **sections: dict[str, Any]) -> Settings:
        """Load the settings; flags override the environment, which overrides the file."""
        return self.load(**sections).settings

    def load(self, **sections: dict[str, Any]) -> Loaded:
        """Load the settings with their origins, and open the log."""
        from mdvec.settings import (
            FlagRefused,
            load_with_origins,
            unknown_variables,
            unread_settings,
        )

        if self.verbose:
            _log_to_stderr()
        environment, project = os.environ, Path.cwd()
        unread = unread_settings(environment, self.config, project)
        for warning in [*unknown_variables(environment), *unread]:
            say(f"warning: {warning}")
        try:
            loaded = load_with_origins(
                environment,
                config=self.config,
                project_folder=project,
                flags={"database": {"path": _absolute(self.database)}, **sections},
            )
        except FlagRefused as error:
            flag = _FLAGS[error.place]
            raise typer.BadParameter(f"it {error.reason}", param_hint=flag) from error
        settings = loaded.settings
        log.open_log(settings.log, lambda warning: say(f"warning: {warning}"))
        path = str(settings.database_path)
        log.record("start", program="mdvec", version=__version__, database=path)
        return loaded


def command_group(help_: str) -> typer.Typer:
    """A group of commands that shows its help when no command is given."""
    return typer.Typer(help=help_, no_args_is_help=True, rich_markup_mode=None)


def with_settings_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give ``command`` the options that the dataclasses among its parameters declare.

    The first parameter must be `SettingsOptions`; its options are listed last.
    """
    settings, *own = inspect.signature(command, eval_str=True).parameters.values()
    declared: list[inspect.Parameter] = []
    groups: dict[str, tuple[type, list[str]]] = {}
    for parameter in [*own, settings]:
        kind: type = parameter.annotation
        if is_dataclass(kind):
            options = inspect.signature(kind, eval_str=True).parameters
            groups[parameter.name] = (kind, [*options])
            declared += options.values()
        else:
            declared.append(parameter)

    @functools.wraps(command)
    def filled(**values: object) -> None:
        for name, (group, options) in groups.items():
            values[name] = group(**{option: values.pop(option) for option in options})
        _CONFIG.set(values[settings.name].config)  # type: ignore[attr-defined]
        _DATABASE.set(values[settings.name].database)  # type: ignore[attr-defined]
        command(**values)

    filled.__signature__ = inspect.Signature(declared)  # type: ignore[attr-defined]
    filled.__annotations__ = {}  # the signature has them, already evaluated
    return filled


def _absolute(path: Path | None) -> str | None:
    return None if path is None else str(path.absolute())


def _log_to_stderr() -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(levelname)s %(message)s"))
    logger = logging.getLogger("mdvec")
    logger.handlers[:] = [handler]
    logger.setLevel(logging.DEBUG)


def wants_json(flag: DisplayFormat | None, settings: Settings) -> bool:
    """Whether the result is to be JSON, by the flag or else by the settings."""
    return (flag or settings.display.default_format) == "json"


def say(message: str) -> None:
    """Print a message to stderr; stdout is for results only."""
    typer.echo(_for_stream(in_own_language(message), sys.stderr), err=True)


def in_own_language(message: str) -> str:
    """A message in the user's language, or unchanged if it has no translation.

    The commands that it names use the database and the settings that this command was given.
    """
    return _with_the_database(_translated(message))


def _translated(message: str) -> str:
    label, colon, sentence = message.partition(": ")
    if not is_japanese():
        if not message.endswith("。"):
            return message
        from mdvec.household import in_english  # slow to import, and few messages need it

        return f"{label}: {in_english(sentence)}" if label in _LABELS else in_english(message)
    if not colon or label not in _LABELS:
        return in_japanese(message)
    translated = in_japanese(sentence)
    is_japanese_itself = sentence.endswith("。")  # charts and households write Japanese messages
    is_said = translated != sentence or is_japanese_itself or sentence.startswith("mdvec ")
    return f"{_LABELS[label]}: {translated}" if is_said else message


def _with_the_database(message: str) -> str:
    """The message, whose commands state the database and the settings file that were given here."""
    given = (("--database", _DATABASE.get()), ("--config", _CONFIG.get()))
    stated = "".join(
        f" {option} {shlex.quote(str(path))}"
        for option, path in given
        if path is not None and option not in message
    )
    commands = "|".join(_WITH_DATABASE)
    return re.sub(
        rf"\bmdvec (?:{commands})\b(?! --help)", lambda command: command[0] + stated, message
    )


def note_commands_with_database(command: Any, name: str = "") -> None:  # noqa: ANN401
    """Note which of the commands below ``command`` take ``--database``; messages then state it."""
    for word, below in getattr(command, "commands", {}).items():
        note_commands_with_database(below, f"{name} {word}".strip())
    if any(parameter.name == "database" for parameter in command.params):
        _WITH_DATABASE.add(name)


def is_japanese() -> bool:
    """Whether messages are in Japanese; JSON is the same in every language."""
    return display_language(os.environ, Path.cwd(), _CONFIG.get()) == "ja"


def heading_language() -> Callable[[str], str]:
    """The function that translates headings to the user's language."""
    return heading_in_japanese if is_japanese() else str


def print_line(line: str) -> None:
    """Print an untranslated line of the result, such as a name or a path."""
    typer.echo(_for_stream(line, sys.stdout))


def print_sentence(sentence: str) -> None:
    """Print a sentence of the result in the user's language."""
    print_line(in_own_language(sentence))


def print_text(text: str) -> None:
    """Print an untranslated text, with a line break at its end."""
    print_part(text if text.endswith("\n") else f"{text}\n")


def print_part(text: str) -> None:
    """Print a part of a text; a pipe gets it unchanged, unlike with ``typer.echo``."""
    sys.stdout.write(_for_stream(text, sys.stdout))


def begin_data() -> None:
    """Make a pipe UTF-8, as data files are: another encoding may lack characters of the data."""
    encoding = sys.stdout.encoding
    if not sys.stdout.isatty() and codecs.lookup(encoding).name != "utf-8":
        say(f"note: the output is UTF-8, not {encoding}, which may lack signs of the data")
        sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")  # type: ignore[union-attr]


def _for_stream(text: str, stream: TextIO) -> str:
    """The text; on a terminal, characters that move the cursor or reverse a line are escaped."""
    if not stream.isatty():
        return text
    parts = _LAYOUT.split(text)
    return "".join(part if _LAYOUT.fullmatch(part) else visible(part) for part in parts)


def print_json(value: DataclassInstance | dict[str, object]) -> None:
    """Print the whole result as JSON."""
    plain = value if isinstance(value, dict) else asdict(value)
    text = json.dumps(plain, ensure_ascii=False, indent=2, default=_plain_value)
    try:
        text.encode(sys.stdout.encoding)
    except UnicodeEncodeError:  # JSON's escapes need only ASCII
        text = json.dumps(plain, indent=2, default=_plain_value)
    print_line(text)


def print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table whose headings are translated to the user's language."""
    own = heading_language()
    shown = [
        [own(_shown_cell(cell)) if isinstance(cell, bool) else cell for cell in row] for row in rows
    ]
    print_rows(own(title), [own(column) for column in columns], shown)


def print_rows(
    title: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    numbers: Collection[int] = (),
) -> None:
    """Print a table on a terminal; elsewhere one line per row, with tabs between columns.

    The headings are not translated, such as a query's columns. The columns at the positions
    ``numbers`` are aligned right. A terminal too narrow for the columns gets one line per value.
    """
    headings, *shown = [[_shown_cell(cell) for cell in row] for row in (columns, *rows)]
    if not sys.stdout.isatty():
        for row in [headings, *shown]:
            print_line("\t".join(cell.replace("\t", " ") for cell in row))
        return
    from rich import cells, console, table, text

    named = text.Text(_shown_cell(title), style="table.title")
    drawn = table.Table(title=named, title_justify="left")
    for position, heading in enumerate(headings):
        justify: Literal["left", "right"] = "right" if position in numbers else "left"
        drawn.add_column(text.Text(heading), overflow="fold", justify=justify)
    for row in shown:
        drawn.add_row(*(text.Text(cell) for cell in row))
    terminal = console.Console()
    widths = {
        at: max([min(cells.cell_len(headings[at]), _LEAST_CELLS)]
                + [cells.cell_len(row[at]) for row in shown])
        for at in numbers
    }  # fmt: skip
    if not _fits(terminal, drawn) and not _folded(terminal, drawn, widths):
        terminal.print(named)
        for line in _records(headings, shown):
            terminal.print(text.Text(line), soft_wrap=True)
        return
    terminal.print(drawn)


def _fits(terminal: Console, drawn: Table) -> bool:
    """Whether a terminal has room for a table at its full width."""
    any_width = terminal.options.update_width(sys.maxsize)
    return terminal.measure(drawn, options=any_width).maximum <= terminal.width


def _folded(terminal: Console, drawn: Table, numbers: Mapping[int, int]) -> bool:
    """Let a table fold only its texts and keep its numbers whole; returns whether it fits then.

    ``numbers`` has the widths of the columns of numbers by their positions.
    """
    for position, column in enumerate(drawn.columns):
        column.width = numbers.get(position)
        column.max_width = None if position in numbers else _LEAST_CELLS
    if not _fits(terminal, drawn):
        return False
    for column in drawn.columns:
        column.max_width = None
    return True


def _records(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """A line for each value of each row, after its column's name; facts are pairs already."""
    from rich import cells

    if not rows:
        yield ", ".join(headings)
    if len(headings) == 2 and not headings[0]:
        yield from (f"{name}  {value}" for name, value in rows)
        return
    widest = max(map(cells.cell_len, headings), default=0)
    for number, row in enumerate(rows):
        if number:
            yield ""
        for heading, cell in zip(headings, row, strict=True):
            yield f"{cells.set_cell_size(heading, widest)}  {cell}".rstrip()


def print_facts(title: str, facts: Iterable[tuple[str, object]]) -> None:
    """Print names and values, one pair per line."""
    own = heading_language()
    headings = ("", title) if sys.stdout.isatty() else ("fact", "value")
    print_table(title, headings, [(own(name), value) for name, value in facts])


def _shown_cell(cell: object) -> str:
    if cell is None:
        return "-"
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    return on_one_line(str(cell))


def _plain_value(value: object) -> str:
    if isinstance(value, (Path, date)):
        return str(value)
    raise TypeError(f"{type(value).__name__} has no JSON form")


def confirmed(question: str) -> bool:
    """Ask the user, and return whether the answer is yes; False without a terminal."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    return typer.confirm(_for_stream(in_own_language(question), sys.stderr), err=True)
