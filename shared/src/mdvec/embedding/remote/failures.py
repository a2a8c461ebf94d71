"""Why an endpoint did not embed; each ends an import, and a search continues by words alone."""

from __future__ import annotations

from mdvec.embedding.embedder import ModelUnavailable


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
