"""``gemini:<model>`` against a real server on this machine, through the real google-genai."""

import numpy as np
import pytest
from endpoint_stand_in import QUOTED

from mdvec.embedding import catalog
from mdvec.embedding.endpoint import EndpointFailure, EndpointRefused, EndpointUnusable, KeyMissing
from mdvec.embedding.options import BackendOptions, GeminiOptions, RetryOptions

OLD, NEW = "gemini:gemini-embedding-001", "gemini:gemini-embedding-2"


def options(url, **of_gemini):
    return BackendOptions(
        gemini=GeminiOptions(base_url=url, **of_gemini),
        retry=RetryOptions(max_retries=2, base_delay=0.001),
        environment={"GEMINI_API_KEY": QUOTED},
    )


def load(endpoint, name=OLD, **of_gemini):
    return catalog.load(name, options(endpoint.url, **of_gemini))


def sent(endpoint):
    """What each text of the last request is sent as: task type, dimension, text."""
    body, _ = endpoint.requests[-1]
    return [
        (one.get("taskType"), one["outputDimensionality"], one["content"]["parts"][0]["text"])
        for one in body["requests"]
    ]


def test_the_first_generation_is_told_the_task(endpoint):
    model = load(endpoint)
    rows = model.embed_documents(["水", "火"])
    assert rows.shape == (2, 768)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-6)
    assert sent(endpoint) == [
        ("RETRIEVAL_DOCUMENT", 768, "水"), ("RETRIEVAL_DOCUMENT", 768, "火"),
    ]  # fmt: skip
    model.embed_query("水は")
    assert sent(endpoint) == [("RETRIEVAL_QUERY", 768, "水は")]
    assert endpoint.requests[-1][1]["x-goog-api-key"] == QUOTED


def test_the_second_generation_takes_prefixes_and_gives_each_text_its_own_vector(endpoint):
    model = load(endpoint, NEW, output_dimensionality=1536)
    rows = model.embed_documents(["水", "火"])
    assert rows.shape == (2, 1536)
    assert not np.allclose(rows[0], rows[1])
    assert sent(endpoint) == [
        (None, 1536, "title: none | text: 水"), (None, 1536, "title: none | text: 火"),
    ]  # fmt: skip
    model.embed_query("水は")
    assert sent(endpoint) == [(None, 1536, "task: search result | query: 水は")]
    assert (load(endpoint).fingerprint, model.fingerprint) == (
        f"{OLD}@tasks:768:l2", f"{NEW}@prefixes:1536:l2",
    )  # fmt: skip


def test_a_hundred_texts_go_in_a_request(endpoint):
    load(endpoint).embed_documents([f"文{number}" for number in range(120)])
    assert [len(body["requests"]) for body, _ in endpoint.requests] == [100, 20]


@pytest.mark.parametrize("fault", ["429", "500", "cut", "hang"])
def test_a_passing_fault_is_repeated_until_it_is_over(endpoint, fault):
    model = load(endpoint, timeout_seconds=0.4)
    endpoint.faults.append(fault)
    assert model.embed_documents(["水"]).shape == (1, 768)
    assert len(endpoint.requests) == 2


@pytest.mark.parametrize(
    ("fault", "error", "said"),
    [
        ("fewer", EndpointUnusable, "answered with 1 vectors for 2 texts"),
        ("dimension", EndpointUnusable, "769 dimensions instead of 768"),
        ("key", EndpointRefused, r"refuses the key \(HTTP 401: .*\[key\]"),
        ("gemini key", EndpointRefused, r"refuses the key \(HTTP 400"),
        ("gemini wait", EndpointFailure, "asks to wait 3,600 seconds"),
    ],
)
def test_what_is_no_passing_fault_is_refused_by_name_at_once(endpoint, fault, error, said):
    endpoint.faults.append(fault)
    with pytest.raises(error, match=said) as caught:
        load(endpoint).embed_documents(["水", "火"])
    assert len(endpoint.requests) == 1
    assert QUOTED not in str(caught.value)


def test_the_environment_reroutes_nothing(endpoint, monkeypatch):
    for name, value in [
        ("GOOGLE_GENAI_USE_VERTEXAI", "true"), ("GOOGLE_GEMINI_BASE_URL", "http://127.0.0.1:9"),
        ("GOOGLE_API_KEY", "another"), ("HTTP_PROXY", "http://127.0.0.1:9"),
    ]:  # fmt: skip
        monkeypatch.setenv(name, value)
    assert load(endpoint).embed_query("水").shape == (768,)
    assert endpoint.requests[-1][1]["x-goog-api-key"] == QUOTED


def test_without_a_key_nothing_is_tried(endpoint):
    with pytest.raises(KeyMissing, match="GEMINI_API_KEY or GOOGLE_API_KEY"):
        catalog.load(OLD, BackendOptions(environment={}))
