"""`mdvec-mcp --one-request`: answers one request of `mdvec` over its pipes, then ends.

The request is a line of JSON on STDIN, which stays open for as long as the answer is wanted. The
response is a line of JSON on STDOUT, and the bytes of the file that it announces.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
import signal
import threading
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from mdvec import log, sync
from mdvec.errors import MdvecError

from mdvec_mcp import analytics
from mdvec_mcp.freshness import FreshnessWatch
from mdvec_mcp.quick_start import loaded

if TYPE_CHECKING:
    from mdvec.settings import Settings

    from mdvec_mcp.analytics import Analytics

Response = dict[str, Any]


def answer_once(database: Path | None, config: Path | None, reading: int, writing: int) -> None:
    """Read the request, write the response, and end the process.

    The settings are those of `mdvec` in this folder.

    Args:
        database: the database file; None takes that of the settings.
        config: the settings file; None takes the user's.
        reading: the descriptor of the request.
        writing: the descriptor of the response.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # `mdvec` gets it too, and closes the pipe
    with os.fdopen(reading, "rb") as requests, os.fdopen(writing, "wb") as responses:
        try:
            settings = _settings(database, config)
            service = _analytics(settings)
        except MdvecError as error:
            _write(responses, _refusal(error))
            return
        loaded()
        line = requests.readline()
        if line:
            _end_with(requests, service)
            _answer(settings, service, json.loads(line), responses)
        service.queries.close()
        os._exit(0)  # the thread that waits for the end of STDIN would keep it locked


def _settings(database: Path | None, config: Path | None) -> Settings:
    from mdvec.settings import load_with_origins

    path = None if database is None else str(database.expanduser().absolute())
    flags = {"database": {"path": path}}
    folder = Path.cwd()
    return load_with_origins(os.environ, config=config, project_folder=folder, flags=flags).settings


def _analytics(settings: Settings) -> Analytics:
    """The use cases, which import no source that they find changed."""
    log.open_log(settings.log.options(), logging.getLogger("mdvec").warning)
    database, rules = settings.database_path, settings.scan.rules()
    freshness = FreshnessWatch(
        database, rules, settings.sync.seconds, is_auto=False, imports=sync.Imports(settings)
    )
    limits = analytics.for_terminal(settings.analytics)
    starts_on = settings.household.month_starts_on
    folder = settings.analytics_folder
    return analytics.analytics_over(database, folder, limits, freshness, starts_on)


def _end_with(requests: IO[bytes], service: Analytics) -> None:
    """End the process when nobody wants the answer any more."""

    def wait() -> None:
        requests.read(1)
        service.queries.close()
        os._exit(0)

    threading.Thread(target=wait, daemon=True).start()


def _answer(
    settings: Settings, service: Analytics, request: dict[str, Any], responses: IO[bytes]
) -> None:
    from mdvec.settings import unknown_variables

    warnings = unknown_variables(os.environ)
    try:
        answer, body = analytics.TerminalAnswers(service, settings.charts).answer(request)
    except MdvecError as error:
        _write(responses, _refusal(error) | {"warnings": warnings})
        return
    size = len(body) if isinstance(body, bytes) else 0 if body is None else body.stat().st_size
    form = settings.display.default_format
    warnings += answer.pop("warnings", [])
    _write(responses, {"answer": answer, "bytes": size, "format": form, "warnings": warnings})
    if isinstance(body, bytes):
        responses.write(body)
        responses.flush()
    elif body is not None:
        with body.open("rb") as rows:
            shutil.copyfileobj(rows, responses)
            responses.flush()


def _refusal(error: MdvecError) -> Response:
    return {"error": str(error), "is_wrong_usage": error.is_wrong_usage, "warnings": []}


def _write(responses: IO[bytes], response: Response) -> None:
    responses.write(json.dumps(response, default=str).encode() + b"\n")
    responses.flush()
