"""The command `mdvec-mcp`: serves over STDIO or HTTP, or forwards STDIO to a running server."""

from __future__ import annotations

import argparse
import logging
import os
import signal
import sys
import tomllib
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from mdvec import __version__, embedding, log, manage, platform
from mdvec.errors import MdvecError, place_refused
from mdvec.japanese import in_japanese
from mdvec.quick_start import loaded
from mdvec.text import wrapped

from mdvec_mcp import apps, bridge, search, web

if TYPE_CHECKING:
    from mdvec.settings import Loaded, Settings
    from mdvec.tools import Tool

    from mdvec_mcp.server import Wiring

_DEFAULT_ADDRESS = "127.0.0.1:8765"
_ON_TERMINAL = (
    "mdvec-mcp is a server: an MCP client starts it and speaks JSON to it; to add it to a client's "
    "settings: mdvec register CLIENT; to stop it: Ctrl-C"
)
_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")


def main() -> None:
    """Run the server until its client closes STDIN, or over HTTP until a signal."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal's encoding may lack signs of the help; on Windows a pipe has an old one.
        if stream is not None:
            encoding = "utf-8" if sys.platform == "win32" else None
            stream.reconfigure(encoding=encoding, errors="backslashreplace")  # type: ignore[union-attr]
    arguments = _arguments(sys.argv[1:])
    # Python's own handler would wait until the thread reading STDIN gets another line.
    signal.signal(signal.SIGINT, lambda *_: os._exit(130))
    if arguments.http is None and sys.stdin is not None and sys.stdin.isatty():
        sys.stderr.write(f"{_in_own_language(_ON_TERMINAL, arguments.config)}\n")
    wire = _reserve_stdio()
    platform.share_arenas()
    _log_to_stderr("DEBUG" if arguments.verbose else arguments.log_level)
    try:
        _warn_of_what_is_not_read(arguments.config)
        _run(arguments, wire)
    except MdvecError as error:
        _complain(str(error), arguments.config)
        _exit(1)
    except Exception as error:
        logging.getLogger("mdvec").debug("unexpected", exc_info=True)
        inner = _innermost(error)
        _complain(place_refused(inner) or f"the connection broke ({inner!r})", arguments.config)
        _exit(1)
    # Threads with running searches would keep the process alive.
    _exit(0)


def _is_japanese(config: Path | None = None) -> bool:
    """Whether the user who started the server reads Japanese."""
    from mdvec.settings import display_language

    with suppress(OSError):  # no working folder, so no settings file in it
        return display_language(os.environ, Path.cwd(), config) == "ja"
    return False


def _in_own_language(sentence: str, config: Path | None = None) -> str:
    return in_japanese(sentence) if _is_japanese(config) else sentence


def _say(sentence: str, config: Path | None = None) -> None:
    sys.stderr.write(f"mdvec-mcp: {_in_own_language(sentence, config)}\n")
    sys.stderr.flush()


def _complain(why: str, config: Path | None = None, more: str = "") -> None:
    sys.stderr.write(f"{_in_own_language(f'mdvec-mcp: error: {why}', config)}{more}\n")


def _reserve_stdio() -> tuple[int, int]:
    """Reserve STDIN and STDOUT for the protocol, even if other code (also native) uses them.

    Returns the descriptors to read from and write to. Afterwards descriptor 0 is the null device
    and descriptor 1 is STDERR.
    """
    wire = os.dup(0), os.dup(1)
    with open(os.devnull, "rb") as nothing:  # noqa: PTH123 - a device, not a path
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return wire


class _JapaneseHelp(argparse.HelpFormatter):
    """Writes the help with the texts of ``help.ja.toml``; missing texts stay in English."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog)
        table = Path(__file__).parent / "help.ja.toml"
        self._words = tomllib.loads(table.read_text(encoding="utf-8"))

    def start_section(self, heading: str | None) -> None:
        super().start_section(self._words.get(heading or "", heading))

    def add_usage(self, usage: Any, actions: Any, groups: Any, prefix: str | None = None) -> None:  # noqa: ANN401
        super().add_usage(usage, actions, groups, prefix or "使い方: ")

    def _split_lines(self, text: str, width: int) -> list[str]:
        return list(wrapped(self._words.get(text, text), width))

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return "\n".join(indent + line for line in self._split_lines(text, width - len(indent)))


class _Parser(argparse.ArgumentParser):
    """Reports errors in one line, and shows help, in the language of the person."""

    def format_help(self) -> str:
        if _is_japanese():
            self.formatter_class = _JapaneseHelp
        return super().format_help()

    def error(self, message: str) -> NoReturn:
        _complain(message, more=f" ({self.prog} --help)")
        self.exit(2)


def _path(text: str) -> Path:
    """The path of an argument; `Path` would read an empty one as the working folder."""
    if not text:
        raise argparse.ArgumentTypeError("the path is empty; name a file or a folder")
    from mdvec.settings import expanded

    return expanded(text)


def _arguments(argv: Sequence[str]) -> argparse.Namespace:
    parser = _Parser(
        prog="mdvec-mcp",
        description="Offer the active tools of an mdvec database to MCP clients: to one over "
        "STDIO, or with --http to many.",
    )
    parser.add_argument("--database", type=_path, help="the database file")
    parser.add_argument("--config", type=_path, help="the settings file")
    _add_folder(parser)
    _add_transports(parser)
    _add_offer(parser)
    parser.add_argument(
        "--log-level", type=str.upper, choices=_LEVELS, default="WARNING",
        help="the lowest level logged to STDERR (default: WARNING)",
    )  # fmt: skip
    parser.add_argument(
        "--verbose", action="store_true", help="log everything, with the time of each stage"
    )
    parser.add_argument("--version", action="version", version=f"mdvec-mcp {__version__}")
    arguments = parser.parse_args(argv)
    _check_folder(parser, arguments)
    return arguments


def _add_folder(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--docs-dir", type=_path, metavar="DIR",
        help="serve this folder of documents; it is imported and kept up to date automatically",
    )  # fmt: skip
    parser.add_argument(
        "--data-dir", type=_path, metavar="DIR",
        help="with --docs-dir: the folder for the database (default: the user's data folder)",
    )  # fmt: skip
    parser.add_argument(
        "--name", help="with --docs-dir: the name of its tool (default: the folder's)"
    )
    parser.add_argument(
        "--all-tools", action="store_true",
        help="with --docs-dir: offer the database's other tools, too",
    )  # fmt: skip


def _add_offer(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--tools", choices=("all", "core"),
        help="'core' offers the rows' tools, search, get_document, query and list_sources alone",
    )  # fmt: skip
    parser.add_argument(
        "--read-only", action="store_true", default=None, help="offer no tool that writes"
    )
    parser.add_argument(
        "--structured", choices=("auto", "always", "never"),
        help="who gets structured content beside the text: hosts of MCP Apps where an App draws "
        "it, everybody, or nobody (default: auto)",
    )  # fmt: skip


def _check_folder(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> None:
    if arguments.docs_dir is None:
        if arguments.data_dir is not None or arguments.name is not None or arguments.all_tools:
            parser.error(
                "--data-dir, --name and --all-tools belong to --docs-dir; name the folder with it"
            )
    elif arguments.connect is not None:
        parser.error("with --connect, the server at that address has the documents; leave "
                     "--docs-dir out, or start that server with it")  # fmt: skip
    elif arguments.http is not None and arguments.data_dir is None and not arguments.all_tools:
        parser.error("over --http, the page shows the whole database; with --docs-dir, name "
                     "--data-dir for a database of its own, or --all-tools")  # fmt: skip
    elif arguments.data_dir is not None and arguments.database is not None:
        parser.error("--data-dir and --database both say where the database is; name one of them")


def _add_transports(parser: argparse.ArgumentParser) -> None:
    either = parser.add_mutually_exclusive_group()
    either.add_argument(
        "--http", nargs="?", const=_DEFAULT_ADDRESS, metavar="HOST:PORT",
        help=f"serve many clients over HTTP, at /mcp (default: {_DEFAULT_ADDRESS})",
    )  # fmt: skip
    either.add_argument(
        "--connect", metavar="URL", help="forward STDIO to the server running at this URL"
    )
    parser.add_argument(
        "--token", help="the token that clients must send (other users can see it in ps)"
    )
    parser.add_argument("--token-file", type=_path, help="the file that contains the token")
    parser.add_argument(
        "--allow-host", action="append", default=[], metavar="NAME",
        help="another host name of this server, such as that of a proxy; may be repeated",
    )  # fmt: skip


def _log_to_stderr(level: str) -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(levelname)s %(name)s: %(message)s"))
    handler.setLevel(level)  # background imports also log from this level on
    logging.getLogger().addHandler(handler)
    logging.getLogger().setLevel("WARNING")
    logging.getLogger("mdvec").setLevel(level)


def _warn_of_what_is_not_read(config: Path | None) -> None:
    from mdvec.settings import SettingsError, unknown_variables, unread_settings

    try:
        folder = Path.cwd()
    except OSError as error:
        raise SettingsError(
            f"the working folder cannot be used ({error.strerror}); start the server in another"
        ) from error
    for warning in [*unknown_variables(os.environ), *unread_settings(os.environ, config, folder)]:
        logging.getLogger("mdvec").warning("%s", warning)


def _run(arguments: argparse.Namespace, wire: tuple[int, int]) -> None:
    from mdvec.settings import DATABASE_NAME, load_with_origins

    database: Path | None = arguments.database
    if arguments.data_dir is not None:
        database = arguments.data_dir / DATABASE_NAME
    path = None if database is None else str(database.absolute())
    flags = {
        "database": {"path": path},
        "server": {
            "url": arguments.connect,
            "structured": arguments.structured,
            "tools": arguments.tools,
            "read_only": arguments.read_only,
        },
    }
    known = load_with_origins(os.environ, config=arguments.config, flags=flags)
    settings = known.settings
    token = _token(arguments, settings)
    folder = None
    if arguments.docs_dir is not None:
        folder = manage.tool_of_folder(settings.database_path, arguments.docs_dir, arguments.name)

    def wired() -> Wiring:
        return _wired(known, folder, _models(settings), is_alone=not arguments.all_tools)

    if arguments.http is not None:
        _serve_http(wired, arguments.http, token, arguments.allow_host)
    elif settings.server.url is not None and folder is None:
        loaded()
        say = partial(_say, config=arguments.config)
        bridge.forward_stdio(settings.server.url, token, *wire, say)
    else:
        _serve_stdio(wired, wire)


def _token(arguments: argparse.Namespace, settings: Settings) -> str | None:
    """The token from the command line, else from the settings."""
    file: Path | None = arguments.token_file
    if arguments.token is not None or file is not None:
        return manage.read_token(arguments.token, file)
    token, kept_file = settings.server.token, settings.server.token_file
    return manage.read_token(
        None if token is None else token.get_secret_value(),
        None if kept_file is None else Path(kept_file),
    )


def _serve_stdio(wired: Callable[[], Wiring], wire: tuple[int, int]) -> None:
    import anyio  # after STDOUT is reserved, so that nothing a module prints reaches it

    _build_validators_late()
    from mdvec_mcp.stdio import serve

    wiring = wired()
    loaded()
    anyio.run(serve, wiring.server, wiring.models, *wire)


def _serve_http(wired: Callable[[], Wiring], at: str, token: str | None, names: list[str]) -> None:
    import anyio

    _build_validators_late()
    wanted = manage.parse_address(at)
    rules = web.rules_for(wanted, names, token)
    listening, address = web.listen(wanted)
    wiring = wired()
    page = _page(wiring) if address.is_loopback else None
    sys.stderr.write(f"mdvec-mcp: serving {address.url}\n")
    sys.stderr.flush()
    loaded()
    limits = web.HttpLimits()
    anyio.run(web.serve_http, wiring.server, wiring.models, listening, rules, limits, page)


def _build_validators_late() -> None:
    """Have the SDK build each message validator on first use, which saves 60 ms at the start.

    It has some hundreds, for two protocols; a client uses one protocol, and few kinds of messages.
    """
    with suppress(ImportError):  # the SDK's own module, which another version may not have
        from mcp_types._wire_base import WireModel

        WireModel.model_config["defer_build"] = True


def _page(wiring: Wiring) -> web.PageGuard | None:
    """The local page; None if its key can neither be read nor created."""
    try:
        return web.page_app(wiring, manage.page_key(wiring.database))
    except manage.PageKeyUnusable as error:
        logging.getLogger("mdvec").warning("the page is not served: %s", error)
        return None


def _wired(
    known: Loaded, folder: Tool | None, models: search.ModelPool, *, is_alone: bool
) -> Wiring:
    """The server under these settings; with a ``folder``, which is perhaps all that it serves."""
    from mdvec_mcp.server import wired_server

    settings = known.settings
    log.open_log(settings.log, logging.getLogger("mdvec").warning)
    database = settings.database_path
    tools = _active_tools(database)
    log.record(
        "start", program="mdvec-mcp", version=__version__, database=str(database), tools=len(tools)
    )
    return wired_server(
        database, tools, models, settings, folder, apps.add_apps, is_alone=is_alone,
        settings_file=known.file,
    )  # fmt: skip


def _active_tools(database: Path) -> list[Tool]:
    """The active tools; none if the database does not exist."""
    from mdvec.database import DatabaseMissing

    try:
        return manage.list_tools(database, active_only=True)
    except DatabaseMissing as error:
        logging.getLogger("mdvec").warning("%s", error)
        return []


def _models(settings: Settings) -> search.ModelPool:
    def memory_use() -> float:
        import psutil

        return float(psutil.virtual_memory().percent) / 100

    return search.ModelPool(
        lambda name: embedding.catalog.load(name, settings.model.options()),
        idle_seconds=settings.model.auto_unload_minutes * 60,
        memory_threshold=settings.model.memory_threshold,
        memory_use=memory_use,
        reranker=settings.reranker(),
    )


def _exit(code: int) -> None:
    sys.stderr.flush()
    os._exit(code)


def _innermost(error: BaseException) -> BaseException:
    """The first error inside nested exception groups, which task groups raise."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
