"""Has the SDK describe a tool's function once for each process, and not for each server anew.

A description is a model of the arguments and its schema: a tenth of a second for all tools.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from mcp.server.mcpserver.tools import Tool

_describe = Tool.from_function
_described: dict[tuple[object, ...], Tool] = {}


def _from_function(fn: Callable[..., Any], name: str | None = None, **more: Any) -> Tool:
    # A server's settings reach the schema by the defaults alone; the types are those of modules.
    parts = fn.__defaults__, fn.__kwdefaults__, fn.__annotations__, more
    key = (fn.__code__, name, *map(repr, parts))
    if key not in _described:
        _described[key] = _describe(fn, name, **more)
    kept = _described[key]
    return kept.model_copy(update={"fn": fn, "parameters": copy.deepcopy(kept.parameters)})


Tool.from_function = _from_function  # type: ignore[method-assign, assignment]
