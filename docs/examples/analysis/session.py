"""A real mdvec-mcp over STDIO, on a database of its own with invented data, for these notebooks.

What goes through ``call`` and ``say`` is what a model would read and write; it is counted.
"""

from __future__ import annotations

import atexit
import json
import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from anyio.from_thread import start_blocking_portal
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mdvec.analysis import safe_json_output, validate_output
from mdvec.analysis.exports import ExportFolder

ROOT = Path(__file__).resolve().parents[3]
HOUSEHOLD = ROOT / "docs" / "examples" / "household"
RUNS, SECONDS_A_RUN = 15, 2_700
CLI = "from mdvec_cli.entry import main; main()"
SERVER = "from mdvec_mcp.entry import main; main()"

Answer = dict[str, Any]


class ToolFailed(Exception):
    """The server refused a call; the message is its sentence."""


class Session:
    """A server over one of the samples; ends with ``close``.

    Args:
        data: ``runs``, the table of that name with 15 runs of June 2025, one row a second; or
            ``household``, the table ``transactions``.
    """

    def __init__(self, data: Literal["runs", "household"]) -> None:
        self.folder = _prepared(data)
        self.characters = 0
        # safe_load_export reads the same settings as the server does.
        os.environ.update(_settings(self.folder))
        self._ending = ExitStack()
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
        """End the server; what was prepared goes when Python ends."""
        self._ending.close()

    def _called(self, tool: str, arguments: Answer) -> tuple[Answer, str]:
        result = self._portal.call(self._client.call_tool, tool, arguments)
        text = "\n".join(block.text for block in result.content if block.type == "text")
        if result.is_error:
            raise ToolFailed(text)
        return result.structured_content or json.loads(text), text

    def _count(self, text: str) -> None:
        self.characters += len(text)

    def _connect(self) -> None:
        server = StdioServerParameters(
            command=sys.executable, args=["-c", SERVER], env=dict(os.environ)
        )
        log = self._ending.enter_context((self.folder / "server.log").open("w"))
        self._portal = self._ending.enter_context(start_blocking_portal())
        self._client = self._ending.enter_context(
            self._portal.wrap_async_context_manager(Client(stdio_client(server, errlog=log)))
        )


@cache
def _prepared(data: str) -> Path:
    """A folder with a database into which the commands have imported a sample."""
    folder = Path(tempfile.mkdtemp(prefix="mdvec-example-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    (folder / "config.toml").write_text("# these examples need no settings\n")
    if data == "runs":
        source = folder / "runs.parquet"
        generator = Path(__file__).with_name("activity_sample.py")
        _run(folder, str(generator), str(source), str(RUNS * SECONDS_A_RUN))
        added = ["runs", "-d", "架空のランニングデータ（1 秒ごと）", "--kind", "dataset"]
    else:
        source = HOUSEHOLD
        added = ["kakeibo", "-d", "架空の家計簿", "--kind", "household"]
    _run(folder, "-c", CLI, "tool", "add", "-s", str(source), "-n", *added)
    _run(folder, "-c", CLI, "import", "-n", added[0])
    return folder


def _settings(folder: Path) -> dict[str, str]:
    return {
        "MDVEC_CONFIG": str(folder / "config.toml"),
        "MDVEC_DATABASE_PATH": str(folder / "example.sqlite"),
        "MDVEC_ANALYTICS_FOLDER": str(folder / "exports"),
        "MDVEC_MODEL_NAME": "use",
    }


def _run(folder: Path, *arguments: str) -> None:
    """Run this Python; show what it says only if it fails."""
    done = subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, **_settings(folder)},
        capture_output=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(done.stderr.decode("utf-8", "replace"))


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
