"""The base of all sections of the settings file."""

from pydantic import BaseModel, ConfigDict


class SettingsSection(BaseModel):
    """A section: unknown keys are refused, and values must have the right type."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)
