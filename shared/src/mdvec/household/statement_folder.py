"""The files of a household's folder beside what the ledger knows of them.

A file is read only if it or what reads it changed, and its rows are not stored under another name.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from mdvec.files import Problem
from mdvec.household.interfaces.ledger_files import KnownFile
from mdvec.household.reading import LedgerFile, StatementFile, read_statement_file

StatementKey = tuple[str, str]
"""What identifies a statement: the path of its file, and the hash of its content."""


@dataclass
class StatementFolder:
    """The files of a folder, and which of them were read.

    ``known`` has the files of the last import, ``statements`` the stored statements with rows.
    ``present`` has the state of each file whose rows are known, ``contents`` the files read now,
    ``moved`` the former path, by the new one, of each file whose content had another name.
    """

    files: Sequence[LedgerFile]
    known: Mapping[str, KnownFile]
    statements: Collection[StatementKey]
    present: dict[str, KnownFile] = field(default_factory=dict)
    contents: list[StatementFile] = field(default_factory=list)
    moved: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for file in self.files:
            state = self.known.get(file.path)
            if state is not None and state.is_present and file.is_as_in(state):
                self.present[file.path] = state

    @property
    def is_unchanged(self) -> bool:
        """Whether the files are those of the last import."""
        before = {path for path, state in self.known.items() if state.is_present}
        return before == self.present.keys() and len(self.files) == len(self.present)

    @property
    def unread(self) -> dict[str, Problem]:
        """Why files could not be read, by path."""
        return {read.file.path: read.problem for read in self.contents if read.unread}

    @property
    def present_statements(self) -> set[StatementKey]:
        """The statements that the present files are."""
        return {(state.path, state.content_hash) for state in self.present.values()}

    def read(self, *, every_file: bool) -> None:
        """Read the files whose rows are not stored; those without rows are always read."""
        paths = {file.path for file in self.files}
        gone: defaultdict[str, list[str]] = defaultdict(list)
        for path, content_hash in sorted(self.statements, key=self._is_of_an_older_import):
            if path not in paths:
                gone[content_hash].append(path)
        for file in self.files:
            before = self.present.pop(file.path, None)
            content_hash = file.content_hash() if before is None else before.content_hash
            origin = self._origin(file.path, content_hash, gone)
            state = None if every_file else self._stored_state(origin, content_hash, file)
            if state is None:
                read = read_statement_file(file, self.known.get(file.path))
                self.contents.append(read)
                if read.unread:
                    continue
                state = read.file
            elif origin == file.path:
                file.forget_bytes()
            if origin != file.path:
                self.moved[file.path] = origin  # its text is stored anew, too
            self.present[file.path] = replace(
                state, path=file.path, mtime_ns=file.mtime_ns, is_present=True
            )

    def _is_of_an_older_import(self, statement: StatementKey) -> tuple[bool, StatementKey]:
        state = self.known.get(statement[0])
        was_there = state is not None and state.is_present and state.content_hash == statement[1]
        return not was_there, statement

    def _origin(self, path: str, content_hash: str, gone: Mapping[str, list[str]]) -> str:
        """The path that the statement of a file has: its own, or that of a file that is gone."""
        former = gone.get(content_hash)
        return path if not former or (path, content_hash) in self.statements else former.pop(0)

    def _stored_state(self, path: str, content_hash: str, file: LedgerFile) -> KnownFile | None:
        """The state of a file whose rows are stored, under the path that they have."""
        state = self.known.get(path)
        is_stored = (
            state is not None
            and state.is_present
            and state.rows > 0
            and not state.passed_over
            and (state.content_hash, state.app_version) == (content_hash, file.reader)
            and (path, content_hash) in self.statements
        )
        return state if is_stored else None
