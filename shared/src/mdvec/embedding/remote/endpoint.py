"""An endpoint: where texts go, whether that is this machine, and what it costs."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from urllib.parse import urlsplit

PRICES_OF = "2026-07"
"""The month of the price lists below."""
_PRICES = {
    "openai:text-embedding-3-small": Decimal("0.02"),
    "openai:text-embedding-3-large": Decimal("0.13"),
    "openai:text-embedding-ada-002": Decimal("0.10"),
    "gemini:gemini-embedding-001": Decimal("0.15"),
    "gemini:gemini-embedding-2": Decimal("0.20"),
}
"""US dollars for a million tokens, as the makers' own endpoints list them."""
_CHARACTERS_PER_TOKEN = 4
_FIRST_WIDE = "\u2e80"
"""From here on, scripts take about a token for each character."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a model's texts go.

    ``price`` is in US dollars for a million tokens, None if it is not known; ``terms`` is a
    sentence on what happens to the texts there.
    """

    url: str
    price: Decimal | None = None
    terms: str = ""

    @property
    def host(self) -> str:
        """Its host, with the port if it has one."""
        return urlsplit(self.url).netloc.rpartition("@")[2]

    @property
    def origin(self) -> str:
        """Its scheme, host and port: what a user allows texts to go to."""
        return f"{urlsplit(self.url).scheme}://{self.host}"

    @property
    def is_local(self) -> bool:
        """Whether texts stay on this machine."""
        return is_loopback(urlsplit(self.url).hostname or "")

    @property
    def is_encrypted(self) -> bool:
        """Whether texts are encrypted on their way."""
        return urlsplit(self.url).scheme == "https"


@dataclass(frozen=True, slots=True)
class Sending:
    """What an import wants to send: so many different texts, about so many tokens.

    Without texts it is about the later questions alone.
    """

    tool: str
    model: str
    endpoint: Endpoint
    texts: int
    tokens: int

    def sentence(self) -> str:
        """What goes where, how much, and about what it costs."""
        where = self.endpoint
        safety = "" if where.is_encrypted else ", unencrypted"
        terms = f" {where.terms}" if where.terms else ""
        if not self.texts:
            return f"{self.tool}: questions go to {where.host}{safety}, and {self.model}.{terms}"
        price = where.price
        cost = "its price is not known here"
        if price is not None:
            dollars = price * self.tokens / 1_000_000
            shown = "less than 0.01" if dollars < Decimal("0.01") else f"about {dollars:.2f}"
            cost = f"{shown} US dollars ({price} a million tokens, as of {PRICES_OF})"
        texts = "text goes" if self.texts == 1 else "texts go"
        return (
            f"{self.tool}: {self.texts:,} {texts} to {where.host} (about {self.tokens:,} tokens"
            f"{safety}) and {self.model}; {cost}. Later questions go there too."
            f"{terms}"
        )


def is_loopback(host: str) -> bool:
    """Whether a host means this machine; names below ``localhost`` may be looked up elsewhere."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def price_of(model: str) -> Decimal | None:
    """What a million tokens cost at the maker's own endpoint, in US dollars, if known."""
    return _PRICES.get(model)


def about_tokens(texts: Iterable[str]) -> int:
    """About how many tokens texts have, without the endpoint's tokenizer."""
    wide = narrow = 0
    for text in texts:
        in_text = sum(character >= _FIRST_WIDE for character in text)
        wide += in_text
        narrow += len(text) - in_text
    return wide + -(-narrow // _CHARACTERS_PER_TOKEN)
