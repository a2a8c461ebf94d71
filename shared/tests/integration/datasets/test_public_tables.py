"""Every CSV file of some public packages, cell by cell beside pandas; `make soak` fetches them."""

import io
import re
import tarfile
from datetime import date, datetime
from pathlib import Path

import pandas as pd
import pytest
from source_folder import READER

from mdvec.datasets.core.understood import FOUND, NO_HEADER, ReadingOptions, Understood
from mdvec.datasets.interfaces.connection import parquet_scan
from mdvec.datasets.interfaces.csv_file import csv_to_parquet
from mdvec.files import UnreadableFile

PACKAGES = Path(__file__).parents[4] / "build" / "public"
NULLS = {"", "na", "n/a", "nan", "null", "none", "-"}
HAS_NO_HEADER = "its header cannot be told"
REFUSALS = (
    r"line \d+: (the row has|it has one cell|it is not valid CSV)|it has more than 10,000 columns|"
    r"it is in an encoding that cannot be determined"
)
MIN_FILES, MAX_REFUSED = 900, 12


def public_files(folder):
    """The CSV files, those in archives as well; names that begin with ``._`` are no tables."""
    for archive in PACKAGES.rglob("resources.tar.gz"):
        with tarfile.open(archive) as opened:
            opened.extractall(folder, filter="data")
    files = [*PACKAGES.rglob("*.csv"), *folder.rglob("*.csv")]
    return sorted(file for file in files if not file.name.startswith("._"))


def read(file, target):
    """How a file was read, and its rows."""
    reading = FOUND
    try:
        understood = csv_to_parquet(file, target)
    except UnreadableFile as error:
        if not str(error).startswith(HAS_NO_HEADER):
            raise
        reading = ReadingOptions(header_row=NO_HEADER)
        understood = csv_to_parquet(file, target, reading=reading)
    rows = READER.execute(f"FROM {parquet_scan(target)}").fetchall()
    target.unlink()
    return understood, rows


def as_texts(file, understood: Understood):
    """The cells below the header as pandas reads them, but for rows without a value.

    Such rows are left out of a table of several columns; the report must have their number.
    """
    text = io.StringIO(file.read_text(understood.encoding), newline="")
    frame = pd.read_csv(
        text, dtype=str, na_filter=False, sep=understood.delimiter,
        header=0 if understood.header_row else None, skiprows=max(understood.header_row - 1, 0),
    )  # fmt: skip
    rows = frame.to_numpy().tolist()
    filled = [row for row in rows if len(row) == 1 or any(map(str.strip, row))]
    empty = len(rows) - len(filled)
    assert not empty or f"empty rows are left out: {empty}" in understood.notes
    return filled


def means(text, value):
    """Whether a value is what a person reads in a cell."""
    cell = text.strip()
    match value:
        case None:
            return cell.lower() in NULLS
        case str():
            return value == text
        case bool():
            return cell.lower() == str(value).lower()
        case int():
            return int(re.sub(r"[$,]|\.0*$", "", cell)) == value
        case float():
            return float(re.sub(r"[$,%]", "", cell)) == value
        case datetime():
            return pd.Timestamp(cell) == pd.Timestamp(value)
        case date():
            numbers = sorted(map(int, re.findall(r"\d+", cell)))
            is_written = numbers == sorted((value.year, value.month, value.day))
            return is_written or pd.Timestamp(cell).date() == value
    raise AssertionError(value)


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_every_cell_of_public_files_is_what_pandas_reads(tmp_path):
    files = public_files(tmp_path / "unpacked")
    if not files:
        pytest.skip("`make soak` fetches the files")
    refused, other, cells = [], [], 0
    for file in files:
        try:
            understood, rows = read(file, tmp_path / "table.part")
        except UnreadableFile as error:
            refused.append(f"{file.name}: {error}")
            continue
        texts = as_texts(file, understood)
        same = len(texts) == len(rows) and all(
            len(row) == len(seen) and all(map(means, seen, row))
            for seen, row in zip(texts, rows, strict=True)
        )
        cells += sum(map(len, rows))
        other += [] if same else [file.name]
    print(f"{len(files)} files, {cells:,} cells", *refused, sep="\n")
    assert other == []
    assert len(files) - len(refused) >= MIN_FILES
    assert len(refused) <= MAX_REFUSED
    assert [said for said in refused if not re.search(REFUSALS, said)] == []
