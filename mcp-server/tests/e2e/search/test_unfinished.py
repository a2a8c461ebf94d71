"""A first import that did not finish: what a client is told of it, and until when."""

from answer_text import notes
from mdvec.database.connection import open_database

NOTE = (
    "notes has 1 document so far: its first import has not finished (1 of 222 files); "
    "continue with: mdvec import -n notes --mode update"
)


def test_a_client_is_told_that_a_collection_is_incomplete_until_it_is_complete(
    database, connect_here, import_use
):
    with open_database(database, "write") as connection:
        connection.execute(
            "UPDATE tools SET last_import_at = NULL, import_files = 222, import_done = 1 "
            "WHERE name = 'notes'"
        )
    with connect_here(database, home=database.parent) as client:
        (own,) = [tool for tool in client.tools() if tool.name == "notes"]
        assert own.description.endswith(
            "notes の説明\n\nIt is incomplete: its first import has not finished; each answer says "
            "how far it is."
        )
        for name in ("notes", "search"):
            answer = client.call(name, {"query": "水", "k": 1})
            assert notes(answer.content[0].text) == [NOTE]
        missing = client.call("get_document", {"tool": "notes", "file_path": "z.md"})
        assert missing.content[0].text.endswith(f"hits name the documents there are. {NOTE}")
        import_use(database, "notes")
        assert notes(client.call("notes", {"query": "水", "k": 1}).content[0].text) == []


def test_a_later_import_that_runs_changes_no_tool(database, connect_here):
    with connect_here(database, home=database.parent) as client:
        before = client.tools()
        with open_database(database, "write") as connection:
            connection.execute("UPDATE tools SET import_files = 222 WHERE name = 'notes'")
        assert client.tools() == before
        (note,) = notes(client.call("notes", {"query": "水", "k": 1}).content[0].text)
        assert note.startswith("notes may be older than its files: its last import has not")
