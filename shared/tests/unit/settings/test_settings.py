"""Settings: their sources, which one wins, and what is refused."""

import json
import re
from pathlib import Path

import platformdirs
import pytest
from table_of_cases import each

from mdvec.converters import NEW_TOOL_ENDINGS
from mdvec.index.chroma import Hnsw
from mdvec.japanese import in_japanese
from mdvec.log.opening import LogSettings
from mdvec.section import allowed
from mdvec.settings import Settings, SettingsError, load_settings
from mdvec.settings.loading import KNOWN, unknown_variables, unread_settings
from mdvec.settings.sections import IndexSettings

OTHERS = dict.fromkeys(
    ("analytics", "convert", "duplicates", "household", "log", "server", "sync"), True
) | {
    "model": {"openai", "gemini", "st", "onnx", "retry"}, "index": True,
}  # fmt: skip


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A home folder of the test's own, without any settings."""
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    return folder


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return path


def users_file():
    return platformdirs.user_config_path("mdvec", appauthor=False) / "config.toml"


def refusal(environment=None, **places):
    with pytest.raises(SettingsError) as refused:
        load_settings(environment or {}, **places)
    return str(refused.value)


def test_without_any_setting_the_defaults_hold(home):
    settings = load_settings({})
    assert settings == Settings()
    assert settings.database_path.name == "vector-db.sqlite"
    assert settings.database_path.is_relative_to(home)
    assert (settings.search.k, settings.model.name) == (5, "auto")
    assert (settings.model.auto_unload_minutes, settings.model.memory_threshold) == (10, 0.8)
    assert settings.scan.extensions == (".md", ".markdown", ".mdx", ".txt", *NEW_TOOL_ENDINGS)
    assert settings.scan.max_bytes == 10 * 2**20


EVERY: dict[str, dict[str, object]] = {
    "database": {"path": "/data/a.sqlite"},
    "chunking": {"strategy": "token", "size": 512, "overlap": 0, "heading_levels": (1, 2),
                 "min_chars": 0},
    "display": {"default_format": "json", "language": "ja"},
    "search": {"k": 50, "mode": "lexical", "max_chars": 500, "reranker": "st:owner/cross-encoder"},
    "model": {"name": "e5-small", "auto_unload_minutes": 0.5, "memory_threshold": 1.0},
    "scan": {"extensions": (".md", ".mdx"), "exclude": ("2023", "drafts/"), "max_bytes": 1},
    "charts": {"host": "::1", "port": 0, "cache_entries": 2, "cache_ttl_seconds": 60,
               "chunk_size": 512, "max_size": "800x600", "default_format": "svg",
               "font_path": "/fonts/jp.ttf"},
}  # fmt: skip


def test_every_setting_can_be_set_in_the_file_and_in_the_environment(tmp_path):
    file, environment = tmp_path / "c.toml", {"UNRELATED": "x"}
    with file.open("w", encoding="utf-8") as text:
        for section, values in EVERY.items():
            text.write(f"[{section}]\n")
            for key, value in values.items():
                text.write(f"{key} = {json.dumps(value)}\n")
                said = ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
                environment[f"MDVEC_{section}_{key}".upper()] = said
    for settings in (load_settings({}, config=file), load_settings(environment)):
        assert settings.model_dump(exclude=OTHERS) == EVERY


def test_the_analytics_can_be_set_from_both(tmp_path):
    file = write(tmp_path / "c.toml", "[analytics]\nfolder = 'out'\nmax_seconds = 2.5\n")
    settings = load_settings({"MDVEC_ANALYTICS_MAX_ROWS": "7"}, config=file)
    assert settings.analytics_folder == tmp_path / "out"
    assert (settings.analytics.max_seconds, settings.analytics.max_rows) == (2.5, 7)
    assert load_settings({}).analytics_folder.name == "analytics"
    assert "1 to 5000000 rows" in refusal({"MDVEC_ANALYTICS_MAX_ROWS": "5000001"})


def test_the_log_can_be_set_from_both(tmp_path):
    file = write(tmp_path / "c.toml", "[log]\nfile = 'a.log'\nformat = 'json'\nmax_mb = 2\n")
    settings = load_settings({"MDVEC_LOG_LEVEL": "debug", "MDVEC_LOG_QUERIES": "1"}, config=file)
    assert settings.log == LogSettings(
        file=str(tmp_path / "a.log"), level="DEBUG", format="json", queries=True, max_mb=2, kept=3
    )
    assert load_settings({}).log.file is None
    assert "one of 'DEBUG', 'INFO', 'WARNING', 'ERROR'" in refusal({"MDVEC_LOG_LEVEL": "LOUD"})


def test_looks_at_sources_can_be_set_from_both(tmp_path):
    file = write(tmp_path / "c.toml", "[sync]\nseconds = 0\n")
    settings = load_settings({"MDVEC_SYNC_AUTO": "true"}, config=file)
    assert (settings.sync.seconds, settings.sync.auto) == (0, True)
    assert (load_settings({}).sync.seconds, load_settings({}).sync.auto) == (30, None)
    assert "0 to 86400 seconds" in refusal({"MDVEC_SYNC_SECONDS": "86401"})
    assert "true or false" in refusal({"MDVEC_SYNC_AUTO": "perhaps"})


def test_file_extensions_are_lowercased_from_file_and_environment(tmp_path):
    file = tmp_path / "config.toml"
    file.write_text('[scan]\nextensions = [".MD", ".Txt"]\n', encoding="utf-8")
    from_file = load_settings({}, config=file)
    from_environment = load_settings({"MDVEC_SCAN_EXTENSIONS": ".MD, .Txt"})
    assert from_environment.scan.extensions == from_file.scan.extensions == (".md", ".txt")


def test_flags_override_the_environment_then_the_file_then_defaults(tmp_path):
    file = write(tmp_path / "c.toml", "[search]\nk = 10\n[chunking]\nsize = 100\noverlap = 7\n")
    environment = {"MDVEC_SEARCH_K": "20", "MDVEC_CHUNKING_SIZE": "200"}
    flags = {"search": {"k": 30}, "chunking": {"size": None}}
    settings = load_settings(environment, config=file, flags=flags)
    assert settings.search.k == 30
    assert settings.chunking.size == 200
    assert settings.chunking.overlap == 7
    assert settings.chunking.min_chars is None


def test_the_file_is_the_named_one_else_the_projects_else_the_users(tmp_path, project):
    flag = write(tmp_path / "flag.toml", "[search]\nk = 1\n")
    named = {"MDVEC_CONFIG": str(write(tmp_path / "named.toml", "[search]\nk = 2\n"))}
    write(project / "mdvec.toml", "[search]\nk = 3\n")
    write(users_file(), "[search]\nk = 4\n")
    assert load_settings(named, config=flag, project_folder=project).search.k == 1
    assert load_settings(named, project_folder=project).search.k == 2
    assert load_settings({"MDVEC_CONFIG": ""}, project_folder=project).search.k == 3
    assert load_settings({}, project_folder=tmp_path).search.k == 4


def test_the_server_takes_no_file_from_its_working_folder(project, monkeypatch):
    write(project / "mdvec.toml", "[search]\nk = 3\n")
    write(project / "config.toml", "[search]\nk = 4\n")
    monkeypatch.chdir(project)
    assert load_settings({}).search.k == 5


def test_only_mdvec_toml_is_read_in_a_project_folder(project):
    write(project / "config.toml", "[search]\nk = 4\n")
    assert load_settings({}, project_folder=project).search.k == 5


def test_a_relative_database_path_counts_from_its_file(tmp_path, project, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(project / "mdvec.toml", '[database]\npath = "../data/a.sqlite"\n')
    found = load_settings({}, project_folder=Path("project")).database_path
    assert found.is_absolute()
    assert found.resolve() == (tmp_path / "data" / "a.sqlite").resolve()
    environment = {"MDVEC_DATABASE_PATH": "b.sqlite"}
    assert load_settings(environment).database_path == Path.cwd() / "b.sqlite"
    file = write(project / "c.toml", '[charts]\nfont_path = "fonts/jp.ttf"\n')
    assert load_settings({}, config=file).charts.font_path == str(project / "fonts" / "jp.ttf")


def test_a_tilde_is_the_home_folder(tmp_path, home):
    file = write(home / "c.toml", '[database]\npath = "~/a.sqlite"\n')
    assert load_settings({"MDVEC_CONFIG": "~/c.toml"}).database_path == home / "a.sqlite"
    assert load_settings({"MDVEC_DATABASE_PATH": "~/b"}, config=file).database_path == home / "b"
    read = load_settings({"MDVEC_CHARTS_FONT_PATH": "~/jp.ttf"})
    assert read.charts.font_path == str(home / "jp.ttf")
    nobody = write(tmp_path / "n.toml", '[database]\npath = "~nobody-here/a.sqlite"\n')
    expected = tmp_path / "~nobody-here" / "a.sqlite"
    assert load_settings({}, config=nobody).database_path == expected


def test_a_file_may_begin_with_a_bom_and_end_its_lines_with_crlf(tmp_path):
    file = write(tmp_path / "c.toml", "\ufeff# 設定\r\n[search]\r\nk = 7\r\n")
    assert load_settings({}, config=file).search.k == 7


@each(
    ("section", "line", "shown", "allowed"),
    [
        ("search", "k = 0", "k cannot be 0", "1 to 50 hits"),
        ("search", "k = '5'", "k cannot be '5'", "1 to 50 hits"),
        ("search", "k = true", "k cannot be True", "1 to 50 hits"),
        (
            "search",
            "mode = 'words'",
            "mode cannot be 'words'",
            "one of 'hybrid', 'vector', 'lexical'",
        ),
        ("search", "max_chars = 499", "max_chars cannot be 499", "500 to 1000000 characters"),
        ("chunking", "size = 63", "size cannot be 63", "64 to 4096 tokens"),
        ("chunking", "overlap = -1", "overlap cannot be -1", "0 to size - 1 tokens"),
        ("chunking", "strategy = 'Heading'", "'Heading'", "one of 'heading', 'token'"),
        ("chunking", "heading_levels = []", "[]", "a list of heading levels, each 1 to 6"),
        ("chunking", "heading_levels = [1, 7]", "7", "a list of heading levels, each 1 to 6"),
        ("chunking", "min_chars = 10001", "10001", "0 to 10000 characters"),
        ("display", "default_format = 'xml'", "'xml'", "one of 'table', 'json'"),
        ("model", "name = 'gpt'", "'gpt'", "'auto', one of: plamo, use, e5-small, ruri"),
        ("model", "name = ['use']", "['use']", "'auto', one of: plamo, use, e5-small, ruri"),
        ("model", "auto_unload_minutes = 0", "0", "minutes above 0"),
        ("model", "auto_unload_minutes = nan", "nan", "minutes above 0"),
        ("model", "memory_threshold = 1.1", "1.1", "a share of the memory, above 0 and up to 1"),
        ("scan", "extensions = ['md']", "'md'", "a list of endings such as '.md'"),
        ("scan", "extensions = '.md'", "'.md'", "a list of endings such as '.md'"),
        ("scan", "exclude = ['ok/', '!']", "'!'", "a list of patterns as in .gitignore"),
        ("scan", "exclude = ['[z-a]']", "'[z-a]'", "a list of patterns as in .gitignore"),
        ("scan", "max_bytes = 0", "0", "1 to 1073741824 bytes"),
        ("database", "path = 5", "5", "a file's path"),
        ("database", "path = ''", "''", "a file's path"),
        ("log", "queries = 'no'", "'no'", "true or false"),
        ("sync", "auto = 1", "1", "true or false"),
        ("charts", "port = 80", "80", "1024 to 65535, or 0 for any free port"),
        ("charts", "port = 65536", "65536", "1024 to 65535, or 0 for any free port"),
        ("charts", "cache_entries = 0", "0", "1 to 1000 charts"),
        ("charts", "cache_ttl_seconds = 0", "0", "1 to 604800 seconds"),
        ("charts", "chunk_size = 511", "511", "512 to 1048576 bytes"),
        ("charts", "max_size = '1921x1080'", "1921", "'<width>x<height>', 200x150 to 1920x1080"),
        ("charts", "max_size = 'large'", "large", "'<width>x<height>', 200x150 to 1920x1080"),
        ("charts", "default_format = 'gif'", "'gif'", "one of 'png', 'jpeg', 'svg'"),
        ("charts", "host = '0.0.0.0'", "'0.0.0.0'", "this machine alone: '127.0.0.1'"),
        ("charts", "host = '::'", "'::'", "this machine alone: '127.0.0.1'"),
        ("charts", "host = 'example.com'", "'example.com'", "this machine alone: '127.0.0.1'"),
        ("charts", "host = ''", "''", "this machine alone: '127.0.0.1'"),
    ],
)
def test_a_refused_value_is_named_with_file_key_and_what_is_allowed(
    tmp_path, section, line, shown, allowed
):
    file = write(tmp_path / "c.toml", f"[{section}]\n{line}\n")
    key = line.partition(" ")[0]
    message = refusal(config=file)
    assert message.startswith(f"{file}: [{section}] {key} cannot be ")
    assert shown in message
    assert f"; allowed: {allowed}" in message


@each(
    ("text", "message"),
    [
        ("[serch]\nk = 5\n", "there is no section [serch]; did you mean 'search'?"),
        ("[zzz]\n", "there is no section [zzz]; known names: database, chunking, display, "),
        ("[search]\ntop_k = 5\n", "[search] has no setting 'top_k'; known names: k, mode, max_"),
        ("[chunking]\nsizes = 5\n", "[chunking] has no setting 'sizes'; did you mean 'size'?"),
        ('[log]\nfile = "a\\u0000"\n', "[log] file contains a NUL character; no path can"),
        ("size = 512\n", "'size' is outside a section; write settings as [chunking] size"),
        ("[[search]]\nk = 5\n", "'search' is outside a section; write settings as ["),
    ],
)
def test_an_unknown_name_is_refused_with_the_nearest_known(tmp_path, text, message):
    file = write(tmp_path / "c.toml", text)
    assert refusal(config=file).startswith(f"{file}: {message}")


@each(
    ("name", "value", "message"),
    [
        ("MDVEC_SEARCH_K", "many", "[search] k cannot be 'many'; allowed: 1 to 50 hits"),
        ("MDVEC_SEARCH_K", "99", "[search] k cannot be 99; allowed: 1 to 50 hits"),
        ("MDVEC_CHUNKING_HEADING_LEVELS", "1,x", "[chunking] heading_levels cannot be '1,x'"),
        ("MDVEC_SCAN_EXTENSIONS", " , ", "[scan] extensions cannot be "),
    ],
)
def test_the_environment_is_validated_too(name, value, message):
    assert refusal({name: value}).startswith(f"environment: {message}")


def test_an_unknown_variable_is_ignored_with_a_warning_that_offers_the_nearest():
    unknown = {"MDVEC_SEARCH_KK": "5", "MDVEC_DATABASE": "x", "MDVEC_全く別のもの": "1"}
    environment = {**unknown, "MDVEC_SEARCH_K": "7", "MDVEC_LOG_LEVEL": "", "HOME": "/root"}
    assert load_settings(environment).search.k == 7
    assert unknown_variables(environment) == [
        "environment: MDVEC_SEARCH_KK is not a setting of mdvec and is ignored; "
        "did you mean 'MDVEC_SEARCH_K'?",
        "environment: MDVEC_DATABASE is not a setting of mdvec and is ignored; "
        "did you mean 'MDVEC_DATABASE_PATH'?",
        "environment: MDVEC_全く別のもの is not a setting of mdvec and is ignored",
    ]
    (long,) = unknown_variables({f"MDVEC_{'X' * 10_000}": "1"})
    assert len(long) < 200


def test_an_empty_variable_is_ignored():
    assert load_settings({"MDVEC_SEARCH_K": "", "MDVEC_DATABASE_PATH": ""}) == Settings()


def test_a_long_value_is_shown_in_short():
    assert len(refusal({"MDVEC_MODEL_NAME": "x" * 10_000})) < 450


def test_a_refused_flag_is_named_as_such():
    message = refusal(flags={"chunking": {"size": 5}})
    assert message == "command line: [chunking] size cannot be 5; allowed: 64 to 4096 tokens"


def test_a_named_file_that_does_not_exist_is_refused(tmp_path):
    for named in ({"config": tmp_path / "no.toml"}, {"config": tmp_path}):
        assert "there is no settings file" in refusal(**named)
    assert "check --config or MDVEC_CONFIG" in refusal({"MDVEC_CONFIG": "~nobody-here/no.toml"})


@pytest.mark.parametrize("data", [b"[search\n", b"[a]\nk = 1\nk = 2\n", b"\0"])
def test_a_file_that_is_not_toml_is_refused_by_name(tmp_path, data):
    file = tmp_path / "c.toml"
    file.write_bytes(data)
    assert refusal(config=file).startswith(f"{file} is not valid TOML: ")


def test_a_token_is_taken_from_the_environment_and_never_shown():
    settings = load_settings({"MDVEC_SERVER_TOKEN": "0123456789abcdef"})
    assert settings.server.token.get_secret_value() == "0123456789abcdef"
    assert "0123456789abcdef" not in repr(settings) + repr(settings.model_dump())


def test_the_vector_engine_can_be_set_from_both_with_the_older_names_of_its_graph(tmp_path):
    file = write(
        tmp_path / "c.toml",
        """
        [index]
        engine = "chroma"
        url = "http://10.0.0.5:8000/"
        token_env = "CHROMA_TOKEN"
        [index.hnsw]
        space = "l2"
        hnsw_construction_ef = 300
        "hnsw:search_ef" = 150
        M = 24
        """,
    )
    graph = Hnsw(space="l2", ef_construction=300, ef_search=150, max_neighbors=24)
    expected = IndexSettings(
        engine="chroma", url="http://10.0.0.5:8000", token_env="CHROMA_TOKEN", hnsw=graph
    )
    assert load_settings({}, config=file).vector_engine == expected
    environment = {
        "MDVEC_INDEX_ENGINE": "chroma",
        "MDVEC_INDEX_TENANT": "us",
        "MDVEC_INDEX_HNSW_EF_SEARCH": "7",
    }
    assert load_settings(environment).vector_engine == IndexSettings(
        engine="chroma", tenant="us", hnsw=Hnsw(ef_search=7)
    )
    assert unknown_variables(environment) == []
    assert load_settings({}).vector_engine is None


@each(
    ("text", "words"),
    [
        ("[index]\nengine = 'qdrant'\n", "[index] engine cannot be 'qdrant'"),
        ("[index]\nurl = 'localhost:8000'\n", "[index] url cannot be what it is"),
        ("[index.hnsw]\nM = 1\n", "[index.hnsw] max_neighbors cannot be 1"),
        ("[index.hnsw]\nef = 1\n", "[index.hnsw] has no setting 'ef'; known names: space, ef_con"),
        ("[index]\nhnsw = 3\n", "index.hnsw is a section; write its settings in [index.hnsw]"),
    ],
)
def test_a_wrong_setting_of_the_engine_is_named_by_its_section(tmp_path, text, words):
    with pytest.raises(SettingsError) as refused:
        load_settings({}, config=write(tmp_path / "c.toml", text))
    assert words in str(refused.value)


def test_a_database_that_is_a_link_is_the_file_it_leads_to(tmp_path):
    link = tmp_path / "link.sqlite"
    link.symlink_to(tmp_path / "file.sqlite")
    assert load_settings({"MDVEC_DATABASE_PATH": str(link)}).database_path == (
        tmp_path / "file.sqlite"
    )
    link.unlink()
    link.symlink_to(link)
    assert load_settings({"MDVEC_DATABASE_PATH": str(link)}).database_path == link


@each(
    ("text", "is_ours"),
    [
        ('[search]\nk = 9\n[model]\nname = "use"\n', True),
        ("[model.openai]\nbatch = 7\n", True),
        ('[search]\nkk = 9\n[database]\npath = "x"\n', True),  # a slip in one of ours
        ('[database]\nurl = "x"\n', False),
        ('[database]\npath = "x"\n[app]\nname = "another"\n', False),
        ('title = "x"\n[search]\nk = 9\n', False),
        ("", False),
        ("[search\n", False),
    ],
)
def test_settings_in_a_config_toml_of_the_folder_are_said_to_be_unread(tmp_path, text, is_ours):
    file = tmp_path / "config.toml"
    file.write_text(text, encoding="utf-8-sig")
    told = [f"{file} has settings of mdvec and is not read; name it with --config config.toml"]
    assert unread_settings({}, None, tmp_path) == (told if is_ours else [])
    assert unread_settings({}, file, tmp_path) == []
    assert unread_settings({"MDVEC_CONFIG": str(file)}, None, tmp_path) == []
    file.unlink()
    assert unread_settings({}, None, tmp_path) == []


def test_the_users_own_file_is_read_wherever_a_command_runs(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    (tmp_path / "mdvec").mkdir()
    (tmp_path / "mdvec" / "config.toml").write_text("[search]\nk = 9\n")
    assert unread_settings({}, None, tmp_path / "mdvec") == []


def test_what_each_setting_allows_is_said_in_japanese_alone():
    english = re.compile(r"[a-z]{2,} (?:of|to|or|a|the|per|that|and|from|such|numbers)\b")
    for section, fields in KNOWN.items():
        for key, field in fields.items():
            said = in_japanese(f"x.toml: [{section}] {key} cannot be 7; allowed: {allowed(field)}")
            assert said.startswith(f"x.toml: [{section}] {key} に 7 は使えません")
            assert english.findall(re.sub("<.*?>", "", said)) == [], said
