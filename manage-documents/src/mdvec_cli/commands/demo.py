"""`mdvec demo`, `samples` and `serve`: a tour of mdvec, its sample files, and a served folder."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from pathlib import Path
from typing import Annotated

import typer
from mdvec import manage
from mdvec.errors import not_usable
from mdvec.installation import this_installation
from mdvec.platform import shell_line

from mdvec_cli.commands.terminal import GivenPath, say

_STEPS = (
    ("Sample notes, mostly in Japanese, become a tool that can be searched:", (
        ("tool", "add", "-n", "notes", "-d", "sample notes", "-s", "samples/notes"),
        ("import", "-n", "notes"),
    )),
    ("A question, answered with the passage and its place:", (
        ("search", "水はどれくらい備蓄する？", "-k", "1"),
        ("search", "How do I keep two branches checked out at the same time?", "-k", "1"),
    )),
    ("The statements of an invented household become a ledger:", (
        ("tool", "add", "-n", "kakeibo", "--kind", "household", "-d", "家計簿",
         "-s", "samples/household"),
        ("import", "-n", "kakeibo"),
    )),
    ("A month of it, in SQL:", (
        ("query", "SELECT category_major AS category, sum(-amount) AS yen FROM transactions "
         "WHERE kind = 'expense' AND month = '2025-06' "
         "GROUP BY category ORDER BY yen DESC LIMIT 5"),
    )),
)  # fmt: skip
_MADE = ("samples", "config.toml", "demo.sqlite*")


def demo_command(
    ctx: typer.Context,
    folder: Annotated[
        GivenPath | None,
        typer.Argument(
            help="A folder that keeps what the demo makes; without it, nothing is kept."
        ),
    ] = None,
) -> None:
    """Try mdvec in a few seconds: samples, two imports, a search and a month of a household."""
    began = time.monotonic()
    here = this_installation()
    if folder is not None:
        target = folder.absolute()
        with manage.undone_unless_whole(target, _MADE, lambda: _say_removed(target)):
            _demonstrate(ctx, target)
        opened = manage.server_arguments(target / "demo.sqlite", target / "config.toml")
        say("")
        say(f"kept in {target}; to see it in the browser: {here.program} ui {shell_line(*opened)}")
    else:
        try:
            with tempfile.TemporaryDirectory(prefix="mdvec-demo-") as made:
                # The user's own folder of exports may not be writable, and nothing is to be kept.
                _demonstrate(ctx, Path(made), MDVEC_ANALYTICS_FOLDER=str(Path(made, "exports")))
        finally:  # also after Ctrl-C, which prints how to continue
            say("")
            say(f"the demo's folder is removed again; to keep one: {here.program} demo FOLDER")
    say(f"that took {time.monotonic() - began:.1f} s, and nothing left this machine")
    say(
        f"next, a folder of your own for your client: {here.program} serve FOLDER, or step by step:"
    )
    for step in () if here.is_kept else (here.to_keep,):
        say(f"  {step}")
    say(
        '  mdvec tool add -n notes -d "what it contains" -s FOLDER\n'
        "  mdvec import -n notes\n"
        "  mdvec register claude-desktop"
    )


def _demonstrate(ctx: typer.Context, folder: Path, **settings: str) -> None:
    """Run each step as a user would type it, in ``folder`` and with a database there."""
    try:
        (folder / "samples").mkdir(parents=True)
        (folder / "config.toml").touch(exist_ok=False)
    except OSError as error:
        raise manage.FolderNotWritten(not_usable(folder, error)) from error
    manage.copy_samples(folder / "samples")
    with _settings_of(folder, **settings):
        for about, commands in _STEPS:
            say("")
            say(about)
            for command in commands:
                typed = (f'"{word}"' if " " in word else word for word in command)
                say(f"$ mdvec {' '.join(typed)}")
                if code := ctx.find_root().command.main([*command], "mdvec", standalone_mode=False):
                    raise typer.Exit(code)


def _say_removed(folder: Path) -> None:
    say("")
    say(f"what the demo made in {folder} is removed again")


@contextmanager
def _settings_of(folder: Path, **more: str) -> Iterator[None]:
    """Within the block, use the demo's folder and settings; only the language stays the user's."""
    before = dict(os.environ)
    for name in before:
        if name.startswith("MDVEC_") and name != "MDVEC_DISPLAY_LANGUAGE":
            del os.environ[name]
    os.environ.update(
        MDVEC_CONFIG=str(folder / "config.toml"),
        MDVEC_DATABASE_PATH=str(folder / "demo.sqlite"),
        MDVEC_MODEL_NAME="use",
        **more,
    )
    try:
        with chdir(folder):
            yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def samples_command(
    folder: Annotated[GivenPath, typer.Argument(help="The folder to write.")],
) -> None:
    """Write sample notes and the statement files of invented households into a folder."""
    copies = manage.copy_samples(folder.absolute())
    for name, copy in copies.items():
        say(f"wrote {name}: {copy}")
    notes = shell_line(str(copies["notes"]))
    say(f'next: mdvec tool add -n notes -d "sample notes" -s {notes}')


def serve_command(
    ctx: typer.Context, folder: Annotated[GivenPath, typer.Argument(help="The folder to serve.")]
) -> None:
    """Serve a folder to an MCP client over STDIO: registered, imported, and kept up to date.

    It runs mdvec-mcp --docs-dir FOLDER; any further options are passed to it as well.
    """
    command = [manage.server_program(), "--docs-dir", str(folder), *ctx.args]
    if os.name == "nt":  # exec would return to the client before the server has ended
        sys.exit(subprocess.call(command))  # noqa: S603 - our own program
    os.execv(command[0], command)  # noqa: S606 - our own program
