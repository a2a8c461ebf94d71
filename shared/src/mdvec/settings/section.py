"""What all sections of the settings file have in common."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Section(BaseModel):
    """A section: no unknown keys, no values of another type, no changes."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)
