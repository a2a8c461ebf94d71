"""A real mdvec-mcp over STDIO, on a database of its own with invented data, for these notebooks.

What goes through ``call`` and ``say`` is what a model would read and write; it is counted.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from anyio.from_thread import start_blocking_portal
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mdvec.analysis import safe_json_output, validate_output
from mdvec.exports import ExportFolder

ROOT = Path(__file__).resolve().parents[3]
HOUSEHOLD = ROOT / "docs" / "examples" / "household"
SECONDS_A_RUN = 2_700
CLI = "from mdvec_cli.main import main; main()"
SERVER = "from mdvec_mcp.main import main; main()"

Answer = dict[str, Any]


class ToolFailed(Exception):
    """The server refused a call; the message is its sentence."""


class Session:
    """A server with the tables ``runs`` and, if wanted, ``transactions``; ends with ``close``.

    Args:
        runs: how many runs of 45 minutes there are, every second day from 1 June 2025.
        household: whether the sample household is imported too.
    """

    def __init__(self, *, runs: int = 0, household: bool = False) -> None:
        self._ending = ExitStack()
        self.folder = Path(tempfile.mkdtemp(prefix="mdvec-example-"))
        self._ending.callback(shutil.rmtree, self.folder, ignore_errors=True)
        self.characters = 0
        # The server, the commands and safe_load_export read the same environment.
        (self.folder / "config.toml").write_text("# these examples need no settings\n")
        os.environ.update(
            MDVEC_CONFIG=str(self.folder / "config.toml"),
            MDVEC_DATABASE_PATH=str(self.folder / "example.sqlite"),
            MDVEC_ANALYTICS_FOLDER=str(self.folder / "exports"),
            MDVEC_MODEL_NAME="use",
        )
        if runs:
            file = self.folder / "runs.parquet"
            self._write_runs(file, runs)
            self._import("runs", "dataset", file, "架空のランニングデータ（1 秒ごと）")
        if household:
            self._import("kakeibo", "household", HOUSEHOLD, "架空の家計簿")
        self._connect()

    def call(self, tool: str, **arguments: Any) -> Answer:  # noqa: ANN401 - any a tool has
        """Call a tool, show its answer as a model sees it, and count both."""
        answer, text = self._called(tool, arguments)
        self._count(json.dumps(arguments, ensure_ascii=False))
        self._count(text)
        print(f"{tool} → {text}")
        return answer

    def say(self, output: str) -> None:
        """Print what the model reads of an analysis, and count it.

        Raises:
            ValueError: it is larger than a model should read.
        """
        is_small, reason = validate_output(output)
        if not is_small:
            raise ValueError(reason)
        self._count(output)
        print(output)

    def cost(self, raw_query: str) -> None:
        """Print what all this cost against handing over the rows of ``raw_query`` as CSV."""
        answer, _ = self._called("export", {"query": raw_query, "format": "csv"})
        exports = ExportFolder(self.folder / "exports", 3_600, 2**30)
        raw = len(exports.path_of(answer["handle"]).read_text(encoding="utf-8"))
        saving = {
            "characters": self.characters,
            "raw_rows": answer["rows"],
            "raw_characters": raw,
            "saving_percent": round(100 * (1 - self.characters / raw), 1),
        }
        print(safe_json_output(saving))

    def close(self) -> None:
        """End the server and remove everything that was made."""
        self._ending.close()

    def _called(self, tool: str, arguments: Answer) -> tuple[Answer, str]:
        result = self._portal.call(self._client.call_tool, tool, arguments)
        text = "\n".join(block.text for block in result.content if block.type == "text")
        if result.is_error:
            raise ToolFailed(text)
        return result.structured_content or json.loads(text), text

    def _count(self, text: str) -> None:
        self.characters += len(text)

    def _write_runs(self, file: Path, runs: int) -> None:
        subprocess.run(
            [sys.executable, str(ROOT / "tools" / "activity_sample.py"), str(file),
             str(runs * SECONDS_A_RUN)], check=True,
        )  # fmt: skip

    def _import(self, name: str, kind: str, source: Path, description: str) -> None:
        for command in (
            ["tool", "add", "-n", name, "-d", description, "-s", str(source), "--kind", kind],
            ["import", "-n", name],
        ):
            subprocess.run(
                [sys.executable, "-c", CLI, *command], check=True, stdout=subprocess.DEVNULL
            )

    def _connect(self) -> None:
        server = StdioServerParameters(
            command=sys.executable, args=["-c", SERVER], env=dict(os.environ)
        )
        log = self._ending.enter_context((self.folder / "server.log").open("w"))
        self._portal = self._ending.enter_context(start_blocking_portal())
        self._client = self._ending.enter_context(
            self._portal.wrap_async_context_manager(Client(stdio_client(server, errlog=log)))
        )


def use_japanese_font() -> None:
    """Let matplotlib write Japanese, with the font that mdvec-mcp draws its charts with."""
    import matplotlib.pyplot as plt
    from matplotlib import font_manager

    package = find_spec("matplotlib_fontja")
    if package is None or not package.submodule_search_locations:
        return  # English labels remain readable
    font = Path(package.submodule_search_locations[0]) / "fonts" / "ipaexg.ttf"
    font_manager.fontManager.addfont(font)
    plt.rcParams["font.family"] = font_manager.FontProperties(fname=font).get_name()
