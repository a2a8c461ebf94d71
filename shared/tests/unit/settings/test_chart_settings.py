"""The section [charts]: defaults, the font's path, and refused values."""

import pytest

from mdvec.settings import SettingsError, load_settings


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A home folder of the test's own, without any settings."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "home"


def test_without_settings_charts_are_served_on_this_machine_only():
    assert load_settings({}).charts.model_dump() == {
        "host": "127.0.0.1",
        "port": 8080,
        "cache_entries": 50,
        "cache_ttl_seconds": 3600,
        "chunk_size": 8192,
        "max_size": "1920x1080",
        "default_format": "png",
        "font_path": None,
    }


def test_every_setting_can_be_set_in_the_environment():
    environment = {
        "MDVEC_CHARTS_HOST": "::1",
        "MDVEC_CHARTS_PORT": "0",
        "MDVEC_CHARTS_CACHE_ENTRIES": "2",
        "MDVEC_CHARTS_CACHE_TTL_SECONDS": "60",
        "MDVEC_CHARTS_CHUNK_SIZE": "512",
        "MDVEC_CHARTS_MAX_SIZE": "800x600",
        "MDVEC_CHARTS_DEFAULT_FORMAT": "svg",
        "MDVEC_CHARTS_FONT_PATH": "/fonts/jp.ttf",
    }
    assert load_settings(environment).charts.model_dump() == {
        "host": "::1",
        "port": 0,
        "cache_entries": 2,
        "cache_ttl_seconds": 60,
        "chunk_size": 512,
        "max_size": "800x600",
        "default_format": "svg",
        "font_path": "/fonts/jp.ttf",
    }


def test_a_fonts_path_is_relative_to_its_settings_file(tmp_path):
    file = tmp_path / "config.toml"
    file.write_text('[charts]\nfont_path = "fonts/jp.ttf"\n', encoding="utf-8")
    assert load_settings({}, config=file).charts.font_path == str(tmp_path / "fonts" / "jp.ttf")


def test_a_fonts_path_may_begin_at_home(home):
    read = load_settings({"MDVEC_CHARTS_FONT_PATH": "~/jp.ttf"})
    assert read.charts.font_path == str(home / "jp.ttf")


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.0.2", "example.com", ""])
def test_a_host_that_others_can_reach_is_refused(tmp_path, host):
    file = tmp_path / "config.toml"
    file.write_text(f'[charts]\nhost = "{host}"\n', encoding="utf-8")
    with pytest.raises(SettingsError) as refused:
        load_settings({}, config=file)
    assert str(refused.value) == (
        f"{file}: [charts] host cannot be {host!r}; allowed: '127.0.0.1', 'localhost' or '::1'; "
        "charts stay on this machine"
    )


@pytest.mark.parametrize(
    ("key", "value", "allowed"),
    [
        ("port", "80", "1024 to 65535, or 0 for any free port"),
        ("port", "65536", "1024 to 65535, or 0 for any free port"),
        ("cache_entries", "0", "1 to 1000 charts"),
        ("cache_ttl_seconds", "0", "1 to 604800 seconds"),
        ("chunk_size", "511", "512 to 1048576 bytes"),
        ("max_size", "1921x1080", "'<width>x<height>', 200x150 to 1920x1080 pixels"),
        ("max_size", "199x150", "'<width>x<height>', 200x150 to 1920x1080 pixels"),
        ("max_size", "large", "'<width>x<height>', 200x150 to 1920x1080 pixels"),
        ("default_format", "gif", "'png', 'jpeg' or 'svg'"),
    ],
)
def test_invalid_values_are_refused_with_the_allowed_ones(key, value, allowed):
    with pytest.raises(SettingsError) as refused:
        load_settings({f"MDVEC_CHARTS_{key.upper()}": value})
    message = str(refused.value)
    assert message.startswith(f"environment: [charts] {key} cannot be")
    assert message.endswith(f"allowed: {allowed}")
