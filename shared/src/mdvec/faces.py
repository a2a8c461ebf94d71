"""The face of a package: its public names, each loaded on first access.

Type checkers read the names from ``__init__.pyi``, and so does this module at run time. Its lines
are ``from .module import name as name``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path


def offered_names(init_file: str) -> dict[str, str]:
    """The names in the stub next to ``init_file``, and the relative module of each."""
    stub = Path(init_file).with_suffix(".pyi").read_text(encoding="utf-8")
    lines = (line.split() for line in stub.splitlines())
    # "from", module, "import", name, "as", name: a regular expression takes five times as long.
    return {words[3]: words[1] for words in lines if len(words) == 6}


def face(package: str, init_file: str) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """A package's ``__getattr__`` and ``__dir__``, which offer the names of its stub.

    ``from package import *`` loads them all.
    A name must not equal that of another module in the package, whose import would replace it.
    """
    modules = offered_names(init_file)

    def load(name: str) -> object:
        if name == "__all__":
            return sorted(modules)
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = modules[name]
        if module == ".":
            return import_module(f".{name}", package)
        attribute: object = getattr(import_module(module, package), name)
        setattr(sys.modules[package], name, attribute)  # the next access needs no call
        return attribute

    return load, lambda: sorted(modules)
