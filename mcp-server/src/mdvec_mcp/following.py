"""Follows imports in the background for a client: waits, and reports their progress."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import anyio
from mcp.server.mcpserver import Context

if TYPE_CHECKING:
    from mdvec.sync.imports import ImportRun

AnyContext = Context[Any, Any]
"""What the SDK passes to a tool for its client; it is no parameter of the tool."""
_LOOK_SECONDS = 0.1
_MAX_SECONDS_WITH_SOME = 3.0
_MAX_SECONDS = 10.0


async def follow(
    runs: Sequence[ImportRun],
    ctx: AnyContext,
    is_enough: Callable[[ImportRun, float], bool] = lambda _, __: False,
) -> None:
    """Report the progress of imports until each has ended or need not be waited for.

    Args:
        runs: the imports.
        ctx: the client's.
        is_enough: whether an import need not be waited for after so many seconds.
    """
    began, told = anyio.current_time(), -1
    while True:
        waited = anyio.current_time() - began
        left = [run for run in runs if not run.is_done and not is_enough(run, waited)]
        if not left:
            return
        reports = [run.progress for run in runs if run.progress is not None]
        done = sum(one.files_done for one in reports)
        if done > told:
            told = done
            await ctx.report_progress(done, sum(one.files for one in reports), left[0].how_far())
        await anyio.sleep(_LOOK_SECONDS)


def has_enough(run: ImportRun, waited: float) -> bool:
    """Whether a search need not wait longer for a first import."""
    has_some = run.progress is not None and run.progress.files_done > 0
    return waited >= (_MAX_SECONDS_WITH_SOME if has_some else _MAX_SECONDS)
