"""Has the SDK describe a tool's function once for each process, and not for each server anew.

A description is a model of the arguments and its schema: a tenth of a second for all tools. So long
does a client, too, take to check the schema of the household's reports, before it checks answers.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from jsonschema.protocols import Validator  # type: ignore[import-untyped]
from mcp import ClientSession
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

_validator = ClientSession._output_schema_validator
_validators: dict[str, Validator] = {}


def _output_schema_validator(self: ClientSession, name: str, output_schema: Any) -> Validator:
    if name not in self._tool_output_validators:
        key = repr(output_schema)
        if key not in _validators:
            _validators[key] = _validator(self, name, output_schema)
        self._tool_output_validators[name] = _validators[key]
    return _validator(self, name, output_schema)


ClientSession._output_schema_validator = _output_schema_validator  # type: ignore[method-assign]
