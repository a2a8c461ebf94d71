"""Several processes on one file: none sees a lock error, half a document or a stale table."""

import threading

import pytest
from collection import Collection

from mdvec.errors import MdvecError

TEXT = "この節は検索のあいだも変わりません。" * 8


def fill(collection: Collection, files: int) -> None:
    for number in range(files):
        collection.write(f"{number:03}.md", f"# 節 {number}\n\n{TEXT}{number}\n")


def test_imports_of_two_tools_run_at_once(collection, importing, tmp_path):
    other = Collection(tmp_path / "other", collection.database, name="other")
    fill(collection, 10)
    fill(other, 10)
    imports = [importing(collection, "new"), importing(other, "new")]
    ends = [child.communicate(timeout=60) for child in imports]
    assert [(errors, output.splitlines()[-1]) for output, errors in ends] == [
        ("", "done 10 0 0 0")
    ] * 2
    collection.check()
    other.check()


@pytest.mark.parametrize("imports", [1, pytest.param(10, marks=pytest.mark.soak)])
def test_clients_search_while_an_import_replaces_everything(collection, importing, imports):
    fill(collection, 20)
    collection.import_("new")
    stop = threading.Event()
    answers: list[int] = []
    errors: list[Exception] = []

    def ask() -> None:
        while not stop.wait(0.1):  # clients think between questions; these hardly
            try:
                answer = collection.search("検索のあいだ", k=3)
            except (MdvecError, OSError) as error:
                errors.append(error)
                return
            answers.append(answer.total_chunks)

    clients = [threading.Thread(target=ask) for _ in range(imports + 3)]
    for client in clients:
        client.start()
    try:
        for _ in range(imports):
            child = importing(collection, "replace")
            output, problems = child.communicate(timeout=60)
            assert (problems, output.splitlines()[-1]) == ("", "done 20 0 0 0")
    finally:
        stop.set()
        for client in clients:
            client.join()
    assert errors == []
    assert len(answers) > len(clients)
    assert set(answers) == {20}
