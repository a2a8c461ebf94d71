"""The backend of `plamo`: PLaMo-Embedding-1B by Preferred Networks, on transformers (an extra).

Its code comes with its weights and was written for transformers 4; ``_restore_tables`` corrects
what transformers 5 does to it.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mdvec.embedding.backends.hub import first_line, quiet_transformers
from mdvec.embedding.backends.plamo_cache import REVISION
from mdvec.embedding.cards import PLAMO
from mdvec.embedding.embedder import ModelError, ModelUnavailable
from mdvec.text import TokenSpan, blocks

if TYPE_CHECKING:
    from mdvec.embedding.embedder import Vectors


_BLOCK_CHARS = 50_000
_CPU_BATCH = 8
_MAX_SHARED = 200
"""Longer texts, in characters, are encoded alone."""


@dataclass(frozen=True, slots=True)
class Placement:
    """Where PLaMo runs: device and dtype as torch names them, and texts per call."""

    device: str
    dtype: str
    batch: int


def placement(requested: str | None, *, mps: bool) -> Placement:
    """The requested device, or else Apple's GPU if available (``mps``), or else the CPU.

    The dtype is float32 on both: in bfloat16 a CPU returned NaN, and each device must be able to
    search what the other one stored.

    Raises:
        ModelUnavailable: PLaMo does not run on the requested device.
    """
    device = requested or ("mps" if mps else "cpu")
    if device not in ("cpu", "mps") or (device == "mps" and not mps):
        raise ModelUnavailable(f"the model 'plamo' cannot run on {device!r} here; choose 'cpu'")
    # On Apple's GPU batches only cost time and memory.
    return Placement(device, "float32", 1 if device == "mps" else _CPU_BATCH)


def batches_by_length(lengths: Sequence[int]) -> list[list[int]]:
    """Positions of the texts to encode together, given the length of each in characters.

    Short texts of similar length share a batch, where each is padded to the longest; a long text
    is alone. On two cores, batches of eight texts of 16 tokens take a third of the time, of 64
    tokens four fifths, of 200 tokens all of it.
    """
    groups: list[list[int]] = []
    for position in sorted(range(len(lengths)), key=lengths.__getitem__):
        length = lengths[position]
        shared = groups and length <= min(_MAX_SHARED, lengths[groups[-1][0]] * 3 // 2 + 8)
        if shared:
            groups[-1].append(position)
        else:
            groups.append([position])
    return groups


class PlamoBackend:
    """The model and its tokenizer, loaded from a local folder; nothing is downloaded."""

    card = PLAMO
    revision = REVISION[:12]

    def __init__(self, folder: Path, device: str | None = None) -> None:
        torch, transformers = _libraries()
        self._torch = torch
        self._placement = placement(device, mps=torch.backends.mps.is_available())
        self.batch = self._placement.batch
        try:
            self._model, self._tokenizer = _load(folder, self._placement)
            self.dimension = int(self._model.config.hidden_size)
            self._try_out()
        # The code that comes with the weights runs here and may raise anything.
        except Exception as error:
            raise ModelUnavailable(
                f"the model 'plamo' cannot be used with transformers "
                f"{transformers.__version__} ({first_line(error)}); install another version of "
                "transformers, or clear the model cache and run: mdvec model pull plamo"
            ) from error

    def token_spans(self, text: str) -> list[TokenSpan]:
        """The tokens of ``text`` as character ranges; the bytes of a character share its range."""
        return [
            (start + first, start + last)
            for start, end in blocks(text, _BLOCK_CHARS)
            for first, last in self._block_spans(text[start:end])
        ]

    def oversized(self, text: str) -> bool:
        """Whether ``text`` exceeds the model's limit, including the special tokens added."""
        count = 0
        for start, end in blocks(text, _BLOCK_CHARS):
            count += len(self._tokenizer(text[start:end], verbose=False)["input_ids"])
            if count > PLAMO.max_tokens:
                return True
        return False

    def refusal(self, text: str) -> str | None:  # noqa: ARG002
        """None: the vocabulary has a token for every byte, so PLaMo takes any text."""
        return None

    def encode_documents(self, texts: Sequence[str]) -> Vectors:
        """Vectors of texts, without a prefix."""
        rows = np.empty((len(texts), self.dimension), dtype=np.float32)
        for group in batches_by_length([len(text) for text in texts]):
            rows[group] = self._run(self._model.encode_document, [texts[at] for at in group])
        return rows

    def encode_query(self, text: str) -> Vectors:
        """The vector of a question, prefixed with the model's own search instruction."""
        return self._run(self._model.encode_query, text).reshape(-1)

    def _block_spans(self, text: str) -> list[TokenSpan]:
        if not self._tokenizer.is_fast:
            return align(text, self._tokenizer.tokenize(text))
        tokens = self._tokenizer(
            text, add_special_tokens=False, return_offsets_mapping=True, verbose=False
        )
        return [(first, last) for first, last in tokens["offset_mapping"]]

    def _run(self, encode: Any, texts: str | list[str]) -> Vectors:  # noqa: ANN401
        try:
            with self._torch.inference_mode():
                vectors: Vectors = encode(texts, self._tokenizer).float().cpu().numpy()
        except (RuntimeError, MemoryError) as error:
            raise ModelError(
                f"the model 'plamo' failed while embedding: {first_line(error)}"
            ) from error
        if self._placement.device == "mps":
            # The allocator keeps memory for each text length that it has seen.
            self._torch.mps.empty_cache()
        return vectors

    def _try_out(self) -> None:
        """Encode once: remote code that is too old for transformers fails only when it is used."""
        shape = self.encode_query("東京").shape
        if shape != (self.dimension,):
            raise ValueError(f"it answers a question with numbers of shape {shape}")


def _libraries() -> tuple[Any, Any]:
    try:
        import torch
        import transformers
    except (ImportError, OSError) as error:
        raise ModelUnavailable(
            f"the model 'plamo' needs torch and transformers ({first_line(error)}); "
            f"get it with: {PLAMO.how_to_get}"
        ) from error
    return torch, transformers


def _load(folder: Path, target: Placement) -> tuple[Any, Any]:
    """The model and its tokenizer, loaded from ``folder`` and ready to encode."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    # PLaMo's code calls functions that newer versions deprecate; users cannot change that.
    warnings.filterwarnings("ignore", category=FutureWarning, module="transformers")
    with quiet_transformers():
        tokenizer = AutoTokenizer.from_pretrained(
            folder, trust_remote_code=True, local_files_only=True
        )
        model, report = AutoModel.from_pretrained(
            folder,
            trust_remote_code=True,
            local_files_only=True,
            dtype=getattr(torch, target.dtype),
            output_loading_info=True,
        )
        # transformers would continue with random numbers instead.
        if lost := [*report["missing_keys"], *report["mismatched_keys"]]:
            raise ValueError(f"its weights lack {lost[0]}")
        _restore_tables(model)
    return model.eval().to(target.device), tokenizer


def _restore_tables(model: Any) -> None:  # noqa: ANN401
    """Recompute the buffers that are in no weight file, such as rotary tables.

    transformers 5 creates the model without memory and leaves these buffers uninitialised: mostly
    finite numbers, so the model runs but its vectors are meaningless.
    """
    stored = model.state_dict()
    names = [name for name, _ in model.named_buffers() if name not in stored]
    with _weightless():
        computed = dict(type(model)(model.config).named_buffers())
    for name in names:
        owner, _, buffer = name.rpartition(".")
        model.get_submodule(owner).register_buffer(buffer, computed[name], persistent=False)


@contextmanager
def _weightless() -> Iterator[None]:
    """Within this context, a new model computes its buffers but its parameters take no memory."""
    from torch.nn import Module, Parameter

    register = Module.register_parameter

    def register_empty(module: Any, name: str, parameter: Any) -> None:  # noqa: ANN401
        if parameter is not None:
            parameter = Parameter(parameter.to("meta"), requires_grad=False)
        register(module, name, parameter)

    Module.register_parameter = register_empty
    try:
        yield
    finally:
        Module.register_parameter = register


_SPACE = "▁"
_BYTE = re.compile(r"<0x([0-9A-Fa-f]{2})>")
_WHITE = re.compile(r"\s*")
_LOOK_AHEAD = 32
_OCCURRENCES = 3
_PROOF = 3
"""After a mismatch: how many of the following pieces to look for, at how many places each, and how
many pieces after a found one must match as well."""


def align(text: str, pieces: Sequence[str]) -> list[TokenSpan]:
    """The character range of each piece of ``text``, in order.

    Each range starts where the previous one ends, or equals it where both pieces are bytes of one
    character; together they cover the text. White space that the tokenizer dropped belongs to the
    next piece, and at the end to the last one.
    """
    spans: list[TokenSpan] = []
    start = 0
    while len(spans) < len(pieces):
        fit = _fit(text, start, pieces, len(spans))
        if fit:
            count, end = fit
            spans.extend([(start, end)] * count)
        else:
            count, end = _misfit(text, start, pieces, len(spans))
            spans.extend(_shares(start, end, count))
        start = end
    if spans and start < len(text):
        spans[-1] = (spans[-1][0], len(text))
    return spans


def _fit(text: str, start: int, pieces: Sequence[str], number: int) -> tuple[int, int] | None:
    """The number of pieces, from ``number`` on, that match at ``start``, and where they end."""
    piece = pieces[number]
    if piece.startswith("<0x") and (fit := _fit_bytes(text, start, pieces, number)):
        return fit
    end = _fit_text(text, start, piece)
    return None if end is None else (1, end)


def _fit_bytes(text: str, start: int, pieces: Sequence[str], number: int) -> tuple[int, int] | None:
    """The same as ``_fit``, for pieces that are the bytes of one character."""
    for position in (start, _after_white(text, start)):
        encoded = text[position : position + 1].encode(errors="surrogatepass")
        if encoded and encoded == _bytes(pieces[number : number + len(encoded)]):
            return len(encoded), position + 1
    return None


def _bytes(pieces: Sequence[str]) -> bytes:
    matches = (_BYTE.fullmatch(piece) for piece in pieces)
    return bytes(int(byte[1], 16) for byte in matches if byte)


def _fit_text(text: str, start: int, piece: str) -> int | None:
    """The end of ``piece`` if it is at ``start`` or after white space there."""
    if _reads(text, start, piece):
        return start + len(piece)
    # A tokenizer may add a space before a text, and drop spaces of the text.
    bare = piece.lstrip(_SPACE)
    white = _after_white(text, start)
    if not bare:
        return min(white, start + len(piece))
    return white + len(bare) if _reads(text, white, bare) else None


def _reads(text: str, start: int, piece: str) -> bool:
    if text.startswith(piece, start):
        return True
    there = text[start : start + len(piece)]
    return len(there) == len(piece) and all(
        character == sign or (sign == _SPACE and character.isspace())
        for character, sign in zip(there, piece, strict=True)
    )


def _after_white(text: str, start: int) -> int:
    white = _WHITE.match(text, start)
    return white.end() if white else start


def _misfit(text: str, start: int, pieces: Sequence[str], first: int) -> tuple[int, int]:
    """The number of pieces that do not match from ``start`` on, and where the next one does."""
    reach = start
    for number in range(first + 1, min(first + _LOOK_AHEAD, len(pieces))):
        # No farther than the skipped pieces can be long: the same word may occur again later.
        reach += 4 * len(pieces[number - 1]) + 4
        position = _resumption(text, start, reach, pieces, number)
        if position is not None:
            return number - first, position
    return len(pieces) - first, len(text)


def _resumption(
    text: str, start: int, reach: int, pieces: Sequence[str], number: int
) -> int | None:
    """Where, between ``start`` and ``reach``, the pieces from ``number`` on match again."""
    word = pieces[number].replace(_SPACE, " ").strip()
    position = start - 1
    for _ in range(_OCCURRENCES if word else 0):
        position = text.find(word, position + 1, reach + len(word))
        if position < 0:
            return None
        if _goes_on(text, position + len(word), pieces, number + 1):
            spaced = pieces[number].startswith(_SPACE) and text[start:position][-1:].isspace()
            return position - 1 if spaced else position
    return None


def _goes_on(text: str, start: int, pieces: Sequence[str], number: int) -> bool:
    """Whether the next few pieces match as well: a single one may by chance."""
    last = min(number + _PROOF, len(pieces))
    while number < last:
        fit = _fit(text, start, pieces, number)
        if fit is None:
            return False
        number, start = number + fit[0], fit[1]
    return True


def _shares(start: int, end: int, count: int) -> list[TokenSpan]:
    edges = [start + (end - start) * share // count for share in range(count + 1)]
    return list(zip(edges[:-1], edges[1:], strict=True))
