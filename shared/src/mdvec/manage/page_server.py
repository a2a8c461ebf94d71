"""Finds or starts the server of a database's local page, and opens the page with its key."""

from __future__ import annotations

import hashlib
import hmac
import os
import platform
import secrets
import shlex
import shutil
import stat
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from html import escape
from pathlib import Path

from mdvec.errors import MdvecError
from mdvec.manage.service import health_of, server_program
from mdvec.platform import is_shut, replace

CODE_SECONDS = 120
"""How many seconds a one-time address is valid."""
_KEY_BYTES = 32
_PRIVATE = 0o600
_STOP_SECONDS = 15.0
_ANY_PORT = "127.0.0.1:0"
_SERVING = "mdvec-mcp: serving "
_SECONDS = 5.0
_PAGE = (
    '<!doctype html><html><head><meta charset="utf-8"><title>mdvec</title>'
    '<meta name="referrer" content="no-referrer">'
    '<meta http-equiv="refresh" content="0;url={address}"></head>'
    '<body><a href="{address}">mdvec</a></body></html>\n'
)
MIN_TOKEN_CHARS = 16


class PageKeyUnusable(MdvecError):
    """The file of the key cannot be read or written; the message says which."""


@dataclass(frozen=True, slots=True)
class PageKey:
    """The key with which codes, cookies and tokens of the page are signed."""

    secret: bytes

    @property
    def id(self) -> str:
        """Identifies the key, and so the database, without revealing anything about it."""
        return hashlib.sha256(b"id" + self.secret).hexdigest()[:16]

    def sign(self, purpose: str, text: str) -> str:
        """The signature of a text for a purpose, as hex digits."""
        return hmac.new(self.secret, f"{purpose}\0{text}".encode(), "sha256").hexdigest()

    def is_signed(self, purpose: str, text: str, signature: str) -> bool:
        """Whether the signature is valid for the text and this purpose."""
        expected = self.sign(purpose, text).encode()
        return hmac.compare_digest(expected, signature.encode(errors="replace"))

    def one_time_code(self) -> str:
        """A new code, which the server accepts once within ``CODE_SECONDS``."""
        text = f"{secrets.token_hex(16)}.{time.time_ns()}"
        return f"{text}.{self.sign('code', text)}"

    def made_at(self, code: str) -> int | None:
        """When a code was created, in nanoseconds since 1970; None if another key signed it.

        The caller checks that it has not expired and was not used before.
        """
        text, _, signature = code.rpartition(".")
        if not self.is_signed("code", text, signature):
            return None
        return int(text.rpartition(".")[2])


def page_key(database: Path) -> PageKey:
    """The key of a database's page, created on first use.

    Raises:
        PageKeyUnusable: its file cannot be read or written.
    """
    file = Path(f"{database}-page.key")
    try:
        with suppress(FileExistsError):
            _make(file)
        secret = bytes.fromhex(file.read_text(encoding="ascii").strip())
    except OSError as error:
        raise _key_unusable(file, error.strerror) from error
    except ValueError as error:
        raise _key_unusable(file, error) from error
    if len(secret) < _KEY_BYTES:
        raise PageKeyUnusable(f"the key of the page, {file}, is damaged; delete it")
    return PageKey(secret)


def _key_unusable(file: Path, why: object) -> PageKeyUnusable:
    return PageKeyUnusable(
        f"the key of the page, {file}, cannot be used ({why}); delete it, and check that its "
        "folder can be written"
    )


def _make(file: Path) -> None:
    """Write a new key atomically, so that no process reads half of it."""
    if file.exists():
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    new = file.with_name(f"{file.name}.{secrets.token_hex(8)}")
    with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _PRIVATE), "w") as written:  # noqa: PTH123
        written.write(secrets.token_hex(_KEY_BYTES))
    try:
        os.link(new, file)
    finally:
        new.unlink()


class PageUnavailable(MdvecError):
    """No server serves the page; the message says why."""


def one_time_address(server: str, key: PageKey) -> str:
    """The address that opens the page once, for example in a browser."""
    return f"{server}/open?code={key.one_time_code()}"


def running_page(at: str, key: PageKey) -> str | None:
    """The server at ``at`` (host:port) if it serves the page of this key, as http://host:port."""
    health = health_of(f"http://{at}")
    return f"http://{at}" if health is not None and health.get("page") == key.id else None


@contextmanager
def started_page(at: str, key: PageKey, arguments: Sequence[str]) -> Iterator[StartedServer]:
    """Run a server for the duration of the block; at another port if the requested one is taken.

    ``at`` is host:port; ``arguments`` are further arguments of mdvec-mcp.

    Raises:
        PageUnavailable: it does not start, or serves no page.
        ServerNotInstalled: mdvec-mcp is not installed.
    """
    is_free = health_of(f"http://{at}") is None
    process = subprocess.Popen(  # noqa: S603 - our own program
        [server_program(), "--http", at if is_free else _ANY_PORT, *arguments],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        encoding="utf-8", errors="replace",
        env=os.environ | {"MDVEC_DISPLAY_LANGUAGE": "en"},  # the caller translates its messages
    )  # fmt: skip
    server = StartedServer(process, is_where_asked=is_free)
    try:
        server.wait_until_it_serves()
        if running_page(server.address.removeprefix("http://"), key) is None:
            raise PageUnavailable(
                "the server started, but serves no page; the page needs a server at 127.0.0.1"
            )
        yield server
    finally:
        server.stop()


class StartedServer:
    """A server process, and where it listens."""

    def __init__(self, process: subprocess.Popen[str], *, is_where_asked: bool) -> None:
        self._process = process
        self.is_where_asked = is_where_asked
        self.address = ""

    def wait_until_it_serves(self) -> None:
        """Wait until the server prints its address, and store the address.

        Raises:
            PageUnavailable: the server ended without printing an address.
        """
        lines = []
        for line in self.messages():
            if line.startswith(_SERVING):
                self.address = line.removeprefix(_SERVING).strip().removesuffix("/mcp")
                return
            lines.append(line.strip().removeprefix("mdvec-mcp: error: "))
        raise PageUnavailable(lines[-1] if lines else "the server ended without a message")

    def messages(self) -> Iterator[str]:
        """The lines that the server writes, until it ends."""
        assert self._process.stderr is not None  # noqa: S101 - it was opened with a pipe
        # Iterating over the file itself would close it at the end of this generator.
        yield from iter(self._process.stderr.readline, "")

    def stop(self) -> None:
        """End the server, if it still runs."""
        self._process.terminate()
        try:
            self._process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
        if self._process.stderr is not None:
            self._process.stderr.close()


def server_arguments(database: Path, config: Path | None) -> list[str]:
    """The arguments with which a server uses this database and this settings file."""
    named = [] if config is None else ["--config", str(config.absolute())]
    return ["--database", str(database), *named]


class OpeningFileUnwritable(MdvecError):
    """The file for the browser cannot be written; the message says why."""


def opening_file(database: Path) -> Path:
    """The path of the opening file: next to the database, or where a snap can read it."""
    folder = _folder_of_snap(Path.home()) or database.parent
    return folder / f"{database.name}-page.html"


def write_opening(file: Path, address: str) -> None:
    """Write or replace a file that redirects to an address; only this user can read it.

    Raises:
        OpeningFileUnwritable: its folder cannot be written.
    """
    new = file.with_name(f"{file.name}.{secrets.token_hex(8)}")
    try:
        with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _PRIVATE), "w") as written:  # noqa: PTH123
            written.write(_PAGE.format(address=escape(address)))
        replace(new, file)
    except OSError as error:
        with suppress(OSError):
            new.unlink()  # it would also open the page
        raise OpeningFileUnwritable(
            f"the file that opens the page, {file}, cannot be written ({error}); open the printed "
            "address in a browser"
        ) from error


def reads_files_of_this_system() -> bool:
    """Whether the browser can open files of this system; under WSL, a Windows browser cannot."""
    return "microsoft" not in platform.release().lower()


def _folder_of_snap(home: Path) -> Path | None:
    """The folder that the default browser can read if it is a snap, which sees no hidden folders.

    A snap's desktop file is named after it, as in ``firefox_firefox.desktop``.
    """
    program = shutil.which("xdg-settings")
    if program is None:
        return None
    try:
        completed = subprocess.run(  # noqa: S603 - found in the user's own path
            [program, "get", "default-web-browser"],
            capture_output=True, encoding="utf-8", errors="replace", timeout=_SECONDS, check=False,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return None
    name, underscore, _ = completed.stdout.strip().partition("_")
    folder = home / "snap" / Path(name).name / "common"
    return folder if name and underscore and folder.is_dir() else None


class TokenUnusable(MdvecError):
    """The token is unusable; the message says how to make one, and never contains it."""


def read_token(value: str | None, file: Path | None) -> str | None:
    """The token, from a value or a file; None without either.

    Raises:
        TokenUnusable: the file cannot be read or other users can open it, or the token is too
            short or not printable ASCII.
    """
    if value is None and file is not None:
        value = _content(file)
    if value is None:
        return None
    if len(value) < MIN_TOKEN_CHARS or not all("!" <= char <= "~" for char in value):
        raise TokenUnusable(
            f"a token needs at least {MIN_TOKEN_CHARS} ASCII characters without spaces; "
            "create one with: openssl rand -hex 32"
        )
    return value


def _content(file: Path) -> str:
    try:
        with file.expanduser().open(encoding="utf-8") as stream:
            status = os.fstat(stream.fileno())
            if not is_shut(status):
                mode = stat.S_IMODE(status.st_mode)
                raise TokenUnusable(
                    f"other users can open the token file {file} ({mode:04o}); make it yours "
                    f"alone with: chmod 600 {shlex.quote(str(file.expanduser()))}"
                )
            return stream.read().strip()
    except OSError as error:
        raise TokenUnusable(f"the token file {file} cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise TokenUnusable(f"the token file {file} cannot be read ({error})") from error
