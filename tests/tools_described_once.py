"""Has the SDK describe a tool's function once for each process, and not for each server anew.

A description is a model of the arguments and its schema: a tenth of a second for all tools. The
SDK's clients check the schemas of answers once as well, which takes longer than the answers.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

from jsonschema.validators import Draft202012Validator  # type: ignore[import-untyped]
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

_check = Draft202012Validator.check_schema
_checked: set[str] = set()


def _check_schema(schema: dict[str, Any], **more: Any) -> None:
    written = json.dumps(schema, sort_keys=True)
    if written not in _checked:
        _check(schema, **more)
        _checked.add(written)


Draft202012Validator.check_schema = staticmethod(_check_schema)
