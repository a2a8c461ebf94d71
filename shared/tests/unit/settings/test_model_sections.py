"""``[model.openai]`` and its neighbours: sections within a section."""

import pytest
from table_of_cases import each

from mdvec.embedding.options import (
    GeminiOptions,
    OnnxOptions,
    OpenAIOptions,
    RetryOptions,
    StOptions,
)
from mdvec.settings import SettingsError, load_settings
from mdvec.settings.loading import load_with_origins, unknown_variables

FILE = """
[model]
name = "openai:bge-m3:latest"
[model.openai]
base_url = "http://127.0.0.1:11434/v1/"
dimensions = 1024
query_prefix = "q: "
document_prefix = "d: "
batch = 32
api_key_env = "OWN_KEY"
timeout_seconds = 5
[model.gemini]
base_url = "https://proxy.example"
output_dimensionality = 1536
batch_size = 50
api_key_env = "OTHER"
timeout_seconds = 6
[model.st]
query_prefix = ""
document_prefix = "d"
truncate_dim = 128
backend = "onnx"
device = "cpu"
batch = 4
[model.onnx]
file = "onnx/model_int8.onnx"
pooling = "cls"
query_prefix = "q"
document_prefix = ""
truncate_dim = 64
[model.retry]
max_retries = 5
base_delay = 0.5
backoff_factor = 3.0
max_delay = 10
"""


@pytest.fixture
def file(tmp_path):
    return tmp_path / "c.toml"


def test_every_one_can_be_set_in_the_file(file):
    file.write_text(FILE, encoding="utf-8")
    options = load_settings({}, config=file).model.options()
    url = "http://127.0.0.1:11434/v1"
    assert options.openai == OpenAIOptions(
        base_url=url,
        dimensions=1024,
        query_prefix="q: ",
        document_prefix="d: ",
        batch=32,
        api_key_env="OWN_KEY",
        timeout_seconds=5,
    )
    assert options.gemini == GeminiOptions(
        base_url="https://proxy.example",
        output_dimensionality=1536,
        batch_size=50,
        api_key_env="OTHER",
        timeout_seconds=6,
    )
    assert options.st == StOptions(
        query_prefix="",
        document_prefix="d",
        truncate_dim=128,
        backend="onnx",
        device="cpu",
        batch=4,
    )
    assert options.onnx == OnnxOptions(
        file="onnx/model_int8.onnx",
        pooling="cls",
        query_prefix="q",
        document_prefix="",
        truncate_dim=64,
    )
    assert options.retry == RetryOptions(
        max_retries=5, base_delay=0.5, backoff_factor=3.0, max_delay=10
    )


def test_the_defaults_are_those_of_the_library():
    options = load_settings({}).model.options()
    assert (options.openai, options.gemini) == (OpenAIOptions(), GeminiOptions())
    assert (options.st, options.retry) == (StOptions(), RetryOptions())
    assert options.onnx == OnnxOptions()


def test_the_environment_overrides_the_file(file):
    file.write_text(FILE, encoding="utf-8")
    environment = {"MDVEC_MODEL_OPENAI_BATCH": "7", "MDVEC_MODEL_RETRY_MAX_RETRIES": "9"}
    loaded = load_with_origins(environment, config=file)
    assert (loaded.settings.model.openai.batch, loaded.settings.model.retry.max_retries) == (7, 9)
    assert loaded.settings.model.openai.dimensions == 1024
    assert loaded.origins["model.openai", "batch"] == "environment"
    assert unknown_variables({"MDVEC_MODEL_OPENAI_BACH": "7"}) == [
        "environment: MDVEC_MODEL_OPENAI_BACH is not a setting of mdvec and is ignored; "
        "did you mean 'MDVEC_MODEL_OPENAI_BATCH'?"
    ]


@each(
    ("text", "said"),
    [
        ("[model.openai]\nbase='x'", "[model.openai] has no setting 'base'; did you mean 'base_u"),
        ("[model.openai]\nbatch=0", "[model.openai] batch cannot be 0; allowed: 1 to 2048 texts"),
        ("[model]\nopenai=3", "model.openai is a section; write its settings in [model.openai]"),
        ("[model.gemini]\noutput_dimensionality=999", "cannot be 999; allowed: 768, 1536 or 3072"),
        ("[model]\nname='gpt:x'", "'gpt:x'; allowed: 'auto', one of: plamo, use, e5-small, ruri"),
        ("[model]\nname='openai:'", "cannot be 'openai:'"),
    ],
)
def test_a_wrong_one_is_named_with_its_section(file, text, said):
    file.write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError) as refused:
        load_settings({}, config=file)
    assert said in str(refused.value)


@pytest.mark.parametrize(
    "text",
    [
        "[model.openai]\napi_key_env='sk-secret'",
        "[model.openai]\nbase_url='http://u:sk-secret@x'",
        "[index]\nurl='http://u:sk-secret@x:8000'",
        "[index]\ntoken_env='sk-secret'",
    ],
)
def test_a_key_in_the_wrong_place_is_not_shown(file, text):
    file.write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError) as refused:
        load_settings({}, config=file)
    assert "sk-secret" not in str(refused.value)


def test_a_folder_is_kept_with_its_whole_path(file, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file.write_text("[model]\nname='st:./ruri'", encoding="utf-8")
    assert load_settings({}, config=file).model.name == f"st:{tmp_path}/ruri"
