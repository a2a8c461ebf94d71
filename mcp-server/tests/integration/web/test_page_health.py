"""The view of models, checks and the log, over a real port."""

from collection import Collection
from hostile import PAYLOADS, harm_in, text_in
from page_site import page_site


def test_it_shows_models_findings_and_the_logs_end_without_secrets(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    log = tmp_path / "mdvec.log"
    log.write_text("\n".join([*PAYLOADS, "refused sk-very-secret", "", "the last one"]))
    collection = Collection.of(tmp_path, {"a.md": "# 水\n"})
    settings = {"log": {"file": str(log)}, "server": {"token": "a-token-of-the-server"}}
    with page_site(collection.database, **settings) as site, site.client() as client:
        shown = client.get("/tools/health").text
        assert harm_in(shown) == []
        said = text_in(shown)
        assert "refused [secret]" in said
        assert "sk-very-secret" not in shown
        assert said.index("the last one") < said.index("refused")
        assert "e5-small (chosen by auto)" in said  # it comes with the tests
        assert "Fine:" not in said
        checked = text_in(client.get("/tools/health?check=1").text)
        assert "Fine:" in checked
        assert "tiny" in checked  # the tests' model, which no version has
        log.unlink()
        assert "There is nothing in" in text_in(client.get("/tools/health").text)
        log.mkdir()
        assert 'role="alert"' in client.get("/tools/health").text


def test_without_a_database_there_are_models_all_the_same(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    with page_site(tmp_path / "v.sqlite") as site, site.client() as client:
        said = text_in(client.get("/tools/health?check=1").text)
        assert "No log is kept" in said
        assert "e5-small" in said
