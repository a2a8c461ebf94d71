"""Splits and compares the endings of file names."""

JSON_ENDINGS = (".json", ".ndjson", ".jsonl")
"""The endings of JSON files with one value, or with one per line."""
SQLITE_ENDINGS = (".sqlite", ".sqlite3", ".db")
"""The endings of SQLite files."""
WORKBOOK_ENDINGS = (".xlsx", ".xlsm", ".xls", ".xlsb", ".ods")
"""The endings of workbooks."""
_PACKED = (".gz", ".zst")
_TEXT_ENDINGS = (".csv", ".tsv", *JSON_ENDINGS)
DATA_ENDINGS = (
    ".parquet",
    *_TEXT_ENDINGS,
    *(f"{ending}{packed}" for ending in _TEXT_ENDINGS for packed in _PACKED),
    *WORKBOOK_ENDINGS,
    ".feather",
    ".arrow",
    ".duckdb",
    *SQLITE_ENDINGS,
)
"""The endings of files with tables."""


def split_ending(path: str) -> tuple[str, str]:
    """A path without its ending, and the ending unchanged; ``.csv.gz`` counts as one ending."""
    rest, dot, ending = path.rpartition(".")
    if not dot:
        return path, ""
    if f".{ending.lower()}" in _PACKED:
        inner, inner_dot, inner_ending = rest.rpartition(".")
        if f".{inner_ending.lower()}" in _TEXT_ENDINGS:
            return inner, f"{inner_dot}{inner_ending}{dot}{ending}"
    return rest, f"{dot}{ending}"


def data_ending(path: str) -> str:
    """The ending of a path in lower case, such as ``.csv.gz``; "" if it has none."""
    return split_ending(path.rpartition("/")[2])[1].lower()


def packing(ending: str) -> str:
    """How files with this ending are packed: ``.gz``, ``.zst``, or "" if they are not."""
    return next((packed for packed in _PACKED if ending.endswith(packed)), "")


def unpacked_ending(ending: str) -> str:
    """The ending of a file after unpacking: ``.csv`` of ``.csv.gz``."""
    return ending.removesuffix(packing(ending))
