"""Data deleted from a household's ledger or a dataset's tables is erased from all files."""

import pytest
from source_folder import SourceFolder

from mdvec.manage import registering

HEADER = "計算対象,日付,内容,金額（円）,保有金融機関,大項目,中項目,メモ,振替,ID"
SECRET = "zqxjkvw8871secret"
JULY = "収入・支出詳細_2025-07-01_2025-07-31.csv"


class Listing(SourceFolder):
    """A household, or a dataset, whose database holds the secret."""

    def holding(self) -> list[str]:
        """The files that contain the secret, except the notes."""
        return sorted(
            path.name
            for path in self.database.parent.rglob("*")
            if path.is_file() and (SECRET[2:].encode() in path.read_bytes())
        )

    def export(self, name: str, *rows: str) -> None:
        """Write a statement file."""
        (self.folder / name).write_bytes("\r\n".join([HEADER, *rows, ""]).encode("cp932"))


def row(mf_id: str, shop: str = "店", memo: str = "") -> str:
    return f"1,2025/07/01,{shop},-100,財布,食費,食料品,{memo},0,{mf_id}"


@pytest.fixture
def tables(tmp_path):
    return lambda kind: Listing(tmp_path / "in", tmp_path / "data" / "db.sqlite", kind=kind)


@pytest.fixture
def household(tables):
    made = tables("household")
    many = [row(f"{number}", f"店{number}") for number in range(60)]
    made.export("a.csv", *many)
    made.export(JULY, row("x", f"{SECRET}shop", f"{SECRET}memo"), row("y", "花"))
    made.import_("new")
    assert made.holding() == ["db.sqlite"]
    return made


def test_the_old_text_of_a_changed_row_is_erased(household):
    household.export(JULY, row("x", "本", "贈り物"), row("y", "花"))
    assert household.import_().updated == 1
    assert household.holding() == []


def test_a_replace_erases_the_rows_of_deleted_files(household):
    (household.folder / JULY).unlink()
    assert household.import_("replace").deleted == 2
    assert household.holding() == []


def test_a_row_that_left_the_sums_can_be_restored_until_the_household_is_deleted(household):
    household.export(JULY, row("y", "花"))
    for mode in ("update", "replace"):
        household.import_(mode)
        kept = household.rows(f"SELECT count(*) FROM transactions WHERE memo = '{SECRET}memo'")
        assert (kept, household.holding()) == ([(1,)], ["db.sqlite"])
    registering.delete_tool(household.database, "notes")
    assert household.holding() == []


@pytest.fixture
def dataset(tables):
    made = tables("dataset")
    made.write("a.csv", "a,b\n1,2\n")
    made.write(f"{SECRET}.csv", f"{SECRET}column,b\n{SECRET}value,2\n")
    made.import_("new")
    assert len(made.holding()) == 2
    return made


def test_the_old_columns_of_a_changed_table_are_erased(tables):
    made = tables("dataset")
    made.write("a.csv", f"{SECRET}column,b\n{SECRET}value,2\n")
    made.import_("new")
    assert len(made.holding()) == 2
    made.write("a.csv", "a,b\n1,2\n3,4\n")
    made.import_()
    assert made.holding() == []


@pytest.mark.parametrize("mode", ["update", "replace"])
def test_a_deleted_data_file_is_erased(dataset, mode):
    (dataset.folder / f"{SECRET}.csv").unlink()
    dataset.import_(mode)
    assert dataset.holding() == []


def test_a_deleted_dataset_is_erased(dataset):
    registering.delete_tool(dataset.database, "notes")
    assert dataset.holding() == []
