"""The weights of `use`, unpacked once for the homes of all tests, as a user's home has them."""

from __future__ import annotations

import atexit
import functools
import tempfile
from pathlib import Path

from mdvec.embedding.backends.use import UseBackend


def unpacked_in(cache: Path) -> None:
    """Link the unpacked weights into a cache folder, where a process would unpack them again.

    A test whose subject is that unpacking takes another folder.
    """
    models = cache / "mdvec" / "models"
    models.mkdir(parents=True, exist_ok=True)
    for weights in _unpacked():
        link = models / weights.name
        if not link.is_symlink():
            link.symlink_to(weights)


@functools.cache
def _unpacked() -> tuple[Path, ...]:
    """The file, in a folder that goes when this process ends."""
    made = tempfile.TemporaryDirectory()
    atexit.register(made.cleanup)
    folder = Path(made.name)
    UseBackend(folder).encode_documents(["水"])
    return tuple(folder.glob("use-*.npy"))
