"""Fast path of an import whose files are unchanged or only renamed: it reads none of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import apsw

from mdvec.household.core.file_names import StatementName, statement_name
from mdvec.household.interfaces import files as ledger_files
from mdvec.household.interfaces import rows as transactions
from mdvec.household.interfaces import statements as ledger_statements
from mdvec.household.interfaces.files import KnownFile
from mdvec.household.reading import LedgerFile


def after_renames(
    files: Sequence[LedgerFile], known: Mapping[str, KnownFile]
) -> dict[str, KnownFile] | None:
    """The new state of each file, by its old path, if files differ in name and time only.

    None if the files have to be read: their content changed, or a new name or time changes which
    of them is the newer one.
    """
    before = [file for file in known.values() if file.is_present]
    if len(before) != len(files):
        return None
    if sorted(file.size for file in files) != sorted(file.size for file in before):
        return None
    ordered = sorted(files, key=lambda file: (file.mtime_ns, file.path))
    before.sort(key=lambda file: (file.mtime_ns, file.path))
    after = {}
    for now, then in zip(ordered, before, strict=True):
        if now.path in known and not known[now.path].is_present:
            return None
        if now.reader != then.app_version:
            return None
        if not _ranks_the_same(now, then, before):
            return None
        if now.content_hash(known.get(now.path)) != then.content_hash:
            return None
        after[then.path] = replace(then, path=now.path, mtime_ns=now.mtime_ns)
    return after


def _ranks_the_same(now: LedgerFile, then: KnownFile, others: Sequence[KnownFile]) -> bool:
    """Whether the new name and time rank the file as the old ones did."""
    if now.path == then.path:
        return now.mtime_ns >= then.mtime_ns
    new, old = statement_name(now.path), statement_name(then.path)
    stems = {new.stem, old.stem}
    return (
        now.mtime_ns >= then.mtime_ns
        and (new.first, new.last) == (old.first, old.last)
        and not new.number
        and not old.number
        and not any(_is_numbered(statement_name(each.path), stems) for each in others)
    )


def _is_numbered(name: StatementName, stems: set[str]) -> bool:
    return bool(name.number) and name.stem in stems


def follow_renames(
    connection: apsw.Connection,
    tool_id: int,
    known: Mapping[str, KnownFile],
    after: Mapping[str, KnownFile],
) -> None:
    """Store the new names of files and of their rows; writes nothing if no file changed."""
    present = list(after.values())
    if all(known.get(file.path) == file for file in present):
        return
    renames = {old: file.path for old, file in after.items() if old != file.path}
    gone = [file for file in known.values() if not file.is_present]
    with connection:
        if renames:
            transactions.rename_files(connection, tool_id, renames)
            ledger_statements.rename_statements(connection, tool_id, renames)
            ledger_statements.mark_ledger_changed(connection, tool_id)
        ledger_files.remember_files(connection, tool_id, [*gone, *present])
