"""The example notebooks run from top to bottom, draw, and save their files."""

import json
import os
from pathlib import Path

import nbformat
import pytest
from jupyter_client.manager import KernelManager
from nbclient import NotebookClient
from table_of_cases import each

FOLDER = Path(__file__).parents[1] / "docs" / "examples" / "analysis"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    """One kernel for all notebooks, on Unix sockets; each begins with an empty namespace."""
    runtime = tmp_path_factory.mktemp("k")
    manager = KernelManager(
        transport="ipc", ip=str(runtime / "s"), connection_file=str(runtime / "k.json")
    )
    folders = dict.fromkeys(("TMPDIR", "MPLCONFIGDIR", "IPYTHONDIR"), str(runtime))
    unwatched = {key: value for key, value in os.environ.items() if "COVERAGE" not in key}
    manager.start_kernel(cwd=FOLDER, env={**unwatched, **folders})
    yield manager
    manager.shutdown_kernel(now=True)


def run(kernel, notebook):
    client = NotebookClient(notebook, km=kernel, timeout=100, coalesce_streams=True)
    try:
        client.execute()
    finally:
        client.kc.stop_channels()
    return [output for cell in notebook.cells for output in cell.get("outputs", [])]


def read(path):
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    return notebook


def test_there_are_five():
    assert [path.name[:2] for path in NOTEBOOKS] == ["01", "02", "03", "04", "05"]


@each("path", NOTEBOOKS)
def test_notebooks_are_stored_without_outputs(path):
    cells = [cell for cell in read(path).cells if cell.cell_type == "code"]
    assert [(cell.outputs, cell.execution_count) for cell in cells] == [([], None)] * len(cells)


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, marks=() if path == NOTEBOOKS[-1] else pytest.mark.soak)
        for path in NOTEBOOKS
    ],
    ids=lambda path: path.stem,
)
def test_a_notebook_runs_and_costs_a_fraction_of_its_rows(kernel, path):
    notebook = read(path)
    notebook.cells.insert(0, nbformat.v4.new_code_cell("%reset -f"))
    outputs = run(kernel, notebook)
    assert [output for output in outputs if output.get("name") == "stderr"] == []
    assert any("image/png" in output.get("data", {}) for output in outputs)
    cost = json.loads(outputs[-1]["text"])
    assert cost["saving_percent"] >= 70, cost
    assert cost["raw_rows"] > 200, cost


def cells(*codes):
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code) for code in codes])


def texts(outputs):
    """Each output as text, without its line ends."""
    return [
        (output.get("text") or output.get("data", {}).get("text/plain", "")).strip()
        for output in outputs
        if output.get("name") != "stderr"
    ]


def test_a_guard_in_a_cell_trims_what_it_prints_and_displays(kernel):
    notebook = cells(
        "from mdvec.analysis import output_guard",
        "with output_guard(max_bytes=100):\n    display('y' * 60)\n    print('x' * 1000)",
        "'z' * 1000",
    )
    shown, printed, after = texts(run(kernel, notebook))
    assert shown == repr("y" * 60)
    assert printed.startswith("x" * 38 + "\n[mdvec] output trimmed: 1,063 bytes were printed, 100")
    assert after == repr("z" * 1000)


def test_a_guard_that_is_started_once_guards_each_cell_and_its_last_expression(kernel):
    notebook = cells(
        "from mdvec.analysis import output_guard; guard = output_guard(100); guard.start()",
        "print('x' * 90)",
        "print('x' * 90)",
        "'z' * 1000",
        "guard.stop()",
        "'z' * 1000",
    )
    first, second, cut, warning, after = texts(run(kernel, notebook))
    assert (first, second) == ("x" * 90, "x" * 90)
    assert cut == "'" + "z" * 49 + " …"
    assert warning.startswith("[mdvec] output trimmed: 1,002 bytes were printed, 100 are shown")
    assert after == repr("z" * 1000)


def test_a_chart_is_one_picture_whose_text_is_one_line(kernel):
    notebook = cells(
        "from mdvec.analysis import output_guard, safe_chart\nimport polars as pl",
        "with output_guard(max_bytes=40):\n"
        "    display(safe_chart(pl.DataFrame({'費目': ['食費'], '円': [5]}), 'bar'))",
    )
    (picture,) = run(kernel, notebook)
    assert set(picture["data"]) == {"image/png", "text/plain"}
    assert picture["data"]["text/plain"] == "<bar chart of 1 points>"


def test_a_picture_passes_the_guard(kernel):
    notebook = cells(
        "from mdvec.analysis import output_guard\nimport matplotlib.pyplot as plt",
        "with output_guard(max_bytes=10):\n    plt.plot([1, 2]); plt.show()",
    )
    (picture,) = [output for output in run(kernel, notebook) if output.output_type != "stream"]
    assert len(picture["data"]["image/png"]) > 1000
