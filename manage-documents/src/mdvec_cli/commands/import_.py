"""`mdvec import`: bring a tool's folder or data files into the database."""

from __future__ import annotations

import functools
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from mdvec import embedding, importing, manage
from mdvec.errors import MdvecError
from mdvec.platform import in_own_group
from mdvec.text import visible

from mdvec_cli.commands.import_options import ImportOptions, arguments_of
from mdvec_cli.commands.terminal import (
    STOPPED,
    SettingsOptions,
    confirmed,
    print_json,
    print_sentence,
    say,
    wants_json,
    with_settings_options,
)

if TYPE_CHECKING:
    from mdvec.embedding import BackendOptions
    from mdvec.importing import ImportReport, ImportRequest, Progress


@dataclass(frozen=True, slots=True)
class ImportDisplay:
    """How an import shows progress and messages to its user, and asks for permission."""

    show: Callable[[Progress], None]
    tell: Callable[[str], None]
    ask: Callable[[str], bool]


@contextmanager
def import_display(name: str, *, quiet: bool) -> Iterator[ImportDisplay]:
    """Show a progress bar on a terminal, nothing elsewhere."""
    if quiet or not sys.stderr.isatty():
        yield ImportDisplay(lambda _: None, say, confirmed)
        return
    from rich import console, progress

    speed = "{task.fields[units]} {task.fields[unit]}, {task.fields[rate]:.0f}/s"
    columns = (
        progress.TextColumn("{task.description}"), progress.BarColumn(),
        progress.MofNCompleteColumn(), progress.TextColumn("files"), progress.TextColumn(speed),
        progress.TimeRemainingColumn(),
    )  # fmt: skip
    stderr = console.Console(stderr=True)
    with progress.Progress(*columns, console=stderr, transient=True) as bar:
        task = bar.add_task(f"importing {name}", total=None, units=0, rate=0.0, unit="")

        def show(now: Progress) -> None:
            elapsed = bar.tasks[0].elapsed or 1.0
            page = f", page {now.page} of {now.pages}" if now.pages else ""
            bar.update(
                task, description=f"importing {name}{page}",
                completed=now.files_done, total=now.files,
                units=now.units_done, rate=now.units_done / elapsed,
                unit=now.unit,
            )  # fmt: skip

        def tell(message: str) -> None:
            bar.console.print(message, markup=False, highlight=False, soft_wrap=True)

        def ask(question: str) -> bool:
            bar.stop()
            try:
                return confirmed(question)
            finally:
                bar.start()

        yield ImportDisplay(show, tell, ask)


@with_settings_options
def import_command(settings_options: SettingsOptions, options: ImportOptions) -> None:
    """Import a tool's source: find changed files, split them into chunks, embed and store them.

    The files of a dataset become tables for SQL, and nothing is embedded.
    """
    options.check()
    tables = options.tables()
    settings = options.settings(settings_options)
    options.check_kind(settings.database_path)
    as_json = wants_json(options.format_, settings)
    backend = settings.model.options()
    run = functools.partial(
        _import_one, options=backend, quiet=settings_options.verbose, allowed=options.yes
    )
    if options.name is None:
        _import_all(
            settings.database_path,
            lambda tool: run(options.request(settings, tool, tables)),
            as_json=as_json,
        )
        return
    request = options.request(settings, options.name, tables)
    if _is_rebuilt_later(request):
        _check_model(request, backend)
        _start(request, settings_options.config)
        if as_json:
            print_json({"tool": request.tool, "mode": "replace", "is_running": True})
        say(
            f"{request.tool}: it is being built again; searches read what is there until the new "
            "index, with all of its vectors, is complete; how far it is: "
            f"mdvec status -n {request.tool}"
        )
        return
    report = run(request)
    if options.background and report.chunks_pending:
        rest = replace(request, mode="update", model=report.model, take_scan=False)
        _start(rest, settings_options.config)
        say(
            f"{report.tool}: words find its passages now, and vectors as they come; "
            f"how far it is: mdvec status -n {report.tool}"
        )
    if as_json:
        print_json(report.json_fields())
    else:
        _print_report(report)


def _import_one(
    request: ImportRequest, options: BackendOptions, *, quiet: bool, allowed: bool
) -> ImportReport:
    try:
        with import_display(request.tool, quiet=quiet) as shown:
            return manage.import_tool(
                request,
                manage.loading_and_telling(shown.tell, options),
                on_progress=shown.show,
                on_notice=shown.tell,
                may_send=lambda sending: allowed or shown.ask(f"{sending.sentence()} Send them?"),
            )
    except importing.ImportInterrupted as error:
        say(str(error))
        raise typer.Exit(STOPPED) from error


def _is_rebuilt_later(request: ImportRequest) -> bool:
    """Whether the import rebuilds notes in the background while searches use the old index."""
    if not request.is_background or request.mode != "replace":
        return False
    tool = manage.find_tool(request.database, request.tool)
    manage.check_options(tool, request)
    return tool.kind == "markdown" and tool.generation > 0


def _check_model(request: ImportRequest, options: BackendOptions) -> None:
    """Load the model of a rebuild in this process, so that the user sees its errors."""
    tool = manage.find_tool(request.database, request.tool)
    model = request.model or request.usual_model or tool.model
    if model is not None and embedding.is_endpoint_model(model):
        raise importing.ImportRefused(
            f"the vectors of {request.tool!r} come from an endpoint; leave out --background"
        )
    manage.loading_and_telling(say, options)(model)


def _start(request: ImportRequest, config: Path | None) -> None:
    """Start an import in a process that outlives this command.

    Its messages are discarded; if it fails, the tool's status tells why.
    """
    code = "from mdvec_cli.entry import main; main()"
    subprocess.Popen(  # noqa: S603 - this program, with options of its own
        [sys.executable, "-c", code, *arguments_of(request, config)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        **in_own_group(),
    )


def _import_all(
    database: Path, import_one: Callable[[str], ImportReport], *, as_json: bool
) -> None:
    """Import every active tool; exit with code 1 if any failed."""
    done: list[dict[str, object]] = []
    failed = 0
    tools = manage.list_tools(database, active_only=True)
    if not tools:
        say("no tool is active; list all tools with: mdvec tool ls --all")
    for tool in tools:
        try:
            report = import_one(tool.name)
        except MdvecError as error:
            failed += 1
            say(f"error: {tool.name} could not be imported: {error}")
            done.append({"tool": tool.name, "error": str(error)})
            continue
        done.append(report.json_fields())
        if not as_json:
            _print_report(report)
    if as_json:
        print_json({"imports": done})
    if failed:
        say(f"{failed} of {len(tools)} tools could not be imported")
        raise typer.Exit(1)


def _print_report(report: ImportReport) -> None:
    for line in report.lines():
        text = visible(line.text)
        if line.is_note:
            say(text)
        else:
            print_sentence(text)
