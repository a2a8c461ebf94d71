"""Code shared by all tools: replies, threads, and errors for the model."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import anyio.to_thread
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ContentBlock, ToolAnnotations
from mdvec.cancelling import cancelled_by
from mdvec.database import DatabaseEmptied, DatabaseError, DatabaseMissing
from mdvec.errors import MdvecError
from mdvec.manage import list_tools
from mdvec.text import visible

logger = logging.getLogger("mdvec")

Wording = Callable[[DatabaseError], str]
"""Formats an error in one language, without the path of the user's home folder."""

_MORE = "details are in this server's log, or in a terminal: mdvec status"
T = TypeVar("T")
Data = Callable[[], dict[str, Any]]
"""Makes an answer's data for programs, as JSON."""
READ_ONLY = ToolAnnotations(read_only_hint=True, open_world_hint=False)
"""For tools that change nothing."""
WRITES = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
"""For tools that record decisions of the user."""


def trouble_in_english(error: DatabaseError) -> str:
    """The error in English."""
    if isinstance(error, DatabaseMissing):
        return (
            f"there is no database file at {_without_home(error.path)}. If it was "
            "moved, the user can put it back, or start this server with --database; a new one "
            'begins with: mdvec tool add -n NAME -d "what it contains" -s FOLDER'
        )
    if isinstance(error, DatabaseEmptied):
        return (
            f"the database at {_without_home(error.path)} holds no tools: it was emptied or "
            "replaced, or none was added yet; the user can add one in a terminal: mdvec tool add "
            '-n NAME -d "what it contains" -s FOLDER, then mdvec import -n NAME'
        )
    return f"the database cannot be used now: {_without_home(error)}; {_MORE}"


def trouble_in_japanese(error: DatabaseError) -> str:
    """The error in Japanese, for the household's tools."""
    if isinstance(error, DatabaseMissing):
        return (
            f"データベースのファイルがありません。探した場所: {_without_home(error.path)}。"
            "移動した場合は元に戻すか、サーバーの --database で場所を指定してください。"
            "場所は、ターミナルの mdvec status で確認できます"
        )
    if isinstance(error, DatabaseEmptied):
        return (
            f"データベース（{_without_home(error.path)}）にツールが一つもありません。"
            "空になったか、別のファイルに置き換わったか、まだ何も追加していません。"
            "家計簿は mdvec tool add --kind household で追加できます"
        )
    return (
        f"データベース接続に失敗しました（{_without_home(error)}）。原因はサーバーのログか、"
        "ターミナルの mdvec status で確認できます"
    )


@contextmanager
def errors_for_the_model(wording: Wording, max_bytes: int | None = None) -> Iterator[None]:
    """Turn the library's errors into ToolErrors, whose text reaches the model."""
    try:
        yield
    except DatabaseError as error:
        logger.warning("%s", error)
        raise ToolError(_cut(wording(error), max_bytes)) from error
    except MdvecError as error:
        raise ToolError(_cut(str(error), max_bytes)) from error


def refuse_empty_database(database: Path) -> None:
    """Raise DatabaseEmptied if the database has no tools, active or not."""
    if not list_tools(database, active_only=False):
        raise DatabaseEmptied(database)


def _cut(sentence: str, max_bytes: int | None) -> str:
    """The sentence on one line, whatever it quotes, of at most ``max_bytes``."""
    sentence = visible(sentence)
    cut = sentence.encode()[:max_bytes].decode(errors="ignore")
    return sentence if cut == sentence else f"{cut}…"


def _without_home(words: Path | DatabaseError) -> str:
    return str(words).replace(f"{Path.home()}/", "~/")


@dataclass(frozen=True, slots=True)
class ToolReply:
    """A tool's answer: the text for the model, and ``data``, which returns it as JSON data.

    ``blocks`` are further contents after the text, such as a picture.
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

    MdvecErrors of the work become ToolErrors for the model; ``wording`` formats those about the
    database, and all are cut at ``max_error_bytes``.
    """
    cancellation = threading.Event()

    def call() -> T:
        with cancelled_by(cancellation), errors_for_the_model(wording, max_error_bytes):
            return work()

    try:
        return await anyio.to_thread.run_sync(call, abandon_on_cancel=True, limiter=limiter)
    finally:
        cancellation.set()
