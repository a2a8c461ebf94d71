"""Checks a tool's arguments against the JSON types in its schema, and runs the tool.

Pydantic would accept ``true`` for 1 and ``"5"`` for 5, and so hide mistakes of the model.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool as McpTool
from mdvec import household
from mdvec.text import visible
from pydantic import BaseModel, ValidationError

from mdvec_mcp.compact_schema import TEXTS_GO_IN

if TYPE_CHECKING:
    from mdvec_mcp.calls import ToolReply

answer_language: ContextVar[str] = ContextVar("answer_language", default="ja")
"""The language of the household's answer to this call; pictures cannot be translated afterwards."""

_LANGUAGES = ("ja", "en")
_NEEDED_IN_JAPANESE = {
    "greater_than_equal": " {ge} 以上",
    "less_than_equal": " {le} 以下",
    "string_type": "文字列",
    "list_type": "リスト",
    "string_too_long": " {max_length} 文字以内",
    "too_short": " {min_length} 個以上",
    "too_long": " {max_length} 個以内",
}
"""The words for what is needed, by the type of pydantic's error."""
logger = logging.getLogger("mdvec")
Schema = dict[str, Any]
MAX_SHOWN_CHARS = 60
_STRICT = frozenset({"integer", "number", "boolean"})
"""The JSON types to which pydantic would convert values of other types."""
_TOO_LARGE = 10**18
"""Whole numbers from 19 digits on are refused: SQLite might not store them."""


_WORDS = {
    "unknown": ("{tool} has no parameter {name!r}; it takes: {known}",
                "{tool} に {name!r} という引数はありません。使える引数: {known}"),
    "missing": ("{tool} needs the parameter {name!r}", "{tool} には引数 {name!r} が必要です。"),
    "wrong": ("{tool}: {name} {needed}, not {given}",
              "{name} は{needed}で指定してください（指定値: {given}）。"),
    "texts": ("; texts such as 2025-06 go in {names}", "2025-06 のような文字列は {names} に。"),
    "should be": ("should be {kind}", "{kind}"),
    "items": ("a list in which each item is {kind}", "各項目が{kind}のリスト"),
    "integer": ("a whole number", "整数"),
    "number": ("a number", "数値"),
    "boolean": ("true or false", " true か false "),
    "shorter": ("a whole number of at most 18 digits", "18桁までの整数"),
    "or": (" or ", "か"),
    "comma": (", ", "、"),
    "no names": ("none", "なし"),
}  # fmt: skip
"""The words of errors, in English and Japanese; JSON types by their names."""


def _say(language: str, key: str, **values: object) -> str:
    return _WORDS[key][language == "ja"].format(**values)


def _first_error(language: str, tool: str, error: ValidationError) -> str:
    """The first invalid argument in one sentence."""
    first = error.errors()[0]
    name = ".".join(str(part) for part in first["loc"]) or "arguments"
    if first["type"] == "missing":
        return _say(language, "missing", tool=tool, name=name)
    return _wrong_value(language, tool, name, _needed(language, first), first["input"])


def _wrong_value(language: str, tool: str, name: str, needed: str, given: object) -> str:
    """An argument's value, and what is needed instead, in one sentence."""
    return _say(language, "wrong", tool=tool, name=name, needed=needed, given=shown(given))


def _needed(language: str, error: Mapping[str, Any]) -> str:
    """What pydantic expected."""
    if language == "ja":
        limits: Mapping[str, Any] = error.get("ctx", {})
        if error["type"] in ("literal_error", "enum"):
            return str(limits["expected"]).replace(" or ", ", ").replace(", ", "、") + " のいずれか"
        return _NEEDED_IN_JAPANESE.get(error["type"], "使える値").format(**limits)
    message = str(error["msg"]).removeprefix("Value error, ").partition(" after validation")[0]
    for what in ("Input ", "List ", "String "):  # the sentence already names the argument
        message = message.removeprefix(what)
    return message[:1].lower() + message[1:]


async def run_checked(
    tool: McpTool, arguments: dict[str, Any], context: Context[Any, Any], language: str | None
) -> ToolReply:
    """Run a tool; errors are in the same language as its answers.

    A bilingual tool answers in ``language``, unless the call has an argument of that name. All
    bilingual tools accept the argument, but only the server's instructions mention it, to keep the
    list of tools short. For other tools, ``language`` is None.

    Raises:
        ToolError: an argument is wrong, or the tool refuses the call.
    """
    if language is None:
        return await _reply(tool, arguments, context, "en")
    language = arguments.get("language", language)
    if language not in _LANGUAGES:
        error = {"type": "literal_error", "msg": "Input should be 'ja' or 'en'",
                 "ctx": {"expected": "'ja' or 'en'"}}  # fmt: skip
        needed = _needed("ja", error)
        raise ToolError(_wrong_value("ja", tool.name, "language", needed, language))
    others = {name: value for name, value in arguments.items() if name != "language"}
    try:
        token = answer_language.set(language)
        try:
            reply = await _reply(tool, others, context, language)
        finally:
            answer_language.reset(token)
    except ToolError as error:
        if language == "ja":
            raise
        raise ToolError(household.in_english(str(error))) from error.__cause__
    if language == "ja":
        return reply
    data = reply.data
    in_english = data and (lambda: household.data_in_english(data()))
    return replace(reply, text=household.in_english(reply.text), data=in_english)


async def _reply(
    tool: McpTool, arguments: dict[str, Any], context: Context[Any, Any], language: str
) -> ToolReply:
    known = _parameters(tool.fn_metadata.arg_model)
    checked = checked_arguments(tool.name, arguments, known, language)
    try:
        reply: ToolReply = await tool.run(checked, context)
    except ToolError as error:
        cause = error.__cause__
        if isinstance(cause, ValidationError):
            raise ToolError(_first_error(language, tool.name, cause)) from cause
        if isinstance(cause, ToolError):
            raise cause from cause.__cause__
        logger.exception("%s failed", tool.name)
        raise
    return reply


@lru_cache(maxsize=128)  # a tool that is offered again has a new class
def _parameters(arguments: type[BaseModel]) -> dict[str, Any]:
    """The full schemas of a tool's parameters; the published ones do not mention null."""
    known: dict[str, Any] = arguments.model_json_schema(by_alias=True).get("properties", {})
    return known


def checked_arguments(
    tool: str,
    arguments: dict[str, Any],
    properties: dict[str, Schema],
    language: str = "en",
) -> dict[str, Any]:
    """The arguments, with a single string wrapped in a list if the tool needs a list of strings.

    Raises:
        ToolError: an argument is unknown, or has another JSON type than the number or boolean
            needed.
    """
    if unknown := [key for key in arguments if key not in properties]:
        names = _say(language, "comma").join(properties) or _say(language, "no names")
        name = unknown[0][:MAX_SHOWN_CHARS]
        raise ToolError(_say(language, "unknown", tool=tool, name=name, known=names))
    checked = dict(arguments)
    for name, value in arguments.items():
        variants = _variants(properties[name])
        if isinstance(value, str) and _is_list_of_texts(variants) and not _is_json_list(value):
            checked[name] = [value]
        if kind := _mismatch(value, variants, language):
            needed = _say(language, "should be", kind=kind)
            takers = properties[name].get(TEXTS_GO_IN) if isinstance(value, str) else None
            instead = _say(language, "texts", names=takers) if takers else ""
            raise ToolError(_wrong_value(language, tool, name, needed, value) + instead)
    return checked


def shown(value: object) -> str:
    """The value as JSON on one line, shortened if it is long."""
    text = visible(json.dumps(value, ensure_ascii=False, default=str))
    return text if len(text) <= MAX_SHOWN_CHARS else text[:MAX_SHOWN_CHARS] + "…"


def _variants(schema: Schema) -> list[Schema]:
    """The alternatives of a parameter's schema, each of one type."""
    return list(schema.get("anyOf", [schema]))


def _is_list_of_texts(variants: list[Schema]) -> bool:
    return any(
        variant.get("type") == "array"
        and variant.get("items", {}).get("type") == "string"
        and variant.get("minItems", 0) <= 1
        for variant in variants
    ) and not any(variant.get("type") == "string" for variant in variants)


def _is_json_list(text: str) -> bool:
    """Whether the text is a JSON list; some clients send lists as text."""
    try:
        return isinstance(json.loads(text), list)
    except (ValueError, RecursionError):
        return False


def _mismatch(value: object, variants: list[Schema], language: str) -> str | None:
    """What is needed instead of ``value``; None if it is valid or is left to pydantic."""
    strict = [variant["type"] for variant in variants if variant.get("type") in _STRICT]
    if "integer" in strict and isinstance(value, int | float) and abs(value) >= _TOO_LARGE:
        return _say(language, "shorter")
    if strict:
        allowed = any(_is(value, variant.get("type")) for variant in variants)
        kinds = _say(language, "or").join(_say(language, kind) for kind in strict)
        return None if allowed else kinds
    lists = [variant for variant in variants if variant.get("type") == "array"]
    if lists and isinstance(value, list):
        items = _variants(lists[0].get("items", {}))
        needed = next(
            (mismatch for item in value if (mismatch := _mismatch(item, items, language))), None
        )
        return needed and _say(language, "items", kind=needed)
    return None


def _is(value: object, type_: str | None) -> bool:
    if type_ == "null":
        return value is None
    if type_ == "boolean":
        return isinstance(value, bool)
    if type_ == "integer":
        is_whole = isinstance(value, float) and value.is_integer()
        return is_whole or (isinstance(value, int) and not isinstance(value, bool))
    if type_ == "number":
        return isinstance(value, int | float) and not isinstance(value, bool)
    return isinstance(value, str) if type_ == "string" else False
