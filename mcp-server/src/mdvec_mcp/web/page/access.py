"""Controls access to the page: cookies of browsers that opened it, and origins of requests."""

from __future__ import annotations

import secrets
import threading
import time
from dataclasses import dataclass, field

from mdvec.manage import CODE_SECONDS, PageKey
from mdvec.platform import is_loopback
from starlette.requests import Request

from mdvec_mcp.web.gate import name_in

COOKIE_SECONDS = 30 * 24 * 3600
_NANOSECONDS = 10**9
_MAX_CODE_CHARS = 300
_OWN = ("same-origin", "none")


@dataclass(slots=True)
class Access:
    """Signs in browsers that open a one-time address. Thread-safe.

    ``began`` is when the server started, in nanoseconds since 1970; older codes may have been used.
    """

    key: PageKey
    began: int
    _used: dict[str, int] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def cookie_name(self) -> str:
        """The cookie's name, different for each key: all ports of a host share their cookies."""
        return f"mdvec_{self.key.id}"

    def admit(self, code: str) -> str | None:
        """The cookie for a valid code, which is then used up; None for other codes."""
        made = self.key.made_at(code) if len(code) <= _MAX_CODE_CHARS else None
        now = time.time_ns()
        if made is None or made < self.began or not 0 <= now - made <= CODE_SECONDS * _NANOSECONDS:
            return None
        with self._lock:
            if code in self._used:
                return None
            oldest = now - CODE_SECONDS * _NANOSECONDS
            self._used = {used: at for used, at in self._used.items() if at >= oldest}
            self._used[code] = made
        text = f"{secrets.token_hex(16)}.{int(time.time()) + COOKIE_SECONDS}"
        return f"{text}.{self.key.sign('cookie', text)}"

    def session(self, request: Request) -> str | None:
        """The session of a request's cookie; None without a valid one."""
        text, _, signature = request.cookies.get(self.cookie_name, "").rpartition(".")
        if not self.key.is_signed("cookie", text, signature):
            return None
        session, _, expires = text.partition(".")
        return session if int(expires) > time.time() else None

    def csrf_token(self, session: str) -> str:
        """The token that every change must contain, so that no other site can make one."""
        return self.key.sign("csrf", session)

    def is_csrf_token(self, session: str, token: str) -> bool:
        """Whether the token belongs to the session."""
        return self.key.is_signed("csrf", session, token)


def is_local(request: Request) -> bool:
    """Whether a request names this machine as its host, and not a proxy."""
    name = name_in(f"//{request.headers.get('host', '')}")
    return name is not None and is_loopback(name)


def is_own(request: Request) -> bool:
    """Whether the request comes from the page itself or from the user's own address bar.

    All ports of a host share cookies, so the origin that the browser reports decides. A link on
    another site can only show a view; browsers send the cookie with it (SameSite=Lax).
    """
    site = request.headers.get("sec-fetch-site", "none")
    ours = f"{request.url.scheme}://{request.headers['host']}"
    if request.headers.get("origin", ours) != ours:
        return False
    if request.method == "POST":
        return site in _OWN
    is_click = (
        request.headers.get("sec-fetch-mode") == "navigate"
        and request.headers.get("sec-fetch-dest") == "document"
    )
    return site in _OWN or is_click


def is_led_here(request: Request) -> bool:
    """Whether a link on another site led to a view, which then must not offer an undo."""
    return request.headers.get("sec-fetch-site", "none") not in _OWN
