"""A process that imports a collection with the tiny model, for a test to kill.

Usage: importing_child.py DATABASE TOOL MODE ENDINGS [URL]; prints a line for every file that is
done. The URL is that of the Chroma server that shall index the vectors.
"""

import sys
from dataclasses import replace
from pathlib import Path

from imported import RULES
from mdvec.importing.job import ImportRequest
from mdvec.importing.options import ChunkingSettings
from mdvec.index.chroma import ChromaServer
from mdvec.manage.tool_import import import_tool
from tiny_embedder import tiny_embedder


def main() -> None:
    database, tool, mode, endings, *urls = sys.argv[1:]
    rules = replace(RULES, extensions=tuple(endings.split(",")))
    engine = ChromaServer(url=urls[0]) if urls else None
    report = import_tool(
        ImportRequest(Path(database), tool, mode, rules, ChunkingSettings(), engine=engine),
        lambda _: tiny_embedder(),
        on_progress=lambda progress: print(progress.files_done, flush=True),
        on_notice=lambda notice: print(notice, flush=True),
    )
    print("done", report.added, report.updated, report.deleted, report.unchanged, flush=True)


if __name__ == "__main__":
    main()
