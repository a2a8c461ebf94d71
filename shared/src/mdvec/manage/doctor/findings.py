"""What a check reports, and what every check looks at."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from mdvec.settings import Settings
from mdvec.settings.loading import Origins

Level = Literal["ok", "warning", "trouble"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One sentence about the installation.

    Attributes:
        level: ``warning`` is worth a look, with ``trouble`` something does not work.
        check: what was looked at, in a word or two.
        sentence: what was found.
        command: what fixes it, to be typed by the user.
        fix: fixes it without a loss, at `mdvec doctor --fix`; None where the user has to decide.
    """

    level: Level
    check: str
    sentence: str
    command: str | None = None
    fix: Callable[[], None] | None = None

    def json_fields(self) -> dict[str, object]:
        """The fields of `mdvec doctor --format json`."""
        return {
            "level": self.level,
            "check": self.check,
            "sentence": self.sentence,
            "command": self.command,
            "fixable": self.fix is not None,
        }


@dataclass(frozen=True, slots=True)
class Installation:
    """What the checks look at: the settings in force, where each was set, and their file."""

    settings: Settings
    origins: Origins
    config: Path | None

    @property
    def database(self) -> Path:
        """The database file."""
        return self.settings.database_path


Check = Callable[[Installation], Iterable[Finding]]
"""A group of checks."""
