"""Importing ten thousand chunks through an endpoint that fails one request in twenty."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from mdvec.manage.registering import add_tool
from processes import Bench, run_mdvec
from results import Row

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

FILES = 5_000
CHUNKS = 2 * FILES
BATCH = 100
FAULTS = 0.05
SECONDS = 1.0
"""What the stand-in takes for a request, as an endpoint far away might for a hundred texts."""
BAR = 1.2


def measure(bench: Bench) -> list[Row]:
    """Import once; compare with the time that the stand-in itself took."""
    from endpoint_stand_in import EndpointStandIn

    source, database = bench.folder / "paid", bench.folder / "paid.sqlite"
    config = bench.folder / "endpoint.toml"
    _write_files(source)
    add_tool(database, "paid", "invented notes", source, "markdown")
    with EndpointStandIn(dimension=768).running() as endpoint:
        endpoint.rate, endpoint.seconds = FAULTS, SECONDS
        config.write_text(
            f'[model.openai]\nbase_url = "{endpoint.url}/v1"\nbatch = {BATCH}\n', encoding="utf-8"
        )
        began = time.perf_counter()
        done = run_mdvec(
            bench, "import", "-n", "paid", "--model", "openai:stand-in", "--chunk-size", "64",
            "--format", "json", "--database", database, "--config", config,
        )  # fmt: skip
        took = time.perf_counter() - began
        report = json.loads(done.stdout)
        once = all(count == 1 for count in endpoint.paid.values())
        paid, busy = len(endpoint.paid), endpoint.busy_seconds
    return [
        Row(
            f"{CHUNKS:,} chunks through an endpoint, {FAULTS:.0%} of requests fail",
            f"{took:.0f} s, {took / busy:.2f} × the endpoint's own {busy:.0f} s",
            f"≤ {BAR} × the endpoint's own time",
            took <= BAR * busy,
        ),
        Row(
            "vectors that were paid for",
            f"{paid:,} of {report['chunks']:,} chunks, {'each once' if once else 'some twice'}",
            "each exactly once",
            once and paid == report["chunks"] == CHUNKS,
        ),
    ]


def _write_files(source: Path) -> None:
    for number in range(FILES):
        path = source / f"{number // 50:03d}" / f"note-{number:05d}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_note(number), encoding="utf-8")


def _note(number: int) -> str:
    return "".join(
        f"# 見出し{number}の{part}\n\n{f'{number}番目のメモの第{part}節。' * 4}\n\n"
        for part in range(2)
    )
