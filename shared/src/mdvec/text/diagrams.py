"""The words that a reader sees in a Mermaid diagram."""

from __future__ import annotations

import re

_SETTING = re.compile(
    r"\s*(?:%%|(?:classDef|class|style|linkStyle|click|direction|end|autonumber|dateFormat"
    r"|axisFormat)\b|---\s*$).*"
)
_KEYWORD = re.compile(
    r"\s*(?:(?:flowchart|graph)(?:\s+(?:TB|TD|BT|RL|LR))?|sequenceDiagram|classDiagram(?:-v2)?"
    r"|stateDiagram(?:-v2)?|erDiagram|gantt|pie|journey|mindmap|timeline|gitGraph|quadrantChart"
    r"|participant|actor|subgraph|section|title|loop|alt|opt|else|par|showData"
    r"|note\s+(?:over|(?:left|right)\s+of))\b",
    re.IGNORECASE,
)
_ARROW = re.compile(r"[<ox]?(?:-[-.]+|=={1,}|~~~|\.{2,})[->=.)ox|]*|->>?|<br\s*/?>", re.IGNORECASE)
_SIGN = re.compile(r"[|(){}\[\]<>\"';]+|:::\w+|:(?=\s)")


def diagram_words(line: str) -> str:
    """The names and labels in a line of a diagram; "" for a line of styles or settings."""
    if _SETTING.fullmatch(line):
        return ""
    return " ".join(_SIGN.sub(" ", _ARROW.sub(" ", _KEYWORD.sub("", line, count=1))).split())
