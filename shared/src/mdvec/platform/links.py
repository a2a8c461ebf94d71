"""Follows links."""

import os
from pathlib import Path


def followed(path: str | os.PathLike[str]) -> Path:
    """The absolute path without links; unlike ``Path.resolve``, it accepts loops of links."""
    return Path(os.path.realpath(path))
