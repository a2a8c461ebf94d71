"""The house rules that no linter checks."""

from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCES = [ROOT / member / "src" for member in ("shared", "manage-documents", "mcp-server")]
LINES = 320


def modules():
    return [path for source in SOURCES for path in source.rglob("*.py")]


def test_the_core_of_each_package_imports_no_interfaces():
    wrong = [
        f"{path.relative_to(ROOT)}: {line.strip()}"
        for path in modules()
        if "core" in path.parts
        for line in path.read_text(encoding="utf-8").splitlines()
        if line.lstrip().startswith(("import ", "from ")) and ".interfaces" in line
    ]
    assert wrong == []


def test_every_module_opens_with_a_docstring():
    silent = [
        path.relative_to(ROOT)
        for path in modules()
        if not path.read_text(encoding="utf-8").lstrip().startswith('"""')
    ]
    assert silent == []


def test_no_module_outgrows_one_idea():
    long = {
        str(path.relative_to(ROOT)): count
        for path in modules()
        if (count := len(path.read_text(encoding="utf-8").splitlines())) > LINES
    }
    assert long == {}
