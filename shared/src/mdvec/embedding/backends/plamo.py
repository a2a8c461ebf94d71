"""The backend of `plamo`: PLaMo-Embedding-1B by Preferred Networks, on transformers (an extra).

Its code comes with its weights and was written for transformers 4; ``_restore_tables`` corrects
what transformers 5 does to it.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mdvec.embedding.backends.hub import first_line, quiet_transformers
from mdvec.embedding.backends.model_files import BLOCK_CHARS
from mdvec.embedding.backends.plamo_cache import REVISION
from mdvec.embedding.backends.use import ApproximateTokens
from mdvec.embedding.cards import PLAMO
from mdvec.embedding.embedder import ModelError, ModelUnavailable
from mdvec.text import TokenSpan, blocks

if TYPE_CHECKING:
    from mdvec.embedding.embedder import Vectors

_CPU_BATCH = 8
"""The texts of one call; on Apple's GPU, batches only cost time and memory."""
_MAX_SHARED = 200
"""Longer texts, in characters, are encoded alone."""


def batches_by_length(lengths: Sequence[int]) -> list[list[int]]:
    """The indexes of the texts in each batch, given the length of each text in characters.

    Short texts of similar length share a batch, where each is padded to the longest; a long text is
    alone. On two cores, a batch of eight texts takes a third of the time of single texts if these
    have 16 tokens, four fifths if they have 64, and the same time if they have 200.
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
    """The model and its tokenizer, on Apple's GPU if there is one; nothing is downloaded."""

    card = PLAMO
    revision = REVISION[:12]

    def __init__(self, folder: Path, device: str | None = None) -> None:
        torch, transformers = _libraries()
        self._torch = torch
        self._device = device or ("mps" if torch.backends.mps.is_available() else "cpu")
        self.batch = 1 if self._device == "mps" else _CPU_BATCH
        self._approximate = ApproximateTokens(PLAMO.max_tokens)
        try:
            self._model, self._tokenizer = _load(folder, self._device)
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
        """The tokens of ``text`` as character ranges; approximate if its tokenizer reports none."""
        if not self._tokenizer.is_fast:
            return self._approximate.token_spans(text)
        return [
            (start + first, start + last)
            for start, end in blocks(text, BLOCK_CHARS)
            for first, last in self._tokenizer(
                text[start:end], add_special_tokens=False, return_offsets_mapping=True,
                verbose=False,
            )["offset_mapping"]
        ]  # fmt: skip

    def oversized(self, text: str) -> bool:
        """Whether ``text`` exceeds the model's limit, including the special tokens added."""
        count = 0
        for start, end in blocks(text, BLOCK_CHARS):
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

    def _run(self, encode: Any, texts: str | list[str]) -> Vectors:  # noqa: ANN401
        try:
            with self._torch.inference_mode():
                vectors: Vectors = encode(texts, self._tokenizer).float().cpu().numpy()
        except (RuntimeError, MemoryError) as error:
            raise ModelError(
                f"the model 'plamo' failed while embedding: {first_line(error)}"
            ) from error
        if self._device == "mps":
            # The allocator keeps memory for each text length it has seen.
            self._torch.mps.empty_cache()
        return vectors

    def _try_out(self) -> None:
        """Encode once: model code that is too old for transformers fails only when used."""
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


def _load(folder: Path, device: str) -> tuple[Any, Any]:
    """The model and its tokenizer, loaded from ``folder`` and ready to encode.

    The numbers are float32 on each device: in bfloat16 a CPU returned NaN, and each device must be
    able to search what the other one stored.
    """
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
            dtype=torch.float32,
            output_loading_info=True,
        )
        # transformers would fill missing weights with random numbers.
        if lost := [*report["missing_keys"], *report["mismatched_keys"]]:
            raise ValueError(f"its weights lack {lost[0]}")
        _restore_tables(model)
    return model.eval().to(device), tokenizer


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
