"""A database that the real model filled, and the real server as a client starts it."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from collection import RULES
from mcp import StdioServerParameters
from mdvec import registering
from mdvec.import_options import ChunkingWish
from mdvec.import_report import ImportRequest
from mdvec.importing import import_tool
from mdvec.interfaces.embedding import catalog

RUN = "from mdvec_mcp.main import main; main()"
WATER = "# 防災\n\n## 水の備蓄\n\n水は1人1日3リットルを目安に、三日分から一週間分を備えます。\n"
GIT = "# Git\n\n## Two branches at once\n\nAdd a second working directory with git worktree add.\n"


def import_use(database: Path, name: str, mode: str = "update") -> None:
    """Import a tool with the embedded model."""
    request = ImportRequest(database, name, mode, RULES, ChunkingWish())  # type: ignore[arg-type]
    import_tool(request, lambda _: catalog.load("use"))


@pytest.fixture(scope="session")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a database of two imported tools, one empty tool and one that is off."""
    folder = tmp_path_factory.mktemp("filled")
    for name, text in (("notes", WATER), ("dev", GIT)):
        (folder / name).mkdir()
        (folder / name / "a.md").write_bytes(text.encode())
        registering.add_tool(
            folder / "vectors.sqlite", name, f"{name} の説明", folder / name, "markdown"
        )
        import_use(folder / "vectors.sqlite", name, "new")
    for name in ("empty", "off"):
        registering.add_tool(folder / "vectors.sqlite", name, name, folder, "markdown")
    registering.set_active(folder / "vectors.sqlite", "off", active=False)
    return folder


@pytest.fixture
def database(filled: Path, tmp_path: Path) -> Path:
    """A database of its own for a test that changes it; its folders are beside it."""
    shutil.copytree(filled, tmp_path / "own")
    own = tmp_path / "own" / "vectors.sqlite"
    for name in ("notes", "dev"):
        registering.update_tool(own, name, None, own.parent / name)
    return own


@pytest.fixture(name="import_use")
def _import_use() -> Callable[..., None]:
    return import_use


@pytest.fixture
def server(tmp_path: Path) -> Callable[..., StdioServerParameters]:
    """How a client starts the server, far from the user's own settings and data."""

    def parameters(database: Path, *arguments: str, **environment: str) -> StdioServerParameters:
        home = {name: str(tmp_path) for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME")}
        return StdioServerParameters(
            command=sys.executable,
            args=["-c", RUN, "--database", str(database), *arguments],
            env={**os.environ, **home, **environment},
        )

    return parameters
