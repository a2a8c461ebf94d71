"""Checks the settings: which are set and where, and whether the log can be written."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import reduce
from operator import getitem
from pathlib import Path

from mdvec.manage.doctor.findings import Finding, Installation


def check_settings(installation: Installation) -> Iterator[Finding]:
    """List every setting that is not a default, with its origin, and check the log."""
    if installation.config is None:
        yield Finding("ok", "settings", "no settings file; what is not named here is a default")
    else:
        yield Finding("ok", "settings", f"the settings file is {installation.config}")
    values = installation.settings.model_dump(by_alias=True)
    for (section, key), origin in sorted(installation.origins.items()):
        value = reduce(getitem, section.split("."), values)[key]
        shown = f"[{section}] {key} = {value!r}, set by {origin}"
        yield Finding("ok", "settings", shown)
    analytics = installation.settings.analytics
    whose = "the system's" if analytics.time_zone is None else "as set"
    yield Finding("ok", "settings", f"the time zone of SQL is {analytics.zone}, {whose}")
    yield _log(installation.settings.log.options().file)


def _log(file: Path | None) -> Finding:
    if file is None:
        return Finding("ok", "log", "there is no log; [log] file names one")
    place = file if file.exists() else file.parent
    while not place.exists():
        place = place.parent
    if os.access(place, os.W_OK) and (place == file or place.is_dir()):
        return Finding("ok", "log", f"the log is {file}")
    return Finding(
        "warning", "log", f"the log {file} cannot be written", "name another file in [log] file"
    )
