"""Saves a tenth of the time to load a program, and a seventh of the time to render a page."""

from __future__ import annotations

import gc
import os


def load_quickly() -> None:
    """Load modules without collecting garbage, of which they leave none, until ``loaded``.

    Pydantic does not search the installed packages for plugins, unless the environment says so.
    """
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    gc.disable()


def loaded() -> None:
    """Collect garbage from now on, but not among what was loaded, which stays.

    Python looks for it after 700 new objects; a page makes 100,000, hardly any of them in cycles.
    """
    gc.freeze()
    gc.enable()
    gc.set_threshold(20_000, 20, 20)
