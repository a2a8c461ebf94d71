"""Builds folders that sentence-transformers loads: a tiny, seeded BERT, and a cross-encoder."""

import json
from pathlib import Path

HIDDEN = 32
MAX_TOKENS = 128
SPECIALS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789:。、 水火猫犬検索文書クエリ本文見出し"


def build(folder: Path, prompts: dict[str, str] | None = None) -> Path:
    """Write a model with mean pooling into ``folder``, which must be new."""
    import torch
    from transformers import BertModel

    config = _with_tokenizer(folder)
    torch.manual_seed(7)
    BertModel(config).save_pretrained(folder)
    modules = [("0", "", "Transformer"), ("1", "1_Pooling", "Pooling")]
    _write(folder / "modules.json", [
        {"idx": int(name), "name": name, "path": path,
         "type": f"sentence_transformers.models.{kind}"} for name, path, kind in modules
    ])  # fmt: skip
    (folder / "1_Pooling").mkdir()
    _write(
        folder / "1_Pooling" / "config.json",
        {"word_embedding_dimension": HIDDEN, "pooling_mode_mean_tokens": True},
    )
    _write(folder / "sentence_bert_config.json", {"max_seq_length": MAX_TOKENS})
    _write(folder / "config_sentence_transformers.json", {"prompts": prompts or {}})
    return folder


def build_cross_encoder(folder: Path, numbers: int = 1) -> Path:
    """Write a model that gives so many numbers for a pair of texts into ``folder``."""
    import torch
    from transformers import BertForSequenceClassification

    config = _with_tokenizer(folder, num_labels=numbers)
    torch.manual_seed(7)
    BertForSequenceClassification(config).save_pretrained(folder)
    return folder


def write_tokenizer(folder: Path, max_tokens: int) -> int:
    """Write a tokenizer of letters into a new folder; returns how many tokens it has."""
    from tokenizers import Regex, Tokenizer, models, pre_tokenizers, processors

    folder.mkdir(parents=True)
    words = {piece: number for number, piece in enumerate([*SPECIALS, *dict.fromkeys(LETTERS)])}
    tokenizer = Tokenizer(models.WordLevel(words, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex("."), "isolated")
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    tokenizer.add_special_tokens([*SPECIALS])
    tokenizer.save(str(folder / "tokenizer.json"))
    named = {f"{name.strip('[]').lower()}_token": name for name in SPECIALS}
    _write(
        folder / "tokenizer_config.json",
        {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": max_tokens, **named},
    )
    return len(words)


def _with_tokenizer(folder: Path, **more: int):
    """A new folder with a tokenizer of letters; the configuration of a BERT for it."""
    from transformers import BertConfig

    size = write_tokenizer(folder, MAX_TOKENS)
    return BertConfig(
        vocab_size=size, hidden_size=HIDDEN, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=HIDDEN, max_position_embeddings=MAX_TOKENS, **more,
    )  # fmt: skip


def _write(file: Path, content: object) -> None:
    file.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
