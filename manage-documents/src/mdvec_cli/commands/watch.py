"""`mdvec watch`: import what changes in the tools' sources, until Ctrl-C."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Annotated

import typer
from mdvec import manage, sync, text
from mdvec.errors import MdvecError
from mdvec.platform import followed

from mdvec_cli.commands.terminal import (
    STOPPED,
    SettingsOptions,
    name_option,
    print_sentence,
    say,
    with_settings_options,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from mdvec.settings import Settings
    from mdvec.sync import End, Imports

_LOOK_MS = 5_000
"""In milliseconds, how often sources that cannot be watched (single files and missing folders) are
checked."""
_GATHER_MS = 1_600
"""In milliseconds; changes within this time form one batch."""


class WatchRefused(MdvecError):
    """The system cannot watch the folders."""


@with_settings_options
def watch_command(
    options: SettingsOptions,
    names: Annotated[
        list[str] | None, name_option("A tool's name; repeatable. Default: all active tools.")
    ] = None,
) -> None:
    """Watch the tools' sources, and import what changes, until Ctrl-C.

    Network file systems do not report changes: set WATCHFILES_FORCE_POLLING=true for them.
    """
    settings = options.settings()
    imports = sync.Imports(settings)
    watcher = _Watcher(settings, imports, tuple(names or ()))
    try:
        watcher.run()
    except KeyboardInterrupt as error:
        watcher.stop()
        say("stopped")
        raise typer.Exit(STOPPED) from error


class _Watcher:
    """Imports each tool whose source differs from its index, now and after each change."""

    def __init__(self, settings: Settings, imports: Imports, names: tuple[str, ...]) -> None:
        self._settings = settings
        self._imports = imports
        self._names = names
        self._attempts = sync.Attempts()
        self._troubles: dict[str, str] = {}

    def run(self) -> None:
        """Watch until Ctrl-C.

        Raises:
            ToolNotFound: there is no active tool with one of the names.
        """
        from mdvec.tools import ToolNotFound

        for name in self._missing(self._tools()):
            active = manage.list_tools(self._settings.database_path, active_only=True)
            raise ToolNotFound(name, [tool.name for tool in active])
        folders = self._folders()
        self._say_what_is_watched()
        self._import_stale()
        while True:
            for _ in _changes(folders, self._settings.database_path):
                if self._folders() != folders:
                    break
                self._import_stale()
            folders = self._folders()
            self._import_stale()

    def stop(self) -> None:
        """Stop the running import; finished documents stay."""
        runs = [run for name in self._tools() if (run := self._imports.running(name)) is not None]
        self._imports.close()
        for run in runs:
            run.wait()
            self._tell(run.tool, run.end)

    def _tools(self) -> dict[str, Path]:
        """The sources of the active tools to watch, by name."""
        tools = manage.list_tools(self._settings.database_path, active_only=True)
        return {
            tool.name: tool.source for tool in tools if not self._names or tool.name in self._names
        }

    def _missing(self, tools: Iterable[str]) -> list[str]:
        """The requested names that no active tool has."""
        there = set(tools)
        return [name for name in self._names if name not in there]

    def _folders(self) -> list[Path]:
        """The source folders that exist."""
        return sorted({source for source in self._tools().values() if source.is_dir()})

    def _say_what_is_watched(self) -> None:
        if not sys.stderr.isatty():
            return
        for name, source in self._tools().items():
            say(f"watching {source} for {name}")
        say("Ctrl-C ends it")

    def _import_stale(self) -> None:
        from mdvec.tools import ToolNotFound

        tools = self._tools()
        for name in self._missing(tools):
            self._say_trouble(name, f"there is no active tool {name} any more")
        for name in tools:
            try:
                seen = sync.check_source(
                    self._settings.database_path, name, self._settings.scan_rules()
                )
            except ToolNotFound:  # deleted or renamed while the others were imported
                continue
            self._say_trouble(name, seen.trouble or seen.warning())
            if seen.is_stale and self._attempts.begin(name, seen.mark):
                run = self._imports.start(name, is_automatic=True)
                while not run.wait(1.0):  # short waits, so that Ctrl-C is noticed
                    pass
                self._tell(name, run.end)

    def _say_trouble(self, name: str, trouble: str) -> None:
        """Report trouble with a tool when it changes, and when it ends."""
        if trouble != self._troubles.get(name, ""):
            self._troubles[name] = trouble
            say(trouble or f"the source of {name} is there again")

    def _tell(self, name: str, end: End | None) -> None:
        if isinstance(end, sync.Result):
            for line in end.summary:
                print_sentence(text.visible(line))
            for note in end.notes:
                say(text.visible(note))
        elif end is not None:
            say(text.visible(f"{name}: {end.text}"))


def _changes(folders: Sequence[Path], database: Path) -> Iterator[object]:
    """Yields once for each batch of changes below the folders, and every few seconds.

    Changes of our own database are ignored: it may be in such a folder, and each check writes to
    the database.

    Raises:
        WatchRefused: the system cannot watch so many folders.
    """
    from watchfiles import watch

    own = str(followed(database))
    while not folders:
        time.sleep(_LOOK_MS / 1_000)
        yield None
    try:
        yield from watch(
            *folders, watch_filter=lambda _, path: not path.startswith(own),
            debounce=_GATHER_MS, rust_timeout=_LOOK_MS, yield_on_timeout=True,
            ignore_permission_denied=True,
        )  # fmt: skip
    except FileNotFoundError:
        return  # a folder has just vanished; the next check reports it
    except OSError as error:
        raise WatchRefused(
            f"the folders cannot be watched ({error}); set WATCHFILES_FORCE_POLLING=true, which "
            "looks at them again and again instead"
        ) from error
