"""The settings file and what overrides it: the environment and a command's flags."""

from mdvec.settings.loading import SettingsError, load_settings
from mdvec.settings.sections import (
    MAX_EXPORT_ROWS,
    AnalyticsSettings,
    SearchSettings,
    Settings,
)
from mdvec.settings.server_sections import ChartSettings

__all__ = [
    "MAX_EXPORT_ROWS",
    "AnalyticsSettings",
    "ChartSettings",
    "SearchSettings",
    "Settings",
    "SettingsError",
    "load_settings",
]
