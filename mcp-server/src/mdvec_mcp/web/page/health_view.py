"""The view of what runs: the embedding models, the findings of the doctor, and the log's end."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from mdvec.embedding import ListedModel, catalog
from mdvec.log import last_lines, secrets_in
from mdvec.manage import GROUPS, Examination, Finding, Installation, examine, models_in_use
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from mdvec_mcp.web.page.query import Query
from mdvec_mcp.web.page.views import Views

_GROUPS = tuple(group for group in GROUPS if group.name not in ("settings", "server"))
"""Not the settings, whose origins a server does not keep, nor a second server: this one runs."""
_ORDER = ("trouble", "warning", "ok")


@dataclass(frozen=True, slots=True)
class ShownLog:
    """The end of the log: its lines, or why there are none; ``file`` is None if none is kept."""

    file: Path | None
    lines: tuple[str, ...] = ()
    failure: str = ""


@dataclass(frozen=True, slots=True)
class Health:
    """What the view shows; ``found`` is None until the checks are asked for."""

    models: tuple[ListedModel, ...]
    in_use: frozenset[str]
    log: ShownLog
    found: tuple[Finding, ...] | None


def routes(views: Views) -> list[Route]:
    """The route of the view."""
    return [views.route("/tools/health", _Health(views).show)]


@dataclass(frozen=True, slots=True)
class _Health:
    views: Views

    async def show(self, request: Request) -> Response:
        """The models and the log; with ``check`` also the findings, which take a moment."""
        is_checked = "check" in Query(request)
        health = await self.views.run(request, lambda: self._look(is_checked=is_checked))
        return self.views.page(request, "health.html", health=health)

    def _look(self, *, is_checked: bool) -> Health:
        settings, database = self.views.wiring.settings, self.views.wiring.database
        in_use = models_in_use(database)
        findings = None
        if is_checked:
            examined = examine(Installation(settings, {}, None), groups=_GROUPS)
            findings = worst_first(examined)
        options = settings.model.options()
        models = catalog.list_models({settings.model.name, *in_use}, options)
        return Health(tuple(models), frozenset(in_use), self._log(), findings)

    def _log(self) -> ShownLog:
        settings = self.views.wiring.settings
        file = settings.log.options().file
        if file is None:
            return ShownLog(None)
        token = settings.server.token
        secrets = [*secrets_in(os.environ), *([token.get_secret_value()] if token else [])]
        try:
            return ShownLog(file, last_lines(file, secrets))
        except FileNotFoundError:
            return ShownLog(file)
        except OSError as error:
            return ShownLog(file, failure=str(error))


def worst_first(examined: Examination) -> tuple[Finding, ...]:
    """The findings: trouble, then warnings, then what is well."""
    return tuple(sorted(examined.findings, key=lambda finding: _ORDER.index(finding.level)))
