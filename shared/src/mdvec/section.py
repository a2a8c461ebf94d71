"""The base of all sections of the settings file, wherever their values are used."""

import re
from typing import Any

from pydantic import BaseModel, ConfigDict, Field
from pydantic.fields import FieldInfo


class SettingsSection(BaseModel):
    """A section: unknown keys are refused, and values must have the right type."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


def bounded(default: float | None, least: float, most: float, what: str = "") -> Any:  # noqa: ANN401 - as Field
    """The field of a number from ``least`` to ``most``; ``what`` it counts is for its user."""
    return Field(default, ge=least, le=most, description=f"{least} to {most} {what}".rstrip())


def allowed(field: FieldInfo) -> str:
    """What a field may be, in words: its description, else the values that its type lists."""
    if field.description:
        return field.description
    # Of Literal['a', 'b'] | None the two in quotes; what lists none is a bool.
    *first, last = re.findall(r"('\w+')[],]", str(field.annotation)) or ["true", "false"]
    return f"{', '.join(first)} or {last}"
