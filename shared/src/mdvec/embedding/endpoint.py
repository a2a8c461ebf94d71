"""An embedding endpoint: its address and key, its errors, and checks of its vectors."""

from __future__ import annotations

import importlib.util
import logging
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urlsplit

from mdvec.embedding.embedder import Backend, BadEmbedding, Embedder, ModelUnavailable
from mdvec.embedding.options import OPENAI_URL, BackendOptions
from mdvec.installation import this_installation
from mdvec.platform import is_loopback

if TYPE_CHECKING:
    from mdvec.embedding.embedder import Vectors

_MAX_NUMBER = 1e18
_HIDDEN = "[key]"
_SERVICE = "mdvec"
logger = logging.getLogger("mdvec")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a model's texts go; ``terms`` is a sentence on what happens to them there."""

    url: str
    terms: str = ""

    @property
    def host(self) -> str:
        """The host, with the port if it has one."""
        return urlsplit(self.url).netloc.rpartition("@")[2]

    @property
    def origin(self) -> str:
        """Scheme, host and port: the unit for which a user allows sending."""
        return f"{urlsplit(self.url).scheme}://{self.host}"

    @property
    def is_local(self) -> bool:
        """Whether texts stay on this machine."""
        return is_loopback(urlsplit(self.url).hostname or "")


@dataclass(frozen=True, slots=True)
class Sending:
    """What the user must allow: that a tool's texts and questions are sent to an endpoint."""

    tool: str
    model: str
    endpoint: Endpoint

    def sentence(self) -> str:
        """A sentence on what is sent where, and what happens to it there."""
        where = self.endpoint
        safety = "" if urlsplit(where.url).scheme == "https" else ", unencrypted"
        terms = f" {where.terms}" if where.terms else ""
        return (
            f"{self.tool}: its texts, and later questions about them, go to {where.host} "
            f"({self.model}{safety}).{terms}"
        )


class RemoteBackend(Backend, Protocol):
    """A backend that sends texts to an endpoint; its methods may be called at the same time."""

    endpoint: Endpoint

    def measure_dimension(self) -> int:
        """The length of its vectors, found by requesting a vector."""


class RemoteEmbedder(Embedder):
    """Embeds with a model behind an endpoint, in as many calls at once as there are threads."""

    def __init__(self, backend: RemoteBackend) -> None:
        super().__init__(backend)
        self.endpoint = backend.endpoint
        self.measure_dimension = backend.measure_dimension
        self._lock = nullcontext()

    def _check_vectors(self, encoded: Vectors, count: int) -> Vectors:
        try:
            return super()._check_vectors(encoded, count)
        except BadEmbedding as error:  # sending more texts would cost money without better vectors
            raise EndpointUnusable(str(error)) from error


class EndpointFailure(ModelUnavailable):
    """An endpoint cannot embed now; vectors that were already paid for are kept."""


class KeyMissing(EndpointFailure):
    """The variable that should hold the endpoint's key is not set."""


class QuestionNotAllowed(EndpointFailure):
    """The user has not allowed a tool's questions to go to the endpoint."""


class EndpointRefused(EndpointFailure):
    """The endpoint refuses these requests permanently."""


class TextRefused(EndpointRefused):
    """The endpoint refuses one of the texts in a request, or the request itself."""


class EndpointUnusable(EndpointFailure):
    """The endpoint answered with something other than one good vector for each text."""


def checked_vectors(
    rows: Sequence[object], count: int, dimension: int | None, host: str
) -> Vectors:
    """The vectors of a response, one row for each of ``count`` texts, in their order.

    ``dimension`` is the expected length; None means that of the first vector.

    Raises:
        EndpointUnusable: the number or length of rows is wrong, or they are no numbers.
    """
    import numpy as np

    if len(rows) != count:
        raise EndpointUnusable(_bad_answer(host, f"{len(rows)} vectors for {count} texts"))
    lengths = {len(row) if isinstance(row, list) else 0 for row in rows}
    if 0 in lengths:
        raise EndpointUnusable(_bad_answer(host, "something else than vectors"))
    if wrong := lengths - {dimension or min(lengths)}:
        expected = dimension or min(lengths)
        problem = f"vectors of {max(wrong)} dimensions instead of {expected}"
        raise EndpointUnusable(_bad_answer(host, problem))
    if not all(isinstance(row, list) and set(map(type, row)) <= {int, float} for row in rows):
        raise EndpointUnusable(_bad_answer(host, "a vector with something else than numbers"))
    try:
        vectors = np.array(rows, dtype=np.float64)
    except OverflowError:  # an integer of hundreds of digits
        vectors = np.full((count, 1), np.inf)
    # NaN fails this comparison, too; squares of larger numbers overflow float32.
    if not (np.abs(vectors) < _MAX_NUMBER).all():
        raise EndpointUnusable(_bad_answer(host, "a vector with NaN or infinite numbers"))
    if not vectors.any(axis=1).all():
        raise EndpointUnusable(_bad_answer(host, "a vector of zeros"))
    return vectors.astype(np.float32)


def _bad_answer(host: str, what: str) -> str:
    return f"{host} answered with {what}; nothing of it was stored. Check the model and its server"


@dataclass(frozen=True, slots=True)
class Key:
    """A secret; its text form shows nothing."""

    value: str = field(repr=False)

    def hidden_in(self, text: str) -> str:
        """``text`` with the secret replaced, as endpoints quote what they refuse."""
        return text.replace(self.value, _HIDDEN) if self.value else text


NO_KEY = Key("")


def key_from(environment: Mapping[str, str], variables: Sequence[str], model: str) -> Key:
    """The key from the first of ``variables`` that is set or has an entry in the keyring.

    Raises:
        KeyMissing: there is none.
    """
    for name in variables:
        if value := environment.get(name, "").strip() or _in_keyring(name):
            if not value.isascii() or not value.isprintable():
                raise KeyMissing(
                    f"the variable {name} does not hold a key; it has characters that no key has"
                )
            return Key(value)
    raise KeyMissing(
        f"the model {model!r} needs a key in the variable {' or '.join(variables)}, which is "
        "not set; keys are read from the environment, or from the system's keyring "
        f"({this_installation().adding('keyring')}; keyring set {_SERVICE} {variables[0]})"
    )


def _in_keyring(name: str) -> str:
    """The key in the keyring under a variable's name; "" without the package or an entry."""
    if importlib.util.find_spec("keyring") is None:
        return ""
    try:
        import keyring

        return (keyring.get_password(_SERVICE, name) or "").strip()
    # Each keyring fails in its own way, and its messages are not for our users.
    except Exception:  # noqa: BLE001 - see above
        logger.debug("[endpoint] the system's keyring cannot be read")
        return ""


def openai_key(name: str, options: BackendOptions) -> Key:
    """The endpoint's key.

    OpenAI's variable is read for OpenAI only: another endpoint gets that key only if
    ``api_key_env`` names the variable.
    """
    chosen = options.openai.api_key_env
    if chosen is None and options.openai.base_url != OPENAI_URL:
        return NO_KEY
    return key_from(options.environment, [chosen or "OPENAI_API_KEY"], name)


def gemini_key(name: str, options: BackendOptions) -> Key:
    """Google's key."""
    chosen = options.gemini.api_key_env
    variables = [chosen] if chosen else ["GEMINI_API_KEY", "GOOGLE_API_KEY"]
    return key_from(options.environment, variables, name)
