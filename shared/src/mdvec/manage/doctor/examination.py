"""Runs all checks, and fixes what can be fixed without losing data."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import chain

from mdvec.errors import MdvecError, place_refused
from mdvec.manage.doctor import database, installed
from mdvec.manage.doctor.findings import Finding
from mdvec.manage.doctor.server import check_server
from mdvec.settings import Loaded


@dataclass(frozen=True, slots=True)
class CheckGroup:
    """A group of checks; groups that need a database are skipped if there is none."""

    name: str
    check: Callable[[Loaded], Iterable[Finding]]
    needs_database: bool = False


GROUPS = (
    CheckGroup("libraries", installed.check_libraries),
    CheckGroup("settings", installed.check_settings),
    CheckGroup("disk", database.check_disk),
    CheckGroup("database", database.check_database),
    CheckGroup("models", installed.check_models),
    CheckGroup("sources", installed.check_sources, needs_database=True),
    CheckGroup("leftovers", database.check_leftovers, needs_database=True),
    CheckGroup("copies", database.check_copies, needs_database=True),
    CheckGroup("indexes", database.check_indexes, needs_database=True),
    CheckGroup("engine", database.check_engine, needs_database=True),
    CheckGroup("server", check_server),
    CheckGroup("clients", installed.check_clients),
)
"""The groups in the order in which they run and are shown."""


@dataclass(frozen=True, slots=True)
class Examination:
    """The remaining findings, and those that were fixed."""

    findings: tuple[Finding, ...]
    fixed: tuple[Finding, ...]

    @property
    def has_trouble(self) -> bool:
        """Whether something does not work."""
        return any(finding.level == "trouble" for finding in self.findings)

    def json_fields(self) -> dict[str, object]:
        """The fields of `mdvec doctor --format json`."""
        return {
            "trouble": self.has_trouble,
            "findings": [finding.json_fields() for finding in self.findings],
            "fixed": [f"{finding.check}: {finding.done}" for finding in self.fixed],
        }


def examine(
    installation: Loaded, *, fix: bool = False, groups: tuple[CheckGroup, ...] = GROUPS
) -> Examination:
    """Run the checks; with ``fix``, fix what can be fixed without losing data, and check again."""
    findings: dict[CheckGroup, list[Finding]] = {}
    fixed: list[Finding] = []
    is_readable = False
    for group in groups:
        if group.needs_database and not is_readable:
            continue
        findings[group] = _run_checks(group, installation)
        if fix and (done := _fix(findings[group])):
            fixed += done  # this may also have solved problems that earlier groups reported
            findings = {each: _run_checks(each, installation) for each in findings}
        if group.check is database.check_database:
            path = installation.settings.database_path
            is_whole = all(finding.level != "trouble" for finding in findings[group])
            is_readable = is_whole and path.is_file() and path.stat().st_size > 0
    return Examination(tuple(chain.from_iterable(findings.values())), tuple(fixed))


def _run_checks(group: CheckGroup, installation: Loaded) -> list[Finding]:
    """The findings of a group, each with the name of its check; an error becomes a finding."""
    findings: list[Finding] = []
    try:
        findings.extend(group.check(installation))
    except MdvecError as error:
        findings.append(Finding("trouble", str(error)))
    except OSError as error:
        findings.append(Finding("trouble", place_refused(error) or str(error)))
    return [replace(finding, check=finding.check or group.name) for finding in findings]


def _fix(findings: list[Finding]) -> list[Finding]:
    done = []
    for finding in findings:
        if finding.fix is not None:
            try:
                finding.fix()
            except (MdvecError, OSError):
                continue  # the finding stays, and names the command
            done.append(finding)
    return done
