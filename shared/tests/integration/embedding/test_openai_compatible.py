"""``openai:<model>`` against a real server on this machine, through the real HTTP client."""

import sys
from dataclasses import replace

import numpy as np
import pytest
from endpoint_stand_in import QUOTED
from table_of_cases import each
from tiny_embedder import tiny_embedder

from mdvec.embedding import catalog
from mdvec.embedding.catalog import endpoint_of
from mdvec.embedding.endpoint import (
    Endpoint,
    EndpointFailure,
    EndpointRefused,
    EndpointUnusable,
    KeyMissing,
    Sending,
)
from mdvec.embedding.options import OPENAI_URL, BackendOptions, OpenAIOptions, RetryOptions

QUICK = RetryOptions(max_retries=3, base_delay=0.001)


def options(url, environment=None, max_retries=3, **of_openai):
    return BackendOptions(
        openai=OpenAIOptions(base_url=f"{url}/v1", **of_openai),
        retry=QUICK.model_copy(update={"max_retries": max_retries}),
        environment=environment or {},
    )


def load(endpoint, environment=None, **of_openai):
    return catalog.load("openai:tiny:latest", options(endpoint.url, environment, **of_openai))


def test_each_text_gets_its_own_vector_whatever_the_order_of_the_answer(endpoint):
    texts = ["水を備える", "猫の毛を梳く", "cats and water"]
    found = load(endpoint).embed_documents(texts)
    np.testing.assert_allclose(found, tiny_embedder().embed_documents(texts), atol=1e-6)
    body, _ = endpoint.requests[-1]
    assert body == {"model": "tiny:latest", "input": texts, "encoding_format": "float"}


def test_questions_and_passages_get_their_prefixes_which_the_fingerprint_holds(endpoint):
    plain = load(endpoint)
    model = load(endpoint, query_prefix="query: ", document_prefix="passage: ")
    model.embed_query("水")
    model.embed_documents(["火"])
    sent = [body["input"] for body, _ in endpoint.requests]
    assert sent[-2:] == [["query: 水"], ["passage: 火"]]
    assert plain.fingerprint == "openai:tiny:latest@plain:16:l2"
    assert model.fingerprint not in (
        plain.fingerprint,
        load(endpoint, query_prefix="passage: ", document_prefix="query: ").fingerprint,
    )


def test_dimensions_are_asked_for_and_left_out_where_the_server_takes_none(endpoint):
    model = load(endpoint, dimensions=8)
    assert model.embed_query("水").shape == (8,)
    assert endpoint.requests[-1][0]["dimensions"] == 8
    endpoint.faults.append("no dimensions")
    assert load(endpoint, dimensions=16).embed_query("水").shape == (16,)
    assert "dimensions" not in endpoint.requests[-1][0]


def test_a_key_goes_only_where_its_variable_is_named(endpoint):
    keys = {"OPENAI_API_KEY": "sk-of-openai", "OWN_KEY": "sk-of-this"}
    load(endpoint, keys).embed_query("水")
    assert "authorization" not in endpoint.requests[-1][1]
    load(endpoint, keys, api_key_env="OWN_KEY").embed_query("水")
    assert endpoint.requests[-1][1]["authorization"] == "Bearer sk-of-this"
    with pytest.raises(KeyMissing, match="the variable NO_KEY, which is not set"):
        load(endpoint, keys, api_key_env="NO_KEY")
    assert catalog.missing(catalog.card_named("openai:x"), BackendOptions(environment={})) == (
        "the model 'openai:x' needs a key in the variable OPENAI_API_KEY, which is not set; "
        "keys are read from the environment, or from the system's keyring "
        "(pip install keyring; keyring set mdvec OPENAI_API_KEY)"
    )


KEYRING = """
def get_password(service, name):
    if name == "BROKEN":
        raise RuntimeError("sk-in-the-keyring is locked")
    return {("mdvec", "OWN_KEY"): "sk-in-the-keyring"}.get((service, name))
"""


def test_a_key_may_be_in_the_systems_keyring(endpoint, tmp_path, monkeypatch, caplog):
    """The package is not installed here; a module of its name has its one function."""
    (tmp_path / "keyring.py").write_text(KEYRING, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    try:
        load(endpoint, api_key_env="OWN_KEY").embed_query("水")
        assert endpoint.requests[-1][1]["authorization"] == "Bearer sk-in-the-keyring"
        load(endpoint, {"OWN_KEY": "sk-set"}, api_key_env="OWN_KEY").embed_query("水")
        assert endpoint.requests[-1][1]["authorization"] == "Bearer sk-set"
        with caplog.at_level("DEBUG"), pytest.raises(KeyMissing) as missing:
            load(endpoint, api_key_env="BROKEN")
        assert "sk-in-the-keyring" not in f"{missing.value}{caplog.text}"
    finally:
        sys.modules.pop("keyring", None)


@pytest.mark.parametrize(
    "fault", ["429", "500", "cut", "hang", "drip", "drip before", "deep", "far date"]
)
def test_a_passing_fault_is_repeated_until_it_is_over(endpoint, fault):
    model = load(endpoint, dimensions=16, timeout_seconds=0.3)
    endpoint.faults.extend([fault, fault])
    assert model.embed_documents(["水"]).shape == (1, 16)
    # On a slow machine a whole answer may be late once, too.
    assert not endpoint.faults
    assert len(endpoint.requests) >= 3


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("fewer", "answered with 1 vectors for 2 texts; nothing of it was stored"),
        ("more", "answered with 3 vectors for 2 texts; nothing of it was stored"),
        ("dimension", "answered with vectors of 17 dimensions instead of 16"),
        ("nan", "answered with a vector with NaN or infinite numbers"),
        ("null", "answered with a vector with something else than numbers"),
        ("zero", "answered with a vector of zeros"),
        ("huge", "answered with a vector with NaN or infinite numbers"),
        ("numbering", "answered with vectors whose numbering is wrong"),
    ],
)
def test_a_half_answer_is_refused_by_name_and_not_paid_for_again(endpoint, fault, said):
    model = load(endpoint, dimensions=16)
    endpoint.faults.append(fault)
    with pytest.raises(EndpointUnusable, match=said):
        model.embed_documents(["水", "火"])
    assert len(endpoint.requests) == 1


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("quota", "the quota at .* is used up"),
        ("key", r"refuses the key \(HTTP 401: Incorrect API key provided: \[key\]\)"),
        ("redirect", "redirects elsewhere"),
        ("charset", r"refuses the request \(HTTP 400: \"no text in hex\"\)"),
    ],
)
def test_what_would_fail_again_is_not_repeated_and_no_message_shows_the_key(endpoint, fault, said):
    model = load(endpoint, {"KEY": QUOTED}, api_key_env="KEY", dimensions=16)
    endpoint.faults.append(fault)
    with pytest.raises(EndpointRefused, match=said) as caught:
        model.embed_documents(["水"])
    assert QUOTED not in str(caught.value)
    assert len(endpoint.requests) == 1


def test_retries_end_and_a_long_wait_is_left_to_the_user(endpoint):
    model = load(endpoint, dimensions=16)
    endpoint.faults.extend(["500"] * 9)
    with pytest.raises(EndpointFailure, match="in 4 attempts"):
        model.embed_documents(["水"])
    endpoint.faults.clear()
    endpoint.faults.append("long wait")
    with pytest.raises(EndpointFailure, match="asks to wait 3,600 seconds"):
        model.embed_documents(["水"])
    assert len(endpoint.requests) == 6  # four, a fixed word, and one more


def test_packed_answers_are_bounded_by_what_they_unpack_to(endpoint):
    model = load(endpoint, dimensions=16)
    endpoint.faults.append("packed")
    assert model.embed_documents(["水"]).shape == (1, 16)
    assert endpoint.requests[-1][1]["accept-encoding"] == "identity"
    endpoint.faults.append("bomb")
    with pytest.raises(EndpointFailure, match="the answer is too large"):
        load(endpoint, dimensions=16, max_retries=0).embed_documents(["水"])


def test_a_question_waits_once_for_a_server_that_does_not_answer(endpoint):
    model = load(endpoint, dimensions=16, timeout_seconds=0.6)
    endpoint.faults.extend(["hang", None])
    with pytest.raises(EndpointFailure, match=r"in 1 attempt .*no (?:whole )?answer in"):
        model.embed_query("水")
    endpoint.faults.clear()
    endpoint.faults.append("500")
    assert model.embed_query("水").shape == (16,)


@pytest.mark.parametrize(
    ("variable", "value"),
    [("HTTPS_PROXY", "http://me:sk-of-proxy/x@host"), ("SSL_CERT_FILE", "/nowhere")],
)
def test_an_unusable_proxy_or_certificate_is_one_sentence(monkeypatch, variable, value):
    monkeypatch.setenv(variable, value)
    with pytest.raises(EndpointFailure, match="check the variables HTTPS_PROXY") as told:
        catalog.load("openai:text-embedding-3-small", BackendOptions(environment={
            "OPENAI_API_KEY": "k"}))  # fmt: skip
    assert "sk-of" not in str(told.value)


def test_no_server_is_one_sentence(endpoint):
    away = replace(options("http://127.0.0.1:9"), retry=QUICK.model_copy(update={"max_retries": 0}))
    short = away.openai.model_copy(update={"dimensions": 3})
    with pytest.raises(EndpointFailure, match=r"127\.0\.0\.1:9 did not embed in 1 attempt \(no c"):
        catalog.load("openai:x", replace(away, openai=short)).embed_documents(["水"])


@each(
    ("host", "here"),
    [
        ("localhost", True), ("127.0.0.2:11434", True), ("[::1]:80", True), ("LOCALHOST", True),
        ("ollama.localhost", False), ("0.0.0.0", False), ("127.0.0.1.example", False),
        ("localhost.", False), ("[::ffff:10.0.0.1]", False), ("192.168.0.2", False),
    ],
)  # fmt: skip
def test_only_this_machine_is_local(host, here):
    assert Endpoint(f"http://{host}/v1").is_local is here


def test_another_machine_is_never_asked_for_its_dimension(endpoint):
    elsewhere = options(endpoint.url.replace("127.0.0.1", "0.0.0.0"))
    with pytest.raises(EndpointFailure, match=r"set them in \[model\.openai\] dimensions"):
        _ = catalog.load("openai:x", elsewhere).fingerprint
    assert endpoint.requests == []


@each(
    ("model", "url", "sentence"),
    [
        (
            "openai:text-embedding-3-small", OPENAI_URL,
            "notes: its texts, and later questions about them, go to api.openai.com "
            "(openai:text-embedding-3-small).",
        ),
        (
            "openai:tiny", "http://192.168.0.2:11434/v1",
            "notes: its texts, and later questions about them, go to 192.168.0.2:11434 "
            "(openai:tiny, unencrypted).",
        ),
        (
            "gemini:gemini-embedding-001", OPENAI_URL,
            "notes: its texts, and later questions about them, go to "
            "generativelanguage.googleapis.com (gemini:gemini-embedding-001). On Gemini's free "
            "tier Google may use texts to improve its products.",
        ),
    ],
)  # fmt: skip
def test_the_user_is_told_what_goes_where(model, url, sentence):
    endpoint = endpoint_of(
        model, BackendOptions(openai=OpenAIOptions.model_construct(base_url=url))
    )
    assert endpoint is not None
    assert Sending("notes", model, endpoint).sentence() == sentence
