"""Splits and compares the endings of file names."""

SQLITE_ENDINGS = (".sqlite", ".sqlite3", ".db")
"""The endings of SQLite files."""
WORKBOOK_ENDINGS = (".xlsx", ".xlsm")
_PACKED = ".gz"
_TEXT_ENDINGS = (".csv", ".tsv", ".json", ".ndjson", ".jsonl")
DATA_ENDINGS = (
    ".parquet",
    *_TEXT_ENDINGS,
    *(f"{ending}{_PACKED}" for ending in _TEXT_ENDINGS),
    *WORKBOOK_ENDINGS,
    ".feather",
    ".arrow",
    ".duckdb",
    *SQLITE_ENDINGS,
)
"""The endings of files with tables."""


def split_ending(path: str) -> tuple[str, str]:
    """A path without its ending, and the ending as it is written: ``.csv.gz`` is one."""
    rest, dot, ending = path.rpartition(".")
    if not dot:
        return path, ""
    if f".{ending.lower()}" == _PACKED:
        inner, inner_dot, inner_ending = rest.rpartition(".")
        if f".{inner_ending.lower()}" in _TEXT_ENDINGS:
            return inner, f"{inner_dot}{inner_ending}{dot}{ending}"
    return rest, f"{dot}{ending}"


def data_ending(path: str) -> str:
    """The ending of a path in lower case, ``.csv.gz`` as one; "" if it has none."""
    return split_ending(path.rpartition("/")[2])[1].lower()


def is_packed(ending: str) -> bool:
    """Whether files with this ending are packed with gzip."""
    return ending.endswith(_PACKED)


def unpacked_ending(ending: str) -> str:
    """The ending of a file after unpacking: ``.csv`` of ``.csv.gz``."""
    return ending.removesuffix(_PACKED)
