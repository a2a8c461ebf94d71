"""The views of tools, their sources and imports, of new folders, and of models and the log."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import anyio
from mcp.server.mcpserver.exceptions import ToolError
from mdvec import manage
from mdvec.database import DatabaseMissing
from mdvec.dates import today
from mdvec.embedding import catalog
from mdvec.log import last_lines, secrets_in
from mdvec.settings import Loaded, Settings, users_file
from mdvec.sync import list_sources
from mdvec.tools import KINDS, Tool, name_for
from starlette.responses import PlainTextResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from mdvec_mcp.freshness import freshness_in_english, freshness_in_japanese
from mdvec_mcp.server import Wiring
from mdvec_mcp.upkeep import Values, import_in_words, imports_now
from mdvec_mcp.web.page.data_view import file_parts
from mdvec_mcp.web.page.views import Language, Views, Visit, or_again, words

_MAX_STREAMS = 16
_LOOK_SECONDS = 0.5
_LOOKS_UNTIL_PING = 20
_GROUPS = tuple(group for group in manage.GROUPS if group.name not in ("settings", "server"))
"""The checks without the settings, whose origins a server does not know, and without the server."""
_ORDER = ("trouble", "warning", "ok")


def routes(views: Views) -> list[Route]:
    """The routes of the views and their forms."""
    forms = {
        "add": or_again(add, show), "active": activate, "reindex": reindex, "stop": stop,
        "backup": back_up, "restore": or_again(restore, show),
    }  # fmt: skip
    return [
        views.route("/tools", show),
        views.route("/tools/folders", folders),
        views.route("/tools/events", partial(events, anyio.Semaphore(_MAX_STREAMS))),
        views.route("/tools/health", show_health),
        *(views.route(f"/tools/{path}", form, changes=True) for path, form in forms.items()),
    ]


async def show(visit: Visit) -> Response:
    """The tools, or only their list for the script of the page."""
    query = visit.query
    seen, shown = await visit.run(partial(_tools_shown, visit.wiring, visit.language))
    return visit.page(
        "tools_list.html" if query.text("part") == "list" else "tools.html",
        overview=seen, tools=shown, kinds=tuple(KINDS),
        path=query.text("folder") or query.text("path"), home=str(Path.home()),
        kept=visit.undo.text("kept"),
    )  # fmt: skip


def _tools_shown(wiring: Wiring, language: Language) -> tuple[manage.Overview | None, list[Values]]:
    """The tools, each with its counts, its source if active, and its running or last import."""
    try:
        seen = manage.overview(wiring.database)
        tools = manage.list_tools(wiring.database, active_only=False)
    except DatabaseMissing:
        return None, []
    status = {listed.name: listed for listed in seen.tools}
    rules = wiring.settings.scan_rules()
    sources = {source.tool.name: source for source in list_sources(wiring.database, rules)}
    imports = {run["tool"]: run for run in imports_now(wiring.freshness)}
    wording = freshness_in_japanese if language == "ja" else freshness_in_english
    shown = []
    for tool in (tool for tool in tools if tool.name in status):
        source, import_ = sources.get(tool.name), imports.get(tool.name)
        is_running = import_ is not None and import_["state"] == "running"
        fresh = "" if source is None else wording(source.freshness, is_running)
        import_ = import_ if source is None else import_in_words(source, import_)
        shown.append(
            {"tool": tool, "status": status[tool.name], "source": source, "fresh": fresh,
             "import_": import_}
        )  # fmt: skip
    return seen, shown


async def folders(visit: Visit) -> Response:
    """A folder of the home with its subfolders, to pick one."""
    path = visit.query.text("at")
    folder = await visit.run(lambda: manage.home_folder(path, Path.home()))
    return visit.page("folders.html", folder=folder, home=str(Path.home()))


async def add(visit: Visit) -> Response:
    """Add a folder or file within the home, and import it in the background."""
    form = visit.query

    def given(name: str) -> str:
        return form.text(name).strip()

    def work() -> Tool:
        wiring = visit.wiring
        path = manage.within_home(given("path"), Path.home())
        kind = given("kind") if given("kind") in KINDS else next(iter(KINDS))
        names = {tool.name for tool in visit.views.tools(active_only=False)}
        if not given("name") and (others := manage.tools_of_source(wiring.database, path, kind)):
            raise manage.FolderServed(others[0])
        name = given("name") or name_for(path.stem, names)
        description = given("description") or f"The user's files in {path.name}."
        tool = manage.add_tool(
            wiring.database, name, description, path, kind, given("title") or None
        )
        wiring.freshness.start_import(tool)
        return tool

    tool = await visit.run(work)
    return RedirectResponse(f"/tools#tool-{tool.name}", 303)


async def back_up(visit: Visit) -> Response:
    """Download a backup: the database and the settings in one file."""
    wiring = visit.wiring
    file = wiring.database.absolute().parent / f".mdvec-backup-{secrets.token_hex(8)}.zip"
    await visit.run(lambda: manage.back_up(wiring.database, wiring.settings_file, file))
    name = f"mdvec-backup-{today().isoformat()}.zip"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return StreamingResponse(file_parts(file), headers=headers, media_type="application/zip")


async def restore(visit: Visit) -> Response:
    """Restore a backup; the old content is kept in a file that the answer names."""
    query, wiring = visit.query, visit.wiring
    named = query.text("backup").strip().replace("\0", "")
    settings = wiring.settings_file or users_file()

    def work() -> str:
        file = Path.home() / named.removeprefix("~/")
        done = manage.restore(
            file, wiring.database, settings,
            replaces="replaces" in query, how="choose to replace what is there",
        )  # fmt: skip
        return ", ".join(map(str, done.replaced))

    copy = await visit.run(work)
    return RedirectResponse(f"/tools?{urlencode({'kept': copy, 'restored': 1})}#backup", 303)


async def activate(visit: Visit) -> Response:
    """Enable or disable a tool."""
    form = visit.query
    name, active = form.text("tool"), form.text("active") == "1"
    database = visit.wiring.database
    await visit.run(lambda: manage.set_active(database, name, active=active))
    return RedirectResponse(f"/tools#tool-{name}", 303)


async def reindex(visit: Visit) -> Response:
    """Import a tool in the background."""
    name = visit.query.text("tool")
    wiring = visit.wiring

    def work() -> None:
        wiring.freshness.start_import(manage.find_tool(wiring.database, name))

    await visit.run(work)
    return RedirectResponse(f"/tools#tool-{name}", 303)


async def stop(visit: Visit) -> Response:
    """Stop an import that this server runs; stored documents stay."""
    name = visit.query.text("tool")
    run = visit.wiring.freshness.imports.running(name)
    if run is not None:
        run.stop()
    return RedirectResponse("/tools", 303)


async def events(streams: anyio.Semaphore, visit: Visit) -> Response:
    """The progress of imports, as server-sent events, of which ``streams`` limits the number."""
    try:
        streams.acquire_nowait()
    except anyio.WouldBlock:
        return PlainTextResponse("too many pages watch imports\n", 503)
    return StreamingResponse(_progress(streams, visit), media_type="text/event-stream")


async def _progress(streams: anyio.Semaphore, visit: Visit) -> AsyncIterator[str]:
    """Events with progress; and to reload the list when an import starts or ends.

    The list is also reloaded at first: an import may have ended since the page was made.
    """
    language, sent, states, looks = visit.language, "", None, 0
    freshness = visit.wiring.freshness
    try:
        while not visit.is_server_stopping:
            try:
                now = await visit.run(lambda: imports_now(freshness))
            except ToolError:  # for example, the database is being replaced
                now = []
            running = [run for run in now if run["state"] == "running"]
            fresh_states = [(run["tool"], run["state"]) for run in now]
            if fresh_states != states:
                yield event("list", {})
            states = fresh_states
            text = "".join(import_event(run, language) for run in running)
            if text != sent:
                sent = text
                yield text
            elif looks % _LOOKS_UNTIL_PING == 0:
                yield ": here\n\n"
            looks += 1
            await anyio.sleep(_LOOK_SECONDS)
    finally:
        streams.release()


def event(name: str, data: dict[str, Any]) -> str:
    """An event with its data as JSON on one line."""
    return f"event: {name}\ndata: {json.dumps(data)}\n\n"


def import_event(running: dict[str, Any], language: Language) -> str:
    """An event with the progress of an import."""
    done, files = running["files_done"], running["files"]
    text = words(language, "importing", done=f"{done:,}", files=f"{files:,}")
    return event("progress", {"tool": running["tool"], "done": done, "files": files, "text": text})


async def show_health(visit: Visit) -> Response:
    """Show the models and the log; with ``check`` also the findings, which takes a moment."""
    is_checked = "check" in visit.query
    shown = await visit.run(partial(_health, visit.wiring, is_checked=is_checked))
    return visit.page("health.html", **shown)


def _health(wiring: Wiring, *, is_checked: bool) -> Values:
    settings, database = wiring.settings, wiring.database
    in_use = manage.models_in_use(database)
    findings = None
    if is_checked:
        findings = list(manage.examine(Loaded(settings), groups=_GROUPS).findings)
        findings.sort(key=lambda finding: _ORDER.index(finding.level))
    options = settings.model.options()
    models = catalog.list_models({settings.model.name, *in_use}, options)
    return {"models": models, "in_use": in_use, "log": _log(settings), "found": findings}


def _log(settings: Settings) -> Values:
    """The log's file, if there is one, with its last lines, or why they cannot be read."""
    file = settings.log.file and Path(settings.log.file)
    lines: tuple[str, ...] = ()
    token, failure = settings.server.token, ""
    secrets = [*secrets_in(os.environ), *([token.get_secret_value()] if token else [])]
    try:
        lines = last_lines(file, secrets) if file else ()
    except OSError as error:
        failure = "" if isinstance(error, FileNotFoundError) else str(error)
    return {"file": file, "lines": lines, "failure": failure}
