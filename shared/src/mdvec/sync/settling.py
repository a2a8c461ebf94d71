"""Waits until a source has settled: a file that is being written is imported afterwards."""

from __future__ import annotations

import time
from pathlib import Path

from mdvec.cancelling import raise_if_cancelled
from mdvec.files.scan import ScanRules
from mdvec.sync.freshness import Freshness, look_at

SETTLE_SECONDS = 1.5
"""A file that changed less than this ago may still be being written."""
MAX_SETTLE_SECONDS = 20.0
"""A file that never rests, such as a log, holds up an import no longer than this."""
_LOOK_SECONDS = 0.2


def wait_until_settled(database: Path, tool: str, rules: ScanRules) -> Freshness:
    """Look at a tool's source until its newest change is old enough; the last look.

    Raises:
        Cancelled: nobody wants the import any more.
        ToolNotFound, DatabaseError: the tool cannot be read.
    """
    deadline = time.monotonic() + MAX_SETTLE_SECONDS
    while True:
        began = time.monotonic()
        found = look_at(database, tool, rules)
        rest = SETTLE_SECONDS - found.seconds_since_change()
        if rest <= 0 or began >= deadline:
            return found
        # Looks at a large source take long; they get at most a fifth of the time.
        pause = max(_LOOK_SECONDS, 4 * (time.monotonic() - began), rest)
        until = min(time.monotonic() + pause, deadline)
        while (left := until - time.monotonic()) > 0:
            raise_if_cancelled()
            time.sleep(min(left, _LOOK_SECONDS))
