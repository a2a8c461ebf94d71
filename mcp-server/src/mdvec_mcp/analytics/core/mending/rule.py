"""A rule of mending: a pattern over bare code, and the form that DuckDB reads."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple


class Rule(NamedTuple):
    """A pattern, what to write instead of its match, and why."""

    pattern: re.Pattern[str]
    form: str | Callable[[re.Match[str]], str]
    why: str


def rule(pattern: str, form: str | Callable[[re.Match[str]], str], why: str) -> Rule:
    """A rule whose pattern matches upper and lower case alike."""
    return Rule(re.compile(pattern, re.IGNORECASE), form, why)
