"""Durations in Arrow's schema, at any depth, and in a schema that is damaged."""

import base64
import io

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from mdvec.datasets.core.arrow_durations import durations

KINDS = {
    "n": pl.Int64,
    "ms": pl.Duration("ms"),
    "深い": pl.List(pl.Struct({"a": pl.Duration("ns"), "b": pl.String})),
}


def schema():
    stream = io.BytesIO()
    pl.DataFrame(schema=KINDS).write_ipc_stream(stream)
    return stream.getvalue()


def test_durations_are_found_at_any_depth():
    found = durations(base64.b64encode(schema()).decode())
    assert found == {("ms",): "milliseconds", ("深い", "item", "a"): "nanoseconds"}


@settings(max_examples=200)
@given(st.data())
def test_a_damaged_schema_breaks_nothing(data):
    damaged = bytearray(schema())
    del damaged[data.draw(st.integers(1, len(damaged))) :]
    for at in data.draw(st.lists(st.integers(0, len(damaged) - 1), max_size=4)):
        damaged[at] = data.draw(st.integers(0, 255))
    for unit in durations(base64.b64encode(bytes(damaged)).decode()).values():
        assert unit.endswith("seconds")
