"""`make bench`: measure, print a table, store it, and write docs/benchmarks.md and README.md here.

Studies answer a question once (which chunk size, what others find); they run only when they are
named: python bench/run.py --only chunk_size,jsquad_peers
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

import analytics_peers
import asking
import chart_speed
import confident
import duplicate_pairs
import endpoint_import
import engines
import fresh
import headings
import household_speed
import import_speed
import jsquad
import knn
import lexical_cost
import many_clients
import million
import notes_finding
import page_speed
import searching
import splitting
import sql_speed
import startup
import updating
import users_finding
import variants
import word_queries
from processes import Bench
from report import Section, store, write_pages
from results import Row, Skipped
from studies import chunk_size, confidence_fit, fusion_fit, jsquad_peers

SECTIONS = (
    Section(
        "What it must reach",
        """
The text is the Japanese React documentation (CC BY 4.0, the folder `src/content` of
<https://github.com/reactjs/ja.react.dev>); the 10,000 files are short notes that the benchmark
writes itself.

- Starting: our server and an empty one take turns, each in a new process, and the SDK's client
  asks both. Byte code is cached, as after the first start.
- The first search: a client asks as soon as it has the list of tools, when the model has begun to
  load. An import has left its weights unpacked.
- Importing: every list of texts that the import embeds is encoded once more by the model alone, in
  the same process, before or after by turns. The model alone is the sum of the latter, without its
  loading; the import is the `seconds` of its report without the latter, loading included. Memory
  and bar are those of `mdvec import` in a process of its own.
- Updating: the files share 500 different contents. Nothing changed: the `seconds` of the report;
  an audit hook of Python's counts the files that are opened. One changed: from the start of
  `mdvec import --mode update` to its end, the model's loading included.
- Searching during an import: one tool of short notes, all of which changed; a server over STDIO
  imports them after `reindex`, in its process of lower priority, and answers meanwhile.
- Through an endpoint: a server in the benchmark's process speaks OpenAI's protocol, takes a second
  for each request of a hundred texts, and answers one request in twenty with 429 or 500. Its own
  time is what its answers took; `mdvec import` runs in a process of its own, all in all.
- Many clients: the sample notes, one server over HTTP, a session each, all in one other process.
  All share this machine's cores, so clients that never pause wait for each other: fifty cannot all
  be answered in five times the time of one on fewer than ten cores. The bridge and a server over
  STDIO are started in turns, each in a new process.
""",
        {
            "startup": startup.measure,
            "importing": import_speed.measure,
            "updating": updating.measure,
            "endpoint_import": endpoint_import.measure,
            "splitting": splitting.measure,
            "many_clients": many_clients.measure,
            "fresh": fresh.measure,
        },
    ),
    Section(
        "How well it finds",
        """
All through the library's own search with its default settings. nDCG@10 has one right answer a
question; R@1 is the share of questions whose right answer comes first.

- Headings: every Japanese heading of level 2 or 3 of the React documentation that occurs once and
  has 50 characters under it is a question for its own section; and so is the English anchor behind
  it (`{/*state-as-a-snapshot*/}`, its hyphens as spaces). No heading line is left in what is
  indexed, and no heading path: a chunk is its text, with its document's title. Sections rank by
  their best chunk. Constants were tuned on every other question; figures are of the rest, then of
  all.
- JSQuAD: the validation split of JSQuAD 1.3 (CC BY-SA 4.0, <https://github.com/yahoojapan/JGLUE>),
  one file a passage, `# title` and its text, hits counted by file. Constants were tuned on the
  questions with an even line index; the odd ones are asked here, for `e5-small` every second or
  third of them. The title is indexed.
- Words: queries of a word or two, in all scripts and widths, over the React documentation; the
  files that answer were chosen by reading (`bench/word_queries.toml`).
- Spellings: a query in one spelling, an invented note in another, among the invented notes; the
  sources that say the two are one word stand in `bench/spelling_variants.toml`.
- Questions as people ask them: 64 terms and 104 headings of the React documentation in the
  sentences of `bench/question_frames.toml` that are held out: plain, polite, casual, chat, with
  typos, long-winded, and in English around a heading's anchor. Half of the terms are titles in
  camelCase, half words of kanji or katakana in headings, taken evenly from all that stand in 2 to
  22 files. A term fails when none of its first three hits even names it. A heading is asked of the
  whole documentation, and of its text without any heading. Nothing was chosen by these sentences.
- Users' words: questions that a beginner, a developer with a problem, a technical lead, an
  assistant and somebody who writes English ask about 179 sections of the React documentation, in
  words of their own (`bench/users_questions.toml`). Only that section counts as right, though
  another may answer as well.
- Invented notes: 158 short notes of a household, meetings and development, in Japanese and some
  English (`bench/invented_notes.toml`), hits counted by file.
- Said to have no answer: each of three collections (React, JSQuAD, the notes) is asked its own
  questions, and what only the other two answer.
""",
        {
            "headings": headings.measure,
            "words": word_queries.measure,
            "variants": variants.measure,
            "asking": asking.measure,
            "users": users_finding.measure,
            "notes": notes_finding.measure,
            "confident": confident.measure,
            "jsquad": jsquad.measure,
            "jsquad_e5": jsquad.measure_e5,
        },
    ),
    Section(
        "How fast it finds, and what that costs",
        """
- Searching: every question is asked once to warm up, then several times, one at a time; what is
  measured is the client's wait. 100,000 chunks are overlapping windows of 120 characters of the
  same documentation, stored through the library, 200 a document.
- A million chunks: windows that overlap more, ten to each vector of the 100,000; to each vector
  noise of length 0.3 is added (cosine .96). Memory is the process's at its highest, without the
  pages of mapped files (weights, dictionary), which processes share and the system can drop.
- k-NN: every second of those windows, embedded by `use`; and every fifth, projected up from 512 to
  2,048 numbers by a fixed random Gaussian matrix; 300,000 made vectors around 2,000 topics that
  crowd around one direction; the million. 100 headings (20 of the million, 40 made vectors of the
  crowd) are asked of each way in turns, the files' pages in the system's cache. Exact is a float32
  product; a window that is as near as the tenth counts as found. The floor is what is read,
  signatures and the vectors that are compared exactly, over what one core reads of memory in the
  same run.
- Chroma: made vectors around 2,000 topics, from its own client and by mdvec in turns,
  1,000 at a time into empty collections; then 60 vectors near stored ones are asked for 40, of its
  client, through `nearest_chunks`, and of SQLite alone, in turns.
- Cost: react-ja is imported, and its documents are stored again in turns with the lexical index and
  the signatures, and without; the difference is what they cost in time.
""",
        {
            "searching": searching.measure,
            "searching_most": searching.measure_most,
            "knn": knn.measure,
            "million": million.measure,
            "engines": engines.measure,
            "lexical_cost": lexical_cost.measure,
        },
    ),
    Section(
        "The household",
        """
Invented transactions: 300 shops, five accounts, ten years. The import is that of the ledger,
without embedding. A chart is drawn and written as PNG; memory is that of its process, after twelve
charts to warm up.

Duplicates: six invented ledgers of two to four hundred rows (`bench/duplicates`): apps and the
cards behind them, notes by hand, receipts, accounts connected twice, final amounts, points,
payments charged twice; and what looks alike: fares, coffees, ATM, two equal meals. Scored is every
pair that a search at the defaults calls one purchase. Weights were chosen on the tuning half.
""",
        {
            "ledger": household_speed.measure,
            "duplicates": duplicate_pairs.measure,
            "charts": chart_speed.measure,
        },
    ),
    Section(
        "The local page",
        """
A server over HTTP with 100,000 chunks (windows of the same documentation, as under searching) and
100,000 invented transactions, whose tools were used before. Every view is asked for once, then
measured; a question is asked at five of its beginnings, as it is typed, each for the first time.
Memory is what all views together added to the server's resident memory.
""",
        {"page": page_speed.measure},
    ),
    Section(
        "SQL without the bulk",
        """
Invented seconds of runs in 22 columns (`docs/examples/analysis/activity_sample.py`), one Parquet
file. Ours are the functions behind the tools, with the query process and the output guard; plain
DuckDB has the same file and threads in the benchmark's own process, and takes turns with ours.

CSV files are invented sales in ten columns, the monthly ones of 50 rows; user and system time of
whole processes are compared, start included: `mdvec import`, and DuckDB, which copies each file to
Parquet.
""",
        {"analytics": sql_speed.measure, "csv": import_speed.measure_csv},
    ),
    Section(
        "SQL through a client",
        """
A million invented seconds of runs in 22 columns, one Parquet file, which all read through a view,
with as many threads. Ours is the tool `query` over STDIO, asked by the SDK's client: judged, run in
its locked process, and cut to 20 rows and 4,000 bytes. Plain DuckDB fetches the rows in the
benchmark's own process; `mcp-server-motherduck` has its own DuckDB in memory and the same client.
They are asked in turns, each question once to warm up; our numbers are compared with DuckDB's.

The eleven answer with few rows; one more has 370 rows, of which ours writes all to a file for the
answer's handle. The profile's figures are asked of DuckDB in one statement: number, minimum,
maximum, mean, standard deviation, quartiles and exact number of different values. Ours is the tool
`profile` by default, which estimates numbers of different values where there are too many, and says
so.
""",
        {"analytics_peers": analytics_peers.measure},
    ),
)
STUDIES = (
    Section(
        "The chunk size of `use`",
        f"""
{chunk_size.FILES} files of the same documentation, cut at headings with each size. A question is a
Japanese heading of level 2 or 3 that occurs once; heading lines are left out of what is embedded,
so only the passage itself can answer. The right answer is the section that stood under the
heading, and sections rank by their best chunk.
""",
        {"chunk_size": chunk_size.measure},
    ),
    Section(
        "What others find",
        """
The passages and questions of JSQuAD as under "How well it finds", titles included; 50 hits each, as
we get. FTS5 finds "any of these" by OR alone: the question's runs of letters for `unicode61` (an
unspaced question is one such run, found nowhere), every three characters of those runs for
`trigram`.
""",
        {"jsquad_peers": jsquad_peers.measure},
    ),
    Section(
        "The constants of the fusion",
        f"""
At most {fusion_fit.QUESTIONS} questions of each half of each collection; their candidates are found
once and scored with each setting. The loss of a setting is what its nDCG@10 lacks, as a share, of
the best that any setting reaches there; chosen is the least of the worst losses on the even halves.
The odd halves were not chosen by.
""",
        {"fusion_fit": fusion_fit.measure},
    ),
    Section(
        "The constants of a score",
        """
Logistic regression over the first five hits of questions of three collections, a fifth of whose
weight are questions that only the other two answer; the odd halves were not fitted by.
""",
        {"confidence_fit": confidence_fit.measure},
    ),
)
REGRESSIONS = [name for part in SECTIONS for name in part.subjects]
NAMES = REGRESSIONS + [name for part in STUDIES for name in part.subjects]


def main() -> int:
    """Measure what was asked for; the exit code tells whether every bar was met."""
    arguments = _arguments()
    with tempfile.TemporaryDirectory(prefix="mdvec-bench-") as databases:
        arguments.databases = Path(arguments.databases or databases).resolve()
        arguments.databases.mkdir(parents=True, exist_ok=True)
        return _run(arguments)


def _run(arguments: argparse.Namespace) -> int:
    rows: list[Row] = []
    for section in (*SECTIONS, *STUDIES):
        measured = _measure(section, arguments)
        store(measured)
        of_section = [row for subject in measured.values() for row in subject]
        _print_table(of_section)
        rows += of_section
    write_pages(SECTIONS, STUDIES)
    return int(any(row.met is False for row in rows))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--only",
        type=_names,
        default=REGRESSIONS,
        help=f"some of: {','.join(NAMES)}; default: all but the studies",
    )
    parser.add_argument(
        "--render",
        action="store_const",
        const=[],
        dest="only",
        help="measure nothing: write the two pages again from what is stored",
    )
    parser.add_argument("--runs", type=int, help="how often to measure each (default: its own)")
    parser.add_argument("--corpus", type=Path, help="the folder of Japanese Markdown")
    parser.add_argument(
        "--reranker", help="onnx: or st:<cross-encoder>: headings are ranked with it, too"
    )
    parser.add_argument(
        "--peer", type=Path, help="the program of mcp-server-motherduck, if it is not on the path"
    )
    parser.add_argument("--jsquad", type=Path, help="the folder of JSQuAD's two files")
    parser.add_argument(
        "--databases",
        help="a folder to keep the imported databases in, for another run of the same code",
    )
    return parser.parse_args()


def _names(given: str) -> list[str]:
    names = given.split(",")
    if unknown := set(names) - set(NAMES):
        raise argparse.ArgumentTypeError(f"no {', '.join(unknown)}; choose of {', '.join(NAMES)}")
    return names


def _measure(section: Section, arguments: argparse.Namespace) -> dict[str, list[Row]]:
    """The rows of each benchmark that was asked for and can run here."""
    measured = {}
    for name, measure in section.subjects.items():
        if name not in arguments.only:
            continue
        print(f"{name} …", end=" ", flush=True)
        began = time.perf_counter()
        try:
            with tempfile.TemporaryDirectory(prefix="mdvec-bench-") as folder:
                measured[name] = measure(
                    Bench(
                        Path(folder).resolve(),
                        arguments.databases,
                        arguments.runs,
                        arguments.corpus,
                        arguments.jsquad,
                        arguments.reranker,
                        arguments.peer,
                    )
                )
        except Skipped as missing:
            print(f"skipped: {missing}")
        else:
            print(f"{time.perf_counter() - began:.0f} s")
    return measured


def _print_table(rows: list[Row]) -> None:
    for row in rows:
        verdict = {"yes": "ok  ", "NO": "MISS", "": "    "}[row.verdict]
        print(
            f"{verdict}  {row.what}\n      {row.measured}" + (f"   [{row.bar}]" if row.bar else "")
        )


if __name__ == "__main__":
    sys.exit(main())
