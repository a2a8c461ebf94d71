"""One server over HTTP for many clients: how long a search takes alone, and among fifty."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio
import httpx2
import psutil
from mdvec.embedding import catalog
from mdvec.importing.options import ChunkingWish
from mdvec.importing.report import ImportRequest
from mdvec.files.scan import ScanRules
from mdvec.manage.import_tool import import_tool
from mdvec.manage.registering import add_tool
from processes import SERVER, Bench
from results import Row, median, spread

CLIENTS = 50
SEARCHES = 10_000
ALONE = 200
PAUSE_SECONDS = 5.0
"""How long a client waits after an answer before it asks again, in the paced run."""
RATIO_BAR = 5.0
GROWTH_BAR_MB = 30
HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "bench", "version": "1"},
}
HEADERS = {"accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-11-25"}
WORDS = ("水の備蓄", "git worktree", "お米の炊き方", "台風の前に", "バックアップの手順")
NOTES = Path(__file__).parents[1] / "docs" / "examples" / "notes"
