"""Opens the data files that may hold several tables, each format by its own reader."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from mdvec.datasets.core.reading import ReadingOptions
from mdvec.datasets.core.understood import Understood
from mdvec.datasets.interfaces import database_file, sqlite_file, workbook
from mdvec.datasets.interfaces.database_file import DatabaseFile, InnerTable
from mdvec.datasets.interfaces.inner_tables import OpenedFile, TableInFile
from mdvec.datasets.interfaces.typed_rows import OnRows
from mdvec.files.endings import SQLITE_ENDINGS, WORKBOOK_ENDINGS, data_ending

_COMPUTED = "it is a computed column; only columns that hold values are copied"
VIEW = "it is a view; only tables are copied"


def opened_tables(
    source: Path, copies: Path, root: Path, reading: ReadingOptions, on_rows: OnRows
) -> AbstractContextManager[OpenedFile]:
    """Open a file of a source for reading.

    Args:
        source: the file.
        copies: the folder of private copies, where temporary files may be.
        root: the source's folder, or the file itself.
        reading: what the user says about the file.
        on_rows: is called now and then with the number of rows read since.

    Raises:
        NotATable: it is no file of its format at all.
        UnreadableFile: it is damaged, locked by a password, or open in another program.
        SnapshotsUnwritable: the folder of copies cannot be written.
    """
    ending = data_ending(source.name)
    if ending in WORKBOOK_ENDINGS:
        return workbook.opened(source, root, reading, on_rows)
    if ending in SQLITE_ENDINGS:
        return sqlite_file.opened(source, copies, root, reading, on_rows)
    return _duckdb_file(source, copies, root)


@contextmanager
def _duckdb_file(source: Path, copies: Path, root: Path) -> Iterator[OpenedFile]:
    with database_file.opened(source, copies, root) as database:
        left_out = [(view.label, VIEW) for view in database.views]
        left_out += [
            (f"{table.label}.{column}", _COMPUTED)
            for table, columns in database.computed.items()
            for column in columns
        ]
        tables = [TableInFile(table.label, _copier(database, table)) for table in database.tables]
        yield OpenedFile(tuple(tables), tuple(left_out))


def _copier(database: DatabaseFile, table: InnerTable) -> Callable[[Path], Understood]:
    def copy(target: Path) -> Understood:
        database.copy(table, target)
        return Understood()

    return copy
