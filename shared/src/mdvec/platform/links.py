"""Follows links."""

import os
from pathlib import Path


def followed(path: str | os.PathLike[str]) -> Path:
    """The absolute path without links; for a circle of them, ``Path.resolve`` raises an error."""
    return Path(os.path.realpath(path))
