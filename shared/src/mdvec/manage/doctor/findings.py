"""The result of a check."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

FindingLevel = Literal["ok", "warning", "trouble"]


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding about the installation: ``warning`` is worth a look, ``trouble`` needs fixing.

    ``command`` fixes it. ``fix`` is what `mdvec doctor --fix` runs without losing data, or None if
    the user must decide; ``done`` says what it did. ``check`` names what was checked; "" means the
    whole group of checks.
    """

    level: FindingLevel
    sentence: str
    command: str | None = None
    fix: Callable[[], None] | None = None
    done: str = ""
    check: str = ""

    def json_fields(self) -> dict[str, object]:
        """The fields of `mdvec doctor --format json`."""
        return {
            "level": self.level,
            "check": self.check,
            "sentence": self.sentence,
            "command": self.command,
            "fixable": self.fix is not None,
        }


def fixable(level: FindingLevel, sentence: str, fix: Callable[[], None], done: str) -> Finding:
    """A finding that `mdvec doctor --fix` fixes by calling ``fix``, and then says ``done``."""
    return Finding(level, sentence, "mdvec doctor --fix", fix, done)
