"""Entry point of `mdvec`: adds the commands, and turns errors into messages and exit codes.

Help is in the user's language; Japanese lines are broken to fit the terminal.
"""

from __future__ import annotations

import errno
import inspect
import logging
import os
import re
import signal
import sys
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from mdvec import __version__
from mdvec.errors import MdvecError, place_refused
from mdvec.installation import this_installation
from mdvec.log import record
from mdvec.text import display_width, wrapped
from mdvec.tools import naming
from typer.core import TyperGroup

from mdvec_cli import commands
from mdvec_cli.commands import STOPPED, is_japanese, note_commands_with_database, say

_HEADINGS = {
    "Usage": "使い方",
    "Options": "オプション",
    "Arguments": "引数",
    "Commands": "コマンド",
}
_EXTRAS = ((re.compile(r"^default: "), "既定値: "), (re.compile(r"\brequired\]$"), "必須]"))
_USAGE = {
    "[OPTIONS]": "[オプション]",
    "COMMAND": "コマンド",
    "[ARGS]...": "[引数]...",
}
_INSTEAD = {
    "list_sources": "mdvec status -n NAME",
    "reindex": "mdvec import -n NAME --mode update",
}
"""What messages name on a terminal in place of a tool of the server."""
_EXTRA = re.compile(r"  \[")
_STDERR = 2
_WRONG_USAGE = 2
_CLOSED_PIPE = 141
"""The exit code of a command whose output is no longer read, as after SIGPIPE."""
_UNWRITABLE = (errno.ENOSPC, errno.EBADF)
"""Errors of a closed or full output; the library handles errors of its own files."""
_GROUPS = {
    "tool": commands.tool.app,
    "household": commands.household.app,
    "model": commands.model.app,
    "service": commands.service.app,
    "rules": commands.rules,
}
_COMMANDS = (
    commands.import_command, commands.watch_command, commands.search_command, commands.get_command,
    commands.query_command, commands.profile_command, commands.histogram_command,
    commands.plot_command, commands.export_command, commands.status_command,
    commands.compact_command, commands.backup_command, commands.restore_command,
    commands.ui_command, commands.doctor_command, commands.register_command,
    commands.unregister_command, commands.demo_command, commands.samples_command,
)  # fmt: skip
_LOOKALIKE = re.compile(r"\S*\u3000\S*|^[\u2010-\u2015\u2212\u30fc\uff0d]\S*")
"""Words with a character in them that looks like a space, or at the start like the - of an
option."""
_NOT_READ = re.compile(r", unable to parse string as an? \w+")
_MAX_WORD = 80
_EMPTY_WORDS = re.compile(r"argument\(s\) \( *\)")


def put_into_japanese(command: Any) -> None:  # noqa: ANN401 - typer's own click is private
    """Translate the help of a command, its options and its subcommands to Japanese.

    A text that is not in ``help.ja.toml`` stays in English.
    """
    text = (Path(__file__).parent / "help.ja.toml").read_text(encoding="utf-8")
    words = tomllib.loads(text)
    _put(command, words, _context_class(command, words))


def _put(command: Any, words: dict[str, str], context_class: type) -> None:  # noqa: ANN401
    command.context_class = context_class
    if command.help:
        command.help = words.get(inspect.cleandoc(command.help), command.help)
        command.short_help = command.help.partition("\n")[0]
    for parameter in command.params:
        if help_ := getattr(parameter, "help", None):
            parameter.help = words.get(inspect.cleandoc(help_), help_)
    for below in getattr(command, "commands", {}).values():
        _put(below, words, context_class)


def _context_class(command: Any, words: dict[str, str]) -> type:  # noqa: ANN401
    """A context class whose formatter writes Japanese help."""
    usual = command.context_class.formatter_class

    class JapaneseFormatter(usual):  # type: ignore[misc, valid-type]
        """Writes Japanese headings, and breaks lines between any characters."""

        def write_heading(self, heading: str) -> None:
            super().write_heading(_HEADINGS.get(heading, heading))

        def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
            usage = " ".join(_USAGE.get(word, word) for word in args.split(" "))
            super().write_usage(prog, usage, prefix or f"{_HEADINGS['Usage']}: ")

        def write_text(self, text: str) -> None:
            width = self.width - self.current_indent
            for number, paragraph in enumerate(inspect.cleandoc(text).split("\n\n")):
                self.write("\n" if number else "")
                for line in wrapped(paragraph.replace("\n", " "), width):
                    self.write(f"{'':>{self.current_indent}}{line}\n")

        def write_dl(
            self, rows: Sequence[tuple[str, str]], col_max: int = 30, col_spacing: int = 2
        ) -> None:
            first = min(max(display_width(term) for term, _ in rows), col_max) + col_spacing
            indent = " " * (self.current_indent + first)
            for term, text in rows:
                about, *extra = _EXTRA.split(text, maxsplit=1)
                entry = words.get(about, about) + "".join(map(_extra_in_japanese, extra))
                lines = list(wrapped(entry, max(self.width - len(indent), 20)))
                start = f"{'':>{self.current_indent}}{term}"
                if display_width(term) > first - col_spacing:
                    self.write(f"{start}\n")
                    start = indent
                self.write(f"{start}{' ' * (len(indent) - display_width(start))}")
                self.write(f"\n{indent}".join(lines) + "\n")

    return type("JapaneseContext", (command.context_class,), {"formatter_class": JapaneseFormatter})


def _extra_in_japanese(extra: str) -> str:
    """Translate the text in brackets that click adds to an option's help, such as its default."""
    for pattern, japanese in _EXTRAS:
        extra = pattern.sub(japanese, extra)
    return f" [{extra}"


class _Commands(TyperGroup):
    """The command group; an error in a command becomes a line on stderr and an exit code."""

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401 - typer's own click is private
        _raise_when_interrupted()
        before = naming.set(lambda tool: _INSTEAD.get(tool, tool))
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as error:
            say("stopped")
            raise typer.Exit(STOPPED) from error
        except EOFError as error:  # typer would take it for a missing answer to a question
            if "marshal" not in str(error):
                raise
            remedy = this_installation().repairing("mdvec")
            say(f"error: a module's bytecode is damaged ({error}); install it again with: {remedy}")
            raise typer.Exit(1) from error
        except MdvecError as error:
            record("refusal", program="mdvec", error=type(error).__name__)
            first, *others = error.sentences
            say(f"error: {first}")
            for sentence in others:
                say(f"warning: {sentence}")
            _say_lookalikes(quoted_in=str(error))
            raise typer.Exit(_WRONG_USAGE if error.is_wrong_usage else 1) from error
        finally:
            naming.reset(before)


app = typer.Typer(
    cls=_Commands,
    help="Turn folders of notes and documents into tools that an MCP client can search.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
)
for _name, _group in _GROUPS.items():
    app.add_typer(_group, name=_name)
for _each in _COMMANDS:
    app.command(_each.__name__.removesuffix("_command"))(_each)
app.command("serve", context_settings={"allow_extra_args": True, "ignore_unknown_options": True})(
    commands.serve_command
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"mdvec {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Turn folders of notes and documents into tools that an MCP client can search."""


def main() -> None:
    """Run `mdvec`."""
    _replace_closed_streams()
    _need_a_working_folder()
    for stream in (sys.stdout, sys.stderr):
        # A file name may not be valid Unicode, but printing it must not fail. On Windows, a pipe
        # has an old console encoding that lacks letters.
        encoding = "utf-8" if sys.platform == "win32" else None
        stream.reconfigure(encoding=encoding, errors="backslashreplace")  # type: ignore[union-attr]
    try:
        with _quiet_at_a_closed_pipe():
            code = _command()(prog_name="mdvec", standalone_mode=False)
            sys.stdout.flush()  # here, where errors of the flush are caught and explained
        sys.exit(code)
    except typer.TyperException as error:
        say(_wrong_usage(error))
        _say_lookalikes()
        sys.exit(error.exit_code)
    except typer.Abort:
        say("aborted; nothing was changed")
        sys.exit(1)
    except KeyboardInterrupt:
        say("stopped")
        sys.exit(STOPPED)
    except Exception as error:
        if isinstance(error, OSError) and error.errno in _UNWRITABLE and not error.filename:
            # At exit, Python would try to write the buffered output again.
            sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
            say(f"error: the output cannot be written ({error.strerror})")
            sys.exit(1)
        logging.getLogger("mdvec").debug("unexpected", exc_info=True)
        message = f"unexpected {type(error).__name__}: {error}; run it with --verbose for details"
        say(f"error: {place_refused(error) or message}")
        sys.exit(1)


@contextmanager
def _quiet_at_a_closed_pipe() -> Iterator[None]:
    """End the program without a message if its output is no longer read."""
    try:
        yield
    except (SystemExit, BrokenPipeError) as end:
        if isinstance(end, SystemExit) and not isinstance(end.__context__, BrokenPipeError):
            raise  # typer ends with 1 for such an error
        # At exit, Python would try to write the buffered output again.
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
        sys.exit(_CLOSED_PIPE)


def _command() -> Any:  # noqa: ANN401 - typer's own click is private
    """The command with its subcommands, and help in the user's language."""
    command = typer.main.get_command(app)
    _leave_reading_to_commands(command)
    note_commands_with_database(command)
    if is_japanese():
        put_into_japanese(command)
    return command


def _leave_reading_to_commands(command: Any) -> None:  # noqa: ANN401 - typer's own click is private
    """Let commands report unreadable paths: typer's message has no remedy and no Japanese."""
    for parameter in command.params:
        parameter.type_descriptor.parameter_info.readable = False
    for below in getattr(command, "commands", {}).values():
        _leave_reading_to_commands(below)


def _replace_closed_streams() -> None:
    """Open /dev/null for closed standard streams; else a file opened later would get the output."""
    while (descriptor := os.open(os.devnull, os.O_RDONLY)) <= _STDERR:
        pass
    os.close(descriptor)
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8")  # noqa: SIM115 - a descriptor
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115


def _raise_when_interrupted() -> None:
    """Let Ctrl-C, SIGTERM and SIGHUP raise KeyboardInterrupt: commands clean up files and servers.

    A signal that is ignored, as with nohup, stays ignored.
    """
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):  # Windows has no SIGHUP
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, signal.default_int_handler)


def _need_a_working_folder() -> None:
    """Fail early if the working folder is gone: relative paths and mdvec.toml need it."""
    try:
        os.getcwd()  # noqa: PTH109 - Path.cwd() is the same call
    except OSError as error:
        sys.exit(f"error: the working folder cannot be used ({error.strerror}); change to another")


def _wrong_usage(error: typer.TyperException) -> str:
    """The message for a wrong command line: the mistake and where to look, or the help."""
    message = error.format_message()
    if type(error).__name__ == "NoArgsIsHelpError":  # typer's own click is private
        return message
    message = " ".join(message.split()).replace(". Choose from:", "; choose one of:")
    message = _EMPTY_WORDS.sub("argument(s) ('')", message)
    # typer validates values with pydantic, whose messages begin differently from ours.
    message = message.replace("Value error, ", "").replace("Input should", "it should")
    message = _NOT_READ.sub("", message)
    context = getattr(error, "ctx", None)
    message = message.rstrip(".") + _how_to_name(message, context)
    path = context.command_path if context is not None else _path_of_command()
    return f"error: {message}; see: {path} --help"


def _path_of_command() -> str:
    """The command and its groups by name, from the command line, if typer's error lacks them."""
    command: Any = typer.main.get_command(app)
    names = ["mdvec"]
    for word in sys.argv[1:]:
        if (command := getattr(command, "commands", {}).get(word)) is None:
            break
        names.append(word)
    return " ".join(names)


def _say_lookalikes(quoted_in: str | None = None) -> None:
    """Report words of a failed command line with a space or dash that only looks plain.

    If the line was understood, ``quoted_in`` is its error, and only words in it are named: a search
    may well contain such signs.
    """
    for match in filter(None, map(_LOOKALIKE.search, sys.argv[1:])):
        word = match[0][:_MAX_WORD]
        if quoted_in is None or _one_spaced(word) in _one_spaced(quoted_in):
            sign = "has a space or dash that is not the plain one"
            say(f"note: '{word}' {sign}; if that was not meant, type it anew")


def _one_spaced(text: str) -> str:
    return " ".join(text.split())


def _how_to_name(message: str, context: typer.Context | None) -> str:
    """A hint to name the tool with --name, if a command with that option got too many words."""
    parameters = context.command.params if context is not None else []
    if "unexpected extra argument" not in message or not any("-n" in p.opts for p in parameters):
        return ""
    takes_words = any(parameter.param_type_name == "argument" for parameter in parameters)
    in_quotes = ", and several words are given in quotes" if takes_words else ""
    return f": a tool is named with -n{in_quotes}"
