"""Builds folders for onnxruntime: a tiny ModernBERT, a static model and a cross-encoder.

Each has the weights for sentence-transformers too, to compare what both make of a text.
"""

import json
import warnings
from pathlib import Path

from tiny_sentence_transformer import write_tokenizer

HIDDEN = 32
MAX_TOKENS = 128


def build_modernbert(folder: Path, pooling="mean_tokens", prompts=None) -> Path:
    """Write a model with weights for torch and ``onnx/model.onnx`` into a new folder."""
    import torch
    from transformers import ModernBertModel

    torch.manual_seed(7)
    model = ModernBertModel(_config(folder)).eval()
    model.save_pretrained(folder)
    _write_modules(folder, pooling, prompts or {})
    _export(model, folder / "onnx" / "model.onnx", "last_hidden_state")
    return folder


def build_table(folder: Path) -> Path:
    """Write a model that looks each token's vector up into a new folder: made without torch."""
    import numpy as np
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    size = write_tokenizer(folder, MAX_TOKENS)
    table = np.random.default_rng(7).normal(size=(size, HIDDEN)).astype("f4")
    ids, mask = (
        helper.make_tensor_value_info(name, TensorProto.INT64, ["texts", "tokens"])
        for name in ("input_ids", "attention_mask")
    )
    vectors = helper.make_tensor_value_info(
        "last_hidden_state", TensorProto.FLOAT, ["texts", "tokens", HIDDEN]
    )
    graph = helper.make_graph(
        [helper.make_node("Gather", ["table", "input_ids"], ["last_hidden_state"])],
        "table", [ids, mask], [vectors], [numpy_helper.from_array(table, "table")],
    )  # fmt: skip
    _write(folder / "config.json", {"model_type": "modernbert", "hidden_size": HIDDEN})
    _write_modules(folder, "mean_tokens", {})
    (folder / "onnx").mkdir()
    whole = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    whole.ir_version = 8
    onnx.save(whole, folder / "onnx" / "model.onnx")
    return folder


def build_cross_encoder(folder: Path, numbers: int = 1) -> Path:
    """Write a model that gives so many numbers for a pair of texts into a new folder."""
    import torch
    from transformers import ModernBertForSequenceClassification

    torch.manual_seed(7)
    config = _config(folder, num_labels=numbers)
    model = ModernBertForSequenceClassification(config).eval()
    model.save_pretrained(folder)
    _export(model, folder / "onnx" / "model.onnx", "logits")
    return folder


def build_static(folder: Path, *, has_offsets: bool = True) -> Path:
    """Write a model that averages the vectors of tokens into a new folder.

    Its ONNX file takes the tokens of texts one after the other, with offsets, or as rows.
    """
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding
    from tokenizers import Tokenizer

    write_tokenizer(folder, MAX_TOKENS)
    (folder / "tokenizer_config.json").unlink()  # such models read texts of any length
    torch.manual_seed(7)
    module = StaticEmbedding(
        Tokenizer.from_file(str(folder / "tokenizer.json")), embedding_dim=HIDDEN
    )
    SentenceTransformer(modules=[module], device="cpu").save(str(folder))
    (folder / "onnx").mkdir()
    ids, inputs, axes = torch.tensor([5, 6, 7]), ["input_ids"], {"input_ids": {0: "tokens"}}
    given: tuple[object, ...] = (ids, torch.tensor([0]))
    if has_offsets:
        inputs, axes["offsets"] = [*inputs, "offsets"], {0: "texts"}
    else:
        given, axes = (ids.reshape(1, -1),), {"input_ids": {0: "texts", 1: "tokens"}}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            module.embedding, given, str(folder / "onnx" / "model.onnx"), dynamo=False,
            input_names=inputs, output_names=["sentence_embedding"], dynamic_axes=axes,
        )  # fmt: skip
    return folder


def quantise(folder: Path, name: str = "onnx/model_int8.onnx") -> Path:
    """Write an 8-bit form of ``onnx/model.onnx`` beside it."""
    from onnxruntime.quantization import quantize_dynamic

    quantize_dynamic(folder / "onnx" / "model.onnx", folder / name)
    return folder / name


def _config(folder: Path, **more: int):
    from transformers import ModernBertConfig

    size = write_tokenizer(folder, MAX_TOKENS)
    return ModernBertConfig(
        vocab_size=size, hidden_size=HIDDEN, intermediate_size=48, num_hidden_layers=3,
        num_attention_heads=4, max_position_embeddings=MAX_TOKENS, local_attention=8,
        global_attn_every_n_layers=3, pad_token_id=0, bos_token_id=2, eos_token_id=3,
        cls_token_id=2, sep_token_id=3, attn_implementation="eager", **more,
    )  # fmt: skip


def _write_modules(folder: Path, pooling: str, prompts: dict[str, str]) -> None:
    modules = [("", "Transformer"), ("1_Pooling", "Pooling")]
    _write(folder / "modules.json", [
        {"idx": number, "name": str(number), "path": path,
         "type": f"sentence_transformers.models.{kind}"}
        for number, (path, kind) in enumerate(modules)
    ])  # fmt: skip
    (folder / "1_Pooling").mkdir()
    _write(
        folder / "1_Pooling" / "config.json",
        {"word_embedding_dimension": HIDDEN, f"pooling_mode_{pooling}": True},
    )
    _write(folder / "config_sentence_transformers.json", {"prompts": prompts})


def _export(model, file: Path, output: str) -> None:
    """Write the graph, for one text of any length."""
    import torch

    class Named(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, input_ids, attention_mask):
            return getattr(self.model(input_ids=input_ids, attention_mask=attention_mask), output)

    ids = torch.arange(4, 21).reshape(1, -1)
    file.parent.mkdir()
    axes = {0: "texts", 1: "tokens"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            Named(), (ids, torch.ones_like(ids)), str(file), dynamo=False, opset_version=17,
            input_names=["input_ids", "attention_mask"], output_names=[output],
            dynamic_axes={"input_ids": axes, "attention_mask": axes},
        )  # fmt: skip


def _write(file: Path, content: object) -> None:
    file.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
