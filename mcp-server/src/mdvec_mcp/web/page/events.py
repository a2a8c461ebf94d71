"""Server-sent events of imports."""

from __future__ import annotations

import json
from typing import Any

from mdvec_mcp.web.page.words import Language, words


def event(name: str, data: dict[str, Any]) -> str:
    """An event with its data as JSON on one line."""
    return f"event: {name}\ndata: {json.dumps(data)}\n\n"


def import_event(running: dict[str, Any], language: Language) -> str:
    """How far an import is."""
    done, files = running["files_done"], running["files"]
    text = words(language, "importing", done=f"{done:,}", files=f"{files:,}")
    return event("progress", {"tool": running["tool"], "done": done, "files": files, "text": text})
