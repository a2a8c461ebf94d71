"""The command `mdvec-mcp`: builds the server from its options and serves it over STDIO."""

from __future__ import annotations

import argparse
import logging
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mdvec.tools.rows import Tool

    from mdvec_mcp.search.model_pool import ModelPool

_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")


def main() -> None:
    """Run the server until its client closes STDIN."""
    arguments = _arguments(sys.argv[1:])
    # Python's own handler would wait for the thread that reads STDIN, until the next line comes.
    signal.signal(signal.SIGINT, lambda *_: os._exit(130))
    wire = _reserve_stdio()
    _log_to_stderr("DEBUG" if arguments.verbose else arguments.log_level)
    from mdvec.errors import MdvecError

    try:
        _serve(arguments.database, arguments.config, wire)
    except MdvecError as error:
        sys.stderr.write(f"mdvec-mcp: error: {error}\n")
        _exit(1)
    except Exception as error:
        logging.getLogger("mdvec").debug("unexpected", exc_info=True)
        sys.stderr.write(f"mdvec-mcp: error: the connection broke ({_innermost(error)!r})\n")
        _exit(1)
    # A search that still runs in its thread would keep the process alive.
    _exit(0)


def _reserve_stdio() -> tuple[int, int]:
    """Keep STDIN and STDOUT for the protocol, even if other code, also native code, uses them.

    Returns the descriptors to read from and write to. Afterwards descriptor 0 is empty and
    descriptor 1 is STDERR.
    """
    wire = os.dup(0), os.dup(1)
    with open(os.devnull, "rb") as nothing:  # noqa: PTH123 - a device, not a path
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return wire


def _arguments(given: Sequence[str]) -> argparse.Namespace:
    from mdvec import __version__

    parser = argparse.ArgumentParser(
        prog="mdvec-mcp",
        description="Offer the active tools of an mdvec database to an MCP client over STDIO.",
    )
    parser.add_argument("--database", type=Path, help="the database file")
    parser.add_argument("--config", type=Path, help="the settings file")
    parser.add_argument(
        "--log-level", type=str.upper, choices=_LEVELS, default="WARNING",
        help="what goes to STDERR (default: WARNING)",
    )  # fmt: skip
    parser.add_argument(
        "--verbose", action="store_true", help="log everything, with the time of each stage"
    )
    parser.add_argument("--version", action="version", version=f"mdvec-mcp {__version__}")
    return parser.parse_args(given)


def _log_to_stderr(level: str) -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(levelname)s %(name)s: %(message)s"))
    handler.setLevel(level)
    logging.getLogger().addHandler(handler)
    logging.getLogger().setLevel("WARNING")
    logging.getLogger("mdvec").setLevel(level)


def _serve(database: Path | None, config: Path | None, wire: tuple[int, int]) -> None:
    import anyio
    from mdvec import __version__
    from mdvec.log.activity import record
    from mdvec.log.opening import open_log
    from mdvec.settings import load_settings

    from mdvec_mcp.server import build_server
    from mdvec_mcp.stdio import serve

    path = None if database is None else str(database.expanduser().absolute())
    settings = load_settings(os.environ, config=config, flags={"database": {"path": path}})
    open_log(settings.log.options(), logging.getLogger("mdvec").warning)
    tools = _active_tools(settings.database_path)
    record(
        "start",
        program="mdvec-mcp",
        version=__version__,
        database=str(settings.database_path),
        tools=len(tools),
    )
    models = _models(settings.model.auto_unload_minutes * 60, settings.model.memory_threshold)
    server = build_server(settings.database_path, tools, models, settings)
    anyio.run(serve, server, models, *wire)


def _active_tools(database: Path) -> list[Tool]:
    """The tools to offer; none while the database does not exist."""
    from mdvec.database.connection import DatabaseMissing
    from mdvec.manage.registering import list_tools

    try:
        return list_tools(database, active_only=True)
    except DatabaseMissing as error:
        logging.getLogger("mdvec").warning("%s", error)
        return []


def _models(idle_seconds: float, memory_threshold: float) -> ModelPool:
    import psutil
    from mdvec.embedding import catalog

    from mdvec_mcp.search.model_pool import ModelPool

    def memory_use() -> float:
        return float(psutil.virtual_memory().percent) / 100

    return ModelPool(
        catalog.load,
        idle_seconds=idle_seconds,
        memory_threshold=memory_threshold,
        memory_use=memory_use,
    )


def _exit(code: int) -> None:
    sys.stderr.flush()
    os._exit(code)


def _innermost(error: BaseException) -> BaseException:
    """The first error inside the exception groups that task groups raise."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
