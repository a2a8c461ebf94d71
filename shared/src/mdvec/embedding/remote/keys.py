"""An endpoint's key: read from the environment, or from the system's keyring; never shown."""

from __future__ import annotations

import importlib.util
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from mdvec.embedding.options import OPENAI_URL, BackendOptions
from mdvec.embedding.remote.answers import KeyMissing

_HIDDEN = "[key]"
_SERVICE = "mdvec"
logger = logging.getLogger("mdvec")


@dataclass(frozen=True, slots=True)
class Key:
    """A secret; its text form shows nothing."""

    value: str = field(repr=False)

    def hidden_in(self, text: str) -> str:
        """``text`` without the secret, because endpoints quote what they refuse."""
        return text.replace(self.value, _HIDDEN) if self.value else text


NO_KEY = Key("")


def key_from(environment: Mapping[str, str], variables: Sequence[str], model: str) -> Key:
    """The key in the first of ``variables`` that is set, or that the keyring has an entry for.

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
        f"(pip install keyring; keyring set {_SERVICE} {variables[0]})"
    )


def _in_keyring(name: str) -> str:
    """What the keyring has under a variable's name; "" without the package or without a key."""
    if importlib.util.find_spec("keyring") is None:
        return ""
    try:
        import keyring

        return (keyring.get_password(_SERVICE, name) or "").strip()
    # Each keyring fails in a way of its own, and its messages are not ours.
    except Exception:  # noqa: BLE001 - see above
        logger.debug("[endpoint] the system's keyring cannot be read")
        return ""


def openai_key(name: str, options: BackendOptions) -> Key:
    """The endpoint's key.

    OpenAI's variable is read for OpenAI only: no other endpoint gets that key unless
    ``api_key_env`` names it.

    Raises:
        KeyMissing: the variable is not set.
    """
    chosen = options.openai.api_key_env
    if chosen is None and options.openai.base_url != OPENAI_URL:
        return NO_KEY
    return key_from(options.environment, [chosen or "OPENAI_API_KEY"], name)


def gemini_key(name: str, options: BackendOptions) -> Key:
    """Google's key.

    Raises:
        KeyMissing: no variable holds it.
    """
    chosen = options.gemini.api_key_env
    variables = [chosen] if chosen else ["GEMINI_API_KEY", "GOOGLE_API_KEY"]
    return key_from(options.environment, variables, name)
