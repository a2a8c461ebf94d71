"""Import options that only a dataset has."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from mdvec.datasets.core.choices import ReadingChoice
from mdvec.datasets.core.grouping import FileGroup
from mdvec.errors import MdvecError

_CHOICE = re.compile(r"(?P<name>[^=*?\[\]]*)=(?P<pattern>.+)", re.DOTALL)


class InvalidTableChoice(MdvecError):
    """A table of several files is not named as NAME=PATTERN, or twice."""

    is_wrong_usage = True


@dataclass(frozen=True, slots=True)
class DatasetOptions:
    """The options.

    Attributes:
        tables: files that the user makes one table each; they stay so in later imports.
        is_separate: whether every other file is a table of its own in a new or rebuilt tool.
        readings: how files shall be read; kept until they are taken back.
    """

    kind: ClassVar[str] = "dataset"
    tables: tuple[FileGroup, ...] = ()
    is_separate: bool = False
    readings: tuple[ReadingChoice, ...] = ()

    def refusal(self, tool_name: str) -> str | None:
        """Why a tool of another kind cannot be imported with them."""
        return (
            f"the tool {tool_name!r} is not a dataset: only data files become tables; "
            "leave --table, --separate and the options for reading files out"
        )


def chosen_tables(choices: Iterable[str]) -> tuple[FileGroup, ...]:
    """The tables that the user names as NAME=PATTERN.

    Raises:
        InvalidTableChoice: one is written in another way, or a name is used twice.
    """
    groups: dict[str, FileGroup] = {}
    for choice in choices:
        match = _CHOICE.fullmatch(choice)
        name = match["name"].strip() if match else ""
        if not match or not name:
            raise InvalidTableChoice(
                f"{choice!r} is not NAME=PATTERN; write for example --table 'sales=sales_*.csv'"
            )
        if name in groups:
            raise InvalidTableChoice(f"--table names {name!r} twice; give each table its own name")
        groups[name] = FileGroup(name, match["pattern"].strip(), is_chosen=True)
    return tuple(groups.values())
