"""The time zone of SQL: the one that is set, or the system's."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Mapping
from pathlib import Path

_LOCALTIME = Path("/etc/localtime")
_FOLDER = re.compile(r".*/zoneinfo(?:\.default)?/(?:posix/|right/)?")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_+-]*(?:/[A-Za-z0-9_+-]+)*")
_HOUR = 3_600


def known_zone(name: str | None) -> str | None:
    """A time zone's name, as it is; None stays None.

    Raises:
        ValueError: no time zone has that name.
    """
    if name is None:
        return None
    if _NAME.fullmatch(name) is None or (_is_there("Europe/Paris") and not _is_there(name)):
        raise ValueError(name)
    return name


def _is_there(name: str) -> bool:
    """Whether this system knows the zone; a system may know none."""
    from zoneinfo import ZoneInfo

    try:
        ZoneInfo(name)
    except (LookupError, OSError, ValueError):
        return False
    return True


def system_zone(environ: Mapping[str, str] = os.environ, localtime: Path = _LOCALTIME) -> str:
    """The name of the system's time zone: that of TZ, or of the link ``localtime``.

    Where neither has a name, a zone without summer time that has the present difference to UTC.
    """
    named = environ.get("TZ", "").removeprefix(":")
    if not named:
        named = str(localtime.resolve()) if localtime.is_symlink() else ""
        named = _FOLDER.sub("", named) if _FOLDER.match(named) else ""
    try:
        if found := known_zone(_FOLDER.sub("", named) or None):
            return found
    except ValueError:
        pass  # a form of TZ such as JST-9
    hours, rest = divmod(time.localtime().tm_gmtoff, _HOUR)
    return "UTC" if rest or not hours else f"Etc/GMT{-hours:+d}"
