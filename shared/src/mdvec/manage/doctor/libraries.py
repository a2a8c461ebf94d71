"""Checks Python and the libraries: SQLite, sqlite-vec, torch, the dictionary, the font."""

from __future__ import annotations

import importlib
import platform
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

import apsw

from mdvec.database.connection import vector_extension_version
from mdvec.manage.doctor.findings import Finding, Installation

_DICTIONARY = ("sudachipy", "sudachidict_small")
_FONT_PACKAGE, _FONT_FILE = "matplotlib_fontja", "fonts/ipaexg.ttf"


def check_libraries(installation: Installation) -> Iterator[Finding]:
    """Check Python and the libraries."""
    yield Finding("ok", "python", f"Python {platform.python_version()} at {sys.executable}")
    yield _sqlite()
    yield Finding("ok", "sqlite-vec", f"sqlite-vec {vector_extension_version()}")
    yield _torch()
    yield _dictionary()
    yield _font(installation)


def _sqlite() -> Finding:
    library = f"SQLite {apsw.sqlitelibversion()}, driver apsw {apsw.apswversion()}"
    if "ENABLE_FTS5" in apsw.compile_options:
        return Finding("ok", "sqlite", library)
    return Finding(
        "trouble", "sqlite", f"{library} has no full-text search (FTS5)",
        "pip install --force-reinstall apsw",
    )  # fmt: skip


def _torch() -> Finding:
    try:
        return Finding("ok", "torch", f"torch {version('torch')}")
    except PackageNotFoundError:
        return Finding("ok", "torch", "torch is not installed; only the model plamo needs it")


def _dictionary() -> Finding:
    try:
        for name in _DICTIONARY:
            importlib.import_module(name)
    except ImportError as error:
        return Finding(
            "warning", "dictionary", f"the Japanese dictionary cannot be loaded ({error})",
            f"pip install {' '.join(_DICTIONARY)}",
        )  # fmt: skip
    return Finding("ok", "dictionary", f"SudachiPy {version(_DICTIONARY[0])} with its dictionary")


def _font(installation: Installation) -> Finding:
    """Check that charts have a font; only the server can tell whether it is Japanese."""
    chosen = installation.settings.charts.font_path
    if chosen is not None:
        if Path(chosen).is_file():
            return Finding("ok", "font", f"charts are drawn with {chosen}")
        return Finding(
            "trouble", "font", f"the font {chosen} in [charts] font_path does not exist",
            "remove [charts] font_path from the settings, or set it to a font that exists",
        )  # fmt: skip
    package = find_spec(_FONT_PACKAGE)
    origin = package.origin if package else None
    if origin is not None and (Path(origin).parent / _FONT_FILE).is_file():
        return Finding("ok", "font", "charts are drawn with the font that comes with mdvec")
    return Finding(
        "warning", "font", "charts have no Japanese font", "pip install matplotlib-fontja"
    )
