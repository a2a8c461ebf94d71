"""The process of a background import: reads its order from STDIN and reports progress.

It starts when the source has settled, so that no half-written file is imported, and has a lower
priority than searches. When its STDIN is closed, as when its parent dies, it ends at its next step;
stored documents stay.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TextIO

from mdvec.cancelling import cancelled_by, raise_if_cancelled
from mdvec.errors import MdvecError
from mdvec.files import ScanRules
from mdvec.importing import ImportInterrupted, Progress
from mdvec.log import open_log
from mdvec.manage import import_request, import_tool, loading_and_telling
from mdvec.platform import lower_priority
from mdvec.settings import Settings
from mdvec.sync.freshness import check_source
from mdvec.sync.imports import NOT_BEGUN, Failed, Message, Notice, Result, Stopped, as_line

_TELL_SECONDS = 0.1
SETTLE_SECONDS = 1.5
"""A file that changed within this time may not be complete."""
MAX_SETTLE_SECONDS = 20.0
"""The maximum delay because of files that never settle, such as logs."""
_LOOK_SECONDS = 0.2


def main() -> None:
    """Import one tool."""
    lower_priority()
    speaker = _Speaker(_own_stdout())
    line = sys.stdin.readline()
    if not line:  # stopped before it got its order
        speaker.tell(NOT_BEGUN)
        return
    order = json.loads(line)
    cancelled = threading.Event()
    threading.Thread(target=_watch_stdin, args=(cancelled,), daemon=True).start()
    settings = Settings.model_validate_json(json.dumps(order["settings"]))
    level = order["log_level"]  # the parent's level
    lines = "%(levelname)s %(name)s: %(message)s"
    logging.basicConfig(format=lines, level=max(level, logging.WARNING))
    logging.getLogger("mdvec").setLevel(level)
    open_log(settings.log, lambda _: None)
    try:
        with cancelled_by(cancelled):
            speaker.tell(_run_import(settings, order, speaker))
    except ImportInterrupted as error:
        speaker.tell(Stopped(str(error)))
    except KeyboardInterrupt:
        speaker.tell(NOT_BEGUN)
    except MdvecError as error:
        speaker.tell(Failed(str(error)))
    except Exception as error:  # a bug must be reported to the user, too
        logging.getLogger("mdvec").debug("unexpected", exc_info=True)
        speaker.tell(Failed(f"unexpected {type(error).__name__}: {error}"))


def _run_import(settings: Settings, order: Mapping[str, Any], speaker: _Speaker) -> Result:
    request = import_request(
        settings, order["tool"], "update", is_automatic=order["is_automatic"], is_unattended=True
    )
    wait_until_settled(request.database, request.tool, request.rules)

    def notice(text: str) -> None:
        speaker.tell(Notice(text))

    return Result.of(
        import_tool(
            request,
            loading_and_telling(notice, settings.model.options()),
            on_progress=speaker.progress,
            on_notice=notice,
        )
    )


class _Speaker:
    """Writes messages; progress only at intervals."""

    def __init__(self, target: TextIO) -> None:
        self._target = target
        self._told = 0.0

    def tell(self, message: Message) -> None:
        """Write a message; a missing reader is ignored, since the end of STDIN ends the import."""
        try:
            self._target.write(as_line(message))
            self._target.flush()
        except BrokenPipeError:
            return

    def progress(self, progress: Progress) -> None:
        """Report the progress, unless it was just reported."""
        now = time.monotonic()
        if now - self._told >= _TELL_SECONDS or progress.files_done == progress.files:
            self._told = now
            self.tell(progress)


def _own_stdout() -> TextIO:
    """Reserve STDOUT for messages; what other code prints goes to STDERR."""
    descriptor = os.dup(1)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return os.fdopen(descriptor, "w", encoding="utf-8")


def _watch_stdin(cancelled: threading.Event) -> None:
    while sys.stdin.readline():
        pass
    cancelled.set()


def wait_until_settled(database: Path, tool: str, rules: ScanRules) -> None:
    """Check a tool's source until its newest change is old enough.

    Raises:
        Cancelled: the import was cancelled.
        ToolNotFound, DatabaseError: the tool cannot be read.
    """
    deadline = time.monotonic() + MAX_SETTLE_SECONDS
    while True:
        began = time.monotonic()
        freshness = check_source(database, tool, rules)
        rest = SETTLE_SECONDS - freshness.seconds_since_change()
        if rest <= 0 or began >= deadline:
            return
        # Checks of a large source are slow; they get at most a fifth of the time.
        pause = max(_LOOK_SECONDS, 4 * (time.monotonic() - began), rest)
        until = min(time.monotonic() + pause, deadline)
        while (left := until - time.monotonic()) > 0:
            raise_if_cancelled()
            time.sleep(min(left, _LOOK_SECONDS))


if __name__ == "__main__":
    main()
