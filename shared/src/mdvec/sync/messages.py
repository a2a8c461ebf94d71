"""The messages of an import process to the one that started it: one JSON object a line."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass

from mdvec.importing import ImportReport, Progress


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a finished import.

    ``added`` to ``unchanged`` count documents, or a household's transactions, or a dataset's
    tables; ``failed`` holds paths with reasons; ``chunks`` is how many the tool has now.
    ``summary`` is what `mdvec import` prints, without its notes, and ``notes`` are these.
    """

    tool: str
    added: int
    updated: int
    deleted: int
    unchanged: int
    failed: tuple[tuple[str, str], ...]
    chunks: int
    seconds: float
    summary: tuple[str, ...]
    notes: tuple[str, ...]

    @classmethod
    def of(cls, report: ImportReport) -> Result:
        """The result in a report."""
        lines = report.lines()
        return cls(
            tool=report.tool,
            added=report.added,
            updated=report.updated,
            deleted=report.deleted,
            unchanged=report.unchanged,
            failed=tuple((problem.file_path, problem.reason) for problem in report.failed),
            chunks=report.chunks,
            seconds=report.seconds,
            summary=tuple(line.text for line in lines if not line.is_note),
            notes=tuple(line.text for line in lines if line.is_note),
        )


@dataclass(frozen=True, slots=True)
class Notice:
    """A sentence for the user while the import runs."""

    text: str


@dataclass(frozen=True, slots=True)
class Failed:
    """The import ended with an error."""

    text: str


@dataclass(frozen=True, slots=True)
class Stopped:
    """The import was stopped; what it had finished is kept."""

    text: str


Message = Progress | Notice | Result | Failed | Stopped
_KINDS: dict[str, Callable[..., Message]] = {
    kind.__name__.lower(): kind for kind in (Progress, Notice, Result, Failed, Stopped)
}


def as_line(message: Message) -> str:
    """The message as a line, with its end."""
    fields = {"message": type(message).__name__.lower(), **asdict(message)}
    return json.dumps(fields, ensure_ascii=True) + "\n"


def from_line(line: str) -> Message | None:
    """The message in a line; None if it is incomplete, as the last one of a killed process."""
    try:
        fields = json.loads(line)
        kind = _KINDS[fields.pop("message")]
        return kind(**{name: _hashable(value) for name, value in fields.items()})
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def _hashable(value: object) -> object:
    return tuple(_hashable(element) for element in value) if isinstance(value, list) else value
