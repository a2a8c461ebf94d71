"""The base of all sections of the settings file, wherever their values are used."""

from pydantic import BaseModel, ConfigDict


class SettingsSection(BaseModel):
    """A section: unknown keys are refused, and values must have the right type."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)
