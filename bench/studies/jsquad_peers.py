"""What others find in the same files: SQLite's own tokenizers, lancedb, chromadb.

Each peer takes the corpus and gives a function from a question to file names, best first. FTS5 has
no operator for "as many of these as possible" but OR; so a question's terms are quoted and joined
by it: for `unicode61` its runs of letters and digits (an unspaced question is one such run, and
finds nothing but itself), for `trigram` every three characters of those runs.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import apsw
import numpy as np
from finding import HITS, TOOL, imported
from jsquad import passages_of, scored
from mdvec.database.connection import open_database
from mdvec.embedding import catalog
from mdvec.embedding.embedder import Embedder
from mdvec.index.tables import Tables
from mdvec.text.one_line import identifier
from mdvec.tools import registry
from processes import Bench
from results import Row

_RUN = re.compile(r"\w+")

Ask = Callable[[str], list[str]]


@dataclass(frozen=True, slots=True)
class Corpus:
    """The texts by file name, and our database of them, for its vectors."""

    folder: Path
    texts: dict[str, str]
    database: Path
    embedder: Embedder

    def vectors(self) -> tuple[list[str], np.ndarray]:
        """The file of every chunk of ours, and its vector."""
        with open_database(self.database, "read") as connection:
            tool = registry.get_tool(connection, TOOL)
            names = Tables(connection, tool.id, tool.name, tool.generation)
            rows = connection.execute(
                f"SELECT d.file_path, v.embedding FROM {identifier(names.vectors)} AS v "
                f"JOIN {identifier(names.documents)} AS d ON d.id = v.document_id ORDER BY v.id"
            ).fetchall()
        blobs = b"".join(row[1] for row in rows)
        return [row[0] for row in rows], np.frombuffer(blobs, np.float32).reshape(len(rows), -1)


def _fts5(tokenizer: str, terms: Callable[[str], list[str]]) -> Callable[[Corpus], Ask]:
    def prepare(corpus: Corpus) -> Ask:
        connection = apsw.Connection(str(corpus.folder / f"{tokenizer}.sqlite"))
        connection.execute(f"CREATE VIRTUAL TABLE t USING fts5(name, body, tokenize={tokenizer})")
        with connection:
            connection.executemany("INSERT INTO t VALUES (?, ?)", corpus.texts.items())

        def ask(question: str) -> list[str]:
            query = " OR ".join(f'"{term}"' for term in dict.fromkeys(terms(question)))
            if not query:
                return []
            found = connection.execute(
                "SELECT name FROM t WHERE t MATCH ? ORDER BY bm25(t, 0, 1) LIMIT ?",
                (f"body : ({query})", HITS),
            )
            return [str(name) for (name,) in found]

        return ask

    return prepare


def _trigrams(question: str) -> list[str]:
    return [
        run[place : place + 3]
        for run in _RUN.findall(question)
        for place in range(max(len(run) - 2, 0))
    ]


def _lancedb(**tokenizer: object) -> Callable[[Corpus], Ask]:
    def prepare(corpus: Corpus) -> Ask:
        import lancedb

        rows = [{"name": name, "body": body} for name, body in corpus.texts.items()]
        table = lancedb.connect(corpus.folder / "lance").create_table("t", rows, mode="overwrite")
        table.create_fts_index("body", **tokenizer)

        def ask(question: str) -> list[str]:
            found = table.search(question, query_type="fts", fts_columns="body").limit(HITS)
            return [row["name"] for row in found.to_list()]

        return ask

    return prepare


def _chromadb(corpus: Corpus) -> Ask:
    import chromadb

    settings = chromadb.Settings(anonymized_telemetry=False)
    client = chromadb.PersistentClient(str(corpus.folder / "chroma"), settings)
    collection = client.create_collection("passages", configuration={"hnsw": {"space": "cosine"}})
    files, vectors = corpus.vectors()
    for first in range(0, len(files), 1000):
        part = range(first, min(first + 1000, len(files)))
        collection.add(
            [str(number) for number in part],
            embeddings=vectors[first : first + 1000],
            metadatas=[{"file": files[number]} for number in part],
        )

    def ask(question: str) -> list[str]:
        vector = corpus.embedder.embed_query(question)
        found = collection.query(query_embeddings=vector, n_results=HITS, include=["metadatas"])
        return [str(one["file"]) for one in found["metadatas"][0]]

    return ask


PEERS: dict[str, tuple[str, Callable[[Corpus], Ask]]] = {
    "SQLite FTS5 `unicode61`, OR of the question's runs": ("", _fts5("unicode61", _RUN.findall)),
    "SQLite FTS5 `trigram`, OR of the question's trigrams": ("", _fts5("trigram", _trigrams)),
    "lancedb full-text search, its default tokenizer": ("lancedb", _lancedb()),
    "lancedb full-text search, `ngram` of 2": (
        "lancedb",
        _lancedb(base_tokenizer="ngram", ngram_min_length=2, ngram_max_length=2),
    ),
    "chromadb with our vectors of `use`": ("chromadb", _chromadb),
}


def measure(bench: Bench) -> list[Row]:
    """A row for each peer that is installed, on the passages and questions of JSQuAD."""
    passages = passages_of(bench)
    embedder = catalog.load("use")
    database = bench.folder / "use.sqlite"
    imported(database, passages.folder, embedder)
    texts = {path.name: path.read_text("utf-8") for path in sorted(passages.folder.iterdir())}
    rows = []
    for name, (package, peer) in PEERS.items():
        what = f"JSQuAD, {name}"
        if package and not importlib.util.find_spec(package):
            rows.append(Row(what, f"not installed: pip install {package}"))
            continue
        corpus = Corpus(bench.folder, texts, database, embedder)
        of_peer, milliseconds = scored(peer(corpus), passages.asked)
        rows.append(Row(what, f"{of_peer}; {milliseconds:.1f} ms each"))
    return rows
