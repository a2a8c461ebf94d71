"""What models' libraries say: kept quiet while they load, and in one line if they fail."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def quiet_transformers() -> Iterator[None]:
    """Have transformers log only errors, and draw no progress bar."""
    from transformers.utils import logging

    bars, level = logging.is_progress_bar_enabled(), logging.get_verbosity()
    logging.disable_progress_bar()
    logging.set_verbosity_error()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()


def first_line(error: Exception) -> str:
    """What a library says of its error, in one line."""
    lines = str(error).splitlines()
    return lines[0] if lines else type(error).__name__
