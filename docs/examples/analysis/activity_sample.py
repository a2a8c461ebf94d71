"""Invented running data, second by second, 22 columns: the same rows for the same seed.

python docs/examples/analysis/activity_sample.py FILE.parquet|FILE.csv [ROWS]

Nobody ran this. Activities are runs of about 10 km, every second day from 1 June 2025; ground
contact jumps for some seconds in some of them, and sensors drop out.
"""

from __future__ import annotations

import sys
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    import duckdb

Columns = dict[str, np.ndarray]

SEED = 20250601
FIRST = datetime(2025, 6, 1, 6, 0, 0)  # noqa: DTZ001 - of a wrist, without a time zone
PAUSE = timedelta(days=2)
DISTANCE = 10_000.0
SECONDS = 2_700
ANOMALY_SECONDS = 25
SENSORS = ("heart_rate", "cadence", "power", "ground_contact_time", "vertical_oscillation")
COLUMNS = (
    "activity_id", "timestamp", "elapsed_seconds", "distance", "speed", "pace", "heart_rate",
    "cadence", "stride_length", "ground_contact_time", "ground_contact_balance",
    "vertical_oscillation", "vertical_ratio", "power", "elevation", "grade", "latitude",
    "longitude", "temperature", "respiration_rate", "performance_condition", "lap",
)  # fmt: skip


class Run(NamedTuple):
    """What a run is like as a whole; its seconds follow from that and from chance."""

    activity_id: int
    start: datetime
    pace: float
    jump_at: int | None


def write_runs(path: Path, *, rows: int = 13_500, activities: int = 5, seed: int = SEED) -> None:
    """Write ``rows`` seconds of ``activities`` runs to a Parquet or CSV file, by its ending.

    Raises:
        ValueError: the file's ending is another one.
    """
    if path.suffix not in {".parquet", ".csv"}:
        raise ValueError(f"{path.name}: the ending is .parquet or .csv")
    import duckdb

    with duckdb.connect() as connection:
        register_runs(connection, rows=rows, activities=activities, seed=seed)
        query = f"SELECT {_selected()} FROM sample"
        connection.execute(f"COPY ({query}) TO '{_quoted(path)}' (FORMAT {path.suffix[1:]})")


def register_runs(
    connection: duckdb.DuckDBPyConnection, *, rows: int, activities: int, seed: int = SEED
) -> None:
    """Offer the rows to a connection as the view ``sample``; nulls are NaN there."""
    columns = runs(rows=rows, activities=activities, seed=seed)
    connection.register("sample", columns)


def runs(*, rows: int, activities: int, seed: int = SEED) -> Columns:
    """The columns by name; the rows are shared evenly among the activities."""
    rng = np.random.default_rng(seed)
    sizes = [rows // activities + (number < rows % activities) for number in range(activities)]
    parts = [seconds(rng, run_of(rng, number), size) for number, size in enumerate(sizes)]
    return {name: np.concatenate([part[name] for part in parts]) for name in COLUMNS}


def run_of(rng: np.random.Generator, number: int) -> Run:
    """The number-th run: slowly getting faster, every second one with a form anomaly."""
    day_form = rng.normal(0, 6)
    return Run(
        activity_id=1001 + number,
        start=FIRST + number * PAUSE,
        pace=278.0 - 0.8 * min(number, 20) + day_form,
        jump_at=int(rng.integers(900, 2_100)) if number % 2 == 0 else None,
    )


def seconds(rng: np.random.Generator, run: Run, size: int) -> Columns:
    """A run of ``size`` seconds."""
    at = np.arange(size)
    hills = elevation(at, phase=run.activity_id % 7)
    grade = np.gradient(hills) / 3.5 * 100 if size > 1 else np.zeros(size)
    jump = anomaly(run, at)
    effort = smooth(rng, size, 30, 4.0)
    pace = run.pace + effort + grade * 6 + 12 * np.exp(-at / 90) + 14 * jump
    pace = np.clip(pace + rng.normal(0, 2.5, size), 150, 600)
    speed = 1000 / pace
    distance = np.cumsum(speed)
    cadence = 178 - (pace - 275) * 0.12 + rng.normal(0, 1.2, size) - 4 * jump
    warm = 1 - np.exp(-at / 240)
    heart = 112 + 46 * warm + at / 300 + grade * 3 - effort * 0.5 + 5 * jump
    contact = 242 + (pace - 275) * 0.35 + rng.normal(0, 3, size) + 38 * jump
    bounce = 8.4 + rng.normal(0, 0.15, size) + 1.1 * jump
    stride = speed * 60 / cadence
    columns: Columns = {
        "activity_id": np.full(size, run.activity_id, dtype=np.int64),
        "timestamp": np.datetime64(run.start, "s") + at.astype("timedelta64[s]"),
        "elapsed_seconds": at.astype(np.int32),
        "distance": distance.round(1),
        "speed": speed.round(3),
        "pace": pace.round(1),
        "heart_rate": (heart + smooth(rng, size, 15, 1.5)).round(),
        "cadence": cadence.round(),
        "stride_length": stride.round(3),
        "ground_contact_time": contact.round(1),
        "ground_contact_balance": (50 + smooth(rng, size, 60, 0.4) + 1.2 * jump).round(2),
        "vertical_oscillation": bounce.round(2),
        "vertical_ratio": (bounce / stride).round(2),
        "power": (speed * 78 + grade * 9 + rng.normal(0, 6, size)).round(),
        "elevation": hills.round(1),
        "grade": grade.round(2),
        "latitude": (35.0 + np.cos(distance / 1500) * 0.01).round(6),
        "longitude": (135.0 + np.sin(distance / 1500) * 0.012).round(6),
        "temperature": (19 + run.activity_id % 5 + at / 1800).round(1),
        "respiration_rate": (24 + 14 * warm + smooth(rng, size, 40, 1.0)).round(1),
        "performance_condition": np.clip(5 - at / 700 - effort * 0.2, -20, 20).round(),
        "lap": (distance // 1000 + 1).astype(np.int32),
    }
    for name in SENSORS:
        columns[name][rng.random(size) < 0.005] = np.nan
    return columns


def elevation(at: np.ndarray, phase: int) -> np.ndarray:
    """A course with two long hills and many short ones, in metres."""
    return 42 + 14 * np.sin(at / 430 + phase) + 4 * np.sin(at / 95 + 2 * phase)


def anomaly(run: Run, at: np.ndarray) -> np.ndarray:
    """0 to 1: how much the form is broken in each second."""
    if run.jump_at is None:
        return np.zeros(len(at))
    since = at - run.jump_at
    return np.where(
        (since >= 0) & (since < ANOMALY_SECONDS), 1 - since / (2 * ANOMALY_SECONDS), 0.0
    )


def smooth(rng: np.random.Generator, size: int, window: int, spread: float) -> np.ndarray:
    """Noise that changes slowly: a moving mean, with ``spread`` as its standard deviation."""
    noise = np.cumsum(rng.normal(0, spread * np.sqrt(window), size + window))
    return (noise[window:] - noise[:-window]) / window


def _selected() -> str:
    return ", ".join(
        f"CASE WHEN isnan({name}) THEN NULL ELSE {name} END AS {name}" if name in SENSORS else name
        for name in COLUMNS
    )


def _quoted(path: Path) -> str:
    return str(path).replace("'", "''")


def main() -> None:
    """Write the file that is named, with 13,500 rows or as many as are asked for."""
    rows = int(sys.argv[2]) if len(sys.argv) > 2 else 13_500
    write_runs(Path(sys.argv[1]), rows=rows, activities=max(1, rows // SECONDS))


if __name__ == "__main__":
    main()
