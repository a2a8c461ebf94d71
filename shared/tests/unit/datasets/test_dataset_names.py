"""The SQL names of data files' tables and columns."""

import pytest
from table_of_cases import each

from mdvec.datasets.core.columns import checked_dataset_name, table_name
from mdvec.tools.names import InvalidToolName


@each(
    ("parts", "name"),
    [
        (("runs",), "runs"),
        (("my-runs",), "my_runs"),
        (("runs", "June 2025"), "runs__june_2025"),
        (("runs", "year=2025/data.0"), "runs__year_2025_data_0"),
        (("runs", "データー々"), "runs__データー々"),
        (("runs", "ホ\u3099タン"), "runs__ボタン"),  # as a Mac writes it
        (("runs", "store", 'We"ird\n表'), "runs__store__we_ird_表"),
        (("runs", "!"), "runs___"),
    ],
)
def test_a_tables_name_is_the_tools_name_then_the_files(parts, name):
    assert table_name(*parts) == name


@each("other", ["my-runs", "my_runs", "my_runs__june", "my"])
def test_two_datasets_cannot_have_tables_of_one_name(other):
    name = "my_runs" if other != "my" else "my__runs"
    with pytest.raises(InvalidToolName, match=f"{name!r} would have the names of those of"):
        checked_dataset_name(name, ["else", other])


def test_names_that_only_begin_alike_are_two_datasets():
    assert checked_dataset_name("runs", ["runs2", "run", "runs_2"]) == "runs"


def test_no_dataset_can_take_the_households_table_name():
    with pytest.raises(InvalidToolName, match="belongs to the household's table"):
        checked_dataset_name("transactions", [])
