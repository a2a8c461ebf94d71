"""A test that runs for each row of a table, as one item of pytest's: an item costs it 4 ms."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

import pytest

Test = Callable[..., None]


def each(names: str | tuple[str, ...], cases: Iterable[Any]) -> Callable[[Test], Test]:
    """Run a test with every case, as ``parametrize`` does, and report all cases that fail.

    For many small cases that share their fixtures.
    """
    words = tuple(names.replace(",", " ").split()) if isinstance(names, str) else names
    rows = [tuple(case) if len(words) > 1 else (case,) for case in cases]
    assert rows, "a table without a case tests nothing"

    def decorate(test: Test) -> Test:
        @wraps(test)
        def run(**fixtures: object) -> None:
            failures: list[BaseException] = []
            for row in rows:
                try:
                    test(**fixtures, **dict(zip(words, row, strict=True)))
                except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001 - of any case
                    error.add_note(f"case: {row!r}")
                    failures.append(error)
            if failures:
                raise BaseExceptionGroup(f"{len(failures)} of {len(rows)} cases", failures)

        asked = inspect.signature(test)
        rest = [value for name, value in asked.parameters.items() if name not in words]
        vars(run)["__signature__"] = asked.replace(parameters=rest)  # what pytest reads
        return run

    return decorate
