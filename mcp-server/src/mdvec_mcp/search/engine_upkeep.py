"""Sends a vector engine what it missed, while the server runs."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from pathlib import Path

from mdvec.errors import MdvecError
from mdvec.index.chroma_server import ChromaServer

SECONDS = 30.0
"""Between two looks at whether changes wait; a look reads the database alone."""
logger = logging.getLogger("mdvec")


class EngineUpkeep:
    """A thread that looks from time to time whether changes wait, and sends them."""

    def __init__(self, database: Path, engine: ChromaServer, seconds: float = SECONDS) -> None:
        self._database = database
        self._engine = engine
        self._seconds = seconds
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="mdvec-engine", daemon=True)

    def start(self) -> None:
        """Start the thread; its first look is not at once."""
        self._thread.start()

    def close(self) -> None:
        """Tell the thread to end."""
        self._ended.set()

    def _run(self) -> None:
        wait = self._seconds
        while not self._ended.wait(wait):
            from mdvec.manage.catching_up import catch_up

            left = 0
            try:
                left = catch_up(self._database, self._engine)
            except (MdvecError, OSError) as error:
                logger.debug("[engine] %s", error)
            wait = min(1.0, self._seconds) if left else self._seconds


def kept_fed(
    database: Path, engine: ChromaServer | None, on_close: Callable[[Callable[[], None]], None]
) -> ChromaServer | None:
    """The engine; if there is one, a thread feeds it until ``on_close`` says otherwise."""
    if engine is not None:
        upkeep = EngineUpkeep(database, engine)
        upkeep.start()
        on_close(upkeep.close)
    return engine
