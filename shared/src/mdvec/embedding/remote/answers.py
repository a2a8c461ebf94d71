"""The errors of endpoints, and the check that an answer has one good vector for each text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mdvec.embedding.embedder import ModelUnavailable

if TYPE_CHECKING:
    from mdvec.embedding.embedder import Vectors


class EndpointFailure(ModelUnavailable):
    """An endpoint cannot embed now; nothing that was paid for is lost."""


class KeyMissing(EndpointFailure):
    """The variable that should hold the endpoint's key is not set."""


class QuestionNotAllowed(EndpointFailure):
    """The user has not allowed a tool's questions to go to the endpoint."""


class EndpointRefused(EndpointFailure):
    """The endpoint refuses these requests, and would refuse them again."""


class TextRefused(EndpointRefused):
    """The endpoint refuses what is in a request: one of its texts, or the request as such."""


class EndpointUnusable(EndpointFailure):
    """The endpoint answered with something other than one good vector for each text."""


_MAX_NUMBER = 1e18


def checked_vectors(
    rows: Sequence[object], count: int, dimension: int | None, host: str
) -> Vectors:
    """The numbers of an answer, one row for each of ``count`` texts.

    Args:
        rows: as the answer has them, in the order of the texts.
        count: the number of texts sent.
        dimension: the expected length of each; None takes that of the first.
        host: for the message.

    Raises:
        EndpointUnusable: rows are missing or too many, have another length, or are no numbers.
    """
    import numpy as np

    if len(rows) != count:
        raise EndpointUnusable(_bad(host, f"{len(rows)} vectors for {count} texts"))
    lengths = {len(row) if isinstance(row, list) else 0 for row in rows}
    if 0 in lengths:
        raise EndpointUnusable(_bad(host, "something else than vectors"))
    if wrong := lengths - {dimension or min(lengths)}:
        expected = dimension or min(lengths)
        problem = f"vectors of {max(wrong)} dimensions instead of {expected}"
        raise EndpointUnusable(_bad(host, problem))
    if not all(isinstance(row, list) and set(map(type, row)) <= {int, float} for row in rows):
        raise EndpointUnusable(_bad(host, "a vector with something else than numbers"))
    try:
        vectors = np.array(rows, dtype=np.float64)
    except OverflowError:  # an integer of hundreds of digits
        vectors = np.full((count, 1), np.inf)
    # NaN is not below it either; squares of larger numbers overflow float32.
    if not (np.abs(vectors) < _MAX_NUMBER).all():
        raise EndpointUnusable(_bad(host, "a vector with NaN or infinite numbers"))
    if not vectors.any(axis=1).all():
        raise EndpointUnusable(_bad(host, "a vector of zeros"))
    return vectors.astype(np.float32)


def _bad(host: str, what: str) -> str:
    return f"{host} answered with {what}; nothing of it was stored. Check the model and its server"
