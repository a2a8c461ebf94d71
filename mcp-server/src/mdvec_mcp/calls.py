"""What the functions of tools use: replies, and threads for their work."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import anyio.to_thread
from mcp_types import ContentBlock, ToolAnnotations
from mdvec.cancelling import cancelled_by

from mdvec_mcp.database_trouble import Wording, errors_for_the_model, trouble_in_english

T = TypeVar("T")
Data = Callable[[], dict[str, Any]]
"""Makes an answer's data, which only programs ask for, as JSON."""

READ_ONLY = ToolAnnotations(read_only_hint=True, open_world_hint=False)
"""For tools that change nothing."""
WRITES = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
"""For tools that record what the user decided."""


@dataclass(frozen=True, slots=True)
class ToolReply:
    """A tool's answer.

    Attributes:
        text: all that the model reads.
        data: makes the same as JSON.
        blocks: what follows the text, such as a picture.
    """

    text: str
    data: Data | None = None
    blocks: tuple[ContentBlock, ...] = ()


async def in_thread(
    work: Callable[[], T],
    wording: Wording = trouble_in_english,
    *,
    limiter: anyio.CapacityLimiter | None = None,
    max_error_bytes: int | None = None,
) -> T:
    """Run blocking work in a thread; if the call is cancelled, the work ends at its next step.

    Errors about the database get the ``wording``; other messages are cut at ``max_error_bytes``.
    Without a ``limiter``, anyio's default says how many threads run at once.

    Raises:
        ToolError: the work raised an MdvecError; the text is for the model.
    """
    cancellation = threading.Event()

    def call() -> T:
        with cancelled_by(cancellation), errors_for_the_model(wording, max_error_bytes):
            return work()

    try:
        return await anyio.to_thread.run_sync(call, abandon_on_cancel=True, limiter=limiter)
    finally:
        cancellation.set()
