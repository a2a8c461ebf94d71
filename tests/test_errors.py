"""The tree of errors in mdvec.errors matches the code."""

import importlib
import pkgutil
import textwrap
from collections.abc import Iterator

import mdvec
import mdvec_cli
import mdvec_mcp
from mdvec import errors
from mdvec.errors import MdvecError

PACKAGES = (mdvec, mdvec_cli, mdvec_mcp)


def tree(error: type[MdvecError], depth: int = 0) -> Iterator[str]:
    """A line for an error and each of its kinds, by module and name."""
    name = "    " * depth + error.__name__
    yield name if error is MdvecError else f"{name:<33} {error.__module__}"
    kinds = sorted(error.__subclasses__(), key=lambda kind: (kind.__module__, kind.__name__))
    for kind in kinds:
        if kind.__module__.partition(".")[0] in {package.__name__ for package in PACKAGES}:
            yield from tree(kind, depth + 1)


def test_the_tree_in_the_docstring_is_complete_and_true():
    for package in PACKAGES:
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.endswith("__main__"):
                importlib.import_module(module.name)
    drawn = errors.__doc__[errors.__doc__.index("    MdvecError\n") :]
    assert textwrap.dedent(drawn).strip() == "\n".join(tree(MdvecError))
