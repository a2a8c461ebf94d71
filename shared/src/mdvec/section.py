"""The base class of all sections of the settings file."""

import re
from typing import Any

from pydantic import BaseModel, ConfigDict, Field
from pydantic.fields import FieldInfo


class SettingsSection(BaseModel):
    """A section: unknown keys are refused, and values must have the right type."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


def bounded(default: float | None, least: float, most: float, what: str = "") -> Any:  # noqa: ANN401 - as Field
    """A field for a number from ``least`` to ``most``; ``what`` names the unit in messages."""
    return Field(default, ge=least, le=most, description=f"{least} to {most} {what}".rstrip())


def allowed(field: FieldInfo) -> str:
    """The allowed values of a field in words: its description, or the values of its type."""
    if field.description:
        return field.description
    # The quoted values of Literal['a', 'b'] | None; a type without any is bool.
    choices = re.findall(r"('\w+')[],]", str(field.annotation))
    return f"one of {', '.join(choices)}" if choices else "true or false"
