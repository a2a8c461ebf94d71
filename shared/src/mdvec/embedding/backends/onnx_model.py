"""A model that onnxruntime runs, with its tokenizer: one text at a time, without torch.

A quantised model scales its numbers by all that is in a batch, so in a batch a text's vector would
depend on its neighbours; and on a CPU a batch of passages is no faster than one after the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from mdvec.embedding.backends.hub_cache import first_line
from mdvec.embedding.backends.model_files import BLOCK_CHARS, STATIC, modules_of
from mdvec.embedding.backends.onnx_files import OnnxFiles
from mdvec.embedding.embedder import ModelError, ModelUnavailable
from mdvec.text import TokenSpan, blocks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float32]

_ONLY_ERRORS = 3


class OnnxModel:
    """A session of onnxruntime, and the tokenizer of ``tokenizer.json``."""

    def __init__(self, name: str, files: OnnxFiles, limit: int) -> None:
        """Load both; ``limit`` is how many tokens of a text are read.

        Raises:
            ModelUnavailable: onnxruntime or tokenizers cannot be imported, or the files are broken.
        """
        self._name = name
        try:
            import onnxruntime
            from tokenizers import Tokenizer
        except (ImportError, OSError) as error:
            raise ModelUnavailable(f"onnxruntime cannot be loaded ({first_line(error)})") from error
        onnxruntime.disable_telemetry_events()
        options = onnxruntime.SessionOptions()
        options.log_severity_level = _ONLY_ERRORS
        # Its threads would wait for work in a loop: a third more of the processor for no gain.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        try:
            self._tokenizer = Tokenizer.from_file(str(files.tokenizer))
            self._session = onnxruntime.InferenceSession(
                str(files.model), options, providers=["CPUExecutionProvider"]
            )
        # Both libraries raise errors of many kinds for files that they do not understand.
        except Exception as error:
            raise ModelUnavailable(
                f"the model {name!r} cannot be loaded from {files.model} ({first_line(error)})"
            ) from error
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(limit)
        self._inputs = {entry.name: entry for entry in self._session.get_inputs()}
        self.output_ranks = {entry.name: len(entry.shape) for entry in self._session.get_outputs()}
        self.is_static = "offsets" in self._inputs or STATIC in modules_of(files.folder)
        """Whether it averages vectors of words, whose tokens come without special ones."""

    def token_count(self, text: str) -> int:
        """The tokens of a text, special ones included, were it not cut."""
        encoding = self._tokenizer.encode(text, add_special_tokens=not self.is_static)
        return len(encoding.ids) + sum(len(rest.ids) for rest in encoding.overflowing)

    def spans(self, text: str) -> list[TokenSpan]:
        """The tokens of a text as character ranges."""
        spans = []
        for start, end in blocks(text, BLOCK_CHARS):
            encoding = self._tokenizer.encode(text[start:end], add_special_tokens=False)
            for part in (encoding, *encoding.overflowing):
                spans += [(start + a, start + b) for a, b in part.offsets if b > a]
        return spans

    def run(self, text: str, second: str | None = None) -> Mapping[str, Array]:
        """The outputs for a text or a pair of texts, by name.

        Raises:
            ModelError: the model fails.
        """
        encoding = self._tokenizer.encode(text, second, add_special_tokens=not self.is_static)
        try:
            outputs = self._session.run(None, self._fed(encoding))
        # onnxruntime raises errors of many kinds, none of which has a common base.
        except Exception as error:
            raise ModelError(f"the model {self._name!r} failed: {first_line(error)}") from error
        return dict(zip(self.output_ranks, outputs, strict=True))

    def _fed(self, encoding: Any) -> dict[str, NDArray[Any]]:  # noqa: ANN401
        known = {
            "input_ids": encoding.ids,
            "attention_mask": encoding.attention_mask,
            "token_type_ids": encoding.type_ids,
            "position_ids": list(range(len(encoding.ids))),
        }
        if self.is_static:
            known["offsets"] = [0]
        fed = {}
        for name, entry in self._inputs.items():
            if name not in known:
                raise ModelUnavailable(
                    f"the model {self._name!r} wants an input {name!r}, which is not known here"
                )
            kind = np.int32 if entry.type == "tensor(int32)" else np.int64
            row = np.array(known[name], dtype=kind)
            fed[name] = row if len(entry.shape) == 1 else row.reshape(1, -1)
        return fed
