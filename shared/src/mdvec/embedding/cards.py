"""Facts about each model, available without loading it; importing this module is cheap."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ModelCard:
    """A model's name and figures.

    ``dimension`` is the length of its vectors; ``default_size`` and ``default_overlap`` are chunk
    sizes in its own tokens; ``max_tokens`` is its input limit. ``vector_trust`` is the weight of
    its cosines against the words of a query (see ``search/core/fusion.py``). ``unrelated`` are mean
    and standard deviation of the cosine of the nearest passage, over questions that nothing answers
    (see ``search/core/confidence.py``); None where they were not measured.
    """

    name: str
    summary: str
    dimension: int
    default_size: int
    default_overlap: int
    max_tokens: int
    vector_trust: float
    unrelated: tuple[float, float] | None
    licence: str
    how_to_get: str
    is_light: bool = False
    """Whether a server may load it before the first search asks for it."""


INSTALL_PLAMO = "pip install -c constraints.txt -e './shared[plamo]' (in mdvec's own folder)"
PLAMO = ModelCard(
    name="plamo",
    summary="PLaMo-Embedding-1B by Preferred Networks: the best Japanese answers, 2.1 GB",
    dimension=2048,
    default_size=1024,
    default_overlap=64,
    max_tokens=4096,
    vector_trust=1.6,  # that of e5-small: a guess until it is fitted with bench/calibrate.py
    unrelated=None,
    licence="Apache-2.0",
    how_to_get=f"{INSTALL_PLAMO}, then: mdvec model pull plamo",
)
USE = ModelCard(
    name="use",
    summary="universal-sentence-encoder-multilingual v3: embedded, 16 languages, fast",
    dimension=512,
    default_size=192,
    default_overlap=48,
    max_tokens=4096,  # the encoder has no limit of its own; its memory grows with the text
    vector_trust=0.2,
    unrelated=(0.234, 0.060),
    licence="Apache-2.0",
    how_to_get="comes with mdvec",
    is_light=True,
)
E5_SMALL = ModelCard(
    name="e5-small",
    summary="multilingual-e5-small, 4 bit: better answers than use, about forty times slower",
    dimension=384,
    default_size=448,
    default_overlap=64,
    max_tokens=512,
    vector_trust=1.6,
    unrelated=(0.817, 0.020),
    licence="MIT",
    how_to_get="pip install -c constraints.txt -e './shared[e5]' (in mdvec's own folder)",
)

CARDS = {card.name: card for card in (PLAMO, USE, E5_SMALL)}
