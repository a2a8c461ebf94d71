"""The house rules that no linter checks."""

import ast
import subprocess
import sys
from graphlib import TopologicalSorter
from itertools import chain, combinations
from pathlib import Path

import pytest
from mdvec.faces import offered_names

ROOT = Path(__file__).parents[1]
SOURCES = [ROOT / member / "src" for member in ("shared", "manage-documents", "mcp-server")]
LINES = 500


def modules():
    return [path for source in SOURCES for path in source.rglob("*.py")]


@pytest.fixture(scope="module")
def trees():
    """The syntax tree of each module."""
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in modules()}


@pytest.fixture(scope="module")
def nodes(trees):
    """Every node of each tree."""
    return {path: list(ast.walk(tree)) for path, tree in trees.items()}


def test_every_module_opens_with_a_docstring(trees):
    assert [path for path, tree in trees.items() if not ast.get_docstring(tree)] == []


def test_no_module_is_longer_than_500_lines():
    long = [path for path in modules() if path.read_text("utf-8").count("\n") > LINES]
    assert long == []


def test_no_class_of_one_module_has_the_name_of_one_in_another(trees):
    homes: dict[str, set[str]] = {}
    for path, tree in trees.items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes.setdefault(node.name, set()).add(str(path.relative_to(ROOT)))
    assert {name: files for name, files in homes.items() if len(files) > 1} == {}


def test_few_classes_share_five_fields_which_a_base_could_declare_once(nodes):
    fields = {
        f"{path.stem}.{node.name}": {
            each.target.id
            for each in node.body
            if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)
        }
        for path, inside in nodes.items()
        for node in inside
        if isinstance(node, ast.ClassDef)
    }
    pairs = combinations(sorted(name for name in fields if len(fields[name]) >= 5), 2)
    alike = [(one, other) for one, other in pairs if len(fields[one] & fields[other]) >= 5]
    assert len(alike) <= 25, alike


def test_a_cache_of_what_people_write_has_a_bound(nodes):
    """A server runs for weeks: only constants, and functions of them, are kept for good."""
    endless = {
        f"{path.stem}.{node.name}"
        for path, inside in nodes.items()
        for node in inside
        if isinstance(node, ast.FunctionDef) and node.args.args
        if {"cache", "functools.cache", "lru_cache(maxsize=None)"}
        & set(map(ast.unparse, node.decorator_list))
    }
    assert endless == {
        "context._adapter", "rendered._tokens", "signatures._signs",
        "plain_cells.looks_like",
    }  # fmt: skip


def test_links_are_followed_by_a_function_that_allows_a_circle_of_them(nodes):
    """``Path.resolve`` raises RuntimeError there; use ``mdvec.platform.followed``."""
    followed = [
        f"{path.stem}:{node.lineno}"
        for path, inside in nodes.items()
        for node in inside
        if isinstance(node, ast.Attribute) and node.attr == "resolve"
    ]
    assert followed == []


def homes_of_offered_names():
    """The module behind each name that a room offers, which importing the name loads."""
    homes = {}
    for source in SOURCES:
        for stub in source.rglob("__init__.pyi"):
            room = ".".join(stub.parent.relative_to(source).parts)
            for name, module in offered_names(str(stub)).items():
                homes[f"{room}.{name}"] = room + (f".{name}" if module == "." else module)
    return homes


def test_no_name_of_a_face_is_that_of_a_module_which_would_replace_it():
    hidden = [
        stub.parent / name
        for source in SOURCES
        for stub in source.rglob("__init__.pyi")
        for name, module in offered_names(str(stub)).items()
        if module != "." and (stub.parent / f"{name}.py").exists()
    ]
    assert hidden == []


def imported_by(tree, known, homes):
    """The modules of ours that a module imports when it is itself imported."""
    found: set[str] = set()
    waiting = list(tree.body)
    while waiting:
        node = waiting.pop()
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                continue  # its imports run later
            case ast.If(test=ast.Name("TYPE_CHECKING")):
                waiting.extend(node.orelse)
            case ast.Import():
                found.update(name.name for name in node.names)
            case ast.ImportFrom():
                names = {f"{node.module}.{name.name}" for name in node.names}
                found.update({node.module, *names, *(homes.get(name) for name in names)})
            case _:
                waiting.extend(ast.iter_child_nodes(node))
    return found & known


def outside_functions(tree):
    waiting = list(tree.body)
    while waiting:
        node = waiting.pop()
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node
            waiting.extend(ast.iter_child_nodes(node))


def test_imports_inside_functions_stay_few(trees, nodes):
    """Each spares a start something that it need not load."""
    every, early = (
        sum(isinstance(node, ast.Import | ast.ImportFrom) for node in chain.from_iterable(some))
        for some in (nodes.values(), map(outside_functions, trees.values()))
    )
    assert every - early <= 90


def test_no_module_imports_itself_so_each_can_be_imported_alone(trees):
    paths = {
        ".".join(path.relative_to(source).with_suffix("").parts).removesuffix(".__init__"): path
        for source in SOURCES
        for path in source.rglob("*.py")
    }
    packages = {
        name: {package for package in paths if name.startswith(f"{package}.")} for name in paths
    }
    graph, homes = {}, homes_of_offered_names()
    for name, path in paths.items():
        imported = imported_by(trees[path], paths.keys(), homes)
        # To import a module is to import its packages first; those of ``name`` have begun.
        imported.update(*(packages[module] for module in imported))
        graph[name] = imported - packages[name] - {name}
    TopologicalSorter(graph).prepare()  # raises CycleError, which names the cycle


LOADS_NOTHING_SLOW = {
    # a look at any source, an import by command, a list of tools
    "from mdvec import datasets, household; from mdvec.manage import KIND_CODE\n"
    "datasets.reading_choices, household.find_transactions\n"
    "loaded = [code.importer() for code in KIND_CODE.values()]":
        {"duckdb", "numpy", "openpyxl", "matplotlib"},
    "import mdvec.analysis": {"matplotlib", "PIL", "duckdb", "pandas", "polars"},
    "import mdvec.settings, mdvec.documents as d; d.DOCUMENTS, d.read_document":
        {"pypdfium2", "pptx", "mammoth", "bs4"},
    "from mdvec.embedding import catalog; catalog.list_models(['onnx:/a'])":
        {"onnxruntime", "tokenizers", "torch", "huggingface_hub"},
    "from mdvec.settings.loading import load_settings; import mdvec.search.answer\n"
    "load_settings({'MDVEC_SEARCH_RERANKER': 'st:a/b'}).reranker()":
        {"torch", "onnxruntime", "sentence_transformers", "transformers", "filelock"},
}  # fmt: skip
"""What has to be quick, and the libraries that it must not load."""


def test_what_has_to_be_quick_loads_no_slow_library():
    """All in one process, as what one of them loads is still there after the others."""
    said = "".join(
        f"{does}\nprint({slow} & sys.modules.keys())\n" for does, slow in LOADS_NOTHING_SLOW.items()
    )
    command = [sys.executable, "-c", f"import sys\n{said}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["set()"] * len(LOADS_NOTHING_SLOW)
