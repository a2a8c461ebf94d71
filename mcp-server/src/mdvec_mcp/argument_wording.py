"""The refusals of wrong arguments, in the language of the tool's answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

_HOUSEHOLD = "mdvec_mcp.household"


@dataclass(frozen=True, slots=True)
class ArgumentWording:
    """The sentences of one language, as templates.

    ``kinds`` names JSON types; ``either`` joins them, ``comma`` joins names, and ``nothing`` stands
    where there is none. ``needed`` says what pydantic needed instead of a value.
    """

    unknown: str
    missing: str
    wrong: str
    should_be: str
    kinds: Mapping[str, str]
    either: str
    comma: str
    nothing: str
    items: str
    needed: Callable[[Mapping[str, Any]], str]

    def first_error(self, tool: str, error: ValidationError, shown: Callable[[object], str]) -> str:
        """The first invalid argument in one sentence."""
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"]) or "arguments"
        if first["type"] == "missing":
            return self.missing.format(tool=tool, name=name)
        needed = self.needed(first)
        return self.wrong.format(tool=tool, name=name, needed=needed, given=shown(first["input"]))


def wording_for(function: Callable[..., Any]) -> ArgumentWording:
    """The wording for a tool: Japanese for the household's, whose answers are in Japanese."""
    module = function.__module__
    return JAPANESE if module.startswith(_HOUSEHOLD) else ENGLISH


def _in_english(error: Mapping[str, Any]) -> str:
    message = str(error["msg"]).removeprefix("Value error, ").removeprefix("Input ")
    return message[:1].lower() + message[1:]


def _in_japanese(error: Mapping[str, Any]) -> str:
    limits: Mapping[str, Any] = error.get("ctx", {})
    match error["type"]:
        case "literal_error" | "enum":
            return str(limits["expected"]).replace(" or ", ", ").replace(", ", "、") + " のいずれか"
        case "greater_than_equal":
            return f" {limits['ge']} 以上"
        case "less_than_equal":
            return f" {limits['le']} 以下"
        case "string_type":
            return "文字列"
    return "使える値"


ENGLISH = ArgumentWording(
    unknown="{tool} has no parameter {name!r}; it takes: {known}",
    missing="{tool} needs the parameter {name!r}",
    wrong="{tool}: {name} {needed}, not {given}",
    should_be="should be {}",
    kinds={"integer": "a whole number", "number": "a number", "boolean": "true or false"},
    either=" or ",
    comma=", ",
    nothing="none",
    items="a list in which each item is {}",
    needed=_in_english,
)
JAPANESE = ArgumentWording(
    unknown="{tool} に {name!r} という引数はありません。使える引数: {known}",
    missing="{tool} には引数 {name!r} が必要です。",
    wrong="{name} は{needed}で指定してください（指定値: {given}）。",
    should_be="{}",
    kinds={"integer": "整数", "number": "数値", "boolean": " true か false "},
    either="か",
    comma="、",
    nothing="なし",
    items="各項目が{}のリスト",
    needed=_in_japanese,
)
